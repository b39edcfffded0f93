//! What a setup says, and what of it is recorded.

use serde_json::json;

use super::*;

#[test]
fn what_is_typed_later_wins_key_by_key() {
    let invocation = |config: Option<&str>, flags: Value| {
        let Value::Object(flags) = flags else { panic!("flags are an object") };
        Invocation { config: config.map(PathBuf::from), flags }
    };
    let first = invocation(
        Some("a.json"),
        json!({"agent": {"command": "claude"}, "limits": {"maxCost": 5.0}, "guard": "off"}),
    );
    let later = invocation(None, json!({"limits": {"maxCost": 6.0, "maxTokens": 9}, "guard": null}));
    assert_eq!(
        first.clone().with(later),
        invocation(
            Some("a.json"),
            json!({"agent": {"command": "claude"}, "limits": {"maxCost": 6.0, "maxTokens": 9}, "guard": null})
        )
    );
    assert_eq!(first.clone().with(Invocation::default()), first);
}

fn setup() -> Setup {
    Setup::new(Path::new("/p"), "claude", PromptSource::Text("Do it.".to_owned()))
}

#[test]
fn only_a_root_keeps_a_task_going() {
    let of = |role| {
        let (task, folder) = ("docs".to_owned(), "/p/.ralph/tasks/docs".into());
        let assignment = Some(Assignment { task, folder, role, parent: None, previous: None });
        Setup { assignment, ..setup() }
    };
    assert_eq!(of(Role::Root).root_task(), Some("docs"));
    assert_eq!(of(Role::Child).root_task(), None);
    assert_eq!(setup().root_task(), None);
}

#[test]
fn what_is_usual_is_not_in_the_record() {
    let plain = serde_json::to_value(setup()).expect("JSON");
    let keys = |value: &serde_json::Value| value.as_object().map_or(0, serde_json::Map::len);
    assert_eq!(plain.get("guard"), None);
    assert_eq!(plain.get("session_log"), None);
    let other = Setup { guard: Guard::On, session_log: true, ..setup() };
    let recorded = serde_json::to_value(&other).expect("JSON");
    assert_eq!((&recorded["guard"], &recorded["session_log"]), (&json!("on"), &json!(true)));
    assert_eq!(keys(&recorded), keys(&plain) + 2);
    assert_eq!(serde_json::from_value::<Setup>(recorded).expect("a setup"), other);
}

#[test]
fn a_prompt_that_is_read_has_a_path() {
    assert_eq!(PromptSource::Text("x".to_owned()).path(), None);
    assert_eq!(PromptSource::File("a.md".into()).path(), Some(Path::new("a.md")));
    assert_eq!(PromptSource::Template("b.md".into()).path(), Some(Path::new("b.md")));
}

#[test]
fn commits_are_made_by_git_unless_another_program_is_named() {
    let command = |scm| serde_json::from_value::<Scm>(scm).expect("settings").command;
    assert_eq!(command(json!({"tasks": ["commit"]})), "git");
    assert_eq!(command(json!({"command": "jj", "tasks": ["commit"]})), "jj");
}

#[test]
fn stories_are_reviewed_unless_that_is_skipped() {
    let of = |skip_review| StoriesSetup {
        ralph_dir: "ralph".into(),
        branch: "main".to_owned(),
        review_cap: 5,
        skip_review,
        containment: "direct".to_owned(),
        verify_commands: vec![],
        budget: Budget { stories: 1, each: 1 },
        pinned: BTreeMap::new(),
    };
    assert_eq!((of(false).review(), of(true).review()), (Review::Required, Review::Skipped));
}

#[test]
fn keys_of_forges_stay_away_from_runs_that_deal_with_one() {
    let issue = || IssueSetup {
        repository: "a/b".to_owned(),
        number: 1,
        title: "t".to_owned(),
        url: "u".to_owned(),
        text: "what was asked".to_owned(),
    };
    let withheld = |tasks: Vec<ScmTask>, issue| {
        Setup { scm: Some(Scm::git(tasks)), issue, ..setup() }.withheld().to_vec()
    };
    assert!(setup().withheld().is_empty());
    assert!(withheld(vec![ScmTask::Commit], None).is_empty());
    for names in [withheld(vec![ScmTask::Branch], None), withheld(vec![ScmTask::Commit], Some(issue()))] {
        assert!(names.contains(&"GITHUB_TOKEN"), "{names:?}");
    }
    assert_eq!(IssueSetup::behind(Some(&issue()), "do it".to_owned()), "do it\n\nwhat was asked");
    assert_eq!(IssueSetup::behind(None, "do it".to_owned()), "do it");
}
