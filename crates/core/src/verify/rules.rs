//! What the settings say about how claims are verified.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When claims are decided in a clean clone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckoutWhen {
    /// When the agent says that it is done.
    #[default]
    Claim,
    /// After every turn.
    Always,
    /// Never: the working tree decides.
    Never,
    /// When the agent says that it is done, and the working tree never decides instead.
    Require,
}

impl CheckoutWhen {
    /// What runs do whose record says nothing about it.
    pub fn never() -> Self {
        Self::Never
    }

    /// Whether it need not be recorded.
    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }

    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 4] = [
        ("claim", Self::Claim),
        ("always", Self::Always),
        ("never", Self::Never),
        ("require", Self::Require),
    ];
}

/// What follows when something was done to the judgement of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnFinding {
    /// The agent is asked once; then a person decides.
    #[default]
    Ask,
    /// The claim does not count.
    Refuse,
    /// Ralph puts the files back and judges again.
    Restore,
    /// It is reported, and the claim counts.
    Report,
}

impl OnFinding {
    /// Whether it need not be recorded.
    pub fn is_ask(&self) -> bool {
        *self == Self::Ask
    }

    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 4] =
        [("ask", Self::Ask), ("refuse", Self::Refuse), ("restore", Self::Restore), ("report", Self::Report)];
}

/// Whether new tests are tried on the code that the run began with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Bite {
    /// They are not.
    #[default]
    Off,
    /// They are, when a claim would count.
    On,
}

impl Bite {
    /// Whether it need not be recorded.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("off", Self::Off), ("on", Self::On)];
}

/// When a reviewer is asked whether a claimed change fixes the task or only its checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LookWhen {
    /// At a claim with a finding.
    #[default]
    Finding,
    /// At every claim.
    Always,
    /// Never.
    Off,
}

impl LookWhen {
    /// What runs without a reviewer have, and those of versions that never asked.
    pub fn off() -> Self {
        Self::Off
    }

    /// Whether it need not be recorded.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 3] =
        [("finding", Self::Finding), ("always", Self::Always), ("off", Self::Off)];
}

/// What follows when the reviewer does not say that a claimed change fixes the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnLook {
    /// It is a line for people.
    #[default]
    Report,
    /// It is a finding: a person must look.
    Withhold,
}

impl OnLook {
    /// Whether it need not be recorded.
    pub fn is_report(&self) -> bool {
        *self == Self::Report
    }

    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("report", Self::Report), ("withhold", Self::Withhold)];
}

/// Which files are checks, and which of them may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ChecksSetup {
    /// Patterns of them; nothing means those of common tools. Among patterns `auto` stands for these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protect: Option<Vec<String>>,
    /// Patterns of those that may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_change: Vec<String>,
    /// Tests, fixtures and snapshots may change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tests_may_change: bool,
}

/// Where the clone is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SeenAt {
    /// At the path of the project, if that is possible.
    #[default]
    Path,
    /// In a folder of its own.
    Folder,
}

impl SeenAt {
    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("path", Self::Path), ("folder", Self::Folder)];
}

/// Where a guardrail runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunsWhere {
    /// At both places.
    #[default]
    Both,
    /// Only in the judge.
    Judge,
    /// Only in the working tree.
    Project,
}

impl RunsWhere {
    /// Whether it need not be recorded.
    pub fn is_both(&self) -> bool {
        *self == Self::Both
    }

    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 3] =
        [("both", Self::Both), ("judge", Self::Judge), ("project", Self::Project)];
}

/// How often a guardrail may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Repeats {
    /// As often as needed.
    #[default]
    Yes,
    /// Once: it deploys something, or each time costs money.
    No,
}

impl Repeats {
    /// Whether it need not be recorded.
    pub fn is_yes(&self) -> bool {
        *self == Self::Yes
    }
}

/// What a guardrail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GuardrailKind {
    /// It runs tests.
    Test,
    /// It reads the code and runs nothing of it.
    Lint,
}

/// Programs that only read the code, alone or with a word after them.
const LINTERS: [&str; 34] = [
    "actionlint",
    "bandit",
    "biome",
    "black",
    "buf lint",
    "cargo clippy",
    "cargo deny",
    "cargo doc",
    "cargo fmt",
    "checkstyle",
    "clang-format",
    "clang-tidy",
    "detekt",
    "eslint",
    "flake8",
    "go vet",
    "gofmt",
    "golangci-lint",
    "hadolint",
    "ktlint",
    "mypy",
    "phpstan",
    "prettier",
    "pylint",
    "pyright",
    "rubocop",
    "ruff",
    "shellcheck",
    "shfmt",
    "staticcheck",
    "stylelint",
    "tsc",
    "xo",
    "yamllint",
];

/// Scripts of package managers and targets of make that are called like this only read the code.
const LINT_WORDS: [&str; 6] = ["lint", "typecheck", "type-check", "fmt", "format", "check-format"];

impl GuardrailKind {
    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("test", Self::Test), ("lint", Self::Lint)];

    /// What a command seems to be. Only one that does nothing else is a linter.
    pub fn of(command: &str) -> Self {
        let parts = command.split(['&', '|', ';']).map(str::trim).filter(|part| !part.is_empty());
        let mut parts = parts.peekable();
        if parts.peek().is_some() && parts.all(only_reads) { Self::Lint } else { Self::Test }
    }
}

fn only_reads(command: &str) -> bool {
    let is_assignment = |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let mut words: Vec<&str> = command.split_whitespace().skip_while(is_assignment).collect();
    while let [first, rest @ ..] = &words[..] {
        // What only starts another program.
        let runners: &[&[&str]] = &[
            &["npx"],
            &["npm", "exec"],
            &["pnpm", "exec"],
            &["yarn", "exec"],
            &["bundle", "exec"],
            &["uv", "run"],
            &["poetry", "run"],
            &["python", "-m"],
            &["python3", "-m"],
        ];
        let runner = runners.iter().find(|runner| words.starts_with(runner));
        if let Some(runner) = runner {
            words = words.split_off(runner.len());
            continue;
        }
        let program = first.rsplit('/').next().unwrap_or(first);
        let with_next = rest.first().map(|next| format!("{program} {next}"));
        let is_linter = |known: &&str| *known == program || Some(*known) == with_next.as_deref();
        return LINTERS.iter().any(is_linter) || calls_linter(program, rest);
    }
    false
}

/// `npm run lint`, `make lint`.
fn calls_linter(program: &str, rest: &[&str]) -> bool {
    let (("npm" | "pnpm" | "yarn" | "bun", ["run", name, ..])
    | ("pnpm" | "yarn" | "make" | "just" | "task", [name])) = (program, rest)
    else {
        return false;
    };
    LINT_WORDS.iter().any(|word| name == word || name.split([':', '-']).any(|part| part == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_default_need_not_be_recorded() {
        for (name, choice) in OnFinding::NAMES {
            assert_eq!(choice.is_ask(), name == "ask", "{name}");
        }
        assert!(Bite::default().is_off() && !Bite::On.is_off());
        for (name, choice) in LookWhen::NAMES {
            assert_eq!(choice.is_off(), name == "off", "{name}");
        }
        assert!(LookWhen::off().is_off() && OnLook::default().is_report() && !OnLook::Withhold.is_report());
    }

    #[test]
    fn linters_are_known() {
        for command in [
            "cargo clippy -- -D warnings",
            "cargo fmt --check",
            "ruff check .",
            "python3 -m mypy src",
            "npx eslint .",
            "npm run lint",
            "pnpm run typecheck",
            "yarn lint",
            "make lint",
            "npm run lint:js",
            "./node_modules/.bin/tsc --noEmit",
            "go vet ./...",
            "RUSTFLAGS=x cargo clippy && cargo fmt --check",
            "bundle exec rubocop",
        ] {
            assert_eq!(GuardrailKind::of(command), GuardrailKind::Lint, "{command}");
        }
    }

    #[test]
    fn whatever_runs_code_is_none() {
        for command in [
            "",
            "&&",
            "cargo test",
            "pytest",
            "npm test",
            "make test",
            "cargo fmt --check && cargo test",
            "ruff check . ; pytest",
            "npm run linter-tests",
            "go test ./...",
            "python3 -m pytest",
            "npx",
        ] {
            assert_eq!(GuardrailKind::of(command), GuardrailKind::Test, "{command}");
        }
    }

    #[test]
    fn names_are_those_of_the_journal() {
        fn check<T: Copy + PartialEq + std::fmt::Debug + Serialize + for<'a> Deserialize<'a>>(
            names: &[(&str, T)],
        ) {
            for (name, value) in names {
                assert_eq!(serde_json::to_value(value).expect("JSON"), *name);
                assert_eq!(serde_json::from_value::<T>((*name).into()).expect("a value"), *value);
            }
        }
        check(&CheckoutWhen::NAMES);
        check(&OnFinding::NAMES);
        check(&Bite::NAMES);
        check(&LookWhen::NAMES);
        check(&OnLook::NAMES);
        check(&SeenAt::NAMES);
        check(&RunsWhere::NAMES);
        check(&GuardrailKind::NAMES);
    }
}
