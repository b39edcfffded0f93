//! Files that are copied, moved, packed, unpacked and downloaded.

use super::{Access, is_remote_path};
use crate::command::Command;

/// What is copied, moved or linked: sources and target.
pub(super) fn accessed_by_copying(command: &Command) -> Vec<(String, Access)> {
    let valued = [
        "-t",
        "--target-directory",
        "-m",
        "-o",
        "-g",
        "-S",
        "-e",
        "-i",
        "-P",
        "-F",
        "--exclude",
        "--include",
        "--mode",
        "-p",
    ];
    let mut operands = command.operands(if command.program == "rsync" { &valued[..13] } else { &valued[..] });
    if command.is(&["docker", "podman"]) {
        operands.remove(0);
    }
    let given = command.values("t", &["target-directory"]);
    let (target, sources) = match (given.first(), operands.split_last()) {
        (Some(target), _) if command.program != "rsync" => (*target, &operands[..]),
        (_, Some((target, sources))) => (*target, sources),
        _ => return Vec::new(),
    };
    let mut files = Vec::new();
    for source in sources.iter().filter(|source| !is_remote_path(source)) {
        match command.program.as_str() {
            "mv" | "rename" => files.push(((*source).to_owned(), Access::DeleteTree)),
            "ln" => {}
            _ => files.push(((*source).to_owned(), Access::Read)),
        }
        if command.has_word(&["--remove-source-files"]) {
            files.push(((*source).to_owned(), Access::Delete));
        }
    }
    if !is_remote_path(target) {
        // Into a folder, under the same name.
        for source in sources {
            let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            files.push((format!("{target}/{name}"), Access::Write));
        }
        let deletes = command.program == "rsync" && command.args.iter().any(|arg| arg.starts_with("--del"));
        let empties = sources == ["/dev/null"];
        let replaces = command.program == "ln" && command.has("f", &["force"]);
        let access = if deletes {
            Access::DeleteTree
        } else if replaces {
            Access::Delete
        } else if empties {
            Access::Empty
        } else {
            Access::Write
        };
        files.push((target.to_owned(), access));
    }
    files
}

/// What archives are made of, and where they are unpacked.
pub(super) fn accessed_by_archiving(command: &Command) -> Vec<(String, Access)> {
    let operands = command.operands(&["-f", "-C", "-d", "-x", "--file", "--directory", "--exclude", "-T"]);
    let own = |paths: &[&str], access: Access| {
        paths.iter().map(|path| ((*path).to_owned(), access)).collect::<Vec<_>>()
    };
    if command.program == "cpio" {
        return unpacked_into(&command.values("D", &["directory"]));
    }
    if command.program == "unzip" || command.program == "7z" {
        return unpacked_into(&command.values("do", &[]));
    }
    let mut files = unpacked_into(&command.values("C", &["directory"]));
    if command.program == "zip" {
        return own(operands.get(1..).unwrap_or_default(), Access::Read);
    }
    let mode = command.args.first().map_or("", String::as_str).trim_start_matches('-');
    if mode.contains('c') || command.has("cru", &["create", "append", "update"]) {
        // Without a dash the letters are the first operand, and the archive the second if they have an `f`.
        let is_bare = command.args.first().is_some_and(|arg| !arg.starts_with('-'));
        let skip = if is_bare {
            1 + usize::from(mode.contains('f'))
        } else {
            usize::from(mode.len() > 1 && mode.contains('f'))
        };
        files = own(operands.get(skip..).unwrap_or_default(), Access::Read);
    }
    if mode.contains('x') || command.has("x", &["extract", "get"]) {
        // The members that are named are written there.
        let folder = command
            .values("C", &["directory"])
            .first()
            .map(|folder| format!("{folder}/"))
            .unwrap_or_default();
        let is_bare = command.args.first().is_some_and(|arg| !arg.starts_with('-'));
        let members = operands.iter().skip(1 + usize::from(is_bare && mode.contains('f')));
        let members = members.filter(|member| !member.starts_with('/'));
        files.extend(members.map(|member| (format!("{folder}{member}"), Access::Write)));
    }
    files
}

/// A folder gets files, and those in it may be replaced.
fn unpacked_into(folders: &[&str]) -> Vec<(String, Access)> {
    let both =
        |folder: &&str| [((*folder).to_owned(), Access::Append), (format!("{folder}/*"), Access::Write)];
    folders.iter().flat_map(both).collect()
}

/// Where downloads go, and which files are sent.
pub(super) fn accessed_by_downloading(command: &Command) -> Vec<(String, Access)> {
    let mut files: Vec<(String, Access)> = Vec::new();
    let outputs = if command.program == "curl" {
        command.values("o", &["output", "output-dir", "cookie-jar", "dump-header"])
    } else {
        command.values("OP", &["output-document", "directory-prefix", "output-file"])
    };
    files
        .extend(outputs.into_iter().filter(|path| *path != "-").map(|path| (path.to_owned(), Access::Write)));
    files.extend(
        command
            .args
            .iter()
            .filter_map(|arg| arg.strip_prefix("file://"))
            .map(|path| (path.to_owned(), Access::Read)),
    );
    let sent = command.values(
        "dFT",
        &[
            "data",
            "data-binary",
            "data-raw",
            "data-urlencode",
            "form",
            "upload-file",
            "json",
            "post-file",
            "body-file",
            "config",
        ],
    );
    for value in sent {
        let file = match value.split_once('@') {
            Some((before, file)) if before.is_empty() || before.ends_with('=') || !before.contains(' ') => {
                file
            }
            _ if command.has("T", &["upload-file", "post-file", "body-file"]) => value,
            _ => continue,
        };
        files.push((file.split(';').next().unwrap_or_default().to_owned(), Access::Read));
    }
    files
}
