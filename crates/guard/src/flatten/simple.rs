//! Simple commands: assignments, redirections, aliases, functions, programs.

use std::rc::Rc;

use super::{Flattener, Obstacle, Output, Scope};
use crate::{
    command::{Command, FileRedirect, Stdin},
    paths, programs,
    shell::{MAX_COMMAND_LINE_LEN, Redirect, RedirectKind, SimpleCommand, Stage},
    text::{self, is_known},
};

/// What redirections amount to.
#[derive(Default)]
pub(super) struct Redirects {
    pub(super) files: Vec<FileRedirect>,
    pub(super) stdin: Option<Stdin>,
    /// The file that standard output goes to.
    pub(super) output: Option<FileRedirect>,
}

impl Flattener<'_> {
    pub(super) fn follow_simple(
        &mut self,
        simple: &SimpleCommand,
        redirects: &[Redirect],
        scope: &mut Scope,
    ) -> Output {
        let words: Vec<String> = simple.words.iter().flat_map(|word| self.expand(word, scope)).collect();
        let mut env = Vec::new();
        for assignment in &simple.assignments {
            let values: Vec<String> = match &assignment.values[..] {
                [value] => vec![self.expand_whole(value, scope)],
                values => values.iter().flat_map(|value| self.expand(value, scope)).collect(),
            };
            if super::MAX_VALUE_LEN < values.iter().map(String::len).sum() {
                self.add_obstacle(Obstacle::TooMuch);
                continue;
            }
            env.push((assignment.name.clone(), values.join(" ")));
            if words.is_empty() {
                assign_variable(&assignment.name, values, assignment.appends, scope);
            }
        }
        let redirects = self.resolve_redirects(redirects, scope);
        let mut base = Command { env, redirects: redirects.files, ..command_in(scope) };
        let outer = scope.stdin.clone();
        if let Some(stdin) = redirects.stdin {
            scope.stdin = stdin;
        }
        base.stdin = scope.stdin.clone();
        let output = if words.is_empty() {
            let text = base.stdin.file.as_ref().map_or(Some(String::new()), |_| None);
            let programs = if text.is_none() { vec!["cat".to_owned()] } else { Vec::new() };
            self.flattened.commands.push(base);
            Output { text, programs }
        } else {
            self.follow_words(words, base, scope)
        };
        scope.stdin = outer;
        self.remember_output(output, redirects.output)
    }

    pub(super) fn resolve_redirects(&mut self, redirects: &[Redirect], scope: &mut Scope) -> Redirects {
        let mut all = Redirects::default();
        for redirect in redirects {
            if redirect.kind == RedirectKind::Here {
                let text = redirect.body.get().map(|body| self.expand_whole(body, scope)).unwrap_or_default();
                all.stdin = Some(Stdin { text: Some(text), ..Stdin::default() });
                continue;
            }
            let target = self.expand_whole(&redirect.target, scope);
            if redirect.kind == RedirectKind::Duplicate
                && (target == "-" || target.trim_end_matches('-').parse::<u32>().is_ok())
            {
                continue;
            }
            if let Some(programs) = text::sources(&target).find_map(|source| source.strip_prefix("<(")) {
                let programs = programs.trim_end_matches(')').split(' ').map(str::to_owned).collect();
                all.stdin = Some(Stdin { programs, ..Stdin::default() });
                continue;
            }
            let path = scope.resolve_path(&target, &self.ctx.home);
            let kind = match redirect.kind {
                RedirectKind::Duplicate => RedirectKind::Write,
                kind => kind,
            };
            if matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite) && redirect.fd.unwrap_or(0) == 0 {
                all.stdin = Some(Stdin { file: Some(path.clone()), ..Stdin::default() });
            }
            let file = FileRedirect { kind, path };
            if matches!(kind, RedirectKind::Write | RedirectKind::Append) && redirect.fd.unwrap_or(1) == 1 {
                all.output = Some(file.clone());
            }
            all.files.push(file);
        }
        all
    }

    /// Runs a command by its name: an alias, a function, a builtin or a program.
    pub(super) fn follow_words(
        &mut self,
        mut words: Vec<String>,
        base: Command,
        scope: &mut Scope,
    ) -> Output {
        if words.iter().any(|word| super::MAX_VALUE_LEN < word.len()) {
            self.add_obstacle(Obstacle::TooMuch);
        }
        if words.is_empty() || !self.spend(4 + words.iter().map(|word| 16 + word.len()).sum::<usize>() / 24) {
            return Output::default();
        }
        let args = words.split_off(1);
        let Some(name) = words.pop() else { return Output::default() };
        if let Some(code) = scope.aliases.get(&name).filter(|_| !scope.open_aliases.contains(&name)).cloned()
        {
            scope.open_aliases.push(name.clone());
            let code = format!("{code} {}", quote_args(&args));
            let output = self.follow_unwrapped(&code, &format!("alias {name}"), scope);
            scope.open_aliases.pop();
            return output;
        }
        if let Some(body) = scope.functions.get(&name).cloned() {
            return self.follow_call(&name, &body, args, scope);
        }
        let path = scope.resolve_path(&name, &self.ctx.home);
        let is_linked = name.contains('/') && path != paths::resolve(&name, &scope.cwd, &self.ctx.home);
        if name.contains('/') && scope.downloads.contains(&path) {
            self.add_obstacle(Obstacle::FetchedCode(text::for_display(&name)));
        }
        let spelled = if is_linked { path } else { name };
        let program = programs::program_name(&spelled);
        let command = Command { program, spelled, args, ..base };
        self.check_program(&command);
        if let Some(script) = self.script_words(&command, scope) {
            self.flattened.commands.push(command.clone());
            return self.follow_arguments(&script, &command, scope).unwrap_or_default();
        }
        self.follow_command(command, scope)
    }

    fn follow_call(&mut self, name: &str, body: &Rc<Stage>, args: Vec<String>, scope: &mut Scope) -> Output {
        if scope.open_calls.iter().any(|call| Rc::ptr_eq(call, body)) {
            if scope.in_background || scope.in_pipe {
                self.add_obstacle(Obstacle::ForkBomb(name.to_owned()));
            }
            return Output::default();
        }
        scope.open_calls.push(Rc::clone(body));
        let outer = std::mem::replace(&mut scope.positional, args);
        let output = self.follow_stage(body, scope);
        scope.positional = outer;
        scope.open_calls.pop();
        output
    }

    /// A name that is not known, or only a pattern, can be any program.
    fn check_program(&mut self, command: &Command) {
        let (program, spelled) = (&command.program, &command.spelled);
        if !is_known(program) {
            let fetched = text::sources(program).any(programs::is_fetched);
            let shown = text::for_display(spelled);
            self.add_obstacle(if fetched {
                Obstacle::FetchedCode(shown)
            } else {
                Obstacle::DynamicProgram(shown)
            });
        }
        let is_pattern = program.contains(['*', '?'])
            || (program.contains('[') && !matches!(program.as_str(), "[" | "[["));
        if is_pattern && !spelled.starts_with("./") {
            self.add_obstacle(Obstacle::DynamicProgram(text::for_display(spelled)));
        }
    }
}

/// Sets a variable, or appends to it.
pub(super) fn assign_variable(name: &str, values: Vec<String>, appends: bool, scope: &mut Scope) {
    let old = scope.variables.get(name).filter(|_| appends).cloned().unwrap_or_default();
    let joined = match (&old[..], &values[..]) {
        ([], _) => values,
        ([before], [after]) if before.len() + after.len() < MAX_COMMAND_LINE_LEN => {
            vec![format!("{before}{after}")]
        }
        _ => [old, values].concat(),
    };
    scope.variables.insert(name.to_owned(), joined);
}

/// A command that runs here and now, still without a name.
pub(super) fn command_in(scope: &Scope) -> Command {
    Command {
        cwd: scope.cwd.clone(),
        wrappers: scope.wrappers.clone(),
        is_remote: scope.is_remote,
        in_background: scope.in_background,
        is_endless: scope.is_endless,
        links: scope.links.iter().map(|(link, target)| (link.clone(), target.clone())).collect(),
        downloads: scope.downloads.clone(),
        remotes: scope.remotes.clone(),
        ..Command::default()
    }
}

/// Arguments as text that a shell reads back as they are.
pub(super) fn quote_args(args: &[String]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{}'", arg.replace('\'', "'\\''"))).collect();
    quoted.join(" ")
}
