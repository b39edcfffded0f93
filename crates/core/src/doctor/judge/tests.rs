//! Findings and what is said about them, as a table.

use std::path::PathBuf;

use super::*;
use crate::doctor::{RequiredProgram, Setting, Settings};

const PLENTY: u64 = 50 << 30;

fn place(path: &str) -> Place {
    Place { path: path.into(), writable: true, free_bytes: Some(PLENTY) }
}

fn wanted(command: &str, path: Option<&str>) -> RequiredProgram {
    RequiredProgram { command: command.to_owned(), path: path.map(PathBuf::from) }
}

fn installed(name: &str, version: &str) -> Agent {
    Agent {
        name: name.to_owned(),
        path: format!("/bin/{name}").into(),
        version: version.parse().ok(),
        trouble: None,
        tried: versions::tried(name),
    }
}

/// A machine and a project where nothing is wrong.
fn healthy() -> Findings {
    Findings {
        agents: vec![installed("claude", "2.1.325")],
        agent: Some(wanted("claude", Some("/bin/claude"))),
        git: Some(Git { version: "2.47.3".parse().ok(), repository: Some("/p".into()), has_identity: true }),
        commits: Some(wanted("git", Some("/bin/git"))),
        project: place("/p"),
        state: Some(place("/s")),
        ..Findings::default()
    }
}

/// After this change, these are the problems and warnings, each with the first thing to type.
#[track_caller]
fn check(change: impl FnOnce(&mut Findings), expected: &[(Severity, &str, &str)]) {
    let mut findings = healthy();
    change(&mut findings);
    let facts = judge(&findings);
    let bad: Vec<_> =
        facts.iter().filter(|fact| matches!(fact.level, Severity::Warning | Severity::Problem)).collect();
    assert_eq!(bad.len(), expected.len(), "{bad:#?}");
    for (fact, (level, words, mend)) in bad.iter().zip(expected) {
        assert_eq!(fact.level, *level, "{fact:?}");
        assert!(fact.text.contains(words), "{words:?} in {fact:?}");
        assert!(fact.mend.first().is_some_and(|command| command.contains(mend)), "{mend:?} in {fact:?}");
    }
}

use Severity::{Problem, Warning};
use ralph_agents::versions;

#[test]
fn nothing_is_wrong() {
    check(|_| {}, &[]);
    check(|it| it.running = Some("x".to_owned()), &[]);
    check(|it| it.agents.clear(), &[]);
}

#[test]
fn agents() {
    let with = |agent: Agent| move |it: &mut Findings| it.agents = vec![agent];
    check(with(installed("claude", "2.1.196")), &[(Warning, "older than 2.1.197", "claude update")]);
    check(
        with(installed("codex", "0.40.0")),
        &[(Warning, "older than 0.166.0", "npm install -g @openai/codex")],
    );
    check(with(installed("claude", "2.1.197")), &[]);
    check(with(installed("codex", "9.0.0")), &[]);
    check(with(installed("pi", "x")), &[(Warning, "no version", "/bin/pi --version")]);
    let silent = Agent { trouble: Some("it is silent".to_owned()), ..installed("pi", "x") };
    check(with(silent), &[(Warning, "it is silent", "/bin/pi --version")]);
    check(|it| it.agent = None, &[(Problem, "no agent is named", "ralph init")]);
    check(|it| it.agent = Some(wanted("x", None)), &[(Problem, "`x` cannot be found", "ralph init")]);
}

#[test]
fn settings() {
    let problem = "a.json:3: retries: expected a whole number".to_owned();
    check(|it| it.settings.problems = vec![problem.clone()], &[(Problem, "retries", "$EDITOR a.json")]);
    check(|it| it.settings.warnings = vec![problem.clone()], &[(Warning, "retries", "$EDITOR a.json")]);
    let both = |it: &mut Findings| {
        it.agent = None;
        it.settings.problems = vec![problem.clone()];
    };
    // The agent may stand in the part that cannot be read.
    check(both, &[(Problem, "retries", "$EDITOR a.json")]);
    let setting = |origin: Option<&str>| Setting { value: 5.into(), origin: origin.map(str::to_owned) };
    let values =
        [("retries".to_owned(), setting(Some("a.json:3"))), ("leftovers".to_owned(), setting(None))].into();
    let findings = Findings { settings: Settings { values, ..Settings::default() }, ..healthy() };
    let notes: Vec<_> = judge(&findings).into_iter().filter(|fact| fact.text.contains(" = ")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].text, "retries = 5  (a.json:3)");
}

#[test]
fn git_matters_where_it_commits() {
    let old = |it: &mut Findings| it.git.as_mut().expect("git").version = "2.25.4".parse().ok();
    let nowhere = |it: &mut Findings| it.git.as_mut().expect("git").repository = None;
    let nobody = |it: &mut Findings| it.git.as_mut().expect("git").has_identity = false;
    check(old, &[(Problem, "too old", "git --version")]);
    check(|it| it.git.as_mut().expect("git").version = "2.26".parse().ok(), &[]);
    check(nowhere, &[(Problem, "not in a repository", "git init")]);
    check(nobody, &[(Problem, "who you are", "git config user.name")]);
    let none = |it: &mut Findings| {
        it.git = None;
        it.commits = Some(wanted("git", None));
    };
    check(none, &[(Problem, "`git`, which cannot be found", "$EDITOR")]);
    for change in [old, nowhere, nobody, none] {
        let without = |it: &mut Findings| {
            change(it);
            it.commits = None;
        };
        check(without, &[]);
    }
    check(|it| it.commits = Some(wanted("hg", None)), &[(Warning, "`hg`", "$EDITOR")]);
}

#[test]
fn folders() {
    check(|it| it.project.writable = false, &[(Warning, "/p cannot be written to", "ls -ld /p")]);
    check(|it| it.project.free_bytes = Some(1 << 20), &[(Warning, "only 1.0 MiB", "ralph clean")]);
    check(|it| it.project.free_bytes = None, &[]);
    check(|it| it.state = None, &[(Problem, "no home", "RALPH_STATE_DIR")]);
    let locked = |it: &mut Findings| it.state = Some(Place { writable: false, ..place("/s") });
    check(locked, &[(Problem, "/s cannot be written to", "RALPH_STATE_DIR")]);
}

#[test]
fn sizes_are_shown() {
    let cases = [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (102_400, "100 KiB"),
        (1 << 30, "1.0 GiB"),
        (3 << 50, "3072 TiB"),
        (u64::MAX, "16777215 TiB"),
    ];
    for (count, expected) in cases {
        assert_eq!(bytes(count), expected);
    }
}
