//! Programs that take a command as one text.

use super::{
    super::{Flattener, Output, Scope, simple::quote},
    skip_options,
};
use crate::guard::invocation::Invocation;

impl Flattener<'_> {
    /// Runs the texts that a program has a shell run.
    pub(super) fn wrapped_text(&mut self, one: &Invocation, scope: &mut Scope) -> Option<Output> {
        let mut codes = of_runners(one);
        codes.extend(of_options(one));
        codes.retain(|code| !code.is_empty());
        if codes.is_empty() { None } else { Some(self.run_texts(codes, one, scope)) }
    }

    pub(super) fn run_texts(&mut self, codes: Vec<String>, one: &Invocation, scope: &Scope) -> Output {
        let mut inner = self.fork(scope);
        for code in codes {
            self.unwrap(&code, &one.program, &mut inner);
        }
        Output { text: None, programs: vec![one.program.clone()] }
    }
}

/// Programs that are there to run other programs again, next to each other or in another terminal.
fn of_runners(one: &Invocation) -> Vec<String> {
    let operands = |valued| one.operands(valued).into_iter().map(str::to_owned).collect::<Vec<_>>();
    match one.program.as_str() {
        "watch" => vec![skip_options(&one.args, &["-n", "--interval", "-q"]).join(" ")],
        "watchexec" => vec![skip_options(&one.args, WATCHEXEC_VALUED).join(" ")],
        "entr" => {
            let rest = skip_options(&one.args, &[]);
            let own = &one.args[..one.args.len() - rest.len()];
            let is_text = own.iter().any(|arg| arg.contains('s'));
            rest.first().filter(|_| is_text).into_iter().cloned().collect()
        }
        "nodemon" => {
            let at = one.args.iter().position(|arg| arg == "-x" || arg == "--exec");
            let rest = at.and_then(|at| one.args[at + 1..].split_first());
            rest.map(|(code, args)| format!("{code} {}", quote(args))).into_iter().collect()
        }
        "hyperfine" => {
            let mut codes = operands(&["-w", "-r", "-m", "-M", "--warmup", "--runs"]);
            let options = one.values("psc", &["prepare", "setup", "cleanup", "conclude"]);
            codes.extend(options.into_iter().map(str::to_owned));
            codes
        }
        "concurrently" => operands(&["-n", "-c", "-p", "-m"]),
        "tmux" if one.has_word(&TMUX_RUNS) => {
            operands(&["-s", "-t", "-n", "-c", "-x", "-y"]).into_iter().skip(1).collect()
        }
        "screen" => vec![operands(&["-S", "-c", "-p"]).join(" ")],
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
fn of_options(one: &Invocation) -> Vec<String> {
    let text = |value: Option<&&str>| value.map(|value| (*value).to_owned());
    let verb = one.operands(&["-C", "-c"]).first().copied().unwrap_or_default().to_owned();
    match one.program.as_str() {
        "su" | "script" | "sg" | "runuser" | "vagrant" | "capsh" => {
            text(one.values("c", &["command"]).first()).into_iter().collect()
        }
        "env" => text(one.values("S", &["split-string"]).first()).into_iter().collect(),
        "nix-shell" => text(one.values("", &["run", "command"]).first()).into_iter().collect(),
        "git" => git_codes(one, &verb),
        "vim" | "vi" | "nvim" | "ex" | "emacs" => of_editor(one),
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
    }
}

/// The commands for a shell that an editor starts with.
fn of_editor(one: &Invocation) -> Vec<String> {
    let commands = one.values("c", &["cmd"]).into_iter();
    let plus = one.args.iter().filter_map(|arg| arg.strip_prefix('+'));
    let shells = commands.chain(plus).filter_map(|code| code.trim_start_matches(':').strip_prefix('!'));
    shells.map(str::to_owned).collect()
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
