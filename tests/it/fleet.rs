//! `ralph fleet`: lanes beside each other, one target.

mod attacks;
mod board;
mod candidates;
mod deaths;
mod disk;
mod landing;
mod limits;
mod seen;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    env::Env,
    stories::{list, with},
};

/// An agent of a stories loop without reviews, in the language of the shell. What it does to implement a story is in
/// `work-STORY`, which is committed with the project.
const WORKER: &str = r#"
prompt=$(cat)
story=$(printf '%s\n' "$prompt" | sed -n 's/^Work on \([^ ]*\) .*/\1/p' | head -n 1)
echo "$story $RALPH_LANE $RALPH_PORT_BASE" >>"$FLEET_RECORD"
. "./work-$story"
echo "did $story" >>ralph/progress.txt
sed -i "/\"id\": \"$story\"/,/\"reviewFeedback\"/ s/\"passes\": false/\"passes\": true/" ralph/tasks.json
git add -A && git commit --quiet -m "work on $story"
echo "Well."
"#;

/// A project with these stories; what the agent does for each is a piece of shell.
pub(crate) fn project(stories: &[(Value, &str)], check: &str) -> Env {
    let values: Vec<Value> = stories.iter().map(|(story, _)| story.clone()).collect();
    let env = Env::new().with_empty_git().agent("worker", WORKER);
    let record = env.root().join("record").display().to_string();
    let env = env.variable("FLEET_RECORD", &record).settings(json!({
        "sandbox": "none",
        "stories": {"skipReview": true},
        "guardrails": [{"command": check}],
        "baseline": false,
    }));
    env.write("ralph/tasks.json", &list(&values));
    env.write("ralph/prd.md", "# What is wanted\n");
    env.write("ralph/prompt.md", "Work on {{STORY_ID}} ({{STORY_TITLE}}).\n");
    env.write("ralph/progress.txt", "# Log\n");
    env.write(".gitignore", ".ralph/\n");
    env.write("check.sh", "true\n");
    for (story, work) in stories {
        env.write(&format!("work-{}", story["id"].as_str().expect("an id")), work);
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "--quiet", "-m", "Start"]);
    env
}

/// Commits everything that is not ignored.
pub(crate) fn commit(env: &Env) {
    env.git(&["add", "-A"]);
    env.git(&["commit", "--quiet", "-m", "More"]);
}

/// A story that waits for others.
pub(crate) fn after(id: &str, others: &[&str]) -> Value {
    with(id, &json!({"dependsOn": others}))
}

/// Checks out every commit since the first alone, and runs the check there.
#[track_caller]
pub(crate) fn every_commit_passes(env: &Env, check: &str) {
    let commits = env.git(&["rev-list", "--first-parent", "--reverse", "HEAD"]);
    for commit in commits.lines() {
        let place = env.root().join("alone");
        let place = place.to_str().expect("a path");
        env.git(&["worktree", "add", "--quiet", "--detach", "--force", place, commit]);
        env.sh(&format!("cd {place} && {check}")).exits(0);
        env.git(&["worktree", "remove", "--force", place]);
    }
}

/// The messages of what has landed, oldest first.
pub(crate) fn landed(env: &Env) -> Vec<String> {
    let log = env.git(&["log", "--reverse", "--format=%s"]);
    log.lines().skip(1).map(str::to_owned).collect()
}

/// What `ralph fleet status --json` says.
#[track_caller]
pub(crate) fn status(env: &Env) -> Value {
    let output = env.ralph(&["fleet", "status", "--json"]).exits(0);
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// The journal of the newest fleet.
#[track_caller]
pub(crate) fn journal(env: &Env) -> Vec<Value> {
    let path = journal_path(env).expect("a journal");
    let text = std::fs::read_to_string(path).expect("a journal");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Where it is, once there is one.
pub(crate) fn journal_path(env: &Env) -> Option<PathBuf> {
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let projects = list(env.root().join("state"));
    let fleets = projects.flat_map(|project| list(project.path().join("fleets"))).map(|it| it.path());
    fleets.max().map(|fleet| fleet.join("journal.jsonl"))
}

/// The steps of items in the journal, each as `item step`.
#[track_caller]
pub(crate) fn steps(env: &Env) -> Vec<String> {
    let events = journal(env);
    let text = |event: &Value, key: &str| event[key].as_str().map(str::to_owned);
    events.iter().filter_map(|it| Some(format!("{} {}", text(it, "item")?, text(it, "step")?))).collect()
}

/// A Claude Code that a script of the shell plays: what it prints last is its answer, and this is what the turn cost.
pub(crate) fn claude(work: &str, cost: &str) -> String {
    format!(
        r#"prompt=$(cat)
case "$prompt" in *"commit message"*) echo "Do it"; exit ;; esac
{work}
echo '{{"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'","num_turns":1,"total_cost_usd":'{cost}'}}'"#
    )
}

/// Everything of the user's repository that an agent in a lane must not change.
pub(crate) fn repository(env: &Env) -> Vec<(String, String)> {
    let git = env.path(".git");
    let read = |name: &str| std::fs::read_to_string(git.join(name)).unwrap_or_default();
    let names = |name: &str| {
        let entries = std::fs::read_dir(git.join(name)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names.join(" ")
    };
    vec![
        ("config".to_owned(), read("config")),
        ("exclude".to_owned(), read("info/exclude")),
        ("hooks".to_owned(), names("hooks")),
        ("worktrees".to_owned(), names("worktrees")),
        ("hook".to_owned(), read("hooks/post-merge")),
        ("stash".to_owned(), env.git(&["stash", "list", "--format=%H %s"])),
        ("beside".to_owned(), env.sh("git worktree list --porcelain | grep ^worktree").stdout),
        ("branches".to_owned(), env.git(&["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"])),
    ]
}

/// Whether nothing of ralph's own is left in the repository.
pub(crate) fn no_refs_left(env: &Env) -> bool {
    env.git(&["for-each-ref", "refs/ralph"]).trim().is_empty()
}

/// How often a line begins so in the record of the agents.
pub(crate) fn recorded(env: &Env, story: &str) -> usize {
    let record = std::fs::read_to_string(Path::new(env.root()).join("record")).unwrap_or_default();
    record.lines().filter(|line| line.split(' ').next() == Some(story)).count()
}
