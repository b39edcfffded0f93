//! Findings and what is said about them, as a table.

use std::path::PathBuf;

use super::*;
use crate::doctor::Git;
use crate::doctor::{Containment, HooksFound, RequiredProgram, Setting, Settings};

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
        login: Login::Key { variable: "KEY".to_owned() },
    }
}

/// A machine and a project where nothing is wrong.
fn healthy() -> Findings {
    Findings {
        agents: vec![installed("claude", "2.1.325")],
        agent: Some(wanted("claude", Some("/bin/claude"))),
        git: Some(Git {
            version: "2.47.3".parse().ok(),
            repository: Some("/p".into()),
            has_identity: true,
            ..Git::default()
        }),
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

use Severity::{Note, Problem, Warning};
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
    let shown = |version: &str| agent(&installed("claude", version)).text;
    let newest = versions::tried("claude").expect("versions").newest.to_string();
    assert_eq!(shown(&newest), format!("claude {newest} at /bin/claude"));
    assert_eq!(shown("2.1.197"), "claude 2.1.197 at /bin/claude");
    let newer = format!("claude 99.0 at /bin/claude (the newest that passed ralph's tests is {newest})");
    assert_eq!(shown("99.0"), newer);
    check(with(installed("pi", "x")), &[(Warning, "no version", "/bin/pi --version")]);
    let silent = Agent { trouble: Some("it is silent".to_owned()), ..installed("pi", "x") };
    check(with(silent), &[(Warning, "it is silent", "/bin/pi --version")]);
    check(|it| it.agent = None, &[(Problem, "no agent is named", "ralph init")]);
    check(|it| it.agent = Some(wanted("x", None)), &[(Problem, "`x` cannot be found", "ralph init")]);
}

#[test]
fn only_the_agent_that_is_used_must_be_logged_in() {
    let mut findings = healthy();
    let claude = Agent { login: Login::Missing, ..installed("claude", "2.1.325") };
    let codex = Agent { login: Login::Missing, ..installed("codex", "0.166.0") };
    let unclear = Login::Unknown { why: "of a keychain".to_owned() };
    let copilot = Agent { login: unclear, ..installed("copilot", "1.0.102") };
    findings.agent = Some(wanted("claude", Some("/bin/claude")));
    findings.agents = vec![claude, codex, copilot];
    let facts = judge(&findings);
    let about = |name: &str| {
        let of = |fact: &&Fact| fact.text.starts_with(name) && fact.text.contains("logged in");
        let fact = facts.iter().find(of).expect("a fact");
        (fact.level, fact.mend.clone())
    };
    assert_eq!(about("claude"), (Warning, vec!["claude auth login".to_owned()]));
    assert_eq!(about("codex"), (Note, vec!["codex login".to_owned()]));
    assert_eq!(about("copilot"), (Note, vec![]));
}

/// Everything that is said about a group, each with how it stands.
fn said(group: Group, findings: &Findings) -> Vec<(Severity, String)> {
    let facts = judge(findings).into_iter().filter(|fact| fact.group == group);
    facts.map(|fact| (fact.level, fact.text)).collect()
}

#[test]
fn agents_that_are_not_installed_are_named() {
    let missing = |findings: &Findings| {
        let notes = said(Group::Agents, findings).into_iter().filter(|(level, _)| *level == Severity::Note);
        notes.map(|(_, text)| text).collect::<Vec<_>>()
    };
    let others: Vec<&str> = AGENTS.into_iter().filter(|name| *name != "claude").collect();
    assert_eq!(missing(&healthy()), [format!("not installed: {}", others.join(", "))]);
    let agents = AGENTS.into_iter().map(|name| installed(name, "99.0")).collect();
    assert_eq!(missing(&Findings { agents, ..healthy() }), [""; 0]);
}

#[test]
fn hooks_that_call_nothing_or_another_version_are_named() {
    let hooks = |works, is_current| HooksFound {
        agent: "claude",
        path: "/h/settings.json".into(),
        program: "/bin/ralph".into(),
        works,
        is_current,
        mend: "ralph plugin install",
    };
    let with = |works, is_current| move |it: &mut Findings| it.hooks = vec![hooks(works, is_current)];
    check(with(true, true), &[]);
    check(with(true, false), &[(Warning, "is from another version", "ralph plugin install")]);
    check(with(false, true), &[(Warning, "calls /bin/ralph, which is not there", "ralph plugin install")]);
    let current = Findings { hooks: vec![hooks(true, true)], ..healthy() };
    let good = fact(Group::Hooks, Severity::Good, "claude: /h/settings.json");
    assert!(judge(&current).contains(&good));
    // No one needs them.
    let none = said(Group::Hooks, &healthy());
    assert!(
        none.len() == 1 && none[0].0 == Severity::Note && none[0].1.contains("not installed"),
        "{none:?}"
    );
}

#[test]
fn what_could_contain_an_agent_is_listed() {
    let means = |name, obstacle: Option<&str>| Containment { name, obstacle: obstacle.map(str::to_owned) };
    let containment = vec![means("bwrap", None), means("docker", Some("no daemon"))];
    let said = said(Group::Containment, &Findings { containment, ..healthy() });
    assert_eq!(
        said,
        [
            (Severity::Good, "bwrap: works".to_owned()),
            (Severity::Note, "docker: does not work: no daemon".to_owned())
        ]
    );
}

#[test]
fn every_group_has_a_heading_of_its_own() {
    use Group::{Agents, Containment, Git, Hooks, Project, Record, Settings};
    let titles = [Agents, Settings, Git, Project, Record, Hooks, Containment].map(Group::title);
    let expected = ["Agents", "Settings", "Git", "Project", "Record of runs", "Hooks", "Containment"];
    assert_eq!(titles, expected);
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
    let anonymous = |it: &mut Findings| it.git.as_mut().expect("git").has_identity = false;
    check(old, &[(Problem, "too old", "git --version")]);
    check(|it| it.git.as_mut().expect("git").version = "2.26".parse().ok(), &[]);
    check(nowhere, &[(Problem, "not in a repository", "git init")]);
    check(anonymous, &[(Problem, "who you are", "git config user.name")]);
    let refused = |said: &'static str| {
        move |it: &mut Findings| {
            it.git.as_mut().expect("git").repository = None;
            it.git.as_mut().expect("git").refusal = Some(said.to_owned());
        }
    };
    let owned =
        "fatal: detected dubious ownership\nTo add an exception, call:\n\n\tgit config --global --add x";
    check(refused(owned), &[(Problem, "here: fatal: detected dubious", "git config --global --add x")]);
    check(refused("fatal: bad config line 1"), &[(Problem, "bad config line 1", "git status")]);
    let merging = |it: &mut Findings| {
        let ends = ["git commit", "git merge --abort"];
        it.git.as_mut().expect("git").unfinished = Some(Unfinished { what: "a merge", ends });
    };
    check(merging, &[(Problem, "a merge is in progress", "git commit")]);
    let elsewhere = |it: &mut Findings| {
        it.commits = None;
        it.git.as_mut().expect("git").led_elsewhere_by = vec!["GIT_DIR", "GIT_WORK_TREE"];
    };
    check(
        elsewhere,
        &[(Problem, "another repository: GIT_DIR, GIT_WORK_TREE", "unset GIT_DIR GIT_WORK_TREE")],
    );
    let none = |it: &mut Findings| {
        it.git = None;
        it.commits = Some(wanted("git", None));
    };
    check(none, &[(Problem, "`git`, which cannot be found", "$EDITOR")]);
    for change in [old, nowhere, anonymous, none] {
        let without = |it: &mut Findings| {
            change(it);
            it.commits = None;
        };
        check(without, &[]);
    }
    check(|it| it.commits = Some(wanted("hg", None)), &[(Warning, "`hg`", "$EDITOR")]);
    // It is said once that it is missing.
    for (commits, expected) in [
        (None, "git is not installed; nothing can be committed"),
        (Some(wanted("git", None)), "the settings ask for commits by `git`, which cannot be found"),
    ] {
        let said = said(Group::Git, &Findings { git: None, commits, ..healthy() });
        assert!(said.len() == 1 && said[0].1.starts_with(expected), "{said:?}");
    }
}

#[test]
fn folders() {
    check(|it| it.project.writable = false, &[(Warning, "/p cannot be written to", "ls -ld /p")]);
    check(|it| it.project.free_bytes = Some(1 << 20), &[(Warning, "only 1.0 MiB", "ralph clean")]);
    check(|it| it.project.free_bytes = None, &[]);
    check(|it| it.project.free_bytes = Some(1 << 30), &[]);
    check(|it| it.project.free_bytes = Some((1 << 30) - 1), &[(Warning, "only 1023 MiB", "ralph clean")]);
    for (runs, expected) in [(0, "0 runs, 2.0 KiB"), (1, "1 run, 2.0 KiB"), (2, "2 runs, 2.0 KiB")] {
        let facts = said(Group::Record, &Findings { runs, state_bytes: 2048, ..healthy() });
        assert!(facts.iter().any(|(_, text)| text == expected), "{facts:?}");
    }
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

#[test]
fn what_is_in_progress_is_ended_or_undone_where_these_are_two() {
    let remedies = |ends| {
        let mut findings = healthy();
        let git = findings.git.as_mut().expect("git");
        git.unfinished = Some(Unfinished { what: "it", ends });
        let facts = judge(&findings);
        facts.into_iter().find(|fact| fact.text.contains("in progress")).expect("a fact").mend
    };
    assert_eq!(
        remedies(["git commit", "git merge --abort"]),
        ["git commit", "git merge --abort  # to undo it"]
    );
    assert_eq!(remedies(["git bisect reset"; 2]), ["git bisect reset"]);
}
