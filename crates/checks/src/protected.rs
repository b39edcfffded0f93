//! Which files judge a project: the table, with examples of what each row means and what it does not.
//!
//! A file that judges may change like any other. It is looked at more closely, and that is all.

mod rules;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use rules::RULES;

use crate::glob::{AskedPath, Glob};

/// How a file judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It has tests.
    Test,
    /// Tests compare with it: fixtures, snapshots, golden files.
    Expectation,
    /// It says which tests are run, and how.
    Runner,
    /// It says what a linter, a formatter or a compiler finds fault with.
    Lint,
    /// An interpreter or a tool reads it before anything else.
    StartUp,
    /// It says what is checked when the work is pushed.
    Ci,
    /// It describes the project, and in parts what judges it.
    Manifest,
}

impl Role {
    /// What such a file is, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Expectation => "expectation",
            Self::Runner => "runner configuration",
            Self::Lint => "lint configuration",
            Self::StartUp => "start-up file",
            Self::Ci => "CI configuration",
            Self::Manifest => "manifest",
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How the files judge.
    pub role: Role,
    /// Where they are.
    pub patterns: &'static [&'static str],
    /// Such files.
    pub examples: &'static [&'static str],
    /// Files that look like it and judge nothing, or not in this way.
    pub others: &'static [&'static str],
}

/// The table, ready to be asked.
#[derive(Debug)]
pub struct Protected {
    /// Read when the first file is asked about, and once: there are hundreds of patterns.
    rules: &'static LazyLock<Patterns>,
}

type Patterns = Vec<(Role, Vec<Glob>)>;

/// The table of the common languages and tools, as patterns.
static USUAL: LazyLock<Patterns> = LazyLock::new(|| {
    let globs = |rule: &Rule| rule.patterns.iter().map(|pattern| Glob::new(pattern)).collect();
    RULES.iter().map(|rule| (rule.role, globs(rule))).collect()
});

impl Protected {
    /// The table of the common languages and tools.
    pub fn usual() -> Self {
        Self { rules: &USUAL }
    }

    /// How a file judges, by its place below the project; the first row that knows it counts.
    pub fn role(&self, path: &str) -> Option<Role> {
        if is_installed(path) {
            // No one commits these, and what runs reads them before anything else.
            return is_run_from_there(path).then_some(Role::StartUp);
        }
        let path = AskedPath::new(path);
        let found = self.rules.iter().find(|(_, globs)| globs.iter().any(|glob| glob.means(&path)));
        found.map(|(role, _)| *role)
    }
}

/// Whether a file was installed or built: no person wrote it, and what installs it is looked at instead.
fn is_installed(path: &str) -> bool {
    const FOLDERS: [&str; 8] =
        ["node_modules", "target", ".venv", "venv", "vendor", "__pycache__", ".git", ".tox"];
    path.split('/').any(|name| FOLDERS.contains(&name))
}

/// Whether a file that was installed or built runs in place of something else.
fn is_run_from_there(path: &str) -> bool {
    let path = format!("/{path}");
    [".pyc", ".pyo", ".pth"].iter().any(|ending| path.ends_with(ending))
        || ["/node_modules/.bin/", "/.venv/bin/", "/venv/bin/"].iter().any(|folder| path.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_means_its_examples_and_not_the_others() {
        let protected = Protected::usual();
        for rule in RULES {
            assert!(!rule.examples.is_empty(), "{rule:?}");
            for path in rule.examples {
                assert_eq!(protected.role(path), Some(rule.role), "{path}");
            }
            for path in rule.others {
                assert_ne!(protected.role(path), Some(rule.role), "{path}");
            }
        }
    }

    #[test]
    fn every_pattern_has_an_example() {
        for rule in RULES {
            for pattern in rule.patterns {
                let glob = Glob::new(pattern);
                assert!(rule.examples.iter().any(|path| glob.matches(path)), "{pattern}");
            }
        }
    }

    #[test]
    fn what_is_installed_judges_only_where_it_runs_in_place_of_something() {
        let protected = Protected::usual();
        for (path, expected) in [
            ("__pycache__/cart.cpython-311.pyc", Some(Role::StartUp)),
            ("node_modules/.bin/node", Some(Role::StartUp)),
            ("web/node_modules/.bin/jest", Some(Role::StartUp)),
            (".venv/bin/python", Some(Role::StartUp)),
            ("venv/lib/python3.12/site-packages/x.pth", Some(Role::StartUp)),
            ("node_modules/jest/tests/a.test.js", None),
            ("vendor/bin/a", None),
        ] {
            assert_eq!(protected.role(path), expected, "{path}");
        }
    }

    #[test]
    fn usual_sources_judge_nothing() {
        let protected = Protected::usual();
        for path in [
            "src/main.rs",
            "src/contest.py",
            "lib/latest.js",
            "app/models/user.rb",
            "README.md",
            "docs/testing.md",
            "main.go",
            "src/attestation/mod.rs",
            "testimonials/page.html",
            "Cargo.lock",
            "package-lock.json",
            "node_modules/jest/jest.config.js",
            ".venv/lib/python3.12/site-packages/x/tests/test_a.py",
        ] {
            assert_eq!(protected.role(path), None, "{path}");
        }
    }
}
