//! Guardrails that the agent must not know: it learns that one failed, and finds no trace of what it runs.

use serde_json::{Value, json};

use crate::{
    contained::works,
    env::{Env, done, say, shell, write},
};

/// What the command looks for; nothing else in a test's world has this word.
const SECRET: &str = "zebra-crossing";

fn command() -> String {
    format!("echo the {SECRET} is missing; test -e {SECRET}.txt || test -e crossing.txt")
}

fn project(turns: Value) -> Env {
    let env = Env::new().with_git().commits().turns(turns);
    env.write("a", "1\n");
    env.git(&["add", "--all", "--", ":!.ralph"]);
    env.git(&["commit", "--quiet", "-m", "a"]);
    env
}

/// Files below a folder that have the secret in them or in their name; what sandboxes hide is left out.
fn traces(env: &Env, folder: &str) -> String {
    env.sh(&format!(
        "{{ grep -rlaF {SECRET} {folder}; find {folder} -name '*{SECRET}*'; }} 2>/dev/null | grep -v /hidden/ || true"
    ))
    .stdout
}

#[test]
fn the_agent_learns_only_that_a_hidden_guardrail_failed() {
    let env = project(json!([[write("b", "1"), done()], [write("crossing.txt", ""), done()]]));
    env.run(&["--hidden-guardrail", &command()])
        .exits(0)
        .says("hidden guardrail ")
        .says_not(SECRET)
        .prints_not(SECRET);
    let prompt = &env.prompts()[1];
    assert!(prompt.contains("A hidden guardrail failed."), "{prompt}");
    assert!(!prompt.contains(SECRET), "{prompt}");
    assert_eq!(traces(&env, "."), "", "in the project");
    assert_eq!(traces(&env, "../state"), "", "in the record");
    let check = &env.events("run_started")[0]["plan"]["gates"][0]["check"];
    assert_eq!(check["kind"], "hidden");
    // What it printed is kept for the user.
    let kept = env.sh(&format!("grep -rlF {SECRET} ../state/hidden | wc -l")).stdout;
    assert!(kept.trim() != "0", "{kept}");
    for args in [&["status"][..], &["status", "--json"], &["logs"], &["report", "--file", "../report.html"]] {
        env.ralph(args).prints_not(SECRET).says_not(SECRET);
    }
    assert_eq!(traces(&env, "../report.html"), "");
    env.ralph(&["clean", "--older-than", "0"]).exits(0);
    assert_eq!(env.sh("ls ../state/hidden").stdout.trim(), "");
}

#[test]
fn a_run_that_goes_on_has_the_same_hidden_guardrails() {
    let env = project(json!([[write("b", "1"), done()], [write("crossing.txt", ""), done()]]));
    env.run(&["--hidden-guardrail", &command(), "--max-iterations", "1"]).exits(1);
    env.ralph(&["resume", "--max-iterations", "3"]).exits(0).says("Passed in a clean clone");
    assert_eq!(env.prompts().len(), 2);
    assert_eq!(traces(&env, "../state"), "");
}

/// What settings give to agents and guardrails is often a key, and every agent of a run can read its record.
#[test]
fn values_of_variables_are_in_no_record_and_a_run_that_goes_on_has_them() {
    let turns = json!([
        [shell("echo \"${KEY#zebra-}\" >one"), say("more to do")],
        [shell("echo \"${KEY#zebra-}\" >two"), done()]
    ]);
    let settings = json!({
        "agent": {"env": {"KEY": SECRET}},
        "guardrailEnv": {"GATE_KEY": format!("{SECRET}-2")},
        "guardrails": [{"command": format!("test \"$GATE_KEY\" = {}-2", SECRET.replace("zebra", "z''ebra"))}],
    });
    let env = project(turns).settings(settings);
    env.run(&["--max-iterations", "1"]).exits(1);
    assert_eq!(env.read("one").trim(), "crossing");
    assert_eq!(traces(&env, "../state"), "", "in the record");
    assert_eq!(env.events("run_started")[0]["setup"]["agent"]["env"]["KEY"], "(not shown)");
    env.ralph(&["resume", "--max-iterations", "3"]).exits(0);
    assert_eq!(env.read("two").trim(), "crossing");
    assert_eq!(traces(&env, "../state"), "", "in the record");
}

#[test]
fn a_run_whose_values_are_gone_does_not_go_on_with_others() {
    let env = project(json!([[write("b", "1"), say("more to do")], [done()]]))
        .settings(json!({"agent": {"env": {"KEY": SECRET}}}));
    env.run(&["--max-iterations", "1"]).exits(1);
    env.sh("rm ../state/hidden/*/variables.json").exits(0);
    env.ralph(&["resume", "--max-iterations", "3"]).exits(2).says("are gone").says("start it again");
}

#[test]
fn the_users_own_file_names_them_and_no_file_of_the_project_does() {
    let env = project(json!([[write("b", "1"), done()], [write("crossing.txt", ""), done()]]));
    let own = env.root().join("home/.config/ralph");
    std::fs::create_dir_all(&own).expect("made");
    std::fs::write(own.join("hidden.json"), json!({"hiddenGuardrails": [command()]}).to_string())
        .expect("written");
    env.run(&[]).exits(0);
    assert!(env.prompts()[1].contains("A hidden guardrail failed."));
    assert_eq!(traces(&env, "."), "");
    std::fs::write(own.join("hidden.json"), "{\"guardrails\": []}").expect("written");
    env.run(&[]).exits(2).says("hidden.json").says("hiddenGuardrails");
    std::fs::remove_file(own.join("hidden.json")).expect("removed");
    let env = env.settings(json!({"hiddenGuardrails": ["true"]}));
    env.run(&[]).exits(2).says("the agent can read this file").says("--hidden-guardrail");
}

#[test]
fn one_that_would_check_nothing_is_refused() {
    let env = project(json!([[done()]]));
    env.ralph(&["plan", "--hidden-guardrail", "true"])
        .exits(2)
        .says("a plan is checked only with --guardrails");
    env.ralph(&["job", "--hidden-guardrail", "true", "-p", "x"]).exits(2).says("would check nothing");
}

#[test]
fn nothing_inside_the_sandbox_has_a_trace_of_it() {
    // The pattern is not what it looks for, so the agent is no trace. It looks, and adds what is missing the second time.
    let look = "p='zebr[a]-crossing'; echo looked > ran
{ grep -rlaE \"$p\" . .. \"$RALPH_STATE_DIR\" \"$HOME\" \"$TMPDIR\"; env | grep -aE \"$p\"
for f in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f | grep -aE \"$p\"; done
find .. -path '*/hidden/*'; cat ../home/.config/ralph/hidden.json; } >> seen 2>/dev/null
cat > prompt.txt; grep -q 'hidden guardrail failed' prompt.txt && touch crossing.txt
echo '<response>DONE</response>'";
    let world = || {
        let env = project(json!([])).agent("agent", look);
        let own = env.root().join("home/.config/ralph");
        std::fs::create_dir_all(&own).expect("made");
        let text = json!({"hiddenGuardrails": [command()]}).to_string();
        std::fs::write(own.join("hidden.json"), text).expect("written");
        env
    };
    let flag = format!("true {SECRET}");
    for level in ["embedded", "bwrap"].into_iter().filter(|level| works(level)) {
        let env = world();
        env.run(&["--sandbox", level, "--hidden-guardrail", &flag]).exits(0);
        assert_eq!(env.read("ran"), "looked\n");
        assert_eq!(env.read("seen"), "", "{level}");
        assert!(env.path("crossing.txt").exists());
    }
    // It looks in the right places: where nothing contains it, it finds what it looks for.
    let env = world();
    env.run(&["--hidden-guardrail", &flag]).exits(0);
    assert!(env.read("seen").contains(SECRET), "{}", env.read("seen"));
}
