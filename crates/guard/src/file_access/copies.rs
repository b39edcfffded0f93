//! Files that are copied, moved and downloaded.

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
