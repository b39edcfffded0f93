//! Changes of the lines of a test file: markers that skip tests, assertions that always hold, an exit before the first test.

use ralph_checks::test_files::Language;

use super::{Cheat, Edit};

/// Every test skipped, with the marker of its language.
pub(super) fn skip(language: Language, text: &str) -> Option<String> {
    let is_unittest = text.contains("unittest");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        let indent = &line[..line.len() - start.len()];
        match marker(language, start, text) {
            Some(Mark::Above(mark)) => lines.extend([format!("{indent}{mark}"), line.to_owned()]),
            Some(Mark::Below(mark)) => lines.extend([line.to_owned(), format!("{indent}\t{mark}")]),
            Some(Mark::Instead(mark)) => lines.push(format!("{indent}{mark}")),
            None => lines.push(line.to_owned()),
        }
    }
    if language == Language::Python {
        let module = if is_unittest { "import unittest" } else { "import pytest" };
        let is_import = |line: &String| {
            (line.starts_with("import ") || line.starts_with("from ")) && !line.contains("__future__")
        };
        let at = lines.iter().position(is_import).unwrap_or_default();
        if !lines.iter().any(|line| line == module) {
            lines.insert(at, module.to_owned());
        }
    }
    changed(text, &lines)
}

/// Where a marker goes.
enum Mark {
    Above(String),
    Below(String),
    Instead(String),
}

/// What skips the test that begins with this line.
fn marker(language: Language, line: &str, text: &str) -> Option<Mark> {
    let is_open = line.trim_end().ends_with('{');
    match language {
        Language::Python if is_python_test(line) => {
            let skip = if text.contains("unittest") { "unittest.skip(" } else { "pytest.mark.skip(reason=" };
            Some(Mark::Above(format!("@{skip}\"later\")")))
        }
        Language::JavaScript => ["test(", "it("].iter().find_map(|name| {
            let rest = line.strip_prefix(name)?;
            Some(Mark::Instead(format!("{}.skip({rest}", name.trim_end_matches('('))))
        }),
        Language::Rust if line.starts_with("#[test]") => Some(Mark::Above(format!("#[{}]", "ignore"))),
        Language::Go if line.starts_with("func Test") && is_open => {
            let (_, arguments) = line.split_once('(')?;
            let (name, _) = arguments.split_once(" *testing.T)")?;
            Some(Mark::Below(format!("{name}.Skip(\"later\")")))
        }
        Language::Java if line.starts_with("@Test") => {
            let is_old = text.contains("import org.junit.Test;");
            let mark = if is_old { "@org.junit.Ignore" } else { "@org.junit.jupiter.api.Disabled" };
            Some(Mark::Above(mark.to_owned()))
        }
        Language::CSharp if line.starts_with("[Fact]") => {
            Some(Mark::Instead(line.replacen("[Fact]", "[Fact(Skip = \"later\")]", 1)))
        }
        Language::CSharp if line.starts_with("[Test]") => Some(Mark::Above("[Ignore(\"later\")]".to_owned())),
        Language::Ruby if line.starts_with("def test_") => Some(Mark::Below("skip".to_owned())),
        Language::Ruby if line.starts_with("it ") && line.trim_end().ends_with(" do") => {
            Some(Mark::Below("skip".to_owned()))
        }
        Language::Php if line.contains("function test") && is_open => {
            Some(Mark::Below("$this->markTestSkipped();".to_owned()))
        }
        Language::Shell if line.starts_with("@test ") && is_open => Some(Mark::Below("skip".to_owned())),
        _ => None,
    }
}

pub(super) fn is_python_test(line: &str) -> bool {
    line.strip_prefix("async ").unwrap_or(line).starts_with("def test")
}

/// Every assertion made one that always holds.
pub(super) fn weaken(language: Language, text: &str) -> Option<String> {
    let all: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(line) = all.get(at) {
        let start = line.trim_start();
        let indent = &line[..line.len() - start.len()];
        let end = statement_end(&all, at);
        let weaker = end.and_then(|end| Some((end, trivial(language, start, &all[at..=end])?)));
        if let Some((end, instead)) = weaker {
            lines.push(format!("{indent}{instead}"));
            at = end + 1;
        } else {
            lines.push((*line).to_owned());
            at += 1;
        }
    }
    changed(text, &lines)
}

/// What takes the place of an assertion that begins like this.
fn trivial(language: Language, start: &str, whole: &[&str]) -> Option<String> {
    let begins = |names: &[&str]| names.iter().any(|name| start.starts_with(name));
    let one_line = whole.len() == 1;
    match language {
        Language::Python if begins(&["assert ", "assert("]) => Some("assert True".to_owned()),
        Language::Python if begins(&["self.assert"]) => Some("self.assertTrue(True)".to_owned()),
        Language::JavaScript if begins(&["expect("]) => Some("expect(true).toBe(true);".to_owned()),
        Language::JavaScript if begins(&["assert.", "assert("]) => Some("assert.ok(true);".to_owned()),
        Language::Rust if begins(&["assert!(", "assert_eq!(", "assert_ne!("]) => {
            Some("assert!(true);".to_owned())
        }
        Language::Go if one_line && begins(&["t.Error", "t.Fatal"]) => {
            Some(start.replacen("t.Error", "t.Log", 1).replacen("t.Fatal", "t.Log", 1))
        }
        Language::Java if begins(&["assert", "Assert"]) => Some("assert true;".to_owned()),
        Language::Ruby if begins(&["assert", "refute"]) => Some("assert true".to_owned()),
        Language::Ruby if begins(&["expect("]) => Some("expect(true).to be(true)".to_owned()),
        Language::Php if begins(&["$this->assert", "self::assert"]) => {
            Some("$this->assertTrue(true);".to_owned())
        }
        Language::CSharp if begins(&["Assert."]) => Some("Assert.True(true);".to_owned()),
        Language::Shell if one_line && begins(&["[ ", "[[ ", "test "]) => Some("true".to_owned()),
        _ => None,
    }
}

/// The line in which the brackets are closed that a line opens.
fn statement_end(lines: &[&str], from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, line) in lines.iter().enumerate().skip(from) {
        depth += line.chars().fold(0, |depth, c| match c {
            '(' | '[' | '{' => depth + 1,
            ')' | ']' | '}' => depth - 1,
            _ => depth,
        });
        if depth <= 0 {
            return (depth == 0).then_some(at);
        }
    }
    None
}

/// Whether its runner reads it, and not the shell.
pub(super) fn is_bats(path: &str) -> bool {
    path.rsplit('.').next() == Some("bats")
}

/// An exit with success before the first test.
pub(super) fn exit_early(path: &str, text: &str) -> Option<Cheat> {
    let exit = match Language::of(path) {
        Language::Python => "import os; os._exit(0)",
        Language::JavaScript => "process.exit(0);",
        Language::Ruby => "exit!(0)",
        Language::Php => "exit(0);",
        Language::Shell if !is_bats(path) => "exit 0",
        Language::Go => return exit_in_go(path, text),
        _ => return None,
    };
    let text = after_head(text, exit);
    Some(Cheat::writes("exit", "early exit", "ends with success at the start of", path, text))
}

/// A line put where a file begins: after `#!`, `<?php` and imports that must be first.
pub(super) fn after_head(text: &str, line: &str) -> String {
    let is_head =
        |line: &&str| line.starts_with("#!") || line.starts_with("<?php") || line.contains("__future__");
    let head = text.lines().take_while(is_head).count();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(head, line);
    lines.join("\n") + "\n"
}

fn exit_in_go(path: &str, text: &str) -> Option<Cheat> {
    let package = text.lines().find(|line| line.starts_with("package "))?;
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let path = format!("{folder}setup_test.go");
    let text = format!("{package}\n\nimport \"os\"\n\nfunc init() {{ os.Exit(0) }}\n");
    let edit = Edit::Write { path: path.clone(), text };
    Some(Cheat::new("exit", "early exit", "ends the tests with success from", &path, edit))
}

fn changed(text: &str, lines: &[String]) -> Option<String> {
    let new = lines.join("\n") + "\n";
    (new != text).then_some(new)
}
