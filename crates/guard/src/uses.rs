//! Which files a command touches, and how.

mod code;
mod copies;
pub(crate) mod search;

use super::{Context, call::patched_files, invocation::Invocation, shell::RedirectKind};

/// How a file is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
    Append,
    /// Its contents are thrown away.
    Empty,
    Delete,
    /// With everything in it.
    DeleteTree,
    /// Its mode or owner changes.
    Permissions,
}

impl Use {
    /// Whether something is gone afterwards.
    pub(crate) fn destroys(self) -> bool {
        matches!(self, Self::Empty | Self::Delete | Self::DeleteTree)
    }

    /// Whether it changes anything.
    pub(crate) fn changes(self) -> bool {
        self != Self::Read
    }
}

/// A file and how it is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileUse {
    /// The whole path; unknown parts are marked.
    pub(crate) path: String,
    pub(crate) kind: Use,
}

/// Programs that only say something about files, or do not open those that they name.
const BLIND: &[&str] = &[
    "",
    "echo",
    "printf",
    "ls",
    "stat",
    "test",
    "[",
    "[[",
    "file",
    "du",
    "df",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "cd",
    "pushd",
    "which",
    "type",
    "export",
    "unset",
    "alias",
    "find",
    "fd",
    "true",
    "false",
    ":",
    "ssh",
    "ssh-add",
    "ssh-keygen",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "make",
    "source",
    ".",
    "wc",
    "sha256sum",
    "sha1sum",
    "md5sum",
    "sha512sum",
    "cmp",
    "eza",
    "exa",
    "tree",
    "man",
    "help",
    "sudo",
    "env",
    "bash",
    "sh",
    "zsh",
    "xargs",
    "trap",
    "eval",
    "kill",
    "ln",
    "apply_patch",
    "chezmoi",
    "ralph",
    "gitleaks",
    "shellcheck",
    "command",
    "nohup",
    "timeout",
    "nice",
    "declare",
    "local",
    "set",
    "eslint",
    "prettier",
    "touch",
    "mkdir",
    "chmod",
    "chown",
    "chgrp",
    "rm",
    "rmdir",
    "unlink",
    "tmux",
    "dotenv",
    "direnv",
];

/// The files that a command touches.
pub(crate) fn uses(one: &Invocation, ctx: &Context) -> Vec<FileUse> {
    let mut uses = Vec::new();
    for redirect in &one.redirects {
        let kind = match redirect.kind {
            RedirectKind::Read | RedirectKind::Here | RedirectKind::Duplicate => Use::Read,
            RedirectKind::Write if says_nothing(one) => Use::Empty,
            RedirectKind::Write | RedirectKind::ReadWrite => Use::Write,
            RedirectKind::Append => Use::Append,
        };
        uses.push(FileUse { path: redirect.path.clone(), kind });
    }
    for (path, kind) in of_arguments(one) {
        uses.push(FileUse { path: one.path(&path, ctx), kind });
    }
    if let Some(code) = &one.code {
        uses.extend(code::uses(code, one, ctx));
    }
    uses
}

/// Whether nothing is written, so that a file it is redirected to ends up empty.
fn says_nothing(one: &Invocation) -> bool {
    match one.program.as_str() {
        "" | ":" | "true" => true,
        "cat" => matches!(&one.args[..], [file] if file == "/dev/null"),
        "echo" => one.args.iter().all(|arg| arg.is_empty() || arg == "-n"),
        _ => false,
    }
}

fn of_arguments(one: &Invocation) -> Vec<(String, Use)> {
    let all = |paths: Vec<&str>, kind: Use| paths.into_iter().map(|path| (path.to_owned(), kind)).collect();
    match one.program.as_str() {
        "rm" | "srm" | "trash" | "trash-put" | "gio" | "rimraf" | "del" | "del-cli" => {
            let is_tree = one.has("rR", &["recursive"]) || one.is(&["trash", "trash-put", "rimraf", "gio"]);
            all(one.operands(&[]), if is_tree { Use::DeleteTree } else { Use::Delete })
        }
        "unlink" | "rmdir" => all(one.operands(&[]), Use::Delete),
        "truncate" => all(one.operands(&["-s", "-r", "--size", "--reference"]), Use::Empty),
        "shred" | "wipe" => all(one.operands(&["-n", "-s", "--iterations", "--size"]), Use::Empty),
        "mv" | "cp" | "install" | "rsync" | "scp" | "ditto" | "ln" | "rename" => copies::copies(one),
        "tee" | "sponge" | "touch" | "mkdir" | "mkfifo" | "mknod" | "nano" | "vim" | "vi" | "nvim"
        | "emacs" | "ed" | "ex" | "code" => {
            let kind = if one.has("a", &["append"]) || one.is(&["touch", "mkdir"]) {
                Use::Append
            } else {
                Use::Write
            };
            all(one.operands(&["-m", "--mode", "-d", "-t", "-r", "-c"]), kind)
        }
        "dd" => {
            let empties = one.args.iter().any(|arg| arg.starts_with("if=/dev/"));
            let target = |path: &str| (path.to_owned(), if empties { Use::Empty } else { Use::Write });
            let value = |arg: &String| match arg.split_once('=') {
                Some(("of", path)) => Some(target(path)),
                Some(("if", path)) => Some((path.to_owned(), Use::Read)),
                _ => None,
            };
            one.args.iter().filter_map(value).collect()
        }
        "docker" | "podman" if one.words().first() == Some(&"cp") => copies::copies(one),
        "sed" | "perl" | "awk" | "ruby" if edits_in_place(one) => all(edited(one), Use::Write),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "chflags" => {
            let skip = usize::from(!one.has("", &["reference"]));
            let operands = one.args.iter().filter(|arg| !arg.starts_with('-') || is_mode(arg)).skip(skip);
            operands.map(|path| (path.clone(), Use::Permissions)).collect()
        }
        "find" | "fd" if one.has_word(&["-delete"]) => search::deleted(one),
        "git" => of_git(one),
        "tar" | "bsdtar" | "zip" | "7z" | "unzip" => copies::archives(one),
        "curl" | "wget" => copies::downloads(one),
        "apply_patch" => {
            let patch = one.args.first().or(one.input.text.as_ref());
            let files = patch.map(|patch| patched_files(patch)).unwrap_or_default();
            files.into_iter().map(|path| (path, Use::Write)).collect()
        }
        program if BLIND.contains(&program) => Vec::new(),
        _ => reads(one),
    }
}

/// Modes such as `-x` look like options.
fn is_mode(arg: &str) -> bool {
    arg.len() > 1 && arg[1..].chars().all(|next| "rwxXst".contains(next))
}

fn edits_in_place(one: &Invocation) -> bool {
    match one.program.as_str() {
        "awk" => one.has_word(&["inplace"]),
        "sed" => one.has("i", &["in-place"]),
        _ => one.options_with_letter('i'),
    }
}

/// The files that an editor for streams changes in place.
fn edited(one: &Invocation) -> Vec<&str> {
    let operands = one.operands(&["-e", "-f", "-E", "--expression", "--file", "-n"]);
    let has_script = !one.values("ef", &["expression", "file"]).is_empty();
    operands.into_iter().skip(usize::from(!has_script)).collect()
}

/// `host:path`.
pub(crate) fn is_remote(path: &str) -> bool {
    let colon = path.find(':');
    colon.is_some_and(|colon| 0 < colon && path.find('/').is_none_or(|slash| colon < slash))
}

fn of_git(one: &Invocation) -> Vec<(String, Use)> {
    let words = one.words();
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    let kind = match *verb {
        "rm" if one.has_word(&["--cached"]) => Use::Append,
        "rm" | "mv" => Use::DeleteTree,
        "update-index" | "checkout" | "restore" | "clean" => Use::Append,
        "show" | "diff" | "blame" | "cat-file" | "log" | "grep" => Use::Read,
        _ => return Vec::new(),
    };
    let only_changes = *verb == "log" && !one.has("p", &["patch"]);
    if only_changes {
        return Vec::new();
    }
    let plain = |path: &&str| path.rsplit_once(':').map_or(*path, |(_, path)| path).to_owned();
    rest.iter().map(|path| (plain(path), kind)).collect()
}

/// What any other program may open: every argument that is or contains a path.
fn reads(one: &Invocation) -> Vec<(String, Use)> {
    let takes_pattern =
        one.is(&["grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "jq", "yq", "ack", "git-grep"]);
    let prints_nothing =
        one.is(&["grep", "rg", "egrep"]) && one.has("qcl", &["quiet", "count", "files-with-matches"]);
    if prints_nothing || prints_names(one) {
        return Vec::new();
    }
    let mut uses = Vec::new();
    let mut skip = takes_pattern && one.values("ef", &["regexp", "file", "expression"]).is_empty();
    let mut is_value = false;
    for arg in &one.args {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if arg == "--env-file" || (arg == "-f" && one.is(&["dotenv", "dotenvx"])) {
            is_value = true;
        } else if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| name.starts_with('-')) {
            if !name.contains("env-file") && !name.contains("exclude") && !name.contains("ignore") {
                uses.push((value.to_owned(), Use::Read));
            }
        } else if arg.starts_with('-') && arg != "-" {
            is_value = takes_pattern
                && ["-g", "--glob", "-t", "-A", "-B", "-C", "-m", "-e", "--arg", "-F", "-v"]
                    .contains(&arg.as_str());
        } else if std::mem::take(&mut skip) {
        } else {
            uses.push((arg.trim_start_matches('@').to_owned(), Use::Read));
        }
    }
    uses
}

/// `cut -d= -f1` and the like print the names of variables, not their values.
fn prints_names(one: &Invocation) -> bool {
    match one.program.as_str() {
        "cut" => one.values("d", &["delimiter"]) == ["="] && one.values("f", &["fields"]) == ["1"],
        "awk" => {
            one.values("F", &[]) == ["="]
                && one.args.iter().any(|arg| arg.contains("$1") && !arg.contains("$2") && !arg.contains("$0"))
        }
        "sed" => one.args.iter().any(|arg| arg.starts_with("s/=.*")),
        _ => false,
    }
}
