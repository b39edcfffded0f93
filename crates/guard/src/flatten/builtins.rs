//! Commands that change the shell itself, and commands that run text.

use super::{
    Flattener, Obstacle, Output, Scope, files::is_initializer, output::printf_output, simple::assign_variable,
};
use crate::{
    command::{Command, Stdin},
    programs::{self, FETCHERS, SHELLS},
    script, secrets,
    text::{self, is_known},
};

impl Flattener<'_> {
    /// Records a command and follows what it does to the shell and what it runs.
    pub(super) fn follow_command(&mut self, command: Command, scope: &mut Scope) -> Output {
        let mut command = command;
        self.read_queries(&mut command, scope);
        let at = self.flattened.commands.len();
        self.flattened.commands.push(command.clone());
        self.remember_files(&command, scope);
        if let Some(output) = self.change_shell(&command, scope) {
            return output;
        }
        if let Some(output) = self.follow_text_builtin(&command, scope) {
            return output;
        }
        if let Some(code) = self.interpreted_code(&command, scope) {
            self.follow_code(&code, &command, scope);
            self.flattened.commands[at].code = Some(code).filter(|code| code.len() <= super::MAX_VALUE_LEN);
            if script::EDITORS.contains(&command.program.as_str()) {
                // They also run lines of a shell.
                self.follow_wrapped(&command, scope);
            }
            return Output { text: None, programs: vec![command.program] };
        }
        if let Some(output) = self.follow_wrapped(&command, scope) {
            return output;
        }
        self.output_of(&command, scope)
    }

    /// Links, copies of programs, downloads: files that are something else than their names say.
    fn remember_files(&mut self, command: &Command, scope: &mut Scope) {
        let home = &self.ctx.home;
        match command.program.as_str() {
            "git" => {
                if let ["remote", "add", name, ..] = command.words()[..] {
                    scope.remotes.push(name.to_owned());
                }
            }
            "ln" | "cp" | "mv" | "install" => {
                if let [target, link] = command.operands(&["-t", "-m", "-o", "-g"])[..] {
                    let (target, link) = (scope.resolve_path(target, home), scope.resolve_path(link, home));
                    let is_program = ["/bin/", "/sbin/"].iter().any(|folder| target.contains(folder));
                    let is_download = scope.downloads.contains(&target);
                    if is_download {
                        scope.downloads.push(link.clone());
                    }
                    if command.program == "ln" || is_program || secrets::is_secret(&target, self.ctx) {
                        scope.links.insert(link, target);
                    }
                }
            }
            "mkfifo" | "mknod" => {
                for path in command.operands(&["-m", "--mode"]) {
                    self.files.add_pipe(scope.resolve_path(path, home));
                }
            }
            "tee" | "sponge" => {
                if let Some(text) = scope.stdin.text.clone() {
                    for file in command.operands(&[]) {
                        self.files.write(
                            &scope.resolve_path(file, home),
                            &text,
                            command.has("a", &["append"]),
                        );
                    }
                }
            }
            "curl" | "wget" | "aria2c" | "http" => {
                let named = command.values("oO", &["output", "output-document", "out"]);
                let redirected = command.redirects.iter().map(|redirect| redirect.path.clone());
                let mut files: Vec<String> = redirected.filter(|path| path != "/dev/null").collect();
                files.extend(
                    named
                        .iter()
                        .filter(|name| !name.starts_with('-'))
                        .map(|name| scope.resolve_path(name, home)),
                );
                let is_other_host = !command.args.iter().any(|arg| is_loopback(arg));
                if command.program == "wget" || command.has("O", &["remote-name"]) {
                    let last = command
                        .args
                        .iter()
                        .filter(|arg| arg.contains("://"))
                        .filter_map(|url| url.rsplit('/').next());
                    files.extend(last.map(|name| scope.resolve_path(name, home)));
                }
                if is_other_host {
                    scope.downloads.extend(files);
                }
            }
            _ => {}
        }
    }

    /// Builtins that change what follows. Their output is empty.
    fn change_shell(&mut self, command: &Command, scope: &mut Scope) -> Option<Output> {
        let args = &command.args;
        match command.program.as_str() {
            "cd" | "pushd" => self.change_directory(command, scope),
            "popd" => scope.cwd = scope.earlier_dirs.pop().unwrap_or_else(|| text::unknown("popd")),
            "export" | "declare" | "local" | "typeset" | "readonly" => {
                for (name, value) in args.iter().filter_map(|arg| arg.split_once('=')) {
                    let appends = name.ends_with('+');
                    let values = if is_known(value) && value.contains(' ') && command.has("aA", &[]) {
                        value.split(' ').map(str::to_owned).collect()
                    } else {
                        vec![value.to_owned()]
                    };
                    assign_variable(name.trim_end_matches('+'), values, appends, scope);
                }
            }
            "set" => {
                if let Some(at) = args.iter().position(|arg| arg == "--") {
                    scope.positional = args[at + 1..].to_vec();
                }
            }
            "shift" => {
                let count = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(1);
                scope.positional.drain(..scope.positional.len().min(count));
            }
            "alias" => {
                for (name, code) in args.iter().filter_map(|arg| arg.split_once('=')) {
                    scope.aliases.insert(name.to_owned(), code.to_owned());
                }
            }
            "hash" if command.has("p", &[]) => {
                if let [path, name] = command.operands(&[])[..] {
                    scope.aliases.insert(name.to_owned(), path.to_owned());
                }
            }
            "read" | "mapfile" | "readarray" => assign_stdin(command, scope),
            "printf" if args.first().is_some_and(|arg| arg == "-v") => {
                if let [_, name, format @ ..] = &args[..] {
                    let value = printf_output(format).unwrap_or_else(|| text::unknown("printf"));
                    scope.set_variable(name, value);
                }
            }
            _ => return None,
        }
        Some(Output { text: Some(String::new()), programs: vec![command.program.clone()] })
    }

    fn change_directory(&self, command: &Command, scope: &mut Scope) {
        let target = match command.operands(&[]).first() {
            None => self.ctx.home.clone(),
            Some(&"-") => scope.earlier_dirs.last().cloned().unwrap_or_else(|| text::unknown("$OLDPWD")),
            Some(path) => scope.resolve_path(path, &self.ctx.home),
        };
        let target = if target.len() < 1024 { target } else { text::unknown("cd") };
        scope.earlier_dirs.push(std::mem::replace(&mut scope.cwd, target));
        if 16 < scope.earlier_dirs.len() {
            scope.earlier_dirs.remove(0);
        }
    }

    /// Shells, `eval`, `source`, `trap`: text that becomes commands.
    fn follow_text_builtin(&mut self, command: &Command, scope: &mut Scope) -> Option<Output> {
        match command.program.as_str() {
            "eval" => Some(self.follow_eval(&command.args.join(" "), scope)),
            "trap" => {
                let code = command.operands(&[]).first().map(|code| (*code).to_owned())?;
                if scope.nesting < 2 && scope.unwrappings == 0 && self.traps.len() < 8 {
                    self.traps.push(code);
                    return Some(Output::default());
                }
                let mut inner = self.fork(scope);
                Some(self.follow_unwrapped(&code, "trap", &mut inner))
            }
            "source" | "." => {
                let file = command.args.first().cloned().unwrap_or_default();
                if programs::TYPED.contains(&file.as_str()) {
                    if !scope.stdin.is_given() && command.redirects.is_empty() {
                        self.add_obstacle(Obstacle::DynamicCode(text::for_display(&command.as_typed())));
                        return Some(Output::default());
                    }
                    return Some(self.follow_stdin(command, scope));
                }
                Some(self.follow_file(&file, command, scope))
            }
            shell if SHELLS.contains(&shell) => Some(self.follow_shell(command, scope)),
            _ => None,
        }
    }

    fn follow_eval(&mut self, code: &str, scope: &mut Scope) -> Output {
        if has_no_known_text(code) && text::sources(code).all(is_initializer) {
            return Output::default();
        }
        self.follow_if_known(code, "eval", scope)
    }

    /// Runs text if enough of it is known.
    pub(super) fn follow_if_known(&mut self, code: &str, wrapper: &str, scope: &mut Scope) -> Output {
        if !is_known(code) && has_no_known_text(code) {
            let shown = text::for_display(code.trim());
            let is_fetched = text::sources(code).any(programs::is_fetched);
            self.add_obstacle(if is_fetched {
                Obstacle::FetchedCode(shown)
            } else {
                Obstacle::DynamicCode(shown)
            });
            return Output::default();
        }
        self.follow_unwrapped(code, wrapper, scope)
    }

    fn follow_shell(&mut self, command: &Command, scope: &mut Scope) -> Output {
        let mut inner = self.fork(scope);
        let at = command.args.iter().take_while(|arg| arg.starts_with(['-', '+'])).position(|arg| {
            arg == "--command" || (!arg.starts_with("--") && arg.contains('c') && !arg.contains("norc"))
        });
        if let Some(at) = at {
            let mut rest =
                command.args[at + 1..].iter().skip_while(|arg| arg.starts_with('-') && arg.len() > 1);
            let Some(code) = rest.next() else {
                self.add_obstacle(Obstacle::DynamicCode(text::for_display(&command.as_typed())));
                return Output::default();
            };
            if let Some(name) = rest.next() {
                inner.set_variable("0", name.clone());
            }
            inner.positional = rest.cloned().collect();
            return self.follow_if_known(code, &format!("{} -c", command.program), &mut inner);
        }
        let reads_input = command.has("s", &[]);
        let operands = command.operands(&["--rcfile", "--init-file", "-o", "-O", "+o", "+O"]);
        let file = operands.first().filter(|file| !reads_input && **file != "-" && **file != "/dev/stdin");
        match file {
            Some(file) => {
                inner.positional = operands[1..].iter().map(|arg| (*arg).to_owned()).collect();
                if !self.known_texts(file, scope).is_empty() {
                    // A script that runs `$0` runs itself.
                    inner.set_variable("0", scope.resolve_path(file, &self.ctx.home));
                }
                self.follow_file(file, command, &mut inner)
            }
            None => self.follow_stdin(command, &mut inner),
        }
    }

    /// Standard input is run as a script.
    fn follow_stdin(&mut self, command: &Command, scope: &mut Scope) -> Output {
        let stdin = std::mem::take(&mut scope.stdin);
        if let Some(code) = stdin.text.clone().filter(|code| is_known(code) || !has_no_known_text(code)) {
            return self.follow_unwrapped(&code, &format!("{} (input)", command.program), scope);
        }
        self.check_unknown_stdin(command, &stdin);
        Output { text: None, programs: vec![command.program.clone()] }
    }

    /// Code that is read from a pipe or a file, and not known.
    pub(super) fn check_unknown_stdin(&mut self, command: &Command, stdin: &Stdin) {
        let from = stdin.programs.join(" | ");
        let unknown = stdin.text.as_deref().map(|text| text::sources(text).collect::<Vec<_>>().join(" "));
        let is_fetched = stdin.programs.iter().any(|program| FETCHERS.contains(&program.as_str()))
            || unknown.as_deref().is_some_and(programs::is_fetched)
            || stdin.file.as_ref().is_some_and(|file| command.downloads.contains(file));
        if is_fetched {
            self.add_obstacle(Obstacle::FetchedCode(format!("{from} | {}", command.program)));
        } else if let Some(file) = stdin.file.as_ref().filter(|file| self.files.is_pipe(file)) {
            self.add_obstacle(Obstacle::DynamicCode(format!("{} < {file}", command.program)));
        } else if stdin.programs.iter().any(|program| program != "cat")
            || unknown.is_some_and(|text| !text.is_empty())
        {
            self.add_obstacle(Obstacle::DynamicCode(format!("{from} | {}", command.program)));
        }
    }
}

/// Whether nothing of a text is known but white space.
fn has_no_known_text(code: &str) -> bool {
    text::known_parts(code).trim().is_empty()
}

/// `read` and `mapfile`: what is known of the input becomes the value.
fn assign_stdin(command: &Command, scope: &mut Scope) {
    let names = command.operands(&["-p", "-d", "-t", "-n", "-N", "-u", "-a", "-O", "-s"]);
    let source = scope.stdin.programs.first().or(scope.stdin.file.as_ref()).cloned().unwrap_or_default();
    let lines: Vec<String> = match &scope.stdin.text {
        Some(text) => text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        None => vec![text::unknown(&format!("$({source})"))],
    };
    match &names[..] {
        [] => {
            scope.variables.insert("REPLY".to_owned(), lines);
        }
        [name] => {
            scope.variables.insert((*name).to_owned(), lines);
        }
        names => {
            for (at, name) in names.iter().enumerate() {
                let field = |line: &String| {
                    text::split(line, " \t")
                        .get(at)
                        .map_or_else(|| text::unknown("read"), |field| (*field).to_owned())
                };
                scope.variables.insert((*name).to_owned(), lines.iter().map(field).collect());
            }
        }
    }
}

/// Whether an argument names this machine.
pub(crate) fn is_loopback(arg: &str) -> bool {
    let rest = arg.split_once("://").map_or(arg, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.strip_prefix("[").map_or(host, |inner| inner.split(']').next().unwrap_or_default());
    let name = if host.matches(':').count() == 1 { host.split(':').next().unwrap_or_default() } else { host };
    let is_name = ["localhost", "::1", "0.0.0.0", "host.docker.internal"].contains(&name)
        || name.ends_with(".localhost");
    is_name || name.starts_with("127.")
}
