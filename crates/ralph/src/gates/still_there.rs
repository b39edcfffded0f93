//! Whether tests that no longer run are still in the files: then something keeps them from running. What was renamed or
//! removed in the files is judged by what the files say.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ralph_checks::{
    counts::function,
    test_files::{self, Language},
};
use ralph_sys::files;

/// So many tests are named at most.
const MAX_NAMED: usize = 10;

/// So many files and folders are looked at.
const MAX_ENTRIES: usize = 200_000;

/// A longer file has no tests that a person wrote.
const MAX_FILE_LEN: u64 = 1024 * 1024;

/// Folders that others wrote, or that are made.
const FOREIGN: [&str; 8] =
    [".git", ".ralph", "node_modules", "target", ".venv", "venv", "vendor", "__pycache__"];

/// Those of the tests, by what their file calls them and with how many of that name run, of which the files below this
/// folder have more than run.
pub(super) fn still_there(unrun: &BTreeMap<String, usize>, root: &Path) -> Vec<String> {
    if unrun.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        for (path, kind) in children(&folder) {
            entries += 1;
            if MAX_ENTRIES < entries {
                break;
            }
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if kind.is_dir() && !FOREIGN.contains(&name) {
                folders.push(path);
            } else if kind.is_file() && !matches!(Language::of(name), Language::Other) {
                count(unrun, &path, Language::of(name), &mut found);
            }
        }
    }
    let more = unrun.iter().filter(|(name, left)| **left < found.get(name.as_str()).copied().unwrap_or(0));
    more.map(|(name, _)| name.clone()).take(MAX_NAMED).collect()
}

/// What is in a folder; links are not followed.
fn children(folder: &Path) -> Vec<(PathBuf, fs::FileType)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?))).collect()
}

fn count<'a>(
    unrun: &'a BTreeMap<String, usize>,
    path: &Path,
    language: Language,
    found: &mut BTreeMap<&'a str, usize>,
) {
    let Ok(bytes) = files::read(path, MAX_FILE_LEN) else { return };
    let text = String::from_utf8_lossy(&bytes);
    if !unrun.keys().any(|name| text.contains(last_word(name))) {
        return;
    }
    for test in test_files::read(language, &text).tests {
        let called = function(&test.id);
        // The runner of Rust puts the name of the binary before that of the test.
        let name = unrun.keys().find(|name| *name == called || last_word(name) == called);
        if let Some(name) = name {
            *found.entry(name).or_default() += 1;
        }
    }
}

fn last_word(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unrun: &[(&str, usize)], expected: &[&str]) {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("tests/test_cart.py", "def test_sum():\n    assert 1\n\ndef helper():\n    pass\n");
        write("src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn sums() { assert!(true); }\n}\n");
        write("a.test.js", "test('adds up', () => { assert(1) })\n");
        write("node_modules/x/test_x.py", "def test_gone():\n    assert 1\n");
        let unrun = unrun.iter().map(|(name, left)| ((*name).to_owned(), *left)).collect();
        assert_eq!(still_there(&unrun, folder.path()), expected);
    }

    #[test]
    fn only_what_the_files_have_is_kept_from_running() {
        check(&[], &[]);
        check(&[("test_sum", 0)], &["test_sum"]);
        check(&[("sums", 0), ("adds up", 0), ("test_old", 0)], &["adds up", "sums"]);
        check(&[("shop sums", 0)], &["shop sums"]);
        // One of two that are called so is left, and the files have one.
        check(&[("test_sum", 1)], &[]);
        check(&[("helper", 0), ("test_gone", 0)], &[]);
    }
}
