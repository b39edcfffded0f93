//! Files that are laid over a checkout: what was not committed before the run, and ignored files that the project needs.
//!
//! Nothing is written through a link: a folder of the commit may be one, and lead anywhere.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use ralph_sys::{
    files::{self, MAX_TEXT_LEN},
    process::Supervisor,
};

use super::{
    call::{Config, GitCall, parts, path},
    checkout::remove,
    copy,
    source::Source,
};

/// Lists patterns of ignored files that a second working tree needs; other tools know it too.
const INCLUDE_FILE: &str = ".worktreeinclude";

/// Copies files and folders as they are from one tree to another; what is not there is removed there. Returns what is
/// laid.
pub(super) fn lay(from: &Path, to: &Path, names: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut laid = Vec::new();
    for name in names.iter().filter(|name| stays_inside(name)) {
        if !make_way(to, name)? {
            continue;
        }
        let (old, new) = (from.join(name), to.join(name));
        remove(&new)?;
        if old.symlink_metadata().is_ok() {
            copy::whole(&old, &new)?;
        }
        laid.push(name.clone());
    }
    Ok(laid)
}

fn stays_inside(name: &Path) -> bool {
    let mut parts = name.components().peekable();
    parts.peek().is_some_and(|first| first.as_os_str() != ".git")
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Makes the folders above a path. Not if one of them is something else.
fn make_way(tree: &Path, name: &Path) -> io::Result<bool> {
    let mut place = tree.to_owned();
    for part in name.parent().into_iter().flat_map(Path::components) {
        place.push(part);
        match place.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir(&place)?,
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// The ignored files of the project that the patterns of the settings and of [`INCLUDE_FILE`] name, relative to the top.
pub(super) fn carried(
    supervisor: &mut Supervisor,
    source: &Source,
    patterns: &[String],
    scratch: &Path,
) -> io::Result<Vec<PathBuf>> {
    let project = source.top.join(&source.prefix);
    let included = [&source.top, &project]
        .map(|dir| files::read(&dir.join(INCLUDE_FILE), MAX_TEXT_LEN).unwrap_or_default());
    let anchored = patterns.iter().map(|pattern| anchored(&source.prefix, pattern));
    let mut all = included.concat();
    all.push(b'\n');
    all.extend(anchored.collect::<String>().bytes());
    if all.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    fs_err::write(scratch, &all)?;
    let mut exclude_from = std::ffi::OsString::from("--exclude-from=");
    exclude_from.push(scratch);
    let call = || GitCall::new(&source.top, Config::User);
    let listed = call().args(["ls-files", "-z", "--others", "--ignored", "--directory"]).args([exclude_from]);
    let listed = listed.must(supervisor, "cannot list the files to carry over")?;
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    // A file that git would commit needs no carrying; it is judged when it is committed.
    let ignored = call().args(["check-ignore", "-z", "--stdin"]).input(listed).run(supervisor)?;
    Ok(parts(&ignored.unwrap_or_default()).map(|name| path(name).components().collect()).collect())
}

/// A pattern of the settings, which is relative to the project, as one that is relative to the top.
fn anchored(prefix: &Path, pattern: &str) -> String {
    let pattern = pattern.trim().trim_start_matches("./").trim_start_matches('/');
    match prefix.to_str().filter(|prefix| !prefix.is_empty()) {
        _ if pattern.is_empty() => String::new(),
        Some(prefix) => format!("/{prefix}/{pattern}\n"),
        None => format!("/{pattern}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_through_a_link_or_outside() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        for folder in ["from/a", "from/link", "to", "outside"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        for file in ["from/a/x", "from/link/x", "from/b", "from/.git"] {
            std::fs::write(at(file), "new").expect("a file");
        }
        std::os::unix::fs::symlink(at("outside"), at("to/link")).expect("a link");
        std::fs::write(at("to/b"), "old").expect("a file");
        std::fs::write(at("to/gone"), "old").expect("a file");
        let names = ["a/x", "link/x", "b", "gone", "../outside/y", "/etc/x", ".git", ".git/config"]
            .map(PathBuf::from);
        let laid = lay(&at("from"), &at("to"), &names).expect("they are laid");
        assert_eq!(laid, ["a/x", "b", "gone"].map(PathBuf::from));
        assert_eq!(std::fs::read_to_string(at("to/b")).expect("a file"), "new");
        assert!(at("to/a/x").exists() && !at("to/gone").exists() && !at("outside/x").exists());
        assert!(!at("to/.git").exists());
    }

    #[test]
    fn patterns_belong_to_the_project() {
        assert_eq!(anchored(Path::new(""), ".env"), "/.env\n");
        assert_eq!(anchored(Path::new("sub"), "./data/"), "/sub/data/\n");
        assert_eq!(anchored(Path::new("sub"), "/x"), "/sub/x\n");
        assert_eq!(anchored(Path::new("sub"), " "), "");
    }
}
