//! What a run says when it has ended: its exit code, and the flag that lets it go on.

use super::{
    super::{plan::Cause, stop::Stop},
    *,
};

#[test]
fn every_outcome_has_its_exit_code() {
    let exit_code = |outcome: &Outcome, plan: &Plan| outcome.exit_code(plan);
    let gave_up = |cause| Outcome::GaveUp { cause, reason: String::new() };
    let exhausted = |limit| Outcome::Exhausted { limit };
    let stopped = Outcome::Stopped(Stop::Quota { message: String::new() });
    // The last iteration of a plan is an end like any other; that of a guarded loop is not, and no budget is.
    let (plan, run) = (presets::plan(), presets::run("", vec![]));
    for (outcome, of_plan, of_run) in [
        (Outcome::Done, 0, 0),
        (exhausted(Exhausted::MaxIterations), 0, 1),
        (exhausted(Exhausted::MaxTime), 1, 1),
        (exhausted(Exhausted::MaxCost), 1, 1),
        (exhausted(Exhausted::MaxIterationTokens), 1, 1),
        (exhausted(Exhausted::Until), 1, 1),
        (exhausted(Exhausted::LeaveQuota), 1, 1),
        (Outcome::Unready { reason: String::new() }, 2, 2),
        (gave_up(Cause::Gate), 3, 3),
        (gave_up(Cause::Agent), 4, 4),
        (gave_up(Cause::NoChange), 4, 4),
        (gave_up(Cause::Commit), 5, 5),
        (stopped, 6, 6),
        (Outcome::Interrupted, 130, 130),
    ] {
        assert_eq!((exit_code(&outcome, &plan), exit_code(&outcome, &run)), (of_plan, of_run), "{outcome:?}");
        assert_eq!(outcome.is_final(), outcome == Outcome::Done);
    }
}

#[test]
fn only_an_agent_that_waits_is_waited_for() {
    let is_wait = |stop| Outcome::Stopped(stop).is_wait();
    assert!(is_wait(Stop::AgentWaits { reason: None, file: None }));
    assert!(is_wait(Stop::Paused { reason: String::new() }));
    assert!(!is_wait(Stop::Tampered { changed: vec![] }));
    assert!(!is_wait(Stop::Quota { message: String::new() }));
    assert!(!Outcome::Interrupted.is_wait() && !Outcome::Done.is_wait());
}

#[test]
fn a_limit_names_the_flag_that_leaves_room() {
    let mut plan = presets::run("DONE", vec![]);
    let mut state = State::default();
    state.apply(&plan, &Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }));
    // Half a dollar, 110 tokens, one second.
    state.apply(&plan, &ended(TurnEnd::Finished, "a"));
    let check = |plan: &Plan, limit: Exhausted, name: &str, raised: &str| {
        assert_eq!((limit.name(), limit.raised(plan, state.spent()).as_str()), (name, raised));
    };
    check(&plan, Exhausted::MaxIterations, "iterations", "--max-iterations 20");
    // Twice the limit where that is more than was used.
    plan.limits.max_time_ms = Some(90_500);
    (plan.limits.max_cost, plan.limits.max_tokens) = (Some(2.0), Some(1000));
    (plan.limits.max_iteration_cost, plan.limits.max_iteration_tokens) = (Some(1.0), Some(500));
    check(&plan, Exhausted::MaxTime, "time", "--max-time 181s");
    check(&plan, Exhausted::MaxCost, "cost", "--max-cost 4.00");
    check(&plan, Exhausted::MaxTokens, "tokens", "--max-tokens 2000");
    check(&plan, Exhausted::MaxIterationCost, "cost per iteration", "--max-iteration-cost 2.00");
    check(&plan, Exhausted::MaxIterationTokens, "tokens per iteration", "--max-iteration-tokens 1000");
    check(&plan, Exhausted::Until, "time of day", "--until 0");
    check(&plan, Exhausted::LeaveQuota, "quota", "--leave-quota 0");
    // Twice what was used where that is more than the limit.
    (plan.limits.max_time_ms, plan.limits.max_cost, plan.limits.max_tokens) = (Some(1), Some(0.1), Some(1));
    (plan.limits.max_iteration_cost, plan.limits.max_iteration_tokens) = (Some(0.1), Some(1));
    check(&plan, Exhausted::MaxTime, "time", "--max-time 2s");
    check(&plan, Exhausted::MaxCost, "cost", "--max-cost 1.00");
    check(&plan, Exhausted::MaxTokens, "tokens", "--max-tokens 220");
    check(&plan, Exhausted::MaxIterationCost, "cost per iteration", "--max-iteration-cost 1.00");
    check(&plan, Exhausted::MaxIterationTokens, "tokens per iteration", "--max-iteration-tokens 220");
    // Never nothing.
    plan.limits.max_cost = Some(0.0);
    let spent = *State::default().spent();
    assert_eq!(Exhausted::MaxCost.raised(&plan, &spent), "--max-cost 0.01");
}
