//! Files that are copied, moved, packed, unpacked and downloaded.

use super::{Use, is_remote};
use crate::invocation::Invocation;

/// What is copied, moved or linked: sources and target.
pub(super) fn copies(one: &Invocation) -> Vec<(String, Use)> {
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
    let mut operands = one.operands(if one.program == "rsync" { &valued[..13] } else { &valued[..] });
    if one.is(&["docker", "podman"]) {
        operands.remove(0);
    }
    let given = one.values("t", &["target-directory"]);
    let (target, sources) = match (given.first(), operands.split_last()) {
        (Some(target), _) if one.program != "rsync" => (*target, &operands[..]),
        (_, Some((target, sources))) => (*target, sources),
        _ => return Vec::new(),
    };
    let mut uses = Vec::new();
    for source in sources.iter().filter(|source| !is_remote(source)) {
        match one.program.as_str() {
            "mv" | "rename" => uses.push(((*source).to_owned(), Use::DeleteTree)),
            "ln" => {}
            _ => uses.push(((*source).to_owned(), Use::Read)),
        }
        if one.has_word(&["--remove-source-files"]) {
            uses.push(((*source).to_owned(), Use::Delete));
        }
    }
    if !is_remote(target) {
        // Into a folder, under the same name.
        for source in sources {
            let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            uses.push((format!("{target}/{name}"), Use::Write));
        }
        let deletes = one.program == "rsync" && one.args.iter().any(|arg| arg.starts_with("--del"));
        let empties = sources == ["/dev/null"];
        let kind = if deletes {
            Use::DeleteTree
        } else if empties {
            Use::Empty
        } else {
            Use::Write
        };
        uses.push((target.to_owned(), kind));
    }
    uses
}

/// What archives are made of, and where they are unpacked.
pub(super) fn archives(one: &Invocation) -> Vec<(String, Use)> {
    let operands = one.operands(&["-f", "-C", "-d", "-x", "--file", "--directory", "--exclude", "-T"]);
    let own =
        |paths: &[&str], kind: Use| paths.iter().map(|path| ((*path).to_owned(), kind)).collect::<Vec<_>>();
    if one.program == "unzip" || one.program == "7z" {
        return own(&one.values("do", &[]), Use::Append);
    }
    let mut uses = own(&one.values("C", &["directory"]), Use::Append);
    if one.program == "zip" {
        return own(operands.get(1..).unwrap_or_default(), Use::Read);
    }
    let mode = one.args.first().map_or("", String::as_str).trim_start_matches('-');
    if mode.contains('c') || one.has("cru", &["create", "append", "update"]) {
        // Without a dash the letters are the first operand, and the archive the second if they have an `f`.
        let is_bare = one.args.first().is_some_and(|arg| !arg.starts_with('-'));
        let skip = if is_bare {
            1 + usize::from(mode.contains('f'))
        } else {
            usize::from(mode.len() > 1 && mode.contains('f'))
        };
        uses = own(operands.get(skip..).unwrap_or_default(), Use::Read);
    }
    uses
}

/// Where downloads go, and which files are sent.
pub(super) fn downloads(one: &Invocation) -> Vec<(String, Use)> {
    let mut uses: Vec<(String, Use)> = Vec::new();
    let outputs = if one.program == "curl" {
        one.values("o", &["output", "output-dir", "cookie-jar", "dump-header"])
    } else {
        one.values("OP", &["output-document", "directory-prefix", "output-file"])
    };
    uses.extend(outputs.into_iter().filter(|path| *path != "-").map(|path| (path.to_owned(), Use::Write)));
    uses.extend(
        one.args
            .iter()
            .filter_map(|arg| arg.strip_prefix("file://"))
            .map(|path| (path.to_owned(), Use::Read)),
    );
    let sent = one.values(
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
            _ if one.has("T", &["upload-file", "post-file", "body-file"]) => value,
            _ => continue,
        };
        uses.push((file.split(';').next().unwrap_or_default().to_owned(), Use::Read));
    }
    uses
}
