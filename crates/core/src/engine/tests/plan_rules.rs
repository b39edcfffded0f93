//! What a plan says about its own rules.

use super::{super::plan::OnBlocked, *};
use crate::verify::rules::{CheckoutWhen, GuardrailKind, Repeats, RunsWhere};

fn names(plan: &Plan) -> Vec<&str> {
    plan.gates.iter().map(|gate| gate.check.name()).collect()
}

#[test]
fn a_command_that_is_a_check_already_is_run_once() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    let guarded = run.guarded(vec![gate("test", When::Claimed), gate("audit", When::EveryTurn)]);
    assert_eq!(names(&guarded), ["lint", "test", "audit"]);
    assert_eq!(guarded.gates[1].when, When::Claimed, "as the guardrail says");
    // What ralph checks itself stays, whatever the guardrails are.
    let stories = presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::Claimed);
    let own = names(&stories)[..3].iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let guarded = stories.clone().guarded(every(&["test"]));
    assert_eq!(names(&guarded)[..3], own);
    assert_eq!(guarded.gates.len(), 4);
    assert_eq!(stories.clone().guarded(stories.gates[..1].to_vec()).gates.len(), 5);
}

#[test]
fn a_plan_knows_what_judges_its_work() {
    let stories = |commands: &[String]| presets::stories(&["t".to_owned()], commands, When::Claimed);
    for (plan, is_guarded, checks_tree) in [
        (presets::run("DONE", vec![]), false, false),
        (presets::run("DONE", every(&["test"])), true, false),
        (stories(&[]), false, true),
        (stories(&["test".to_owned()]), true, true),
    ] {
        assert_eq!((plan.is_guarded(), plan.checks_tree()), (is_guarded, checks_tree), "{}", plan.preset);
    }
}

#[test]
fn guardrails_are_counted_without_what_the_loop_counts_itself() {
    assert_eq!(presets::run("DONE", every(&["lint", "test"])).guardrails(), 2);
    let build = presets::build("plan.md", every(&["test"]));
    assert_eq!((build.gates.len(), build.guardrails()), (2, 1));
}

#[test]
fn only_what_runs_tests_is_counted() {
    let counts = |command: &str, kind| Gate { kind, ..gate(command, When::EveryTurn) }.counts_tests();
    assert!(counts("make test", None));
    assert!(!counts("cargo clippy", None));
    assert!(counts("cargo clippy", Some(GuardrailKind::Test)));
    assert!(!counts("make test", Some(GuardrailKind::Lint)));
    assert!(!Gate::new(Check::CleanTree, When::Claimed).counts_tests());
}

#[test]
fn a_file_claims_where_the_plan_waits_for_one() {
    let task = presets::task("DONE", "WAIT", vec![]);
    assert!(task.is_claimed_by_file(&view("+DONE")));
    assert!(!task.is_claimed_by_file(&view("+other")));
    assert!(!presets::run("DONE", vec![]).is_claimed_by_file(&view("+DONE")));
}

#[test]
fn how_claims_are_verified_is_recorded_where_it_is_not_the_usual() {
    let recorded = |checkout, runs_where, repeats| {
        let gate = Gate { runs_where, repeats, ..gate("test", When::EveryTurn) };
        let plan = Plan { checkout, ..presets::run("DONE", vec![gate]) };
        let plan = serde_json::to_value(plan).expect("JSON");
        let of_gate = |key: &str| plan["gates"][0].get(key).cloned();
        (plan.get("checkout").cloned(), of_gate("where"), of_gate("repeats"))
    };
    let usual = recorded(CheckoutWhen::Never, RunsWhere::Both, Repeats::Yes);
    assert_eq!(usual, (None, None, None));
    let unusual = recorded(CheckoutWhen::Claim, RunsWhere::Judge, Repeats::No);
    assert_eq!(unusual, (Some("claim".into()), Some("judge".into()), Some("no".into())));
}

#[test]
fn what_follows_a_block_is_recorded_where_it_is_not_the_usual() {
    let recorded = |blocked| {
        let plan = Plan { blocked, ..presets::run("DONE", vec![]) };
        serde_json::to_value(plan).expect("JSON")["blocked"].clone()
    };
    assert_eq!(recorded(OnBlocked::Stop), serde_json::Value::Null);
    assert_eq!(recorded(OnBlocked::Confirm), "confirm");
}

#[test]
fn reviewers_withhold_a_claim_where_they_judge_it() {
    use crate::verify::rules::{LookWhen, OnLook};
    let review =
        Gate::new(Check::Review { name: "r".to_owned(), by: vec!["b".to_owned()], rounds: 1 }, When::Claimed);
    for (look, on_look, gates, expected) in [
        (LookWhen::Off, OnLook::Report, vec![], false),
        (LookWhen::Off, OnLook::Withhold, vec![], false),
        (LookWhen::Always, OnLook::Report, vec![], false),
        (LookWhen::Always, OnLook::Withhold, vec![], true),
        (LookWhen::Finding, OnLook::Withhold, vec![], true),
        (LookWhen::Off, OnLook::Report, every(&["test"]), false),
        (LookWhen::Off, OnLook::Report, vec![review], true),
    ] {
        let plan = Plan { look, on_look, ..presets::run("DONE", gates) };
        assert_eq!(plan.is_withheld_by_reviewers(), expected, "{look:?} {on_look:?} {:?}", plan.gates);
    }
}
