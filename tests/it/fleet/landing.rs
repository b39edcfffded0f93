//! What lands, what is sent back, and what no process in a lane can reach.

use serde_json::json;

use super::{
    after, candidates::prompts, commit, every_commit_passes, landed, no_refs_left, project, recorded,
    repository, status, steps,
};
use crate::stories::{stories, story};

#[test]
fn ten_stories_with_a_diamond_land_one_after_the_other() {
    let work = |name: &str| format!("echo done >{name}.txt\n");
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    let texts: Vec<String> = names.iter().map(|name| work(name)).collect();
    // B and C wait for A, D for both; the others for none.
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
    // What the list says is done must be there, and nothing else: each commit is right, or it is not.
    env.write(
        "check.sh",
        "sed -n 's/.*\"id\": \"\\(.\\)\".*/\\1/p; s/.*\"passes\": true.*/done/p' ralph/tasks.json >.found\n\
         while read -r word; do\n  if test \"$word\" = done; then test -e \"$id.txt\" || exit 1; has=$((has + 1)); else id=$word; fi\n\
         done <.found\nrm .found; test \"$(ls ?.txt 2>/dev/null | wc -l)\" = \"${has:-0}\"\n",
    );
    commit(&env);
    let before = repository(&env);
    env.ralph(&["fleet", "--lanes", "4"]).exits(0).says("Complete: everything has landed");
    let landed = landed(&env);
    assert_eq!(landed.len(), 11, "one more of the test, and ten: {landed:?}");
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
    // Every lane has ports of its own.
    let record = std::fs::read_to_string(env.root().join("record")).expect("a record");
    let ports = record.lines().map(|line| line.split_once(' ').expect("a lane").1);
    let ports: std::collections::BTreeSet<&str> = ports.collect();
    let all = ["lane-1 10100", "lane-2 10200", "lane-3 10300", "lane-4 10400"];
    assert!(ports.iter().all(|port| all.contains(port)) && 1 < ports.len(), "{ports:?}");
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
    // Each adds a file, and waits until the other has begun; two of them are one too many. Only who is told what the
    // guardrail printed on the merged tree does something about it.
    let work = |name: &str, other: &str| {
        format!(
            "touch \"$FLEET_RECORD.{name}\"; until test -e \"$FLEET_RECORD.{other}\"; do sleep 0.01; done\n\
             if grep -q 'too many parts' ralph/tasks.json; then touch allowed; fi\necho {name} >part-{name}\n"
        )
    };
    let (one, two) = (work("A", "B"), work("B", "A"));
    let check =
        "test $(ls part-* 2>/dev/null | wc -l) -lt 2 || test -e allowed || { echo too many parts; exit 3; }";
    let env = project(&[(story("A"), &one), (story("B"), &two)], check);
    env.ralph(&["fleet", "--lanes", "2"]).exits(0).says("fails on the merged tree");
    assert_eq!(landed(&env).len(), 2);
    // One lands, the other is sent back once.
    let all = steps(&env);
    let place = |step: &str| all.iter().position(|it| it.ends_with(step)).expect("a step");
    assert!(place("merged") < place("refused"), "{all:?}");
    assert_eq!(all.iter().filter(|it| it.ends_with("refused")).count(), 1, "{all:?}");
    assert_eq!(recorded(&env, "A") + recorded(&env, "B"), 3);
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
