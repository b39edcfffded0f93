//! The table, row by row.

use ralph_checks::test_files::compare::Worse;

use super::*;

/// `test`, `test>`: longer, `test-`: weaker, `test+`: new, `test?`: cannot be laid over, `test~`: weaker with an excuse, `test*`: may change, `test!`: reaches for others;
/// `runner`, `conftest`, `snap`, `ci` likewise.
fn fact(word: &str) -> CheckFact {
    let name = word.trim_end_matches(['-', '+', '?', '~', '*', '!', '>']);
    let (file, role) = match name {
        "test" => ("tests/test_a.py", Role::Test),
        "other" => ("tests/test_b.py", Role::Test),
        "runner" => ("Makefile", Role::Runner),
        "conftest" => ("conftest.py", Role::Runner),
        "manifest" => ("package.json", Role::Manifest),
        "lint" => ("ruff.toml", Role::Lint),
        "snap" => ("a.snap", Role::Expectation),
        _ => (".github/workflows/ci.yml", Role::Ci),
    };
    let change = if word.contains('+') { FileChange::Added } else { FileChange::Changed };
    let mut check = ChangedCheck::new(file, role, change);
    if word.contains(['-', '~']) {
        check.worse.insert(Worse::Vanished { test: "test_a".to_owned() });
    }
    CheckFact {
        check,
        is_laid: !word.contains('?'),
        addition: match (word.contains('>'), word.contains('!')) {
            (true, _) => Some(Addition::Longer),
            (_, true) => Some(Addition::ReachesOthers),
            (false, false) => None,
        },
        excuse: word.contains('~').then(|| "a.py is gone, too".to_owned()),
        may_change: word.contains('*'),
    }
}

/// `pass`, `load`, `fail`, or nothing.
fn runs(word: &str) -> Vec<OldRun> {
    let end = match word {
        "" => return Vec::new(),
        "pass" => OldEnd::Passed,
        "load" => OldEnd::NotLoaded("no module a".to_owned()),
        _ => OldEnd::Failed,
    };
    vec![OldRun { command: "make test".to_owned(), end }]
}

/// Checks, how the old ones end, how the old runner ends, what else is so: what follows.
#[track_caller]
fn check(checks: &str, old: &str, runner: &str, more: &str, expected: &str) {
    let evidence = Evidence {
        checks: checks.split_whitespace().map(fact).collect(),
        with_old_checks: runs(old),
        with_old_runner: runs(runner),
        has_other_changes: !more.contains("only"),
        has_linters: more.contains("linter"),
        turned_green: more.contains("green").then(|| "make test".to_owned()).into_iter().collect(),
    };
    let Conclusion { findings, notes } = conclude(&evidence);
    let names = |checks: &[ChangedCheck]| {
        let names: Vec<&str> =
            checks.iter().map(|it| it.file.rsplit('/').next().unwrap_or_default()).collect();
        names.join(",")
    };
    let findings = findings.iter().map(|finding| {
        let kind = finding.key().lines().next().unwrap_or_default().to_owned();
        format!("!{kind}({})", names(finding.checks()))
    });
    let notes = notes.iter().map(|note| {
        let kind = match note {
            CheckNote::OldChecksPass { .. } => "pass",
            CheckNote::NotComparable { .. } => "not-comparable",
            CheckNote::MayChange { .. } => "may-change",
            CheckNote::Unproven { .. } => "unproven",
        };
        format!("{kind}({})", names(note.checks()))
    });
    let all: Vec<String> = findings.chain(notes).collect();
    assert_eq!(all.join(" "), expected, "{checks} | {old} | {runner} | {more}");
}

#[test]
fn the_old_ones_pass() {
    check("", "", "", "", "");
    check("test", "pass", "", "", "pass(test_a.py)");
    // Whatever became of them: nothing was lost.
    check("test-", "pass", "", "", "pass(test_a.py)");
    check("test- conftest", "pass", "", "", "pass(test_a.py,conftest.py)");
    check("runner", "", "pass", "", "pass(Makefile)");
    check("test", "pass", "", "only green", "pass(test_a.py)");
    // More tests in the same file are nothing to talk about, unless the old ones do not pass.
    check("test>", "pass", "", "", "");
    check("test> other", "pass", "", "", "pass(test_b.py)");
    check("test>", "load", "", "", "not-comparable(test_a.py)");
    check("test>", "fail", "", "", "!checks_changed(test_a.py)");
    // New tests judge more.
    check("test+", "", "", "", "");
    check("test+ other", "pass", "", "", "pass(test_b.py)");
    // Unless they reach for others.
    check("test+!", "pass", "", "", "pass(test_a.py)");
    check("test+!", "fail", "", "", "!checks_changed(test_a.py)");
    // With everything as it was, what runs the tests was as it was.
    check("lint", "pass", "", "", "pass(ruff.toml)");
    check("lint", "", "", "", "not-comparable(ruff.toml)");
}

#[test]
fn the_old_ones_do_not_load_and_nothing_got_worse() {
    check("test", "load", "", "", "not-comparable(test_a.py)");
    check("test~", "load", "", "", "not-comparable(test_a.py)");
    check("conftest", "", "load", "", "not-comparable(conftest.py)");
    check("test conftest", "load", "load", "", "not-comparable(test_a.py,conftest.py)");
    check("test conftest", "load", "pass", "", "pass(conftest.py) not-comparable(test_a.py)");
}

#[test]
fn checks_changed() {
    check("test", "fail", "", "", "!checks_changed(test_a.py)");
    check("test-", "load", "", "", "!checks_changed(test_a.py)");
    check("test- other", "load", "", "", "!checks_changed(test_a.py) not-comparable(test_b.py)");
    check("test- other", "fail", "", "", "!checks_changed(test_a.py,test_b.py)");
    // Tests among the code cannot be laid over: what got worse counts.
    check("test-?", "", "", "", "!checks_changed(test_a.py)");
    check("test-? other", "pass", "", "", "!checks_changed(test_a.py) pass(test_b.py)");
    check("test?", "", "", "", "not-comparable(test_a.py)");
    // A new test that alone is run.
    check("test+-", "", "", "", "!checks_changed(test_a.py)");
    check("test runner", "fail", "pass", "", "!checks_changed(test_a.py) pass(Makefile)");
    check("test conftest", "fail", "load", "", "!checks_changed(test_a.py) not-comparable(conftest.py)");
}

#[test]
fn what_runs_them_changed() {
    check("runner", "", "fail", "", "!runner_changed(Makefile)");
    check("runner+", "", "fail", "", "!runner_changed(Makefile)");
    // A recipe that does not load anything is red, too.
    check("runner", "", "load", "", "!runner_changed(Makefile)");
    check("manifest", "", "fail", "", "!runner_changed(package.json)");
    check("lint", "", "fail", "", "!runner_changed(ruff.toml)");
    check("conftest+", "", "fail", "", "!runner_changed(conftest.py)");
    check("test runner", "fail", "fail", "", "!runner_changed(Makefile) not-comparable(test_a.py)");
    check("test- runner", "fail", "fail", "", "!runner_changed(Makefile) !checks_changed(test_a.py)");
    check("test runner", "load", "fail", "", "!runner_changed(Makefile) not-comparable(test_a.py)");
    check("manifest?", "", "", "", "not-comparable(package.json)");
}

#[test]
fn only_checks_changed() {
    check("test", "fail", "", "only green", "!only_checks_changed(test_a.py)");
    check("test", "load", "", "only green", "!only_checks_changed(test_a.py)");
    check("runner", "", "fail", "only green", "!only_checks_changed(Makefile)");
    check("test-?", "", "", "only green", "!only_checks_changed(test_a.py)");
    check("snap?", "", "", "only green", "!only_checks_changed(a.snap)");
    // A green gate stays green, or the code changed as well.
    check("test", "fail", "", "only", "!checks_changed(test_a.py)");
    check("test", "fail", "", "green", "!checks_changed(test_a.py)");
    check("test+", "", "", "only green", "");
}

#[test]
fn what_may_change_is_only_mentioned() {
    check("test-*", "", "", "", "may-change(test_a.py)");
    check("test-* other-", "load", "", "", "!checks_changed(test_b.py) may-change(test_a.py)");
    check("test-*", "", "", "only green", "may-change(test_a.py)");
    check("snap?", "", "", "", "not-comparable(a.snap)");
    check("ci?", "", "", "", "not-comparable(ci.yml)");
}

#[test]
fn a_guardrail_is_run_again_only_where_that_says_something() {
    let wants_with = |checks: &str, old: &str, has_linters| {
        let evidence = Evidence {
            has_linters,
            checks: checks.split_whitespace().map(fact).collect(),
            with_old_checks: runs(old),
            ..Evidence::default()
        };
        (evidence.wants_old_checks(), evidence.wants_old_runner())
    };
    let wants = |checks: &str, old: &str| wants_with(checks, old, false);
    assert_eq!(wants("", ""), (false, false));
    assert_eq!(wants("test+ snap? test-*", ""), (false, false));
    assert_eq!(wants("test", ""), (true, false));
    assert_eq!(wants("runner", ""), (false, true));
    assert_eq!(wants("test runner+", "fail"), (true, true));
    assert_eq!(wants("test runner", "pass"), (true, false));
    // New tests are taken away together with a new file that runs them.
    assert_eq!(wants("test+ conftest+", ""), (true, true));
    assert_eq!(wants("test+ conftest+", "pass"), (true, false));
    assert_eq!(wants("test+*? conftest+", ""), (false, true));
    // Linters do not run with old tests.
    assert_eq!(wants("test lint", "pass"), (true, false));
    assert_eq!(wants_with("test lint", "pass", true), (true, true));
    assert_eq!(wants_with("test manifest", "pass", true), (true, true));
    assert_eq!(wants_with("test runner conftest", "pass", true), (true, false));
}

#[test]
fn linters_are_asked_though_the_old_tests_pass() {
    check("test lint", "pass", "pass", "linter", "pass(test_a.py,ruff.toml)");
    check("test lint", "pass", "fail", "linter", "!runner_changed(ruff.toml) pass(test_a.py)");
    check(
        "test lint conftest",
        "pass",
        "fail",
        "linter",
        "!runner_changed(ruff.toml) pass(test_a.py,conftest.py)",
    );
    check("test+ conftest+", "pass", "", "", "pass(conftest.py)");
}

#[test]
fn a_note_says_why_nothing_can_be_compared() {
    for (checks, old, runner, expected) in [
        ("test~", "load", "", "a.py is gone, too"),
        ("other test~", "load", "", "a.py is gone, too"),
        ("test?", "", "", "no guardrail can be run with the old ones"),
        ("test", "load", "", "the old ones do not fit the new code: no module a"),
        ("test other?", "load", "", "the old ones do not fit the new code: no module a"),
        ("conftest", "", "load", "the old ones do not fit the new code: no module a"),
        ("test", "", "", "no guardrail runs them"),
    ] {
        let checks = checks.split_whitespace().map(fact).collect();
        let (with_old_checks, with_old_runner) = (runs(old), runs(runner));
        let evidence = Evidence { checks, with_old_checks, with_old_runner, ..Evidence::default() };
        let notes = conclude(&evidence).notes;
        let [CheckNote::NotComparable { why, .. }] = &notes[..] else { panic!("{notes:?}") };
        assert_eq!(why, expected);
    }
}

#[test]
fn a_finding_names_the_guardrails_that_fail_and_no_others() {
    let of = |command: &str, word: &str| OldRun { command: command.to_owned(), ..runs(word).remove(0) };
    let three = || vec![of("lint", "pass"), of("unit", "fail"), of("e2e", "load")];
    for (check, with_old_checks, with_old_runner) in
        [("test", three(), Vec::new()), ("runner", Vec::new(), three())]
    {
        let checks = vec![fact(check)];
        let evidence = Evidence { checks, with_old_checks, with_old_runner, ..Evidence::default() };
        let findings = conclude(&evidence).findings;
        let [Finding::ChecksChanged { commands, .. } | Finding::RunnerChanged { commands, .. }] =
            &findings[..]
        else {
            panic!("{findings:?}")
        };
        assert_eq!(commands, &["unit", "e2e"], "{check}");
    }
}
