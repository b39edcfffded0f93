//! Programs that run other programs: what they are given is judged as if it were typed.

mod table;
mod texts;
mod unknown;

use super::{
    Flattener, Output, Scope,
    builtins::is_loopback,
    simple::{command_in, quote_args},
};
use crate::{
    command::{Command, Stdin},
    text,
};
use table::{REMOTE_WRAPPERS, TEXT_OPTIONS, WRAPPERS, Wrapper};
use unknown::wrapped_by_unknown;

/// Modules of Python that are programs as well: `python -m twine` is `twine`.
const MODULES: [&str; 22] = [
    "flit",
    "twine",
    "poetry",
    "hatch",
    "pdm",
    "maturin",
    "uv",
    "pipx",
    "pip",
    "awscli",
    "ansible",
    "alembic",
    "celery",
    "flask",
    "pre_commit",
    "git_filter_repo",
    "conan",
    "dvc",
    "kaggle",
    "modal",
    "zappa",
    "chalice",
];

impl Flattener<'_> {
    /// Runs what a command was given to run, if it is one that does so.
    pub(super) fn follow_wrapped(&mut self, command: &Command, scope: &mut Scope) -> Option<Output> {
        let script = self.follow_tool_script(command, scope);
        if let Some(output) = self.follow_wrapped_texts(command, scope).or(script) {
            return Some(output);
        }
        if command.program == "find" || command.program == "fd" || command.program == "fdfind" {
            return self.follow_find(command, scope);
        }
        if command.program == "xargs" || command.program == "parallel" {
            return Some(self.follow_xargs(command, scope));
        }
        if command.program == "setarch" {
            let rest = skip_options(&command.args, &[]);
            let has_name = rest.first().is_some_and(|name| is_architecture(name));
            return self.follow_arguments(skip_options(&rest[usize::from(has_name)..], &[]), command, scope);
        }
        if command.program.starts_with("ld-linux")
            || command.program.starts_with("ld-musl")
            || command.program == "ld.so"
        {
            return self.follow_arguments(
                skip_options(&command.args, &["--library-path", "--preload", "--argv0"]),
                command,
                scope,
            );
        }
        if command.program == "python"
            && let Some(at) = command.args.iter().position(|arg| arg == "-m")
            && command.args.get(at + 1).is_some_and(|module| MODULES.contains(&module.as_str()))
        {
            return self.follow_arguments(&command.args[at + 1..], command, scope);
        }
        if command.program == "env" && (command.args.is_empty() || command.has("0", &["null"])) {
            return None;
        }
        if command.program == "command" && command.has("vV", &[]) {
            return None;
        }
        let found = WRAPPERS.iter().find_map(|wrapper| wrapped_words(wrapper, command));
        if let Some(args) = found {
            let mut there = None;
            let scope = match chosen_dir(command, args) {
                Some(dir) => {
                    let cwd = scope.resolve_path(dir, &self.ctx.home);
                    there.insert(Scope { cwd, ..self.fork(scope) })
                }
                None => scope,
            };
            let texts = texts_before(command, args);
            if texts.is_empty() {
                return self.follow_arguments(args, command, scope);
            }
            return Some(self.follow_texts(texts, command, scope));
        }
        let Some(args) = REMOTE_WRAPPERS.iter().find_map(|wrapper| wrapped_words(wrapper, command)) else {
            return self.follow_arguments(wrapped_by_unknown(command)?, command, scope);
        };
        let mut inner = self.fork(scope);
        let host = command.args.len().checked_sub(args.len() + 1).and_then(|at| command.args.get(at));
        inner.is_remote = command.program != "ssh" || !host.is_some_and(|host| names_here(host, command));
        if !inner.is_remote {
            inner.cwd.clone_from(&self.ctx.home);
        }
        if command.program == "ssh" && !args.is_empty() {
            return Some(self.follow_unwrapped(&args.join(" "), "ssh", &mut inner));
        }
        self.follow_arguments(args, command, &mut inner)
    }

    /// Runs arguments as a command. Assignments before it are taken as such.
    pub(super) fn follow_arguments(
        &mut self,
        args: &[String],
        command: &Command,
        scope: &mut Scope,
    ) -> Option<Output> {
        let mut args = args;
        let mut env = command.env.clone();
        while let Some((name, value)) = args.first().and_then(|arg| arg.split_once('=')) {
            if !is_name(name) {
                break;
            }
            env.push((name.to_owned(), value.to_owned()));
            args = &args[1..];
        }
        if args.is_empty() {
            return None;
        }
        if super::MAX_UNWRAPPINGS <= scope.unwrappings {
            self.add_obstacle(super::Obstacle::TooDeep);
            return Some(Output::default());
        }
        scope.unwrappings += 1;
        scope.wrappers.push(command.program.clone());
        let base = Command { env, stdin: scope.stdin.clone(), ..command_in(scope) };
        let output = self.follow_words(args.to_vec(), base, scope);
        scope.wrappers.pop();
        scope.unwrappings -= 1;
        Some(output)
    }

    /// `find -exec`, `fd -x`: `{}` stands for something in the folders that are searched.
    fn follow_find(&mut self, command: &Command, scope: &mut Scope) -> Option<Output> {
        let listed = self.output_of(command, scope).text.unwrap_or_default();
        let found: Vec<&str> = listed.lines().collect();
        let starts = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut rest = &command.args[..];
        let mut ran = false;
        while let Some(at) = rest.iter().position(|arg| starts.contains(&arg.as_str())) {
            let template: Vec<String> =
                rest[at + 1..].iter().take_while(|arg| !matches!(arg.as_str(), ";" | "+")).cloned().collect();
            let has_place = template.iter().any(|arg| arg.contains("{}"));
            for path in &found {
                if !self.spend(1) {
                    break;
                }
                let mut args: Vec<String> = template.iter().map(|arg| arg.replace("{}", path)).collect();
                if !has_place && command.program != "find" {
                    args.push((*path).to_owned());
                }
                let mut inner = self.fork(scope);
                ran |= self.follow_arguments(&args, command, &mut inner).is_some();
            }
            rest = &rest[at + 1 + template.len()..];
        }
        ran.then(|| Output { text: None, programs: vec!["find".to_owned()] })
    }

    /// `xargs` and `parallel`: what is read becomes arguments.
    fn follow_xargs(&mut self, command: &Command, scope: &mut Scope) -> Output {
        let valued = [
            "-n",
            "-P",
            "-L",
            "-d",
            "-a",
            "-s",
            "-E",
            "-I",
            "-J",
            "-j",
            "--max-args",
            "--max-procs",
            "--delimiter",
        ];
        let template = skip_options(&command.args, &valued);
        let (template, given) = match template.iter().position(|arg| arg.starts_with(":::")) {
            Some(at) if template[at].starts_with("::::") => {
                (&template[..at], vec![text::unknown(&template[at + 1..].join(" "))])
            }
            Some(at) => (&template[..at], template[at + 1..].to_vec()),
            None => (template, Vec::new()),
        };
        if command.program == "parallel" && template.is_empty() {
            return self.follow_lines(given, scope);
        }
        let mut arguments = given;
        let files = command.values("a", &["arg-file"]);
        let listed: Vec<String> = files.iter().map(|file| self.listed_in(file, scope)).collect();
        let stdin = &scope.stdin;
        match &stdin.text {
            _ if !listed.is_empty() => arguments.extend(listed),
            Some(text) => {
                arguments.extend(text::split(text, " \t\n\0").into_iter().map(str::to_owned));
            }
            None if arguments.is_empty() => {
                arguments.push(text::unknown(&format!("$({})", stdin.programs.join(" "))));
            }
            None => {}
        }
        let place = place_of_arguments(command).to_owned();
        let has_place = (command.has("IJi", &["replace"]) || command.program == "parallel")
            && template.iter().any(|arg| arg.contains(&place));
        let mut args: Vec<String> = Vec::new();
        if has_place {
            // A hundred numbers that are not known are one value.
            arguments.dedup();
            for value in &arguments {
                let mut replaced: Vec<String> =
                    template.iter().map(|arg| arg.replace(&place, value)).collect();
                if command.program == "parallel" && template.len() == 1 {
                    replaced.splice(0..0, ["sh".to_owned(), "-c".to_owned()]);
                }
                let mut inner = self.fork(scope);
                self.follow_arguments(&replaced, command, &mut inner);
            }
            return Output { text: None, programs: vec!["xargs".to_owned()] };
        }
        args.extend(template.iter().cloned());
        if args.is_empty() {
            args.push("echo".to_owned());
        }
        args.extend(arguments);
        if command.program == "parallel" && template.len() == 1 && template[0].contains(' ') {
            args =
                vec!["sh".to_owned(), "-c".to_owned(), format!("{} {}", template[0], quote_args(&args[1..]))];
        }
        let mut inner = self.fork(scope);
        inner.stdin = Stdin::default();
        self.follow_arguments(&args, command, &mut inner);
        Output { text: None, programs: vec!["xargs".to_owned()] }
    }

    /// The arguments in a file.
    fn listed_in(&self, file: &str, scope: &Scope) -> String {
        let known = self.known_texts(file, scope);
        known.first().map_or_else(|| text::unknown(file), |text| text.trim().to_owned())
    }

    /// `parallel` without a command: each line that it is given is one.
    fn follow_lines(&mut self, given: Vec<String>, scope: &Scope) -> Output {
        let lines = match &scope.stdin.text {
            _ if !given.is_empty() => given,
            Some(text) => text.lines().map(str::to_owned).collect(),
            None => vec![text::unknown(&format!("$({})", scope.stdin.programs.join(" ")))],
        };
        let mut inner = Scope { stdin: Stdin::default(), ..self.fork(scope) };
        for line in &lines {
            self.follow_if_known(line, "parallel", &mut inner);
        }
        Output { text: None, programs: vec!["parallel".to_owned()] }
    }
}

/// What stands for the arguments in the command of `xargs`: `{}` unless `-I` names something else.
fn place_of_arguments(command: &Command) -> &str {
    let named = command.values("IJ", &[]).first().copied();
    let attached = |arg| ["--replace=", "-i"].iter().find_map(|option| str::strip_prefix(arg, option));
    let attached =
        command.args.iter().map(String::as_str).take_while(|arg| arg.starts_with('-')).find_map(attached);
    named.or(attached.filter(|place| !place.is_empty())).unwrap_or("{}")
}

/// The folder that `env -C` and `sudo -D` go to.
fn chosen_dir<'a>(command: &'a Command, wrapped: &[String]) -> Option<&'a str> {
    let letter = match command.program.as_str() {
        "env" => "-C",
        "sudo" => "-D",
        _ => return None,
    };
    let own = &command.args[..command.args.len().saturating_sub(wrapped.len())];
    let next = |at: usize| own.get(at + 1).map(String::as_str);
    own.iter().enumerate().find_map(|(at, arg)| match arg.strip_prefix("--chdir") {
        Some("") => next(at),
        Some(dir) => dir.strip_prefix('='),
        None if arg == letter => next(at),
        None => arg.strip_prefix(letter),
    })
}

/// Whether `ssh` stays on this machine.
fn names_here(host: &str, command: &Command) -> bool {
    let is_host = |host: &String| is_loopback(host);
    is_loopback(host) || (host == "--" && command.args.iter().any(is_host))
}

/// The command in the arguments of a wrapper.
fn wrapped_words<'a>(wrapper: &Wrapper, command: &'a Command) -> Option<&'a [String]> {
    if wrapper.name != command.program {
        return None;
    }
    let mut rest = skip_options(&command.args, wrapper.valued);
    if !wrapper.verb.is_empty() {
        if rest.first().is_some_and(|word| word == "compose") {
            rest = skip_options(&rest[1..], wrapper.valued);
        }
        if !wrapper.verb.split('|').any(|verb| rest.first().is_some_and(|word| word == verb)) {
            return None;
        }
        rest = skip_options(&rest[1..], wrapper.valued);
    }
    for _ in 0..wrapper.skip {
        rest = skip_options(rest.get(1..)?, wrapper.valued);
    }
    Some(rest)
}

/// The shell text in the options that stand before the command of a wrapper. What comes later are options of the command.
fn texts_before(command: &Command, wrapped: &[String]) -> Vec<String> {
    let Some((_, letters, names)) = TEXT_OPTIONS.iter().find(|(name, ..)| *name == command.program) else {
        return Vec::new();
    };
    let own = command.args.len().saturating_sub(wrapped.len());
    let own = Command { args: command.args[..own].to_vec(), ..Command::default() };
    own.values(letters, names).into_iter().map(str::to_owned).collect()
}

/// The arguments after the options at their start.
fn skip_options<'a>(args: &'a [String], valued: &[&str]) -> &'a [String] {
    let mut rest = args;
    while let Some(arg) = rest.first() {
        if arg == "--" {
            return &rest[1..];
        }
        if !arg.starts_with('-') || arg == "-" {
            return rest;
        }
        let takes_next = valued.contains(&arg.as_str());
        rest = rest.get(if takes_next { 2 } else { 1 }..).unwrap_or_default();
    }
    rest
}

/// What `setarch` may name before the command.
fn is_architecture(name: &str) -> bool {
    let families = ["linux", "uname", "i386", "i486", "i586", "i686", "x86", "arm", "aarch", "ppc", "riscv"];
    families.iter().any(|family| name.starts_with(family))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|next| next == '_' || next.is_ascii_alphanumeric())
        && !text.starts_with(|next: char| next.is_ascii_digit())
}
