//! Programs of which it is not known that they run others.

use crate::command::Command;

/// Programs that talk about commands instead of running them.
const TALKS: &[&str] = &[
    "",
    ":",
    "true",
    "false",
    "echo",
    "printf",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "man",
    "tldr",
    "cheat",
    "help",
    "info",
    "which",
    "type",
    "whereis",
    "whatis",
    "apropos",
    "git",
    "gh",
    "glab",
    "test",
    "[",
    "[[",
    "logger",
    "say",
    "notify-send",
    "ralph",
    "jq",
    "yq",
    "awk",
    "sed",
    "ls",
    "cat",
    "alias",
    "export",
    "declare",
    "local",
    "set",
    "docker",
    "podman",
    "kubectl",
    "dpkg",
    "apt",
    "apt-get",
    "brew",
    "pgrep",
    "pkill",
    "history",
    "complete",
    "explainshell",
    "cut",
    "tr",
    "sort",
    "head",
    "tail",
    "wc",
    "basename",
    "hash",
    "unalias",
    "expr",
    "read",
    "case",
    "for",
    "gum",
    "dialog",
    "whiptail",
];

/// A command that deletes or is a shell, in the arguments of a program of which it is not known that it runs any.
pub(super) fn wrapped_by_unknown(command: &Command) -> Option<&[String]> {
    if TALKS.contains(&command.program.as_str()) {
        return None;
    }
    let is_command = |pair: &[String]| {
        let [name, option] = pair else { return false };
        let letters = option.strip_prefix('-').unwrap_or_default();
        match name.rsplit('/').next().unwrap_or_default() {
            "rm" | "shred" => !letters.is_empty() && letters.chars().all(|next| "rRfvidu-".contains(next)),
            "sh" | "bash" | "zsh" | "dash" => letters.ends_with('c') && letters.len() < 4,
            "sudo" | "doas" => !option.is_empty(),
            _ => false,
        }
    };
    let at = command.args.windows(2).position(is_command)?;
    Some(&command.args[at..])
}
