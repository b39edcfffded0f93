//! The loops that the commands stand for, as data. The only place that knows their names.

use super::{
    plan::{Check, CommitRule, FailureRules, Gate, Limits, Need, OnBlocked, OnFailure, Plan, When, Work},
    roles::Roles,
};
use crate::claim::{
    Claim,
    Matching::{Exact, ExactInLastMessage, FirstIgnoringCase},
};
use crate::review::ReviewRange;
use crate::verify::rules::{Bite, CheckoutWhen, LookWhen, OnFinding, OnLook};

/// Three retries are four attempts.
pub const RETRIES: u32 = 3;

const RETRY: OnFailure = OnFailure::Retry { retries: RETRIES };

/// Iterations without progress before the agent is told so, unless the settings say otherwise.
pub const STUCK_AFTER: u32 = 3;

/// All waits for usage limits together, unless the settings say otherwise.
pub const MAX_WAIT_MS: u64 = 24 * 60 * 60 * 1000;

/// The guarded loop: guardrails after every turn, complete when the response says so and they pass.
pub fn run(completion_response: &str, gates: Vec<Gate>) -> Plan {
    Plan {
        preset: "run".to_owned(),
        work: Work::Prompt,
        needs: vec![],
        claims: vec![tag("response", completion_response, FirstIgnoringCase)],
        done_when: Some("the whole task is done".to_owned()),
        gates,
        commit: CommitRule::IfChanged,
        blocked: OnBlocked::Stop,
        failures: FailureRules {
            agent: RETRY,
            gate: OnFailure::Continue,
            no_change: OnFailure::Continue,
            commit: RETRY,
            retry_delay_ms: 1000,
        },
        limits: limits(10, 1),
        pause_code: None,
        pause_file: None,
        pause_message: None,
        awaits: vec![],
        baseline: true,
        stuck_after: Some(STUCK_AFTER),
        checkout: CheckoutWhen::Never,
        on_finding: OnFinding::Ask,
        bite: Bite::Off,
        look: LookWhen::Off,
        on_look: OnLook::Report,
        branch: None,
        roles: Roles::default(),
        review: None,
    }
}

/// Work on the implementation plan until the agent promises that it is complete.
pub fn plan() -> Plan {
    Plan {
        preset: "plan".to_owned(),
        claims: vec![tag("promise", "COMPLETE", Exact), Claim::NothingLeft],
        done_when: Some("the plan covers every specification and nothing is left to add".to_owned()),
        commit: CommitRule::Required,
        failures: FailureRules { gate: RETRY, no_change: RETRY, ..run("", vec![]).failures },
        limits: limits(10, 0),
        ..run("", vec![])
    }
}

/// Build what the plan says, tested and committed in each iteration.
pub fn build(plan_file: &str, tests: Vec<Gate>) -> Plan {
    Plan {
        preset: "build".to_owned(),
        needs: vec![Need {
            path: plan_file.to_owned(),
            otherwise: "Implementation plan not found. Run 'ralph plan' first.".to_owned(),
        }],
        claims: vec![tag("promise", "COMPLETE", Exact), Claim::PlanSettled],
        gates: tests.into_iter().chain([Gate::new(Check::PlanSettled, When::Claimed)]).collect(),
        done_when: Some("every task of the plan is finished and the tests pass".to_owned()),
        ..plan()
    }
}

/// One turn; what changed is committed. There is no second try.
pub fn prompt() -> Plan {
    let once = OnFailure::Retry { retries: 0 };
    Plan {
        preset: "prompt".to_owned(),
        claims: vec![Claim::TurnEnd],
        done_when: None,
        commit: CommitRule::IfChanged,
        failures: FailureRules { agent: once, gate: once, commit: once, ..plan().failures },
        limits: limits(1, 0),
        baseline: false,
        stuck_after: None,
        ..plan()
    }
}

/// One turn that judges a change and must not touch it.
pub fn review(range: ReviewRange) -> Plan {
    Plan {
        preset: "review".to_owned(),
        claims: vec![],
        commit: CommitRule::Never,
        failures: FailureRules { agent: RETRY, ..prompt().failures },
        review: Some(range),
        ..prompt()
    }
}

/// Keep a root agent going until it writes its file and its children have ended, or until it says that it waits
/// for someone.
pub fn task(done_file: &str, pause_file: &str, children_ended: Vec<Gate>) -> Plan {
    Plan {
        preset: "task".to_owned(),
        claims: vec![Claim::File { path: done_file.to_owned() }],
        // The task and its folder are explained at length.
        done_when: None,
        gates: children_ended,
        commit: CommitRule::Never,
        failures: FailureRules { agent: OnFailure::Ignore, ..run("", vec![]).failures },
        limits: Limits { restart_delay_ms: 1000, ..limits(100, 1) },
        pause_code: Some(42),
        pause_file: Some(pause_file.to_owned()),
        pause_message: Some("wait_without_restart".to_owned()),
        baseline: false,
        ..run("", vec![])
    }
}

/// What one turn for a task is called, also on a command line.
pub const JOB: &str = "job";

/// One turn for a task that another agent keeps going.
pub fn job() -> Plan {
    let once = OnFailure::Retry { retries: 0 };
    Plan {
        preset: JOB.to_owned(),
        claims: vec![Claim::TurnEnd],
        done_when: None,
        commit: CommitRule::Never,
        failures: FailureRules { agent: once, ..run("", vec![]).failures },
        limits: limits(1, 1),
        pause_code: Some(42),
        baseline: false,
        stuck_after: None,
        ..run("", vec![])
    }
}

/// Stories, each reviewed in a fresh context, with these files and these commands that verify the whole.
///
/// The tree is looked at before the rules are, because these put things back.
pub fn stories(files: &[String], verify: &[String], verify_when: When) -> Plan {
    let gate = Gate::new;
    let mut gates = vec![
        gate(Check::CleanTree, When::EveryTurn),
        gate(Check::TaskRules, When::EveryTurn),
        gate(Check::StoriesDone, When::Claimed),
    ];
    gates.extend(verify.iter().map(|command| gate(Check::Command { command: command.clone() }, verify_when)));
    let need = |path: &String| Need { path: path.clone(), otherwise: format!("{path} not found") };
    Plan {
        preset: "stories".to_owned(),
        work: Work::Stories,
        needs: files.iter().map(need).collect(),
        claims: vec![tag("promise", "COMPLETE", Exact), Claim::StoriesApproved],
        done_when: Some("every story of the list is done".to_owned()),
        gates,
        commit: CommitRule::Never,
        limits: limits(15, 1),
        ..run("", vec![])
    }
}

/// The loop inside one conversation; the agent's stop hook drives it.
pub fn session(promise: &str, iterations: u32, proof_of_work: Vec<Gate>) -> Plan {
    Plan {
        preset: "session".to_owned(),
        claims: vec![tag("promise", promise, ExactInLastMessage)],
        // A conversation begins with its contract.
        done_when: None,
        gates: proof_of_work,
        commit: CommitRule::Never,
        // The agent's own program waits and tries again; a hook cannot.
        failures: FailureRules { retry_delay_ms: 0, ..run("", vec![]).failures },
        limits: limits(iterations, 1),
        baseline: false,
        stuck_after: None,
        ..run("", vec![])
    }
}

fn tag(name: &str, text: &str, matching: crate::claim::Matching) -> Claim {
    Claim::Tag { name: name.to_owned(), text: text.to_owned(), matching }
}

fn limits(max_iterations: u32, limit_exit_code: u8) -> Limits {
    Limits {
        max_iterations,
        limit_exit_code,
        finding_exit_code: super::plan::finding_exit_code(),
        restart_delay_ms: 0,
        max_wait_ms: MAX_WAIT_MS,
        max_time_ms: None,
        max_cost: None,
        max_tokens: None,
        max_iteration_cost: None,
        max_iteration_tokens: None,
        until_ms: None,
        leave_quota: None,
    }
}
