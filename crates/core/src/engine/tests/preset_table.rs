//! The loops side by side: what the commands promise, in one table.

use super::{
    super::plan::{FailureRules, NoWork, OnFailure, Work},
    *,
};
use crate::claim::{Claim, Matching};

fn claim(claim: &Claim) -> String {
    match claim {
        Claim::Tag { name, text, matching: Matching::Exact } => format!("<{name}>={text}"),
        Claim::Tag { name, text, matching: Matching::FirstIgnoringCase } => format!("<{name}>~{text}"),
        Claim::Tag { name, text, matching: Matching::ExactInLastMessage } => format!("last <{name}>={text}"),
        Claim::File { path } => format!("file {path}"),
        Claim::StoriesApproved => "stories".to_owned(),
        Claim::PlanSettled => "settled".to_owned(),
        Claim::NothingLeft => "nothing".to_owned(),
        Claim::TurnEnd => "turn".to_owned(),
    }
}

/// What failures of the agent, the gates, the missing change and the commit lead to.
fn failures(rules: &FailureRules) -> String {
    let rule = |rule| match rule {
        OnFailure::Ignore => "i".to_owned(),
        OnFailure::Continue => "c".to_owned(),
        OnFailure::Retry { retries } => retries.to_string(),
    };
    [rules.agent, rules.gate, rules.no_change, rules.commit].map(rule).concat()
}

/// A loop in one line: its rules in words that are as short as they can be.
fn row(plan: &Plan) -> String {
    let mut parts = vec![
        plan.preset.clone(),
        plan.claims.iter().map(claim).collect::<Vec<_>>().join(" "),
        match plan.commit {
            CommitRule::Never => "never".to_owned(),
            CommitRule::IfChanged => "changed".to_owned(),
            CommitRule::Required => "must".to_owned(),
        },
        format!("{}/{}ms", failures(&plan.failures), plan.failures.retry_delay_ms),
        format!("{}->{}", plan.limits.max_iterations, plan.limits.limit_exit_code),
    ];
    let mut add = |is_so: bool, text: String| parts.extend(is_so.then_some(text));
    add(plan.work == Work::Stories, "stories".to_owned());
    add(!plan.needs.is_empty(), format!("needs {}", plan.needs.len()));
    add(!plan.gates.is_empty(), format!("gates {}", plan.gates.len()));
    add(plan.limits.restart_delay_ms != 0, format!("rest {}ms", plan.limits.restart_delay_ms));
    add(plan.pause_code.is_some(), format!("waits by {}", plan.pause_code.unwrap_or(0)));
    add(plan.pause_file.is_some(), format!("by {}", plan.pause_file.as_deref().unwrap_or("")));
    add(plan.pause_message.is_some(), format!("by {}", plan.pause_message.as_deref().unwrap_or("")));
    add(plan.baseline, "baseline".to_owned());
    add(plan.stuck_after.is_some(), format!("stuck {}", plan.stuck_after.unwrap_or(0)));
    parts.join(" | ")
}

#[test]
fn every_loop_has_the_rules_of_its_command() {
    let rows: Vec<String> = all().iter().map(row).collect();
    let expected = [
        "run | <response>~DONE | changed | 3cc3/1000ms | 10->1 | gates 2 | baseline | stuck 3",
        "plan | <promise>=COMPLETE nothing | must | 3333/1000ms | 10->0 | baseline | stuck 3",
        "build | <promise>=COMPLETE settled | must | 3333/1000ms | 10->0 | needs 1 | gates 2 | baseline | stuck 3",
        "prompt | turn | changed | 0030/1000ms | 1->0",
        "task | file DONE | never | icc3/1000ms | 100->1 | gates 1 | rest 1000ms | waits by 42 | by WAIT | by wait_without_restart | stuck 3",
        "job | turn | never | 0cc3/1000ms | 1->1 | waits by 42",
        "stories | <promise>=COMPLETE stories | never | 3cc3/1000ms | 15->1 | stories | needs 1 | gates 4 | baseline | stuck 3",
        "session | last <promise>=DONE | never | 3cc3/0ms | 3->1 | gates 1",
    ];
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!(row, expected);
    }
    assert_eq!(rows.len(), expected.len());
    // A day of waits, and no budget that no one asked for.
    for Plan { limits, .. } in all() {
        assert_eq!(limits.max_wait_ms, 86_400_000);
        let budgets = (limits.max_time_ms, limits.max_cost, limits.max_tokens);
        assert_eq!(budgets, (None, None, None));
        assert_eq!((limits.max_iteration_cost, limits.max_iteration_tokens), (None, None));
        assert_eq!((limits.until_ms, limits.leave_quota), (None, None));
    }
}

#[test]
fn a_number_of_retries_is_for_what_is_tried_again_at_all() {
    let of = |plan: Plan, retries| failures(&plan.failures.with_retries(retries));
    assert_eq!(of(presets::run("", vec![]), 7), "7cc7");
    assert_eq!(of(presets::plan(), 1), "1111");
    assert_eq!(of(presets::prompt(), 7), "0070", "one turn stays one turn");
    assert_eq!(of(presets::task("", "", vec![]), 7), "icc7");
    let delay = presets::plan().failures.with_retries(7).retry_delay_ms;
    assert_eq!(delay, 1000);
}

#[test]
fn a_loop_looks_at_the_folder_where_it_says_anything() {
    let looks = all().into_iter().map(|plan| (plan.preset.clone(), plan.looks())).filter(|(_, looks)| *looks);
    let looks: Vec<String> = looks.map(|(preset, _)| preset).collect();
    assert_eq!(looks, ["plan", "build", "task", "stories"]);
    let plain = presets::prompt;
    assert!(Plan { pause_file: Some("WAIT".to_owned()), ..plain() }.looks());
    assert!(Plan { awaits: vec!["other".to_owned()], ..plain() }.looks());
    assert!(Plan { work: Work::Stories, ..plain() }.looks());
    assert!(Plan { claims: vec![Claim::File { path: "DONE".to_owned() }], ..plain() }.looks());
    for claim in [Claim::StoriesApproved, Claim::PlanSettled, Claim::NothingLeft] {
        assert!(Plan { claims: vec![claim], ..plain() }.looks());
    }
}

#[test]
fn a_check_has_a_name_and_only_waiting_is_no_judgement() {
    let command = Check::Command { command: "make test".to_owned() };
    let children = Check::ChildrenEnded { child_wait_timeout_ms: 1, poll_interval_ms: 1 };
    let work = Check::Work { tool_calls: 1, otherwise: NoWork::Reject };
    for (check, name, judges) in [
        (command, "make test", true),
        (children, "child runs have ended", false),
        (Check::TaskRules, "task rules", true),
        (Check::CleanTree, "clean tree", true),
        (Check::StoriesDone, "every story done", true),
        (Check::PlanSettled, "every task of the plan done", true),
        (work, "work done", true),
    ] {
        assert_eq!((check.name(), check.judges()), (name, judges));
    }
}

#[test]
fn only_loops_that_wait_for_the_agents_word_tell_it_when_to_give_it() {
    let loops = all();
    let told = loops.iter().filter(|plan| plan.done_when.is_some()).map(|plan| plan.preset.as_str());
    assert_eq!(told.collect::<Vec<_>>(), ["run", "plan", "build", "stories"]);
}
