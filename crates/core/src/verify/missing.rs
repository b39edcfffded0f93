//! What a guardrail that passes in the working tree and fails in the judge seems to miss there.
//!
//! Guesses from what it printed, for people and agents; nothing is decided by them.

use std::fmt;

use super::caveat::listed;

/// How many guesses are of use.
const MAX_GUESSES: usize = 5;

/// What of the working tree the judge does not have, by paths relative to the project. A folder stands for all that is
/// in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnlyInTree {
    /// Files that are changed or new, and not committed.
    pub not_committed: Vec<String>,
    /// What git ignores.
    pub ignored: Vec<String>,
}

/// Something that seems to be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Changes that are only in the working tree.
    NotCommitted(Vec<String>),
    /// The output names something that git ignores, and that is only in the working tree.
    Ignored(String),
    /// The output says that a file is not there, which is not in the working tree either.
    File(String),
    /// A package or module of the language.
    Module(String),
    /// A program.
    Program(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCommitted(paths) => {
                write!(out, "only in the working tree, not committed: {}", listed(paths))
            }
            Self::Ignored(path) => {
                let name = path.trim_end_matches('/');
                write!(
                    out,
                    "`{path}` is ignored by git and only in the working tree; to give the judge a copy: \
                     \"verify\": {{\"carry\": [\"{name}\"]}}"
                )
            }
            Self::File(path) => write!(out, "`{path}` is not there"),
            Self::Module(name) => {
                write!(
                    out,
                    "the module `{name}` is not installed in the judge; see \"verify\": {{\"prepare\": [...]}}"
                )
            }
            Self::Program(name) => {
                write!(
                    out,
                    "the program `{name}` is not found in the judge; see \"verify\": {{\"prepare\": [...]}}"
                )
            }
        }
    }
}

/// What a line of output can say is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Module,
    Program,
    File,
}

/// What stands before the name of something that is missing, and the characters that end the name.
const BEFORE: [(&str, &[char], Kind); 15] = [
    ("No module named '", &['\'', '.'], Kind::Module),
    ("No module named ", &[' ', '.', ';'], Kind::Module),
    ("Cannot find module '", &['\''], Kind::Module),
    ("Cannot find package '", &['\''], Kind::Module),
    ("Failed to resolve import \"", &['"'], Kind::Module),
    ("no required module provides package ", &[':', ';', ' '], Kind::Module),
    ("cannot load such file -- ", &[' ', ')'], Kind::Module),
    ("Could not find gem '", &['\'', ' '], Kind::Module),
    ("Class \"", &['"'], Kind::Module),
    ("command not found: ", &[' '], Kind::Program),
    ("No such file or directory: '", &['\''], Kind::File),
    ("no such file or directory, open '", &['\''], Kind::File),
    ("no such file or directory, stat '", &['\''], Kind::File),
    ("cannot open '", &['\''], Kind::File),
    ("open ", &[':'], Kind::File),
];

/// What stands after the name of something that is missing, at the end of a line.
const AFTER: [(&str, Kind); 6] = [
    (": command not found", Kind::Program),
    (": not found", Kind::Program),
    (": No such file or directory", Kind::File),
    (": no such file or directory", Kind::File),
    (" (No such file or directory)", Kind::File),
    (" does not exist", Kind::File),
];

/// Guesses what is missing, the likeliest first.
pub fn guess(output: &str, only_in_tree: &OnlyInTree) -> Vec<Missing> {
    let OnlyInTree { not_committed, ignored } = only_in_tree;
    let mut guesses: Vec<Missing> = Vec::new();
    let mut add = |guess: Missing| {
        if !guesses.contains(&guess) {
            guesses.push(guess);
        }
    };
    if !not_committed.is_empty() {
        add(Missing::NotCommitted(not_committed.clone()));
    }
    for path in ignored.iter().filter(|path| is_named(output, path)) {
        add(Missing::Ignored(path.clone()));
    }
    for (name, kind) in output.lines().filter_map(said_missing) {
        // A file of the tree was found by its name already.
        let mut paths = not_committed.iter().chain(ignored);
        let is_known = paths.any(|path| name.contains(path.trim_end_matches('/')));
        match kind {
            Kind::Module => add(Missing::Module(name)),
            Kind::Program if !name.contains('/') => add(Missing::Program(name)),
            Kind::Program | Kind::File if is_known => {}
            Kind::Program | Kind::File => add(Missing::File(name)),
        }
    }
    guesses.truncate(MAX_GUESSES);
    guesses
}

fn said_missing(line: &str) -> Option<(String, Kind)> {
    let before = BEFORE.iter().find_map(|(words, ends, kind)| {
        let rest = line.split_once(words)?.1;
        let name = rest.split(*ends).next().unwrap_or(rest);
        Some((name, *kind))
    });
    let after = || {
        AFTER.iter().find_map(|(words, kind)| {
            let name = line.trim_end().strip_suffix(words)?;
            // `sh: 1: name: not found`
            Some((name.rsplit([':', ' ']).next().unwrap_or(name), *kind))
        })
    };
    let (name, kind) = before.or_else(after)?;
    let name = name.trim().trim_matches(['\'', '"', '`']);
    let is_name = !name.is_empty() && name.len() <= 200 && !name.contains(char::is_whitespace);
    is_name.then(|| (name.to_owned(), kind))
}

/// Whether an output names a path: as it is, or a file below the folder that it is, not as a part of another word.
fn is_named(output: &str, path: &str) -> bool {
    let bare = path.trim_end_matches('/');
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    output.match_indices(bare).any(|(at, _)| {
        let begins = output[..at].chars().next_back().is_none_or(|c| !is_word(c));
        let mut rest = output[at + bare.len()..].chars();
        // A full stop ends a sentence, or continues with the name of a file.
        let ends =
            rest.next().is_none_or(|c| !is_word(c) || (c == '.' && rest.next().is_none_or(|c| !is_word(c))));
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, only_in_tree: &[&str], expected: &[Missing]) {
        let (ignored, not_committed): (Vec<_>, Vec<_>) =
            only_in_tree.iter().partition(|path| path.starts_with('!'));
        let names =
            |paths: Vec<&&str>| paths.iter().map(|path| path.trim_start_matches('!').to_owned()).collect();
        let tree = OnlyInTree { not_committed: names(not_committed), ignored: names(ignored) };
        assert_eq!(guess(output, &tree), expected, "{output}");
    }

    fn module(name: &str) -> Missing {
        Missing::Module(name.to_owned())
    }

    fn program(name: &str) -> Missing {
        Missing::Program(name.to_owned())
    }

    fn file(name: &str) -> Missing {
        Missing::File(name.to_owned())
    }

    fn ignored(path: &str) -> Missing {
        Missing::Ignored(path.to_owned())
    }

    fn not_committed(paths: &[&str]) -> Missing {
        Missing::NotCommitted(paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn modules_of_languages() {
        check("ModuleNotFoundError: No module named 'yaml'\n", &[], &[module("yaml")]);
        check("ModuleNotFoundError: No module named 'a.b'\n", &[], &[module("a")]);
        check("/usr/bin/python3: No module named pytest\n", &[], &[module("pytest")]);
        check("Error: Cannot find module 'express'\nRequire stack:\n", &[], &[module("express")]);
        check(
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'vitest' imported from /p/x\n",
            &[],
            &[module("vitest")],
        );
        check(
            "x.go:3:8: no required module provides package github.com/a/b; to add it:",
            &[],
            &[module("github.com/a/b")],
        );
        check("<internal>: cannot load such file -- rake (LoadError)\n", &[], &[module("rake")]);
        check("Could not find gem 'rspec' in locally installed gems.\n", &[], &[module("rspec")]);
    }

    #[test]
    fn programs() {
        check("sh: 1: jest: not found\n", &[], &[program("jest")]);
        check("bash: line 1: ruff: command not found\n", &[], &[program("ruff")]);
        check("zsh:1: command not found: just\n", &[], &[program("just")]);
        check("sh: 1: ./run.sh: not found\n", &[], &[file("./run.sh")]);
        check("sh: 1: ./run.sh: not found\n", &["run.sh"], &[not_committed(&["run.sh"])]);
    }

    #[test]
    fn files_that_are_only_in_the_tree() {
        check("cat: .env: No such file or directory\n", &["!.env"], &[ignored(".env")]);
        check(
            "FileNotFoundError: [Errno 2] No such file or directory: '/p/data/x.csv'",
            &["!data/"],
            &[ignored("data/")],
        );
        check(
            "Error: ENOENT: no such file or directory, open 'dist/main.js'",
            &["!dist/"],
            &[ignored("dist/")],
        );
        check(
            "error[E0583]: file not found for module `new`\n --> src/lib.rs\n create file \"src/new.rs\"",
            &["src/new.rs"],
            &[not_committed(&["src/new.rs"])],
        );
        check("all is well in my.env and .env.example", &["!.env"], &[]);
        check("all is well", &["src/new.rs", "a"], &[not_committed(&["src/new.rs", "a"])]);
        check("Missing .env.", &["!.env"], &[ignored(".env")]);
        check("cat: other: No such file or directory\n", &["!.env"], &[file("other")]);
        check("panic: open testdata/x: no such file or directory", &[], &[file("testdata/x")]);
    }

    #[test]
    fn nothing_is_made_up() {
        check("", &["!.env"], &[]);
        check("1 failed, 3 passed\nassert 1 == 2\n", &["!target/", "!.venv/"], &[]);
        check(": not found", &[], &[]);
    }

    #[test]
    fn a_few_guesses_each_once() {
        let lines: Vec<String> = (0..9).map(|n| format!("No module named 'm{}'", n % 7)).collect();
        let output = lines.join("\n");
        assert_eq!(guess(&output, &OnlyInTree::default()), ["m0", "m1", "m2", "m3", "m4"].map(module));
    }

    #[test]
    fn the_texts_say_what_to_type() {
        assert_eq!(
            ignored("data/").to_string(),
            "`data/` is ignored by git and only in the working tree; to give the judge a copy: \"verify\": {\"carry\": [\"data\"]}"
        );
        assert_eq!(not_committed(&["x", "y"]).to_string(), "only in the working tree, not committed: x, y");
    }
}
