//! Programs that run other programs: what they are given is judged as if it were typed.

mod table;

use super::{
    Flattener, Output, Scope,
    simple::{invocation, quote},
};
use crate::guard::{invocation::Invocation, text};
use table::{ELSEWHERE, WRAPPERS, Wrapper};

impl Flattener<'_> {
    /// Runs what a command was given to run, if it is one that does so.
    pub(super) fn wrapped(&mut self, one: &Invocation, scope: &mut Scope) -> Option<Output> {
        if let Some(output) = self.wrapped_text(one, scope) {
            return Some(output);
        }
        if one.program == "find" || one.program == "fd" || one.program == "fdfind" {
            return self.find(one, scope);
        }
        if one.program == "xargs" || one.program == "parallel" {
            return Some(self.xargs(one, scope));
        }
        if one.program.starts_with("ld-linux") || one.program.starts_with("ld-musl") || one.program == "ld.so"
        {
            return self.inner(
                skip_options(&one.args, &["--library-path", "--preload", "--argv0"]),
                one,
                scope,
            );
        }
        if one.program == "env" && (one.args.is_empty() || one.has("0", &["null"])) {
            return None;
        }
        if one.program == "command" && one.has("vV", &[]) {
            return None;
        }
        let found = WRAPPERS.iter().find_map(|wrapper| command_of(wrapper, one));
        if let Some(args) = found {
            return self.inner(args, one, scope);
        }
        let args = ELSEWHERE.iter().find_map(|wrapper| command_of(wrapper, one))?;
        let mut inner = self.fork(scope);
        inner.is_elsewhere = true;
        if one.program == "ssh" && !args.is_empty() {
            return Some(self.unwrap(&args.join(" "), "ssh", &mut inner));
        }
        self.inner(args, one, &mut inner)
    }

    /// Runs arguments as a command. Assignments before it are taken as such.
    pub(super) fn inner(&mut self, args: &[String], one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let mut args = args;
        let mut env = Vec::new();
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
        if super::DEEPEST_UNWRAPPING <= scope.unwrapped {
            self.obstacle(super::Obstacle::TooDeep);
            return Some(Output::default());
        }
        scope.unwrapped += 1;
        scope.wrappers.push(one.program.clone());
        let base = Invocation { env, input: scope.input.clone(), ..invocation(scope) };
        let output = self.dispatch(args.to_vec(), base, scope);
        scope.wrappers.pop();
        scope.unwrapped -= 1;
        Some(output)
    }

    /// Programs that take a command as one text.
    fn wrapped_text(&mut self, one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let text = |value: Option<&&str>| value.map(|value| (*value).to_owned());
        let verb = one.operands(&["-C", "-c"]).first().copied().unwrap_or_default().to_owned();
        let codes: Vec<String> = match one.program.as_str() {
            "watch" => vec![one.operands(&["-n", "--interval"]).join(" ")],
            "hyperfine" | "concurrently" | "entr" => {
                one.operands(&["-w", "-r", "-n"]).iter().map(|code| (*code).to_owned()).collect()
            }
            "su" | "script" | "flock" | "sg" | "runuser" | "vagrant" | "capsh" => {
                text(one.values("c", &["command"]).first()).into_iter().collect()
            }
            "env" => text(one.values("S", &["split-string"]).first()).into_iter().collect(),
            "nix-shell" => text(one.values("", &["run", "command"]).first()).into_iter().collect(),
            "git" => git_codes(one, &verb),
            "vim" | "vi" | "nvim" | "ex" | "emacs" => {
                let commands = one.values("c", &["cmd"]).into_iter().map(str::to_owned);
                let plus = one.args.iter().filter_map(|arg| arg.strip_prefix('+')).map(str::to_owned);
                let shells = commands
                    .chain(plus)
                    .filter_map(|code| code.trim_start_matches(':').strip_prefix('!').map(str::to_owned));
                shells.collect()
            }
            "tar" | "bsdtar" => {
                let action = one.values("", &["checkpoint-action", "to-command", "use-compress-program"]);
                action.into_iter().map(|code| code.trim_start_matches("exec=").to_owned()).collect()
            }
            "make" | "gmake" => one
                .args
                .iter()
                .filter_map(|arg| arg.strip_prefix("SHELL=").or_else(|| arg.strip_prefix("--eval=")))
                .map(str::to_owned)
                .collect(),
            "powershell" | "pwsh" => one
                .values("c", &["Command", "command", "EncodedCommand"])
                .into_iter()
                .map(str::to_owned)
                .collect(),
            "rsync" => one.values("e", &["rsh"]).into_iter().map(str::to_owned).collect(),
            "tmux"
                if one.has_word(&[
                    "new-session",
                    "new",
                    "new-window",
                    "split-window",
                    "run-shell",
                    "send-keys",
                    "send",
                ]) =>
            {
                one.operands(&["-s", "-t", "-n", "-c", "-x", "-y"])
                    .into_iter()
                    .skip(1)
                    .map(str::to_owned)
                    .collect()
            }
            "screen" => vec![one.operands(&["-S", "-c", "-p"]).join(" ")],
            "gcloud" => text(one.values("", &["command"]).first()).into_iter().collect(),
            "fly" | "flyctl" if verb == "ssh" => {
                text(one.values("C", &["command"]).first()).into_iter().collect()
            }
            "sqlite3" => one
                .args
                .iter()
                .filter_map(|arg| arg.strip_prefix(".shell ").or_else(|| arg.strip_prefix(".system ")))
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        let codes: Vec<String> = codes.into_iter().filter(|code| !code.is_empty()).collect();
        if codes.is_empty() {
            return None;
        }
        let mut inner = self.fork(scope);
        for code in codes {
            self.unwrap(&code, &one.program, &mut inner);
        }
        Some(Output { text: None, programs: vec![one.program.clone()] })
    }

    /// `find -exec`, `fd -x`: `{}` stands for something in the folders that are searched.
    fn find(&mut self, one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let listed = self.output(one, scope).text.unwrap_or_default();
        let found: Vec<&str> = listed.lines().collect();
        let starts = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut rest = &one.args[..];
        let mut ran = false;
        while let Some(at) = rest.iter().position(|arg| starts.contains(&arg.as_str())) {
            let command: Vec<String> =
                rest[at + 1..].iter().take_while(|arg| !matches!(arg.as_str(), ";" | "+")).cloned().collect();
            let has_place = command.iter().any(|arg| arg.contains("{}"));
            for path in &found {
                if !self.spend(1) {
                    break;
                }
                let mut args: Vec<String> = command.iter().map(|arg| arg.replace("{}", path)).collect();
                if !has_place && one.program != "find" {
                    args.push((*path).to_owned());
                }
                let mut inner = self.fork(scope);
                ran |= self.inner(&args, one, &mut inner).is_some();
            }
            rest = &rest[at + 1 + command.len()..];
        }
        ran.then(|| Output { text: None, programs: vec!["find".to_owned()] })
    }

    /// `xargs` and `parallel`: what is read becomes arguments.
    fn xargs(&mut self, one: &Invocation, scope: &mut Scope) -> Output {
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
        let command = skip_options(&one.args, &valued);
        let (command, given) = match command.iter().position(|arg| arg == ":::") {
            Some(at) => (&command[..at], command[at + 1..].to_vec()),
            None => (command, Vec::new()),
        };
        let input = &scope.input;
        let mut arguments = given;
        match &input.text {
            Some(text) => {
                arguments.extend(text::split(text, " \t\n\0").into_iter().take(32).map(str::to_owned));
            }
            None if arguments.is_empty() => {
                arguments.push(text::unknown(&format!("$({})", input.programs.join(" "))));
            }
            None => {}
        }
        let place = one.values("IJ", &["replace"]).first().map_or("{}", |place| *place).to_owned();
        let has_place = (one.has("IJi", &["replace"]) || one.program == "parallel")
            && command.iter().any(|arg| arg.contains(&place));
        let mut args: Vec<String> = Vec::new();
        if has_place {
            for value in arguments.iter().take(4) {
                let replaced: Vec<String> = command.iter().map(|arg| arg.replace(&place, value)).collect();
                let mut inner = self.fork(scope);
                self.inner(&replaced, one, &mut inner);
            }
            return Output { text: None, programs: vec!["xargs".to_owned()] };
        }
        args.extend(command.iter().cloned());
        if args.is_empty() {
            args.push("echo".to_owned());
        }
        args.extend(arguments);
        if one.program == "parallel" && command.len() == 1 && command[0].contains(' ') {
            args = vec!["sh".to_owned(), "-c".to_owned(), format!("{} {}", command[0], quote(&args[1..]))];
        }
        let mut inner = self.fork(scope);
        inner.input = super::Input::default();
        self.inner(&args, one, &mut inner);
        Output { text: None, programs: vec!["xargs".to_owned()] }
    }
}

/// What git runs: aliases given on the command line, `bisect run`, `rebase --exec`, `submodule foreach`, filters.
fn git_codes(one: &Invocation, verb: &str) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for setting in one.values("c", &[]) {
        let Some((key, value)) = setting.split_once('=') else { continue };
        let key = key.to_lowercase();
        if key.starts_with("alias.") {
            codes.push(value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned));
        } else if [
            "core.sshcommand",
            "core.pager",
            "core.editor",
            "core.fsmonitor",
            "credential.helper",
            "diff.external",
        ]
        .contains(&key.as_str())
        {
            codes.push(value.trim_start_matches('!').to_owned());
        }
    }
    match verb {
        "bisect" | "submodule" => {
            let at = one.args.iter().position(|arg| arg == "run" || arg == "foreach");
            codes.extend(at.map(|at| one.args[at + 1..].join(" ")));
        }
        "rebase" => codes.extend(one.values("x", &["exec"]).into_iter().map(str::to_owned)),
        "filter-branch" => {
            let filters = ["tree-filter", "index-filter", "msg-filter", "env-filter", "commit-filter"];
            codes.extend(one.values("", &filters).into_iter().map(str::to_owned));
        }
        _ => {}
    }
    codes.retain(|code| !code.is_empty());
    codes
}

/// The command in the arguments of a wrapper.
fn command_of<'a>(wrapper: &Wrapper, one: &'a Invocation) -> Option<&'a [String]> {
    if wrapper.name != one.program {
        return None;
    }
    let mut rest = skip_options(&one.args, wrapper.valued);
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

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|next| next == '_' || next.is_ascii_alphanumeric())
        && !text.starts_with(|next: char| next.is_ascii_digit())
}
