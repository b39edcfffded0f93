//! One-liners of other languages: `python -c`, `node -e`, `perl -e` and the like.
//!
//! They are not parsed. Calls that run commands are looked for, and what they are given is judged like a typed command.

use super::{Flattener, Scope};
use crate::{
    invocation::Invocation,
    programs, script,
    text::{self, is_known},
};

impl Flattener<'_> {
    /// The code that an interpreter is given as an argument or on its input.
    pub(super) fn interpreted(&mut self, one: &Invocation, scope: &Scope) -> Option<String> {
        let language = script::language(&one.program)?;
        let inline = one.values(language.letters, language.names);
        if !inline.is_empty() {
            let code = inline.join("\n");
            if text::sources(&code).any(programs::is_fetched) {
                self.obstacle(super::Obstacle::FetchedCode(text::shown(&code)));
            }
            return Some(code);
        }
        if one.program == "awk" {
            return one.operands(&["-F", "-v", "-f"]).first().map(|code| (*code).to_owned());
        }
        if one.program == "deno" || one.program == "bun" {
            let at = one.args.iter().position(|arg| arg == "eval")?;
            return one.args.get(at + 1).cloned();
        }
        let file = one.operands(language.valued).first().map(|file| (*file).to_owned());
        if let Some(file) =
            file.as_ref().filter(|file| scope.downloads.contains(&scope.path(file, &self.ctx.home)))
        {
            self.obstacle(super::Obstacle::FetchedCode(file.clone()));
        }
        if let Some(file) = file.as_ref().filter(|file| text::sources(file).any(programs::is_fetched)) {
            self.obstacle(super::Obstacle::FetchedCode(text::shown(file)));
        }
        let texts = file.as_ref().map(|file| self.texts(file, scope)).unwrap_or_default();
        if !texts.is_empty() {
            return Some(texts.join("\n"));
        }
        if file.is_some_and(|file| file != "-" && file != "/dev/stdin")
            || one.has("m", &[])
            || one.is_question()
        {
            return None;
        }
        match &scope.input.text {
            Some(code) if is_known(code) => Some(code.clone()),
            _ if scope.input.is_given() => {
                self.check_input(one, &scope.input.clone());
                None
            }
            _ => None,
        }
    }

    /// Judges the commands that code runs.
    pub(super) fn code(&mut self, code: &str, one: &Invocation, scope: &mut Scope) {
        if super::LONGEST_VALUE < code.len() {
            self.obstacle(super::Obstacle::TooMuch);
        }
        if !self.spend(1 + code.len() / 64) {
            return;
        }
        for command in script::commands(code, &one.program) {
            let mut inner = self.fork(scope);
            match command {
                script::Run::Text(text) => {
                    self.unwrap(&text, &one.program, &mut inner);
                }
                script::Run::Arguments(args) => {
                    self.inner(&args, one, &mut inner);
                }
            }
        }
    }
}
