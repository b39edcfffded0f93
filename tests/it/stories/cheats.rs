//! An agent without hooks that tries every hole: each attempt is undone, recorded, and told to the next turn.

use serde_json::{Value, json};

use super::{approved, commit, leaves, list, project, sent_back, stories, story, submitted, verified, with};
use crate::env::{Env, say, shell, write};

/// Lets a turn leave `after` behind, and checks that it was undone, recorded and told.
#[track_caller]
fn caught(before: &[Value], after: &[Value], told: &str) -> Env {
    caught_in(project(&list(before)), &leaves(&list(after)), before, told)
}

#[track_caller]
fn caught_in(env: Env, turn: &Value, expected: &[Value], told: &str) -> Env {
    let env = env.turns(json!([turn, [say("Now I know.")]]));
    env.ralph(&["stories", "-n", "2"]).exits(1);
    assert_eq!(stories(&env), expected, "it was not undone");
    let judged = &env.events("tasks_judged")[0];
    assert!(judged["undone"].as_array().is_some_and(|undone| !undone.is_empty()), "{judged}");
    assert!(judged["broken"].to_string().contains(told), "{judged}");
    let prompt = &env.prompts()[1];
    assert!(prompt.contains("broke the rules of the task list") && prompt.contains(told), "{prompt}");
    // What ralph put right is committed, alone.
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(env.git(&["show", "HEAD:ralph/tasks.json"]), env.read("ralph/tasks.json"));
    env
}

#[test]
fn approving_what_was_never_submitted() {
    let env = caught(&[story("US-1")], &[approved("US-1", 1)], "Implement iterations cannot set passes=true");
    assert_eq!(env.commits_made()[0], "ralph: undo what a turn may not change");
    assert_eq!(env.committed(), ["ralph/tasks.json"]);
    caught(&[story("US-1")], &[approved("US-1", 0)], "reviewStatus null → approved");
    caught(&[story("US-1")], &[submitted("US-1", 1)], "reviewCount 0 → 1");
}

#[test]
fn hooks_of_git_have_no_part_in_what_ralph_puts_right() {
    let env = project(&list(&[story("US-1")]));
    let hook = "mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch ../owned\\nexit 1\\n' >.git/hooks/pre-commit && \
                chmod +x .git/hooks/pre-commit";
    let mut turn = leaves(&list(&[approved("US-1", 1)]));
    turn.as_array_mut().expect("steps").push(shell(hook));
    let env = env.turns(json!([turn]));
    let output = env.ralph(&["stories"]).exits(6).says("Undone: US-1 passes");
    output.prints("protected files were changed: .git/hooks/pre-commit");
    // The list is put right; a repository that the agent has changed is asked for nothing, so nothing is committed.
    assert_eq!((stories(&env), env.commits_made()[0].as_str()), (vec![story("US-1")], "work"));
    assert!(!env.root().join("owned").exists(), "the agent's hook was run by ralph");
}

#[test]
fn what_can_turn_a_verdict_stops_the_run_without_a_sandbox() {
    let stopped = |change: &str, changed: &str| {
        let review = json!([
            shell(change),
            write("ralph/tasks.json", &list(&[approved("US-1", 1)])),
            shell("git add ralph && git -c core.hooksPath= commit --quiet -m review"),
            say("Approved. <promise>COMPLETE</promise>")
        ]);
        let env = project(&list(&[submitted("US-1", 0)])).turns(json!([review]));
        env.ralph(&["stories"]).exits(6).prints(&format!("protected files were changed: {changed}"));
    };
    stopped("git config core.hooksPath elsewhere", ".git/config");
    stopped("mkdir -p .ralph && echo '{}' >.ralph/settings.local.json", ".ralph/settings.local.json");
    stopped("mkdir .claude && echo '{}' >.claude/settings.json", ".claude/settings.json");
    // What a person may edit meanwhile is theirs, and what agents write for each other is work.
    let env = project(&list(&[story("US-1")])).turns(json!([[
        shell("echo '{\"sandbox\": \"none\", \"maximumIterations\": 9}' >.ralph/settings.json"),
        shell("mkdir -p .claude/rules && echo x >.claude/rules/x.md"),
        write("ralph/tasks.json", &list(&[submitted("US-1", 0)])),
        commit(),
        say("Done.")
    ]]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
}

#[test]
fn a_killed_turn_that_changed_hooks_stops_the_resume() {
    let [there, go] = crate::env::meet("../changed");
    let turn = json!([shell("echo '#!/bin/sh' >.git/hooks/pre-commit"), there, go]);
    let env = project(&list(&[story("US-1")])).turns(json!([turn]));
    let running = env.start(&["stories"]);
    env.await_file("../changed");
    running.kill_9();
    env.nothing_left();
    env.ralph(&["resume"]).exits(6).prints("protected files were changed: .git/hooks/pre-commit");
}

#[test]
fn approving_in_a_fix() {
    let before = [sent_back("US-1", 1, "no")];
    caught(&before, &[approved("US-1", 2)], "Review-fix iterations cannot approve stories");
    caught(
        &before,
        &[with("US-1", &json!({"reviewStatus": "needs_review", "reviewCount": 1, "reviewFeedback": "no"}))],
        "submitted story US-1 but left its reviewFeedback in place",
    );
}

#[test]
fn reviewing_without_counting_or_more_than_one() {
    caught(&[submitted("US-1", 1)], &[approved("US-1", 1)], "must increment reviewCount");
    let before = [submitted("US-1", 0), submitted("US-2", 0)];
    let after = [approved("US-1", 1), approved("US-2", 1)];
    let left = [approved("US-1", 1), submitted("US-2", 0)];
    caught_in(project(&list(&before)), &leaves(&list(&after)), &left, "may only modify one story");
}

#[test]
fn careless_edits_do_not_end_the_night() {
    let before = [approved("US-1", 1), story("US-2"), with("US-3", &json!({"dependsOn": ["US-2"]}))];
    let silent = with("US-1", &json!({"reviewCount": 1, "notes": ""}));
    caught(&before, &[silent, before[1].clone(), before[2].clone()], "approved → null");
    let waiting = with("US-2", &json!({"dependsOn": ["US-3"]}));
    caught(&before, &[before[0].clone(), waiting, before[2].clone()], "US-2 -> US-3 -> US-2");
}

#[test]
fn deleting_renaming_and_rebirth() {
    let before = [sent_back("US-1", 2, "no"), story("US-2")];
    caught(&before, &[story("US-2")], "Story US-1 was deleted");
    caught(&before, &[], "Story US-2 was deleted");
    caught(&before, &[story("US-1"), story("US-2")], "changes_requested → null");
    let env = project(&list(&before));
    let renamed = [before.as_slice(), &[story("US-9")]].concat();
    let turn = leaves(&list(&[approved("US-9", 1), story("US-2")]));
    let order = [renamed[0].clone(), renamed[2].clone(), renamed[1].clone()];
    caught_in(env, &turn, &order, "New stories must start with passes=false");
}

#[test]
fn being_born_approved() {
    let before = [story("US-1")];
    let after = [story("US-1"), approved("US-2", 1)];
    caught_in(
        project(&list(&before)),
        &leaves(&list(&after)),
        &[story("US-1"), story("US-2")],
        "New stories must",
    );
}

#[test]
fn breaking_the_file() {
    let before = [story("US-1")];
    for text in ["", "{", "[]", "{\"userStories\": []}"] {
        caught_in(project(&list(&before)), &leaves(text), &before, "restored it as a whole");
    }
    let gone = json!([shell("git rm --quiet -r ralph && git commit --quiet -m gone"), say("Gone.")]);
    let env = caught_in(project(&list(&before)), &gone, &before, "The file is gone");
    assert!(env.path("ralph/prd.md").exists() && env.path("ralph/prompt.md").exists());
    let gone =
        json!([shell("git rm --quiet -r ralph && git commit --quiet -m gone && touch ralph"), say("Gone.")]);
    caught_in(project(&list(&before)), &gone, &before, "The file is gone");
    let spoiled = [with("US-1", &json!({"passes": "yes"}))];
    caught(&before, &spoiled, "malformed");
    let twice = list(&before).replacen("\"notes\"", "\"passes\": true, \"notes\"", 1);
    caught_in(project(&list(&before)), &leaves(&twice), &before, "the key is there twice");
    // A link to somewhere else is replaced, not followed.
    let link = json!([
        shell("echo mine >../target; ln -sf ../../target ralph/tasks.json"),
        commit(),
        say("Linked.")
    ]);
    let env = caught_in(project(&list(&before)), &link, &before, "restored it as a whole");
    assert_eq!(std::fs::read_to_string(env.root().join("target")).expect("a file"), "mine\n");
}

#[test]
fn moving_the_goal() {
    let mut weaker = sent_back("US-1", 1, "no");
    weaker["acceptanceCriteria"] = json!(["it exists"]);
    caught(&[sent_back("US-1", 1, "no")], &[weaker], "acceptance criteria of story US-1 may not be changed");
    let human = [with("US-1", &json!({"kind": "human"})), story("US-2")];
    caught(&human, &[story("US-1"), story("US-2")], "kind of story US-1");
    let before = verified(&[story("US-1")], &["false"]);
    let after = verified(&[story("US-1")], &["true"]);
    let env =
        caught_in(project(&before), &leaves(&after), &[story("US-1")], "verifyCommands may not be changed");
    assert!(env.read("ralph/tasks.json").contains("[\"false\"]"), "{}", env.read("ralph/tasks.json"));
}

#[test]
fn changing_what_is_read_only() {
    let before = [story("US-1")];
    for file in ["ralph/prd.md", "ralph/prompt.md"] {
        let turn = json!([write(file, "Everything is done already.\n"), commit(), say("Clearer now.")]);
        let told = format!("{file} is read-only during a run: it was changed");
        let env = caught_in(project(&list(&before)), &turn, &before, &told);
        assert!(!env.read(file).contains("done already"));
        assert_eq!(env.git(&["show", &format!("HEAD:{file}")]), env.read(file));
    }
    let turn = json!([write(".ralph-active", "{}"), say("I am free.")]);
    caught_in(project(&list(&before)), &turn, &before, ".ralph-active is read-only");
    let turn = json!([shell("rm .ralph-active"), say("I am free.")]);
    let env = caught_in(
        project(&list(&before)),
        &turn,
        &before,
        ".ralph-active is read-only during a run: it was deleted",
    );
    assert!(!env.path(".ralph-active").exists());
}

#[test]
fn doing_nothing_where_something_is_due() {
    let told = |before: Value, expected: &str| {
        let env = project(&list(&[before])).turns(json!([[say("Looks fine.")]]));
        env.ralph(&["stories", "-n", "2"]).exits(1).says("Guardrail failed: task rules");
        assert!(env.prompts()[1].contains(expected), "{}", env.prompts()[1]);
    };
    told(submitted("US-1", 0), "nothing changed; a review must increment reviewCount");
    told(sent_back("US-1", 1, "no"), "left the feedback on story US-1 standing");
}

#[test]
fn cheating_in_a_turn_that_fails() {
    let cheat = json!([write("ralph/tasks.json", &list(&[approved("US-1", 1)])), commit(), {"exit": 1}]);
    let env = project(&list(&[story("US-1")]))
        .settings(json!({"retryDelay": "1ms"}))
        .turns(json!([cheat, [say("Now I know.")]]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
    assert_eq!(stories(&env), [story("US-1")]);
    assert!(env.prompts()[1].contains("Implement iterations cannot set passes=true"), "{}", env.prompts()[1]);
}

#[test]
fn cheating_after_the_turn() {
    let text = list(&[approved("US-1", 1)]);
    let env = project(&list(&[story("US-1")])).settings(json!({"leftovers": "keep"}));
    std::fs::write(env.root().join("cheat.json"), text).expect("a file");
    // What the first turn leaves running waits until the turn is judged; the verify command waits for it.
    let later = "(until grep -q tasks_judged ../state/*/runs/*/journal.jsonl; do :; done; cp ../cheat.json ralph/tasks.json; \
                 touch ../cheated) >/dev/null 2>&1 &";
    let env = env
        .settings(json!({"stories": {"verifyEachTurn": true}}))
        .turns(json!([[shell(later), say("Later.")], [say("Now I know.")]]));
    let waits = verified(&[story("US-1")], &["until test -f ../cheated; do :; done"]);
    env.write("ralph/tasks.json", &waits);
    env.git(&["commit", "--quiet", "-am", "Wait"]);
    env.ralph(&["stories", "-n", "2", "--no-baseline"]).exits(1).says("Undone:");
    assert_eq!(stories(&env), [story("US-1")]);
    // Before the gates it counts as the turn's own doing, after them as no one's.
    assert!(env.prompts()[1].contains("broke the rules of the task list"), "{}", env.prompts()[1]);
}
