//! Which files a command touches, and how.

mod archives;
mod code;
mod copies;
pub(crate) mod search;
mod statements;
mod table;

use table::{Meaning, TABLE};

use super::{
    command::{Command, FileRedirect},
    context::Context,
    paths::{self, Place},
    pattern::CommandSums,
    shell::RedirectKind,
    text,
    tool_call::patched_files,
};

/// How a file is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
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

impl Access {
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
pub(crate) struct FileAccess {
    /// The whole path; unknown parts are marked.
    pub(crate) path: String,
    pub(crate) access: Access,
}

/// The files that a command touches.
pub(crate) fn accessed_files(command: &Command, ctx: &Context) -> Vec<FileAccess> {
    let mut files = Vec::new();
    for redirect in &command.redirects {
        let access = match redirect.kind {
            RedirectKind::Read | RedirectKind::Here | RedirectKind::Duplicate => Access::Read,
            RedirectKind::Write if prints_nothing(command) => Access::Empty,
            RedirectKind::Write | RedirectKind::ReadWrite => Access::Write,
            RedirectKind::Append => Access::Append,
        };
        files.push(FileAccess { path: redirect.path.clone(), access });
    }
    for (path, access) in accessed_by_arguments(command) {
        let is_emptied = access == Access::Write && copies_nothing(command);
        let access = if is_emptied { Access::Empty } else { access };
        files.push(FileAccess { path: command.resolve_path(&path, ctx), access });
    }
    let is_diff = command.is(&["patch"]) || command.is(&["git"]) && command.has_word(&["apply", "am"]);
    if let Some(diff) = command.stdin.text.as_ref().filter(|_| is_diff) {
        let paths = changed_by_diff(diff).into_iter();
        let access = Access::Write;
        files.extend(paths.map(|path| FileAccess { path: command.resolve_path(path, ctx), access }));
    }
    // What is unpacked in the project is its own.
    if archives::unpacks_here(command)
        && !matches!(paths::place_of(&command.cwd, ctx), Place::Project(_) | Place::ProjectRoot)
    {
        files.push(FileAccess {
            path: format!("{}/*", command.cwd.trim_end_matches('/')),
            access: Access::Write,
        });
    }
    files.extend(statements::written_by_statements(command, ctx));
    if let Some(code) = &command.code {
        files.extend(code::accessed_by_code(code, command, ctx));
    }
    // A shell empties what it writes to before the program can read it.
    let is_read = |path: &str| {
        files.iter().any(|file| file.access == Access::Read && file.path == path && text::is_known(path))
    };
    let emptied: Vec<usize> = (0..command.redirects.len())
        .filter(|at| files[*at].access == Access::Write && is_read(&files[*at].path))
        .collect();
    for at in emptied {
        files[at].access = Access::Empty;
    }
    files
}

/// The files that a diff changes, without the `a/` and `b/` that git writes before them.
fn changed_by_diff(diff: &str) -> Vec<&str> {
    let marks = ["+++ ", "--- ", "rename to ", "rename from ", "copy to "];
    let named = diff.lines().filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
    let paths = named.map(|path| path.split('\t').next().unwrap_or_default());
    let plain = |path| ["a/", "b/"].iter().find_map(|side| str::strip_prefix(path, side)).unwrap_or(path);
    paths.map(plain).filter(|path| *path != "/dev/null").collect()
}

/// Whether it writes what it reads, and that is nothing.
fn copies_nothing(command: &Command) -> bool {
    let is_nothing =
        |redirect: &FileRedirect| redirect.kind == RedirectKind::Read && redirect.path == "/dev/null";
    command.is(&["tee", "sponge", "dd", "cat"]) && command.redirects.iter().any(is_nothing)
}

/// Whether nothing is written, so that a file it is redirected to ends up empty.
fn prints_nothing(command: &Command) -> bool {
    match command.program.as_str() {
        "" | ":" | "true" => true,
        "cat" => matches!(&command.args[..], [file] if file == "/dev/null"),
        "echo" => command.args.iter().all(|arg| arg.is_empty() || arg == "-n"),
        _ => false,
    }
}

/// What the arguments name, by what the table says that they mean.
fn accessed_by_arguments(command: &Command) -> Vec<(String, Access)> {
    let all =
        |paths: Vec<&str>, access: Access| paths.into_iter().map(|path| (path.to_owned(), access)).collect();
    if command.program.is_empty() {
        return Vec::new();
    }
    let sums = CommandSums::of(command);
    let Some(row) = TABLE.iter().find(|row| row.patterns.mean(command, sums)) else {
        return accessed_by_others(command);
    };
    match row.meaning {
        Meaning::Nothing => Vec::new(),
        Meaning::Operands(access) => {
            let access = if deletes_all_lines(command) { Access::Empty } else { access };
            let mut files: Vec<(String, Access)> = all(command.operands(row.valued), access);
            // An editor that is given commands shows what it opens.
            if crate::script::EDITORS.contains(&command.program.as_str())
                && command.has("cesE", &["cmd", "eval"])
            {
                files.extend(all(command.operands(row.valued), Access::Read));
            }
            files
        }
        Meaning::Options(names, access) => all(command.values("", names), access),
        Meaning::Copies => copies::accessed_by_copying(command),
        Meaning::Archives => archives::accessed_by_archiving(command),
        Meaning::Downloads => copies::accessed_by_downloading(command),
        Meaning::Edits => {
            let mut files: Vec<(String, Access)> = all(writes_of_sed(command).collect(), Access::Write);
            if edits_in_place(command) {
                // A script that is only `d` leaves nothing.
                let empties =
                    command.is(&["sed"]) && command.args.iter().any(|arg| arg == "d" || arg == "1,$d");
                let access = if empties { Access::Empty } else { Access::Write };
                files.extend(edited_files(command).iter().map(|path| ((*path).to_owned(), access)));
            }
            if files.is_empty() { accessed_by_others(command) } else { files }
        }
        Meaning::Blocks => copied_by_dd(command),
        Meaning::Permissions => {
            // What `chattr` takes away looks like an option.
            let is_option = command.is(&["chattr"]) && command.args.iter().any(|arg| arg.starts_with('-'))
                || command.is(&["setfacl"]) && command.has("bk", &["remove-all", "remove-default"]);
            let skip = usize::from(!command.has("", &["reference"]) && !is_option);
            let operands = command.args.iter().filter(|arg| !arg.starts_with('-') || is_mode(arg)).skip(skip);
            operands.map(|path| (path.clone(), Access::Permissions)).collect()
        }
        Meaning::Search => search::deleted_by_find(command),
        Meaning::Git => accessed_by_git(command),
        Meaning::Patch => {
            let patch = command.args.first().or(command.stdin.text.as_ref());
            let files = patch.map(|patch| patched_files(patch)).unwrap_or_default();
            files.into_iter().map(|path| (path, Access::Write)).collect()
        }
    }
}

/// Whether an editor is told to delete every line.
fn deletes_all_lines(command: &Command) -> bool {
    if !crate::script::EDITORS.contains(&command.program.as_str()) && !command.is(&["ed", "red"]) {
        return false;
    }
    let commands = command.values("c", &["cmd"]).into_iter();
    let plus = command.args.iter().filter_map(|arg| arg.strip_prefix('+'));
    let typed = command.stdin.text.iter().flat_map(|text| text.lines());
    let mut parts = commands.chain(plus).chain(typed).flat_map(|text| text.split('|'));
    parts.any(|part| {
        let part = part.trim().trim_start_matches(':').trim_end_matches('!');
        let rest = ["%", "1,$", ",", "g/^/", "g/.*/"].iter().find_map(|all| part.strip_prefix(all));
        rest.is_some_and(|rest| ["d", "delete", "d _"].contains(&rest.trim()))
    })
}

/// `dd if=... of=...`.
fn copied_by_dd(command: &Command) -> Vec<(String, Access)> {
    let empties = command.args.iter().any(|arg| arg.starts_with("if=/dev/"));
    let written = if empties { Access::Empty } else { Access::Write };
    let value = |arg: &String| match arg.split_once('=') {
        Some(("of", path)) => Some((path.to_owned(), written)),
        Some(("if", path)) => Some((path.to_owned(), Access::Read)),
        _ => None,
    };
    command.args.iter().filter_map(value).collect()
}

/// Modes such as `-x` look like options.
fn is_mode(arg: &str) -> bool {
    arg.len() > 1 && arg[1..].chars().all(|next| "rwxXst".contains(next))
}

fn edits_in_place(command: &Command) -> bool {
    match command.program.as_str() {
        "awk" => command.has_word(&["inplace"]),
        "sed" => command.has("i", &["in-place"]),
        _ => command.options_with_letter('i'),
    }
}

/// Whole paths behind a `w` of a script of `sed`.
fn writes_of_sed(command: &Command) -> impl Iterator<Item = &str> {
    let lines =
        command.args.iter().filter(|_| command.program == "sed").flat_map(|arg| arg.split([';', '\n', '}']));
    lines.filter_map(|line| {
        let at = line.find("w /").or_else(|| line.find("w ~"))?;
        let before = line[..at].trim_end_matches(['W', 'g', 'p', 'I', 'i', ' ']);
        let is_command = before.is_empty()
            || before.ends_with(|next: char| next.is_ascii_digit() || "/$|,#!".contains(next));
        is_command.then(|| line[at + 2..].trim())
    })
}

/// The files that an editor for streams changes in place.
fn edited_files(command: &Command) -> Vec<&str> {
    let operands = command.operands(&["-e", "-f", "-E", "--expression", "--file", "-n"]);
    let has_script = !command.values("ef", &["expression", "file"]).is_empty();
    operands.into_iter().skip(usize::from(!has_script)).collect()
}

/// `host:path`.
pub(crate) fn is_remote_path(path: &str) -> bool {
    let colon = path.find(':');
    colon.is_some_and(|colon| 0 < colon && path.find('/').is_none_or(|slash| colon < slash))
}

fn accessed_by_git(command: &Command) -> Vec<(String, Access)> {
    let words = command.words();
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    if *verb == "apply" {
        let folders = command.values("", &["directory"]).into_iter();
        return folders.map(|folder| (folder.to_owned(), Access::Write)).collect();
    }
    let access = match *verb {
        "rm" if command.has_word(&["--cached"]) => Access::Append,
        "rm" | "mv" => Access::DeleteTree,
        "update-index" | "clean" => Access::Append,
        "checkout" | "restore" | "stash" => Access::Write,
        "show" | "diff" | "blame" | "cat-file" | "log" | "grep" => Access::Read,
        _ => return Vec::new(),
    };
    let only_changes = *verb == "log" && !command.has("p", &["patch"]);
    if only_changes {
        return Vec::new();
    }
    let plain = |path: &&str| path.rsplit_once(':').map_or(*path, |(_, path)| path).to_owned();
    rest.iter().map(|path| (plain(path), access)).collect()
}

/// Options after which programs of all kinds name the file that they write.
const OUTPUT_OPTIONS: [&str; 12] = [
    "o",
    "out",
    "output",
    "outfile",
    "out-file",
    "output-file",
    "outputFile",
    "output-document",
    "log-file",
    "logfile",
    "dest",
    "destination",
];

/// Options with which programs of all kinds change the files that they are given.
const REWRITES: [&str; 9] = [
    "--in-place",
    "--inplace",
    "--write",
    "--fix",
    "--autofix",
    "--autocorrect",
    "--autocorrect-all",
    "--overwrite",
    "--update-in-place",
];

/// What any other program may open: every argument that is or contains a path.
fn accessed_by_others(command: &Command) -> Vec<(String, Access)> {
    let takes_pattern =
        command.is(&["grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "jq", "yq", "ack", "git-grep"]);
    let prints_nothing =
        command.is(&["grep", "rg", "egrep"]) && command.has("qcl", &["quiet", "count", "files-with-matches"]);
    if prints_nothing || prints_names(command) {
        return Vec::new();
    }
    let mut files: Vec<(String, Access)> = Vec::new();
    if !takes_pattern {
        let written = command.values("", &OUTPUT_OPTIONS);
        files.extend(written.into_iter().map(|path| (path.to_owned(), Access::Write)));
    }
    if command.args.iter().any(|arg| REWRITES.contains(&arg.as_str())) {
        let operands = command.operands(&["--config", "-c"]).into_iter();
        files.extend(operands.map(|path| (path.to_owned(), Access::Write)));
    }
    let mut skip = takes_pattern && command.values("ef", &["regexp", "file", "expression"]).is_empty();
    let mut is_value = false;
    for arg in &command.args {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if arg == "--env-file" || (arg == "-f" && command.is(&["dotenv", "dotenvx"])) {
            is_value = true;
        } else if let Some((name, value)) = arg.split_once('=').filter(|(name, _)| name.starts_with('-')) {
            if !name.contains("env-file") && !name.contains("exclude") && !name.contains("ignore") {
                files.push((value.to_owned(), Access::Read));
            }
        } else if arg.starts_with('-') && arg != "-" {
            is_value = takes_pattern
                && ["-g", "--glob", "-t", "-A", "-B", "-C", "-m", "-e", "--arg", "-F", "-v"]
                    .contains(&arg.as_str());
        } else if std::mem::take(&mut skip) {
        } else {
            files.push((arg.trim_start_matches('@').to_owned(), Access::Read));
        }
    }
    files
}

/// `cut -d= -f1` and the like print the names of variables, not their values.
fn prints_names(command: &Command) -> bool {
    match command.program.as_str() {
        "cut" => command.values("d", &["delimiter"]) == ["="] && command.values("f", &["fields"]) == ["1"],
        "awk" => {
            command.values("F", &[]) == ["="]
                && command
                    .args
                    .iter()
                    .any(|arg| arg.contains("$1") && !arg.contains("$2") && !arg.contains("$0"))
        }
        "sed" => command.args.iter().any(|arg| arg.starts_with("s/=.*")),
        _ => false,
    }
}
