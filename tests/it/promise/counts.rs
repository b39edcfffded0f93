//! What the loops count themselves: `build` goes by the tasks of its plan, `plan` by what a turn leaves to change.

use super::{BUILD, PLAN, prompts};
use crate::env::Env;

const CLAIM: &str = "say '<promise>COMPLETE</promise>'";

/// A world with this plan, in which the agent of `build` does this in each turn.
fn build(plan: &str, script: &str) -> Env {
    let env = BUILD.env(script);
    env.write("implementation_plan.md", plan);
    env.git(&["commit", "--quiet", "-am", "the plan"]);
    env
}

#[test]
fn open_tasks_refuse_a_claim_and_keep_the_work() {
    let env = build(
        "- [ ] Add numbers\n- [ ] Show sums\n- [-] Sell it\n- [~] Wait\n- [ ] Sign (human)\n",
        &format!("echo $turn >work; test $turn = 1 || sed -i 's/ \\]/x]/' implementation_plan.md; {CLAIM}"),
    );
    let output = BUILD.run(&env, &[]).exits(0);
    assert!(
        output.stderr.contains("Claim refused: 2 of 5 tasks of implementation_plan.md are open"),
        "{output:?}"
    );
    assert!(output.stderr.contains("Add numbers") && output.stderr.contains("Show sums"), "{output:?}");
    let told = prompts(&env);
    assert_eq!(told.len(), 2);
    let named = "2 of 5 tasks of implementation_plan.md are open. Finish what is open, mark what is done with [x] and what no \
                 one will do with [-], and only then say so again:\n- Add numbers\n- Show sums";
    assert!(told[1].contains(named), "{}", told[1]);
    assert!(!told[0].contains("are open"), "{}", told[0]);
    assert_eq!(env.git(&["log", "--format=%s"]).lines().filter(|line| line.starts_with("build:")).count(), 2);
    let refused: Vec<_> =
        env.journal().into_iter().filter(|event| !event["failure"]["exit"]["open_tasks"].is_null()).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(
        refused[0]["failure"]["exit"]["open_tasks"],
        serde_json::json!({"plan": "implementation_plan.md", "tasks": 5, "open": 2, "named": ["Add numbers", "Show sums"]})
    );
}

#[test]
fn an_agent_that_only_claims_is_not_done() {
    let env = build("- [ ] Add numbers\n", CLAIM).settings(serde_json::json!({"retries": 1}));
    BUILD.run(&env, &[]).exits(4);
    assert_eq!(prompts(&env).len(), 2);
}

#[test]
fn a_settled_plan_needs_no_words_but_green_guardrails() {
    let env = build("- [x] a\n- [ ] b\n", "sed -i 's/ \\]/x]/' implementation_plan.md; say 'Well.'");
    BUILD.run(&env, &[]).exits(0).prints("Complete");
    assert_eq!(prompts(&env).len(), 1);
    let settled = build("- [x] a\n- [-] b\n", "say 'Well.'");
    BUILD.run(&settled, &[]).exits(0);
    assert_eq!(prompts(&settled).len(), 0, "there is nothing to do");
    let red = build("- [x] a\n", "echo $turn >work; say 'Well.'");
    BUILD.run(&red, &["-g", "false"]).exits(3);
    assert!(!prompts(&red).is_empty());
    // A plan that is written in another way is what the agent says it is.
    let prose = build(
        "First a, then b.\n",
        "echo $turn >work; test $turn != 2 || say '<promise>COMPLETE</promise>'; say a",
    );
    BUILD.run(&prose, &[]).exits(0);
    assert_eq!(prompts(&prose).len(), 2);
}

#[test]
fn a_plan_that_is_gone_bears_out_nothing() {
    for does in [
        ": >implementation_plan.md",
        "echo 'All is done.' >implementation_plan.md",
        "printf '```\\n- [ ] Add numbers\\n```\\n' >implementation_plan.md",
        "printf '<!--\\n- [ ] Add numbers\\n-->\\n' >implementation_plan.md",
        "rm implementation_plan.md; mkfifo implementation_plan.md",
        "rm implementation_plan.md; mkdir implementation_plan.md",
        "rm implementation_plan.md; ln -s /nowhere implementation_plan.md",
        "rm implementation_plan.md; ln -s /dev/zero implementation_plan.md",
        "rm implementation_plan.md",
    ] {
        let env =
            build("- [ ] Add numbers\n- [ ] Show sums\n", &format!("{does}; echo $turn >work; {CLAIM}"));
        let output = BUILD.run(&env.settings(serde_json::json!({"retries": 1})), &[]);
        assert!(matches!(output.code, Some(2 | 3)), "{does}: {output:?}");
    }
}

#[test]
fn a_plan_is_complete_when_a_turn_finds_nothing_to_change() {
    let env = PLAN.env("test $turn != 1 || echo '- [ ] Add' >implementation_plan.md; say 'Well.'");
    PLAN.run(&env, &[]).exits(0).prints("Complete");
    assert_eq!(prompts(&env).len(), 2);
    // Nothing at all is no plan.
    let idle = PLAN.env("say 'Well.'").settings(serde_json::json!({"retries": 1}));
    PLAN.run(&idle, &[]).exits(4);
    let red = PLAN.env("test $turn != 1 || echo '- [ ] Add' >implementation_plan.md; say 'Well.'");
    PLAN.run(&red, &["-g", "test ! -e implementation_plan.md"]).exits(3);
}

#[test]
fn a_plan_says_what_else_it_commits() {
    let script = "echo $turn >src.rs; echo $turn >specs/more.md; echo $turn >AGENTS.md; mkdir -p doc/a; echo $turn >doc/a/b.md
        echo \"- [ ] Add $turn\" >implementation_plan.md";
    let env = PLAN.env(&format!("{script}; {CLAIM}"));
    let output = PLAN.run(&env, &[]).exits(0);
    let warning = "`ralph plan` committed files that are no plan, specification or note: doc/a/b.md, src.rs";
    assert!(output.stderr.contains(warning), "{output:?}");
    let ended: Vec<_> = env.journal().into_iter().filter(|event| event["event"] == "commit_ended").collect();
    assert_eq!(ended[0]["beyond"], serde_json::json!(["doc/a/b.md", "src.rs"]));
    // What the agent commits itself is no different.
    let own = PLAN.env(&format!("{script}; git add --all .; git commit --quiet -m mine; {CLAIM}"));
    assert!(PLAN.run(&own, &[]).exits(0).stderr.contains(warning));
    let allowed = PLAN
        .env(&format!("{script}; {CLAIM}"))
        .settings(serde_json::json!({"plan": {"mayTouch": ["doc/**", "*.rs"]}}));
    let output = PLAN.run(&allowed, &[]).exits(0);
    let warning = "`ralph plan` committed files that are no plan, specification or note: AGENTS.md";
    assert!(output.stderr.contains(warning), "{output:?}");
}
