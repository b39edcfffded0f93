//! One-liners of other languages: `python -c`, `node -e`, `perl -e` and the like.
//!
//! They are not parsed. Calls that run commands are looked for, and what they are given is judged like a typed command.

use super::{Flattener, Scope};
use crate::{
    command::Command,
    programs, script,
    text::{self, is_known},
};

impl Flattener<'_> {
    /// The code that an interpreter is given as an argument or on its input.
    pub(super) fn interpreted_code(&mut self, command: &Command, scope: &Scope) -> Option<String> {
        if let Some(code) = script::framework_code(command) {
            return Some(code);
        }
        let language = script::language_of(&command.program)?;
        let inline = command.values(language.letters, language.names);
        if !inline.is_empty() {
            let mut code = script::with_usual_calls(&inline.join("\n"), &command.program);
            // Modules are named in options: `-MLWP::Simple`, `-rsocket`.
            let flag = if command.program == "perl" { "-M" } else { "-r" };
            let modules = command.args.iter().filter_map(|arg| arg.strip_prefix(flag));
            if command.is(&["perl", "ruby"]) {
                code.extend(modules.flat_map(|module| ["\n# ", module]));
            }
            if text::sources(&code).any(programs::is_fetched) {
                self.add_obstacle(super::Obstacle::FetchedCode(text::for_display(&code)));
            }
            return Some(code);
        }
        if script::EDITORS.contains(&command.program.as_str()) {
            return None;
        }
        if command.program == "awk" {
            return command
                .operands(&["-F", "-v", "-f", "-l", "--load", "-i", "--include"])
                .first()
                .map(|code| (*code).to_owned());
        }
        let is_input = |word: &String| word == "-" || word == "/dev/stdin";
        if command.is(&["deno", "bun"]) && command.args.iter().any(is_input) {
            return scope.stdin.text.clone().filter(|code| is_known(code));
        }
        if command.is(&["deno", "bun", "dotnet", "crystal", "wp"]) {
            let at = command.args.iter().position(|arg| arg == "eval")?;
            return command.args.get(at + 1).cloned();
        }
        let mut operands = command.operands(language.valued).into_iter();
        let runs = command.is(&["go", "nim", "dart", "zig", "v"]);
        let file = operands
            .find(|word| !runs || !["run", "r", "e", "c", "build-exe"].contains(word))
            .map(str::to_owned);
        if let Some(file) =
            file.as_ref().filter(|file| scope.downloads.contains(&scope.resolve_path(file, &self.ctx.home)))
        {
            self.add_obstacle(super::Obstacle::FetchedCode(file.clone()));
        }
        if let Some(file) = file.as_ref().filter(|file| text::sources(file).any(programs::is_fetched)) {
            self.add_obstacle(super::Obstacle::FetchedCode(text::for_display(file)));
        }
        let texts = file.as_ref().map(|file| self.known_texts(file, scope)).unwrap_or_default();
        if !texts.is_empty() {
            return Some(texts.join("\n"));
        }
        if let Some(file) =
            file.as_ref().filter(|file| self.files.is_pipe(&scope.resolve_path(file, &self.ctx.home)))
        {
            self.add_obstacle(super::Obstacle::DynamicCode(text::for_display(file)));
        }
        if file.is_some_and(|file| file != "-" && file != "/dev/stdin")
            || command.has("m", &[])
            || command.asks_for_help()
        {
            return None;
        }
        match &scope.stdin.text {
            Some(code) if is_known(code) => Some(code.clone()),
            _ if scope.stdin.is_given() => {
                self.check_unknown_stdin(command, &scope.stdin.clone());
                None
            }
            _ => None,
        }
    }

    /// Judges the commands that code runs.
    pub(super) fn follow_code(&mut self, code: &str, command: &Command, scope: &mut Scope) {
        if super::MAX_VALUE_LEN < code.len() {
            self.add_obstacle(super::Obstacle::TooMuch);
        }
        if !self.spend(1 + code.len() / 64) {
            return;
        }
        let Some(commands) = script::commands_in_code(code, &command.program) else {
            return self.add_obstacle(super::Obstacle::TooMuch);
        };
        let calls = script::function_calls(code).unwrap_or_default();
        let dir = script::chosen_dir(&calls).map(|dir| scope.resolve_path(dir, &self.ctx.home));
        for found in commands {
            let mut inner = self.fork(scope);
            inner.cwd = dir.clone().unwrap_or(inner.cwd);
            match found {
                script::ScriptCommand::ShellText(text) => {
                    self.follow_unwrapped(&text, &command.program, &mut inner);
                }
                script::ScriptCommand::Arguments(args) => {
                    self.follow_arguments(&args, command, &mut inner);
                }
            }
        }
    }
}
