//! Checks that only follow a file that was renamed.

use super::{ChangedFile, FileChange};

/// A file with another name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Renamed<'a> {
    old_path: &'a str,
    new_path: &'a str,
    old: &'a str,
    new: &'a str,
    /// Whether it says the same.
    is_same: bool,
}

/// What a file is to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RenamedKind {
    /// Code: what it says may change with its name.
    Source,
    /// Something that a guardrail runs: what it says has to stay.
    Script,
    /// A tool finds it by its name, so it is not the same under another.
    Named,
}

/// So many files that are gone are compared with files that are new.
const MAX_RENAMED: usize = 50;

/// The files that may have been renamed among these. Names without an ending are words like others, and do not count.
pub(super) fn renamed<'a>(
    files: &'a [ChangedFile],
    kind: &dyn Fn(&ChangedFile) -> RenamedKind,
) -> Vec<Renamed<'a>> {
    let of = |change: FileChange| {
        let changed = files.iter().filter(move |file| file.change == Some(change));
        changed
            .filter(|file| kind(file) != RenamedKind::Named)
            .filter_map(|file| Some((file, name(&file.path)?)))
    };
    let mut all = Vec::new();
    for (file, old) in of(FileChange::Deleted).take(MAX_RENAMED) {
        let text = file.old.as_deref().unwrap_or_default();
        for (twin, new) in of(FileChange::Added).take(MAX_RENAMED) {
            let is_same = twin.new.as_deref() == Some(&*text.replace(old, new));
            if ending(old) == ending(new) && (is_same || kind(file) == RenamedKind::Source) {
                all.push(Renamed { old_path: &file.path, new_path: &twin.path, old, new, is_same });
            }
        }
    }
    all
}

/// Why a check that changed is the same check: it was renamed, or names files that were by their new names.
pub(super) fn follows(file: &ChangedFile, renamed: &[Renamed<'_>]) -> Option<String> {
    let is_one = |it: &&Renamed<'_>| it.is_same && [it.old_path, it.new_path].contains(&file.path.as_str());
    if let Some(it) = renamed.iter().find(is_one) {
        return Some(format!("`{}` was renamed to `{}`", it.old_path, it.new_path));
    }
    let (old, new) = (file.old.as_deref()?, file.new.as_deref()?);
    let mut named = renamed.iter().filter(|it| old.contains(it.old));
    let it = named.find(|it| old.replace(it.old, it.new) == new)?;
    Some(format!("it only follows `{}`, which is `{}` now", it.old_path, it.new_path))
}

fn name(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').filter(|(stem, ending)| !stem.is_empty() && !ending.is_empty()).map(|_| name)
}

fn ending(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_an_ending_count() {
        for (path, expected) in [
            ("a/b.rs", Some("b.rs")),
            ("b.test.js", Some("b.test.js")),
            (".gitignore", None),
            ("a/b.", None),
            ("Makefile", None),
            (".", None),
        ] {
            assert_eq!(name(path), expected, "{path}");
        }
    }
}
