//! Small readers of test files: which tests there are, how much each asserts, and what keeps it from running.
//!
//! A reader is no compiler. It knows the comments and strings of a language, finds tests by the names and marks that the
//! common frameworks use, and counts what looks like an assertion. It never fails and takes linear time. What it says is
//! only ever compared with what it says about another version of the same files ([`compare`]).

pub mod added;
mod assertions;
mod classes;
pub mod compare;
mod go;
pub mod inline;
mod javascript;
mod lexer;
mod markers;
mod measure;
mod python;
pub mod reach;
mod ruby;
mod rust;
mod shell;
mod similar;
mod source;
mod syntax;
#[cfg(test)]
mod tests;
pub(crate) mod uses;
mod work;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use source::Source;
use syntax::Syntax;

/// A language whose tests can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// pytest and unittest.
    Python,
    /// JavaScript and TypeScript: jest, vitest, mocha, `node:test`, tape, ava.
    JavaScript,
    /// `#[test]` and what is built on it.
    Rust,
    /// `testing`.
    Go,
    /// Java and Kotlin: `JUnit`, `TestNG`.
    Java,
    /// `RSpec` and minitest.
    Ruby,
    /// `PHPUnit` and Pest.
    Php,
    /// xUnit, `NUnit`, `MSTest`.
    CSharp,
    /// bats, shunit2, and scripts that are tests as a whole.
    Shell,
    /// C, C++ and whatever else: a file is one test.
    Other,
}

impl Language {
    /// The language of a file, by its name.
    pub fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("py" | "pyi") => Self::Python,
            Some("js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte") => {
                Self::JavaScript
            }
            Some("rs") => Self::Rust,
            Some("go") => Self::Go,
            Some("java" | "kt" | "kts" | "groovy") => Self::Java,
            Some("rb") => Self::Ruby,
            Some("php") => Self::Php,
            Some("cs") => Self::CSharp,
            Some("sh" | "bash" | "bats" | "zsh" | "ksh") | None => Self::Shell,
            Some(_) => Self::Other,
        }
    }

    fn syntax(self) -> &'static Syntax {
        match self {
            Self::Python => &syntax::PYTHON,
            Self::JavaScript => &syntax::JAVASCRIPT,
            Self::Rust => &syntax::RUST,
            Self::Go => &syntax::GO,
            Self::Java => &syntax::JAVA,
            Self::Ruby => &syntax::RUBY,
            Self::Php => &syntax::PHP,
            Self::CSharp => &syntax::CSHARP,
            Self::Shell => &syntax::SHELL,
            Self::Other => &syntax::C,
        }
    }
}

/// Something in a test that keeps it, or others, from judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Marker {
    /// It is not run, perhaps only under a condition.
    Skip,
    /// Only this test is run.
    Only,
    /// It is expected to fail.
    ExpectedFailure,
    /// It returns before it asserts anything.
    EarlyReturn,
    /// A failure is caught and dropped.
    Swallowed,
    /// It is run again until it passes.
    Retry,
}

/// A test as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The names of its groups and its own.
    pub id: String,
    /// How often it asserts something.
    pub assertions: u32,
    /// Assertions that hold whatever the code does.
    pub trivial: u32,
    /// What keeps it from judging.
    pub markers: BTreeSet<Marker>,
    /// How many sets of parameters it is run with, as far as the file says; at least one.
    pub cases: u32,
    body: similar::Body,
    calls: Vec<String>,
}

/// A function in a test file that is no test, but that tests may call.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Helper {
    name: String,
    assertions: u32,
    calls: Vec<String>,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFile {
    /// Its tests, in order.
    pub tests: Vec<Test>,
    helpers: Vec<Helper>,
}

impl TestFile {
    /// How often all of its tests and helpers assert something.
    pub fn assertions(&self) -> u32 {
        let tests = self.tests.iter().map(|test| test.assertions);
        let helpers = self.helpers.iter().map(|helper| helper.assertions);
        tests.chain(helpers).fold(0, u32::saturating_add)
    }
}

/// A test or a helper that was found, before it is measured.
#[derive(Clone, Debug)]
struct Unit {
    id: String,
    is_test: bool,
    /// The tokens that belong to it.
    from: usize,
    to: usize,
    markers: BTreeSet<Marker>,
    cases: u32,
}

/// Reads a file.
pub fn read(language: Language, text: &str) -> TestFile {
    let source = Source::new(text, language.syntax());
    let units = match language {
        Language::Python => python::units(&source),
        Language::JavaScript => javascript::units(&source),
        Language::Rust => rust::units(&source),
        Language::Go => go::units(&source),
        Language::Java | Language::Php | Language::CSharp => classes::units(&source, language),
        Language::Ruby => ruby::units(&source),
        Language::Shell => shell::units(&source),
        Language::Other => whole(&source),
    };
    measure::measure(&source, language, units)
}

/// A file that is one test.
fn whole(source: &Source<'_>) -> Vec<Unit> {
    let markers = BTreeSet::new();
    vec![Unit { id: "the file".to_owned(), is_test: true, from: 0, to: source.len(), markers, cases: 1 }]
}
