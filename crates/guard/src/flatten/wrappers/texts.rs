//! Programs that take a command as one text.

use super::{
    super::{Flattener, Output, Scope, simple::quote_args},
    skip_options,
};
use crate::{
    command::{Command, Stdin},
    script::{make, sed},
    text,
};

impl Flattener<'_> {
    /// Runs the texts that a program has a shell run.
    pub(super) fn follow_wrapped_texts(&mut self, command: &Command, scope: &mut Scope) -> Option<Output> {
        let mut texts = texts_of_runners(command);
        texts.extend(texts_of_options(command));
        texts.extend(texts_of_tools(command));
        texts.retain(|code| !code.is_empty());
        let clients = texts_of_clients(command);
        if !clients.is_empty() {
            // What they read is for them, not for the commands in it.
            let mut inner = self.fork(scope);
            inner.stdin = Stdin::default();
            return Some(self.follow_texts(clients, command, &inner));
        }
        if texts.is_empty() { None } else { Some(self.follow_texts(texts, command, scope)) }
    }

    /// Scripts of tools that can run commands of a shell.
    pub(super) fn follow_tool_script(&mut self, command: &Command, scope: &Scope) -> Option<Output> {
        let texts = match command.program.as_str() {
            "sed" => sed::commands_in_sed(&sed_script(command)),
            "make" | "gmake" | "just" => {
                let files = command.values("f", &["file", "makefile", "justfile"]);
                let texts = files.iter().flat_map(|file| match *file {
                    "-" | "/dev/stdin" => scope.stdin.text.clone().into_iter().collect(),
                    file => self.known_texts(file, scope).iter().map(ToString::to_string).collect::<Vec<_>>(),
                });
                texts.flat_map(|text| make::commands_in_makefile(&text)).collect()
            }
            _ => return None,
        };
        if texts.is_empty() || !self.spend(1 + texts.iter().map(String::len).sum::<usize>() / 64) {
            return None;
        }
        let mut inner = self.fork(scope);
        for code in texts {
            self.follow_if_known(&code, &command.program, &mut inner);
        }
        Some(Output { text: None, programs: vec![command.program.clone()] })
    }

    pub(super) fn follow_texts(&mut self, texts: Vec<String>, command: &Command, scope: &Scope) -> Output {
        let mut inner = self.fork(scope);
        for code in texts {
            self.follow_unwrapped(&code, &command.program, &mut inner);
        }
        Output { text: None, programs: vec![command.program.clone()] }
    }
}

/// The script in the arguments of `sed`.
fn sed_script(command: &Command) -> String {
    let scripts = command.values("e", &["expression"]);
    if !scripts.is_empty() || command.has("f", &["file"]) {
        return scripts.join("\n");
    }
    command.operands(&["-l", "--line-length"]).first().copied().unwrap_or_default().to_owned()
}

/// Programs that are there to run other programs again, next to each other or in another terminal.
fn texts_of_runners(command: &Command) -> Vec<String> {
    let operands = |valued| command.operands(valued).into_iter().map(str::to_owned).collect::<Vec<_>>();
    match command.program.as_str() {
        "watch" => vec![skip_options(&command.args, &["-n", "--interval", "-q"]).join(" ")],
        "watchexec" => vec![skip_options(&command.args, WATCHEXEC_VALUED).join(" ")],
        "entr" => {
            let rest = skip_options(&command.args, &[]);
            let own = &command.args[..command.args.len() - rest.len()];
            let is_text = own.iter().any(|arg| arg.contains('s'));
            rest.first().filter(|_| is_text).into_iter().cloned().collect()
        }
        "nodemon" => {
            let at = command.args.iter().position(|arg| arg == "-x" || arg == "--exec");
            let rest = at.and_then(|at| command.args[at + 1..].split_first());
            rest.map(|(code, args)| format!("{code} {}", quote_args(args))).into_iter().collect()
        }
        "hyperfine" => {
            let mut texts = operands(&["-w", "-r", "-m", "-M", "--warmup", "--runs"]);
            let options = command.values("psc", &["prepare", "setup", "cleanup", "conclude"]);
            texts.extend(options.into_iter().map(str::to_owned));
            texts
        }
        // `npm:dev` is short for `npm run dev`.
        "concurrently" => operands(&["-n", "-c", "-p", "-m"])
            .into_iter()
            .filter(|text| !["npm:", "yarn:", "pnpm:", "bun:"].iter().any(|short| text.starts_with(short)))
            .collect(),
        "tmux" if command.has_word(&TMUX_RUNS) => {
            operands(&["-s", "-t", "-n", "-c", "-x", "-y"]).into_iter().skip(1).collect()
        }
        "xdotool" | "ydotool" | "dotool" | "wtype" | "kdotool" => {
            let words = operands(&["-d", "--delay", "--window", "--clearmodifiers", "-s", "-k", "-M", "-m"]);
            let typed = words.into_iter().filter(|word| word != "type" && word.contains(' '));
            typed.collect()
        }
        "screen" => vec![operands(&["-S", "-dmS", "-mdS", "-DmS", "-c", "-p"]).join(" ")],
        _ => Vec::new(),
    }
}

const WATCHEXEC_VALUED: &[&str] = &[
    "-w",
    "--watch",
    "-e",
    "--exts",
    "-i",
    "--ignore",
    "-f",
    "--filter",
    "-d",
    "--debounce",
    "-s",
    "--signal",
    "-E",
    "--env",
    "-o",
    "--on-busy-update",
    "--shell",
    "--workdir",
    "--stop-signal",
    "--stop-timeout",
    "--delay-run",
    "--project-origin",
];

/// What `tmux` does with text that a shell will read.
const TMUX_RUNS: [&str; 7] =
    ["new-session", "new", "new-window", "split-window", "run-shell", "send-keys", "send"];

/// Options that take a command.
fn texts_of_options(command: &Command) -> Vec<String> {
    let text = |value: Option<&&str>| value.map(|value| (*value).to_owned());
    let verb = command.operands(&["-C", "-c"]).first().copied().unwrap_or_default().to_owned();
    match command.program.as_str() {
        "su" | "script" | "sg" | "runuser" | "vagrant" | "capsh" => {
            text(command.values("c", &["command"]).first()).into_iter().collect()
        }
        "env" => split_by_env(&command.args).into_iter().collect(),
        "nix-shell" => text(command.values("", &["run", "command"]).first()).into_iter().collect(),
        "git" => texts_of_git(command, &verb),
        "vim" | "vi" | "nvim" | "ex" | "less" | "more" => texts_of_editor(command),
        "ssh" | "scp" | "sftp" => texts_of_ssh(command),
        "zip" => command.values("", &["TT", "unzip-command"]).into_iter().map(str::to_owned).collect(),
        "chokidar" => text(command.values("c", &["command"]).first()).into_iter().collect(),
        "powershell" | "pwsh" => command
            .values("c", &["Command", "command", "EncodedCommand"])
            .into_iter()
            // There it only stands between folders.
            .map(|code| code.replace('\\', "/"))
            .collect(),
        "gcloud" => text(command.values("", &["command"]).first()).into_iter().collect(),
        "fly" | "flyctl" if verb == "ssh" => {
            text(command.values("C", &["command"]).first()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What `env -S` makes of its text and the arguments behind it.
fn split_by_env(args: &[String]) -> Option<String> {
    let at = args
        .iter()
        .position(|arg| ["-S", "-vS", "--split-string"].iter().any(|name| arg.starts_with(name)))?;
    let attached = args[at].split_once(['S', '=']).map(|(_, text)| text).filter(|text| !text.is_empty());
    let rest = if attached.is_some() { at + 1 } else { at + 2 };
    let text = attached.or(args.get(at + 1).map(String::as_str))?;
    Some(format!("{text} {}", quote_args(args.get(rest..).unwrap_or_default())))
}

/// Options of tools that have another program do a part of the work.
fn texts_of_tools(command: &Command) -> Vec<String> {
    let values =
        |letters, names| command.values(letters, names).into_iter().map(str::to_owned).collect::<Vec<_>>();
    match command.program.as_str() {
        "tar" | "bsdtar" => {
            let letters = if command.program == "tar" { "IF" } else { "" };
            let texts = values(letters, TAR_RUNS).into_iter();
            texts.map(|code| code.trim_start_matches("exec=").to_owned()).collect()
        }
        "make" | "gmake" => command
            .args
            .iter()
            .filter_map(|arg| arg.strip_prefix("SHELL=").or_else(|| arg.strip_prefix("--eval=")))
            .map(str::to_owned)
            .collect(),
        "split" => values("", &["filter"]),
        "rsync" => values("e", &["rsh"]),
        "man" => values("P", &["pager"]),
        "rg" => {
            let mut paths: Vec<String> = command
                .operands(&["--pre", "-e", "-g", "-t"])
                .iter()
                .skip(1)
                .map(|path| (*path).to_owned())
                .collect();
            if paths.is_empty() {
                paths.push(format!("./{}", text::unknown("rg")));
            }
            values("", &["pre"]).into_iter().map(|code| format!("{code} {}", quote_args(&paths))).collect()
        }
        _ => Vec::new(),
    }
}

const TAR_RUNS: &[&str] = &[
    "checkpoint-action",
    "to-command",
    "use-compress-program",
    "info-script",
    "new-volume-script",
    "rsh-command",
];

/// Lines for a debugger or a database that are for the shell.
fn texts_of_clients(command: &Command) -> Vec<String> {
    let (lines, marks): (Vec<&str>, &[&str]) = match command.program.as_str() {
        "gdb" => (command.values("", &["ex", "iex", "eval-command", "init-eval-command"]), &["shell ", "!"]),
        "lldb" => {
            (command.values("oO", &["one-line", "one-line-before-file"]), &["platform shell ", "shell ", "!"])
        }
        "psql" => (command.values("c", &["command"]), &["\\!"]),
        "mysql" | "mariadb" => (command.values("e", &["execute"]), &["\\!", "system "]),
        "ed" | "red" => (Vec::new(), &["!"]),
        "sqlite3" | "duckdb" => (command.args.iter().map(String::as_str).collect(), &[".shell ", ".system "]),
        _ => return Vec::new(),
    };
    let read = command.stdin.text.iter().flat_map(|text| text.lines());
    let all = lines.into_iter().flat_map(str::lines).chain(read);
    let shells = all.filter_map(|line| marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)));
    shells.map(|code| code.trim().to_owned()).filter(|code| !code.is_empty()).collect()
}

/// The commands for a shell that an editor starts with.
fn texts_of_editor(command: &Command) -> Vec<String> {
    let commands = command.values("c", &["cmd"]).into_iter();
    let plus = command.args.iter().filter_map(|arg| arg.strip_prefix('+'));
    let shells = commands.chain(plus).filter_map(|code| code.trim_start_matches(':').strip_prefix('!'));
    shells.map(str::to_owned).collect()
}

/// Commands that reach a host or come before the session.
fn texts_of_ssh(command: &Command) -> Vec<String> {
    let options = command.values("o", &[]);
    let pairs = options.iter().filter_map(|option| option.split_once(['=', ' ']));
    let runs = |name: &str| {
        ["proxycommand", "localcommand", "knownhostscommand"].contains(&name.to_lowercase().as_str())
    };
    pairs.filter(|(name, _)| runs(name)).map(|(_, code)| code.to_owned()).collect()
}

/// What git runs: aliases given on the command line, `bisect run`, `rebase --exec`, `submodule foreach`, filters.
fn texts_of_git(command: &Command, verb: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for setting in command.values("c", &[]) {
        let Some((key, value)) = setting.split_once('=') else { continue };
        let key = key.to_lowercase();
        if key.starts_with("alias.") {
            texts.push(value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned));
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
            texts.push(value.trim_start_matches('!').to_owned());
        }
    }
    match verb {
        "bisect" | "submodule" => {
            let at = command.args.iter().position(|arg| arg == "run" || arg == "foreach");
            texts.extend(at.map(|at| match skip_options(&command.args[at + 1..], &[]) {
                [text] => text.clone(),
                words => quote_args(words),
            }));
        }
        "grep" => {
            let pagers = ["-O", "--open-files-in-pager="];
            let given =
                |arg: &String| pagers.iter().find_map(|pager| arg.strip_prefix(pager).map(str::to_owned));
            texts.extend(command.args.iter().filter_map(given));
        }
        "difftool" => texts.extend(command.values("x", &["extcmd"]).into_iter().map(str::to_owned)),
        "clone" | "fetch" | "pull" | "ls-remote" | "push" | "archive" => {
            let helpers = command.args.iter().filter_map(|arg| arg.strip_prefix("ext::"));
            texts.extend(helpers.map(str::to_owned));
            let programs = command.values("", &["upload-pack", "receive-pack", "exec"]);
            texts.extend(programs.into_iter().map(str::to_owned));
        }
        "rebase" => texts.extend(command.values("x", &["exec"]).into_iter().map(str::to_owned)),
        "filter-branch" => {
            let filters = ["tree-filter", "index-filter", "msg-filter", "env-filter", "commit-filter"];
            texts.extend(command.values("", &filters).into_iter().map(str::to_owned));
        }
        _ => {}
    }
    texts.retain(|code| !code.is_empty());
    texts
}
