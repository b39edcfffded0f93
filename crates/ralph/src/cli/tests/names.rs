//! Holds flags, settings, the record and limits to the table in `docs/design/names.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use clap::CommandFactory;
use ralph_core::{
    containment::{
        level::{Choice, Level},
        wanted::Wanted,
    },
    engine::{
        event::{Event, RunStarted},
        outcome::{Exhausted, Outcome},
        plan::{Check, Gate, Limits, Plan, When},
        presets,
        roles::Roles,
    },
    setup::{Guard, Leftovers, Price, PromptSource, Scm, Setup, StoriesSetup, Timeouts},
    stories::{Budget, Review, TaskList},
};
use serde_json::{Value, json};

use crate::{cli::Cli, settings};

/// Keys that have keys in them, and one that is not ralph's.
const GROUPS: [&str; 13] = [
    "$schema", "agent", "build", "fleet", "judge", "limits", "output", "plan", "prompt", "roles", "stories",
    "task", "verify",
];

/// What one thing is called.
#[derive(Debug)]
struct Row {
    flag: String,
    key: String,
    field: String,
    limit: String,
    old: Vec<String>,
    excuse: String,
}

fn table() -> Vec<Row> {
    let page = include_str!("../../../../../docs/design/names.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| flag"));
    let rows: Vec<Row> = rows
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, flag, key, field, limit, old, excuse, _] = cells[..] else { panic!("{line}") };
            let plain = |cell: &str| cell.trim_matches('`').to_owned();
            let old = old.split_whitespace().map(plain).collect();
            let [flag, key, field, limit] = [flag, key, field, limit].map(plain);
            Row { flag, key, field, limit, old, excuse: excuse.to_owned() }
        })
        .collect();
    assert!(20 < rows.len(), "the table was not found");
    rows
}

/// `limits.maxTime`, `--max-time` and `max_time_ms` are all `max-time`.
fn stem(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or_default();
    let last =
        last.trim_start_matches("--").trim_start_matches("no-").trim_end_matches("_ms").replace('_', "-");
    let parts = last.chars().map(|c| match c {
        'A'..='Z' => format!("-{}", c.to_ascii_lowercase()),
        c => c.to_string(),
    });
    parts.collect()
}

#[test]
fn a_thing_has_one_name() {
    assert_eq!(
        ["--no-max-time", "limits.maxTime", "a.b.max_time_ms", "max_time"].map(stem),
        ["max-time"; 4].map(str::to_owned)
    );
    for row in table() {
        let Row { flag, key, field, limit, excuse, .. } = &row;
        let stems: BTreeSet<String> = [flag, key, field, limit]
            .into_iter()
            .filter(|name| !name.is_empty())
            .map(|name| stem(name))
            .collect();
        assert_eq!(1 < stems.len(), !excuse.is_empty(), "{row:?}");
    }
}

#[test]
fn every_name_of_the_table_is_there() {
    let (flags, keys, record, limits) = (all_flags(), settings::keys(), record(), limits());
    for row in table() {
        let Row { flag, key, field, limit, .. } = &row;
        assert!(flag.is_empty() || flags.contains(flag), "{row:?}");
        assert!(key.is_empty() || keys.contains(key), "{row:?}");
        assert!(field.is_empty() || !at(&mut record.clone(), field).is_empty(), "{row:?}");
        assert!(limit.is_empty() || limits.contains(limit), "{row:?}");
    }
}

/// Every setting at the top and in the groups that flags set, every limit, and every field that holds one.
#[test]
fn every_name_is_in_the_table() {
    let table = table();
    let listed = |of: fn(&Row) -> &String| table.iter().map(of).cloned().collect::<BTreeSet<_>>();
    let (flags, keys, fields) = (listed(|row| &row.flag), listed(|row| &row.key), listed(|row| &row.field));
    assert_eq!(limits().difference(&listed(|row| &row.limit)).next(), None);

    let old: BTreeSet<String> = settings::renamed().map(|(old, _)| old.to_owned()).collect();
    let is_listed = |key: &String| match key.split_once('.') {
        None => !GROUPS.contains(&key.as_str()),
        Some((group, _)) => ["limits", "stories", "task"].contains(&group),
    };
    let all = settings::keys();
    let settings: BTreeSet<&String> = all.difference(&old).filter(|key| is_listed(key)).collect();
    for key in &settings {
        assert!(keys.contains(*key), "{key}");
    }
    // `ralph session` has the guardrails of the settings checked, `ralph fleet --agents` chooses among those of the settings; the
    // other is a second name of `--max-iterations`.
    let others = ["--agents", "--guardrails", "--maximum-iterations"];
    let known: BTreeSet<String> = settings.iter().map(|key| format!("--{}", stem(key))).collect();
    for flag in all_flags().intersection(&known) {
        assert!(flags.contains(flag) || others.contains(&flag.as_str()), "{flag}");
    }
    for group in ["plan.limits", "setup.timeouts"] {
        for (object, last) in at(&mut record(), group) {
            for field in object[&last].as_object().expect("an object").keys() {
                assert!(fields.contains(&format!("{group}.{field}")), "{group}.{field}");
            }
        }
    }
}

#[test]
fn settings_are_read_by_their_old_names() {
    let read = |key: &str, value: &Value| {
        let (group, name) = key.split_once('.').expect("a group");
        let flags = json!({"agent": {"command": "claude"}, group: {name: value}});
        settings::load(Path::new("/nonexistent"), None, flags).expect("good settings")
    };
    for (old, new) in settings::renamed() {
        let value = if new == "stories.ralphDir" { json!("elsewhere") } else { json!(7) };
        let (by_old, by_new) = (read(old, &value), read(new, &value));
        assert_eq!(by_old.settings, by_new.settings, "{old}");
        assert_ne!(by_old.settings, read(new, &Value::Null).settings, "{old}");
        assert_eq!((by_old.warnings, by_old.origins), (Vec::new(), by_new.origins), "{old}");
        let row = table().into_iter().find(|row| row.key == new).expect("a row");
        assert!(row.old.contains(&old.rsplit('.').next().expect("a name").to_owned()), "{row:?}");
    }
}

#[test]
fn journals_are_read_by_their_old_names() {
    let new: Event = serde_json::from_value(record()).expect("it was written");
    let mut renamed = 0;
    for Row { field, old, limit, .. } in table().into_iter().filter(|row| !row.old.is_empty()) {
        // The spelling of the settings is not that of the record.
        let in_record = |name: &&String| !name.contains(|c: char| c.is_ascii_uppercase());
        for name in old.iter().filter(in_record) {
            let mut record = record();
            for (object, last) in at(&mut record, &field) {
                let value = object.as_object_mut().expect("an object").remove(&last).expect("it is there");
                let value = if name == "keep_leftovers" { json!(true) } else { value };
                object[name.as_str()] = value;
            }
            let read = serde_json::from_value::<Event>(record);
            let ended = json!({"outcome": "exhausted", "limit": name});
            let ended = serde_json::from_value::<Outcome>(ended);
            // It is the name of a field, or of a limit, or of both.
            let is_field = read.is_ok_and(|read| read == new);
            let is_limit =
                ended.is_ok_and(|ended| serde_json::to_value(ended).expect("JSON")["limit"] == limit);
            assert!(is_field || is_limit, "{name}");
            renamed += 1;
        }
    }
    assert!(15 < renamed, "{renamed}");
}

/// The flags of all commands.
fn all_flags() -> BTreeSet<String> {
    fn add(command: &clap::Command, flags: &mut BTreeSet<String>) {
        let longs =
            command.get_arguments().flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
        flags.extend(longs.map(|long| format!("--{long}")));
        command.get_subcommands().for_each(|command| add(command, flags));
    }
    let mut flags = BTreeSet::new();
    add(&Cli::command(), &mut flags);
    flags
}

/// The names of all limits that end a run.
fn limits() -> BTreeSet<String> {
    use Exhausted::{
        LeaveQuota, MaxCost, MaxIterationCost, MaxIterationTokens, MaxIterations, MaxTime, MaxTokens, Until,
    };
    let all =
        [MaxIterations, MaxTime, MaxCost, MaxTokens, MaxIterationCost, MaxIterationTokens, Until, LeaveQuota];
    all.into_iter()
        .map(|limit| serde_json::to_value(limit).expect("JSON").as_str().expect("a name").to_owned())
        .collect()
}

/// The objects that have the last key of a path, with that key; `[]` stands for every item.
fn at<'a>(value: &'a mut Value, path: &str) -> Vec<(&'a mut Value, String)> {
    let Some((first, rest)) = path.split_once('.') else {
        return if value.get(path).is_some() { vec![(value, path.to_owned())] } else { Vec::new() };
    };
    match first.strip_suffix("[]") {
        Some(array) => {
            let items = value[array].as_array_mut().into_iter().flatten();
            items.flat_map(|item| at(item, rest)).collect()
        }
        None => value.get_mut(first).map_or_else(Vec::new, |value| at(value, rest)),
    }
}

/// The first line of a run in which nothing is left out.
fn record() -> Value {
    let check = Check::ChildrenEnded { child_wait_timeout_ms: 1, poll_interval_ms: 2 };
    let gate = Gate::new(check, When::Claimed);
    let plan = presets::task("DONE", "WAIT", vec![gate]);
    let plan = Plan {
        baseline: true,
        roles: Roles {
            work: vec!["a".to_owned()],
            review: vec!["b".to_owned()],
            fix: vec!["a".to_owned()],
            message: vec!["a".to_owned()],
            escalate: vec!["b".to_owned()],
            escalate_after: Some(2),
            ..Roles::default()
        },
        stuck_after: Some(3),
        limits: Limits {
            max_time_ms: Some(1),
            max_cost: Some(2.0),
            max_tokens: Some(3),
            max_iteration_cost: Some(4.0),
            max_iteration_tokens: Some(5),
            until_ms: Some(6),
            leave_quota: Some(7),
            ..plan.limits
        },
        ..plan
    };
    let agent = Setup::new(Path::new("/p"), "claude", PromptSource::Text(String::new())).agent;
    let setup = Setup {
        keep_children: true,
        agents: ["a", "b"].map(|name| (name.to_owned(), agent.clone())).into(),
        timeouts: Timeouts {
            iteration_timeout_ms: Some(1),
            idle_timeout_ms: Some(2),
            start_timeout_ms: Some(4),
            gate_timeout_ms: Some(3),
        },
        leftovers: Leftovers::Keep,
        guardrail_env: BTreeMap::from([("TERM".to_owned(), "xterm".to_owned())]),
        guard: Guard::On,
        notify: Some("tell".to_owned()),
        notify_link: Some("http://host/".to_owned()),
        keep_awake: false,
        prices: BTreeMap::from([("x".to_owned(), Price { input: 1.0, cached: None, output: 2.0 })]),
        scm: Some(Scm::git(Vec::new())),
        sandbox: Wanted { level: Choice::Level(Level::Landlock), ..Wanted::default() },
        stories: Some(StoriesSetup {
            ralph_dir: "ralph".into(),
            branch: "main".to_owned(),
            review_cap: 5,
            skip_review: false,
            containment: "direct".to_owned(),
            verify_commands: Vec::new(),
            budget: Budget::of(&TaskList::default(), Review::Required),
            pinned: BTreeMap::new(),
        }),
        ..Setup::new(Path::new("/project"), "claude", PromptSource::Text("Do it.".to_owned()))
    };
    let (run, version) = ("20261116-000335-42bf".to_owned(), "0.2.0".to_owned());
    let started = RunStarted { run, version, pid: 1, plan, setup };
    serde_json::to_value(Event::RunStarted(Box::new(started))).expect("events serialize")
}
