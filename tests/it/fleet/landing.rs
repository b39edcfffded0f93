//! What lands, what is sent back, and what nobody in a lane can reach.

use serde_json::json;

use super::{
    after, commit, every_commit_passes, landed, no_refs_left, project, recorded, repository, status,
};
use crate::{
    env::Env,
    stories::{stories, story},
};

#[test]
fn ten_stories_with_a_diamond_land_one_after_the_other() {
    let work = |name: &str| format!("echo done >{name}.txt\n");
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    let texts: Vec<String> = names.iter().map(|name| work(name)).collect();
    // B and C wait for A, D for both; the others for nobody.
    let all: Vec<_> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| {
            let story = match *name {
                "B" | "C" => after(name, &["A"]),
                "D" => after(name, &["B", "C"]),
                name => story(name),
            };
            (story, text.as_str())
        })
        .collect();
    let env = project(&all, "sh check.sh");
    let before = repository(&env);
    env.ralph(&["fleet", "--lanes", "4"]).exits(0).says("Complete: everything has landed");
    let landed = landed(&env);
    assert_eq!(landed.len(), 10, "{landed:?}");
    let place =
        |name: &str| landed.iter().position(|it| it.starts_with(&format!("{name}:"))).expect("it landed");
    assert!(place("A") < place("B") && place("A") < place("C"), "{landed:?}");
    assert!(place("B") < place("D") && place("C") < place("D"), "{landed:?}");
    every_commit_passes(&env, "sh check.sh && test -e ralph/tasks.json");
    assert!(stories(&env).iter().all(|story| story["passes"] == true));
    // The list and the log belong to the lander: every lane wrote to both, and nothing conflicts.
    let progress = env.read("ralph/progress.txt");
    assert!(progress.starts_with("# Log\n") && progress.lines().count() == 11, "{progress}");
    assert!(names.iter().all(|name| recorded(&env, name) == 1));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert_eq!(repository(&env), before);
    assert!(no_refs_left(&env));
    let known = status(&env);
    assert_eq!(known["outcome"]["outcome"], "done");
    assert!(
        known["lanes"]
            .as_array()
            .expect("lanes")
            .iter()
            .all(|lane| 0 < lane["disk"].as_u64().expect("bytes"))
    );
    env.nothing_left();
}

#[test]
fn a_conflict_goes_back_to_a_lane_and_lands() {
    // Both change the same line, and wait for each other to have begun; the one that is sent back finds the markers.
    let work = |name: &str, other: &str| {
        format!(
            "touch \"$FLEET_RECORD.{name}\"\nuntil test -e \"$FLEET_RECORD.{other}\"; do sleep 0.01; done\n\
             if grep -q '<<<<' shared.txt; then echo both >shared.txt; else echo {name} >shared.txt; fi\n"
        )
    };
    let (one, two) = (work("A", "B"), work("B", "A"));
    let env = project(&[(story("A"), &one), (story("B"), &two)], "! grep -q '<<<<' shared.txt");
    env.write("shared.txt", "nobody\n");
    commit(&env);
    let output = env.ralph(&["fleet", "--lanes", "2"]).exits(0);
    output.says("is sent back: it conflicts with what landed in shared.txt");
    assert_eq!(env.read("shared.txt"), "both\n");
    assert_eq!(recorded(&env, "A") + recorded(&env, "B"), 3);
    every_commit_passes(&env, "! grep -q '<<<<' shared.txt");
    assert!(stories(&env).iter().all(|story| story["passes"] == true));
    assert!(no_refs_left(&env));
    env.nothing_left();
}

#[test]
fn what_is_green_alone_and_red_together_lands_once_and_is_fixed() {
    // Each adds a file; two of them are one too many, and a third says that it is allowed.
    let work = |name: &str| {
        format!("if ls part-* >/dev/null 2>&1; then touch allowed; fi\necho {name} >part-{name}\n")
    };
    let (one, two) = (work("A"), work("B"));
    let check =
        "test $(ls part-* 2>/dev/null | wc -l) -lt 2 || test -e allowed || { echo too many parts; exit 3; }";
    let env = project(&[(story("A"), &one), (story("B"), &two)], check);
    env.ralph(&["fleet", "--lanes", "2"]).exits(0).says("fails on the merged tree");
    assert_eq!(landed(&env).len(), 2);
    every_commit_passes(&env, check);
    assert!(env.path("allowed").exists() && env.path("part-A").exists() && env.path("part-B").exists());
    env.nothing_left();
}

#[test]
fn what_is_never_green_is_for_a_person_who_can_discard_it() {
    let (good, bad) = ("echo good >good.txt\n", "echo bad >>bad.txt\n");
    // Red only where both are.
    let check = "! { test -e good.txt && test -e bad.txt; }";
    let env = project(&[(story("A"), good), (after("B", &["A"]), bad)], check).settings(
        json!({"fleet": {"evictions": 0}, "maximumIterations": 1, "guardrails": [{"command": check}]}),
    );
    env.ralph(&["fleet", "--lanes", "2"]).exits(6).says("Stopped for a person: B:");
    assert_eq!(landed(&env).len(), 1);
    env.ralph(&["fleet", "discard", "B"]).exits(0);
    assert!(no_refs_left(&env));
    env.ralph(&["fleet", "resume"]).exits(0);
    env.ralph(&["fleet", "land", "A"]).exits(2).says("A has landed already");
    env.ralph(&["fleet", "land", "X"]).exits(2).says("there is no item `X` in this fleet");
}

/// An agent for prompts that leaves what it was started as.
fn prompts(agent: &str) -> Env {
    let env = Env::new().with_git().agent("worker", agent).settings(json!({
        "sandbox": "none", "guardrails": [{"command": "test -e README.md"}], "baseline": false,
    }));
    let record = env.root().join("record").display().to_string();
    let env = env.variable("FLEET_RECORD", &record);
    env.write(".gitignore", ".ralph/\n");
    commit(&env);
    env
}

#[test]
fn the_first_of_three_candidates_lands_and_the_others_end() {
    // The first is done at once; the others would work for ever.
    let env = prompts(
        r#"case "$(cat)" in *"commit message"*) echo "Make a winner"; exit ;; esac
        echo "turn $RALPH_LANE" >>"$FLEET_RECORD"
        if test "$RALPH_LANE" != lane-1; then sleep 1000; fi
        echo $RALPH_LANE >winner.txt; echo "It works. <response>DONE</response>""#,
    );
    env.ralph(&["fleet", "run", "Make a winner.", "--best-of", "3", "--lanes", "3"]).exits(0);
    assert_eq!(env.read("winner.txt"), "lane-1\n");
    assert_eq!(landed(&env).len(), 2, "the ignore file and the winner");
    assert!(recorded(&env, "turn") <= 3);
    let known = status(&env);
    let phases: Vec<_> =
        known["items"].as_array().expect("items").iter().map(|it| it["phase"].clone()).collect();
    assert_eq!(phases, ["landed", "cancelled", "cancelled"]);
    env.nothing_left();
}

#[test]
fn several_prompts_from_files_land_each() {
    let env = prompts(
        r#"name=$(sed -n 's/^Write \([a-z]*\).*/\1/p' | head -n 1)
        echo $name >$name.txt; echo "It works. <response>DONE</response>""#,
    );
    for name in ["one", "two"] {
        std::fs::write(env.root().join(format!("{name}.md")), format!("Write {name}\n")).expect("a prompt");
    }
    let file = |name: &str| env.root().join(name).display().to_string();
    env.ralph(&["fleet", "run", &file("one.md"), &file("two.md"), "--lanes", "2"]).exits(0);
    assert!(env.path("one.txt").exists() && env.path("two.txt").exists());
}

#[test]
fn an_agent_in_a_lane_reaches_nothing_of_the_users_repository() {
    let attack = r"
        git config core.fsmonitor 'touch /tmp/never'; git config core.hooksPath hooks; git config user.name Mallory
        mkdir -p .git/hooks && printf '#!/bin/sh\ntouch hooked\n' >.git/hooks/post-merge && chmod +x .git/hooks/post-merge
        cp .git/hooks/post-merge .git/hooks/post-checkout
        git tag stolen; git branch other; echo x >stashed; git add stashed; git stash --quiet
        git worktree add --quiet ../elsewhere HEAD; git update-ref refs/heads/evil HEAD; git remote add origin /nowhere
        echo done >A.txt
    ";
    let env = project(&[(story("A"), attack)], "sh check.sh");
    let before = repository(&env);
    env.ralph(&["fleet"]).exits(6).says("protected files were changed: .git/config");
    assert_eq!(repository(&env), before);
    assert!(!env.path("A.txt").exists() && !env.path("hooked").exists());
    env.ralph(&["fleet", "discard", "A"]).exits(0);
    // The next work in the same lane finds nothing of it.
    env.write(
        "work-A",
        "git config core.hooksPath && exit 1\ntest ! -e .git/hooks && echo clean >clean.txt\n",
    );
    commit(&env);
    env.ralph(&["fleet"]).exits(0);
    assert_eq!(env.read("clean.txt"), "clean\n");
    assert_eq!(repository(&env), before);
}

#[test]
fn files_of_the_user_in_the_way_keep_it_from_landing() {
    let env = project(&[(story("A"), "echo done >A.txt\n")], "sh check.sh");
    env.write("A.txt", "mine\n");
    env.ralph(&["fleet"]).exits(6).says("the working tree is in the way of A");
    assert_eq!(env.read("A.txt"), "mine\n");
    assert_eq!(landed(&env).len(), 0);
    std::fs::remove_file(env.path("A.txt")).expect("it is removed");
    env.ralph(&["fleet", "resume"]).exits(0);
    assert_eq!(env.read("A.txt"), "done\n");
    assert_eq!(recorded(&env, "A"), 1);
}

#[test]
fn without_a_guardrail_nothing_lands() {
    let env = project(&[(story("A"), "echo done >A.txt\n")], "true").settings(json!({"guardrails": []}));
    env.ralph(&["fleet"]).exits(2).says("there is no guardrail, and without one nothing lands");
    env.ralph(&["fleet", "--unverified"]).exits(0);
    assert!(env.path("A.txt").exists());
}
