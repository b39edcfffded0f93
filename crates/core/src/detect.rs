//! What a project's files suggest: which commands can judge the work in it.
//!
//! Names and contents in, commands out. A file that cannot be understood suggests nothing.

use std::collections::BTreeMap;

use serde_json::Value;

/// The files at the top of a project that suggest something.
pub const FILES: [&str; 20] = [
    "Cargo.toml",
    "package.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "GNUmakefile",
    "makefile",
    "Makefile",
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "conftest.py",
    "requirements.txt",
    "requirements-dev.txt",
    "ruff.toml",
    ".ruff.toml",
    "go.mod",
];

/// The files of a project that are there, with what is in them.
pub type Files = BTreeMap<String, String>;

/// Returns the commands that should succeed in this project, each once, in the order in which they are offered.
pub fn guardrails(files: &Files) -> Vec<String> {
    let mut commands = Vec::new();
    commands.extend(rust(files));
    commands.extend(javascript(files));
    commands.extend(python(files));
    commands.extend(go(files));
    commands.extend(make(files));
    commands
}

fn rust(files: &Files) -> Vec<String> {
    if !files.contains_key("Cargo.toml") {
        return Vec::new();
    }
    ["cargo test", "cargo clippy -- -D warnings", "cargo fmt --check"].map(str::to_owned).to_vec()
}

/// The scripts of `package.json` that judge, called by the package manager that the project uses.
fn javascript(files: &Files) -> Vec<String> {
    let Some(package) = files.get("package.json").and_then(|text| json(text)) else { return Vec::new() };
    let manager = package_manager(files, &package);
    let script = |name: &str| package["scripts"][name].as_str().filter(|script| is_real(script));
    let call = |name: &&str| match (manager, *name) {
        // `bun test` is a test runner of its own and not the script.
        ("npm" | "pnpm" | "yarn", "test") => format!("{manager} test"),
        (_, name) => format!("{manager} run {name}"),
    };
    ["test", "lint", "typecheck", "build"].iter().filter(|name| script(name).is_some()).map(call).collect()
}

/// What `npm init` writes for a test always fails.
fn is_real(script: &str) -> bool {
    !script.trim().is_empty() && !script.contains("no test specified")
}

fn package_manager(files: &Files, package: &Value) -> &'static str {
    const LOCKS: [(&str, &str); 4] =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    let by_lock = LOCKS.iter().find(|(lock, _)| files.contains_key(*lock));
    let named = package["packageManager"].as_str().and_then(|name| name.split('@').next());
    let by_name = || LOCKS.iter().find(|(_, manager)| Some(*manager) == named);
    by_lock.or_else(by_name).map_or("npm", |(_, manager)| manager)
}

fn python(files: &Files) -> Vec<String> {
    let says = |file: &str, word: &str| files.get(file).is_some_and(|text| has_word(text, word));
    let needs = |tool: &str| {
        ["pyproject.toml", "requirements.txt", "requirements-dev.txt"].iter().any(|file| says(file, tool))
    };
    let has = |names: &[&str]| names.iter().any(|name| files.contains_key(*name));
    let tests = has(&["pytest.ini", ".pytest.ini", "conftest.py"])
        || ["tox.ini", "setup.cfg"].iter().any(|file| says(file, "pytest"))
        || needs("pytest");
    let lint = has(&["ruff.toml", ".ruff.toml"]) || needs("ruff");
    let commands = [(tests, "pytest"), (lint, "ruff check .")];
    commands.into_iter().filter(|(suggested, _)| *suggested).map(|(_, command)| command.to_owned()).collect()
}

fn go(files: &Files) -> Vec<String> {
    if !files.contains_key("go.mod") {
        return Vec::new();
    }
    ["go test ./...", "go vet ./..."].map(str::to_owned).to_vec()
}

/// The targets that judge, of the file that make would read.
fn make(files: &Files) -> Vec<String> {
    let makefile = ["GNUmakefile", "makefile", "Makefile"].iter().find_map(|name| files.get(*name));
    let has = |target: &&str| makefile.is_some_and(|text| text.lines().any(|line| defines(line, target)));
    ["test", "lint", "check"].into_iter().filter(has).map(|target| format!("make {target}")).collect()
}

/// Whether this line of a makefile begins the rule of a target.
fn defines(line: &str, target: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    // A recipe, a comment, or an assignment: `test := x`, `test ::= x`, `test = x:y`.
    let is_assignment = targets.contains('=') || rest.trim_start_matches(':').starts_with('=');
    let is_rule = !line.starts_with(['\t', '#']) && !is_assignment;
    is_rule && targets.split_whitespace().any(|word| word == target)
}

/// Whether a word stands in a text by itself: `pytest-cov` needs pytest, `mypytest` is something else.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(|line| line.split(|c| !is_part(c))).any(|found| found == word)
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files with their contents, and the commands they suggest.
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        assert!(files.iter().all(|(name, _)| FILES.contains(name)), "nothing reads one of {files:?}");
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!(guardrails(&files), expected, "{files:?}");
    }

    #[test]
    fn nothing_suggests_nothing() {
        check(&[], &[]);
        check(&[("yarn.lock", ""), ("tox.ini", "[tox]"), ("setup.cfg", "")], &[]);
    }

    #[test]
    fn rust_and_go() {
        check(&[("Cargo.toml", "")], &["cargo test", "cargo clippy -- -D warnings", "cargo fmt --check"]);
        check(&[("go.mod", "module x")], &["go test ./...", "go vet ./..."]);
    }

    #[test]
    fn javascript_by_its_package_manager() {
        let all = r#"{"scripts": {"build": "b", "lint": "l", "start": "s", "test": "t", "typecheck": "c"}}"#;
        let package = ("package.json", all);
        check(&[package], &["npm test", "npm run lint", "npm run typecheck", "npm run build"]);
        let pnpm = ["pnpm test", "pnpm run lint", "pnpm run typecheck", "pnpm run build"];
        check(&[package, ("pnpm-lock.yaml", "")], &pnpm);
        let yarn = ["yarn test", "yarn run lint", "yarn run typecheck", "yarn run build"];
        check(&[package, ("yarn.lock", "")], &yarn);
        let bun = ["bun run test", "bun run lint", "bun run typecheck", "bun run build"];
        check(&[package, ("bun.lock", "")], &bun);
        check(&[package, ("bun.lockb", "")], &bun);
        check(
            &[("package.json", r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "t"}}"#)],
            &["pnpm test"],
        );
        check(&[("package.json", r#"{"packageManager": "x", "scripts": {"lint": "l"}}"#)], &["npm run lint"]);
    }

    #[test]
    fn scripts_that_judge_nothing() {
        let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        check(&[("package.json", placeholder)], &[]);
        check(&[("package.json", r#"{"scripts": {"test": " ", "lint": 5}}"#)], &[]);
        check(&[("package.json", "{}")], &[]);
        check(&[("package.json", "[]")], &[]);
        check(&[("package.json", "not JSON")], &[]);
        check(&[("package.json", "\u{feff}{\"scripts\": {\"test\": \"t\"}}")], &["npm test"]);
    }

    #[test]
    fn python_by_its_tools() {
        check(&[("pyproject.toml", "[project]\nname = \"x\"")], &[]);
        check(&[("pyproject.toml", "[tool.pytest.ini_options]")], &["pytest"]);
        check(&[("pyproject.toml", "dev = [\"pytest>=8\", \"ruff==0.9\"]")], &["pytest", "ruff check ."]);
        check(&[("pyproject.toml", "[tool.ruff]\nline-length = 100")], &["ruff check ."]);
        check(&[("pyproject.toml", "# pytest\nname = \"mypytest\"")], &[]);
        check(&[("requirements-dev.txt", "pytest-cov\n")], &["pytest"]);
        check(&[("requirements.txt", "ruff\n")], &["ruff check ."]);
        check(&[("pytest.ini", "")], &["pytest"]);
        check(&[("conftest.py", "")], &["pytest"]);
        check(&[("tox.ini", "[pytest]")], &["pytest"]);
        check(&[("setup.cfg", "[tool:pytest]")], &["pytest"]);
        check(&[("ruff.toml", "")], &["ruff check ."]);
        check(&[(".ruff.toml", "")], &["ruff check ."]);
    }

    #[test]
    fn makefiles_by_their_targets() {
        check(
            &[("Makefile", "all: test\ntest lint:\n\tcheck: x\ncheck::\n")],
            &["make test", "make lint", "make check"],
        );
        check(&[("Makefile", "test := 1\nlint ::= 2\ncheck ?= a:b\n# test:\ntests: x\n")], &[]);
        check(&[("makefile", "test:"), ("Makefile", "lint:")], &["make test"]);
        check(&[("GNUmakefile", "check:"), ("makefile", "test:")], &["make check"]);
    }

    #[test]
    fn several_kinds_at_once() {
        check(
            &[("Makefile", "lint:"), ("go.mod", ""), ("package.json", r#"{"scripts": {"test": "t"}}"#)],
            &["npm test", "go test ./...", "go vet ./...", "make lint"],
        );
    }
}
