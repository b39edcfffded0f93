//! The stories loop with a real agent.

use std::fs;
use std::time::Duration;

use scripted_model::{Block, Step};
use serde_json::{Value, json};

use crate::world::{Ground, World};

/// Eight turns of a large program, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_mins(4);

/// Three stories, the first of them sent back by its review once, until all are approved.
pub(crate) fn works_through_three_stories(mut ground: Ground) {
    ground.agent.patience = PATIENCE;
    let acts = acts(ground.agent.shell);
    let last = acts.len() - 1;
    let steps = acts.into_iter().enumerate().flat_map(|(turn, act)| {
        let said = if turn == last { "All of it. <promise>COMPLETE</promise>" } else { "Done for now." };
        [Step::default().and(act), Step::text(said)]
    });
    let mut world = ground.steps(steps);
    world.set("maximumIterations", json!(10));
    furnish(&world);

    let outcome = world.start_loop(&["stories", "--no-sandbox"]).end();
    outcome.expect("done", 0, 8);
    let turns = outcome.of("turn_started");
    let turns: Vec<String> =
        turns.iter().map(|turn| format!("{} {}", text(&turn["mode"]), text(&turn["story"]))).collect();
    let first = ["implement US-1", "review US-1", "fix US-1", "review US-1"];
    let others = ["implement US-2", "review US-2", "implement US-3", "review US-3"];
    assert_eq!(turns, [first, others].concat(), "{outcome}");
    let reviews = &outcome.of("reviews_counted")[0]["stories"];
    assert_eq!((&reviews[0]["reviews"], &reviews[1]["reviews"]), (&json!(2), &json!(1)), "{outcome}");
    assert!(outcome.of("tasks_judged").iter().all(|judged| judged["broken"].is_null()), "{outcome}");
    // Each turn was told what to do: two requests each.
    let calls = world.server.calls();
    for (call, said) in [
        (0, "Mode: implement"),
        (2, "Commits to review"),
        (4, "the LLAMA is missing"),
        (8, "Story: US-2 - Story US-2"),
    ] {
        assert!(calls[call].says(said), "request {call} does not say `{said}`\n{outcome}");
    }
    assert_eq!(world.git(&["status", "--porcelain"]), "", "{outcome}");
    assert!(!world.project().join(".ralph-active").exists(), "{outcome}");
}

/// What the agent does, turn by turn.
fn acts(shell: fn(&str) -> Block) -> [Block; 8] {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let commit = "git add -A && git commit --quiet -m";
    let implement = |id: &str| {
        shell(&format!(
            "echo {id} >{id}.txt && {ralph} stories submit {id} --note built && {commit} 'feat: {id}'"
        ))
    };
    let approve = |id: &str| shell(&format!("{ralph} stories approve {id} && {commit} 'review: {id}'"));
    let reject = format!("{ralph} stories request-changes US-1 --feedback 'the LLAMA is missing'");
    [
        implement("US-1"),
        shell(&format!("{reject} && {commit} 'review: US-1 - changes requested'")),
        shell(&format!("echo LLAMA >>US-1.txt && {ralph} stories submit US-1 && {commit} 'fix: US-1'")),
        approve("US-1"),
        implement("US-2"),
        approve("US-2"),
        implement("US-3"),
        approve("US-3"),
    ]
}

pub(crate) fn furnish(world: &World) {
    let stories = ["US-1", "US-2", "US-3"].map(|id| {
        json!({
            "id": id, "title": format!("Story {id}"), "description": "", "acceptanceCriteria": ["it is there"],
            "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "",
            "notes": "", "dependsOn": [],
        })
    });
    let list = json!({
        "project": "animals", "branchName": "main", "description": "", "userStories": stories,
        // True of every story that is submitted, and of the whole only with the change that the review asks for.
        "verifyCommands": ["test ! -f US-3.txt || grep -q LLAMA US-1.txt"],
    });
    let write = |name: &str, text: &str| {
        let path = world.project().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("ralph/tasks.json", &format!("{list:#}\n"));
    write("ralph/prd.md", "# Animals\n");
    write("ralph/prompt.md", "Do what ralph says about {{STORY_ID}}.\n");
    write(".gitignore", ".ralph/\n.claude/\n");
    world.git(&["add", "-A"]);
    world.git(&["commit", "--quiet", "-m", "Plan"]);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}
