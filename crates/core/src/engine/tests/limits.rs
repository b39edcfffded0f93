//! Usage limits and budgets.

use super::*;

#[test]
fn usage_limits_cost_no_attempt() {
    let run = presets::run("DONE", vec![]);
    check(
        &run,
        &["turn quota", "turn quota", "turn claim"],
        "Work1.1 (UsageLimit 77) Work1.1 (UsageLimit 77) Work1.1 c Done=0",
    );
    // No one says when it comes back: ralph asks now and then, and no attempt is used up either.
    check(
        &run,
        &["turn used up", "turn used up", "turn used up", "turn claim"],
        "Work1.1 (UsageLimit 60000) Work1.1 (UsageLimit 120000) Work1.1 (UsageLimit 240000) Work1.1 c Done=0",
    );
    let mut impatient = run.clone();
    impatient.limits.max_wait_ms = 100_000;
    check(
        &impatient,
        &["turn used up"],
        "Work1.1 (UsageLimit 60000) Work1.1 (UsageLimit 40000) Work1.1 Quota=6",
    );
    // Waits are part of the run's time.
    let mut short = run.clone();
    short.limits.max_time_ms = Some(30_000);
    check(&short, &["turn used up"], "Work1.1 (UsageLimit 29000) Exhausted(MaxTime)=1");
    impatient.limits.max_wait_ms = 100;
    check(&impatient, &["turn quota"], "Work1.1 (UsageLimit 77) Work1.1 (UsageLimit 77) Work1.1 Quota=6");
    // A service that never lets anything through is not waited for for ever.
    let mut state = State::default();
    let mut turns = 0;
    while let Action::RunTurn(_) | Action::StartWait(_) | Action::WaitUntil(_) = decide(&run, &state) {
        let event = match decide(&run, &state) {
            Action::RunTurn(_) => {
                turns += 1;
                ended(turn_end("quota"), "")
            }
            Action::StartWait(_) => Event::WaitStarted { until_ms: 0, why: Why::UsageLimit },
            _ => Event::WaitEnded { ms: 0 },
        };
        state.apply(&run, &event);
    }
    assert_eq!(turns, 21);
}

#[test]
fn a_quota_that_refuses_again_after_its_reset_is_waited_for_longer() {
    let run = presets::run("DONE", vec![]);
    let mut state = State::default();
    // How long ralph waits at least after each of these turns, in seconds.
    let mut waits = |turns: &[&str]| -> Vec<u64> {
        let mut waits = Vec::new();
        for line in turns {
            state.apply(&run, &ended(turn_end(line), line));
            match decide(&run, &state) {
                Action::StartWait(Wait::ForQuota { resets_at: 77, at_least_ms, .. }) => {
                    waits.push(at_least_ms / 1000);
                    state.apply(&run, &Event::WaitStarted { until_ms: 77_000, why: Why::UsageLimit });
                    state.apply(&run, &Event::WaitEnded { ms: 1 });
                }
                _ => state.apply(&run, &Event::CommitEnded(CommitEnd::Nothing)),
            }
        }
        waits
    };
    // The moment that the service names is enough for the first time. Each further refusal doubles the wait, which is
    // never longer than five minutes.
    assert_eq!(waits(&["quota"; 9]), [0, 10, 20, 40, 80, 160, 300, 300, 300]);
    // One turn that is let through begins anew.
    assert_eq!(waits(&["a", "quota", "quota", "a", "quota"]), [0, 10, 0]);
}

#[test]
fn budgets_end_a_run_between_turns() {
    let mut run = presets::run("DONE", vec![]);
    run.limits.max_cost = Some(1.0);
    check(&run, &["turn a"], "Work1.1 c Work2.1 c Exhausted(MaxCost)=1");
    run.limits.max_cost = None;
    run.limits.max_tokens = Some(300);
    check(&run, &["turn a"], "Work1.1 c Work2.1 c Work3.1 c Exhausted(MaxTokens)=1");
    run.limits.max_tokens = None;
    run.limits.max_time_ms = Some(1000);
    check(&run, &["turn a"], "Work1.1 c Exhausted(MaxTime)=1");
    // No budget ends a loop as if it were complete, whatever its last iteration does.
    let mut plan = presets::plan();
    plan.limits.max_cost = Some(0.5);
    check(&plan, &["turn a"], "Work1.1 c Exhausted(MaxCost)=1");
    // A claim that holds is done, whatever it cost.
    check(&run, &["turn claim"], "Work1.1 c Done=0");
}

#[test]
fn an_iteration_has_a_budget_for_all_its_attempts() {
    // Every turn costs half a dollar and 110 tokens.
    let mut build = presets::build("plan.md", every(&["test"]));
    build.limits.max_iteration_cost = Some(1.0);
    let script = ["look +plan.md", "turn a", "gate red", "gate ok", "gate red"];
    check(&build, &script, "Work1.1 g0! Work1.2<red> g0 c Exhausted(MaxIterationCost)=1");
    // The next iteration has all of it again.
    build.limits.max_iteration_cost = Some(1.1);
    check(
        &build,
        &script,
        "Work1.1 g0! Work1.2<red> g0 c Work2.1 g0! Work2.2<red> g0! Work2.3<red> g0! Exhausted(MaxIterationCost)=1",
    );
    build.limits.max_iteration_cost = None;
    build.limits.max_iteration_tokens = Some(100);
    check(&build, &["look +plan.md", "turn a", "gate red"], "Work1.1 g0! Exhausted(MaxIterationTokens)=1");
    // What it did is judged and kept.
    check(&build, &["look +plan.md", "turn a"], "Work1.1 g0 c Exhausted(MaxIterationTokens)=1");
    check(&build, &["look +plan.md", "turn claim"], "Work1.1 g0 g1 c Done=0");
}

#[test]
fn a_turn_that_is_ended_for_its_budget_is_not_tried_again() {
    let mut run = presets::run("DONE", every(&["test"]));
    check(&run, &["turn spent"], "Work1.1 Exhausted(MaxCost)=1");
    // The agent kept to what was left of the budget.
    run.limits.max_cost = Some(1.0);
    check(&run, &["turn a", "turn own cap"], "Work1.1 g0 c Work2.1 Exhausted(MaxCost)=1");
    // It kept to a limit of the user's own: the turn is over, and the next goes on.
    run.limits.max_cost = Some(5.0);
    check(&run, &["turn own cap", "turn claim"], "Work1.1 g0 c Work2.1 g0 c Done=0");
}

#[test]
fn a_quota_of_which_no_one_knows_the_end_is_asked_for_once_an_hour_at_last() {
    let run = presets::run("DONE", vec![]);
    let mut state = State::default();
    let mut minutes = Vec::new();
    for _ in 0..8 {
        state.apply(&run, &ended(turn_end("used up"), ""));
        let Action::StartWait(Wait::For(ms, Why::UsageLimit)) = decide(&run, &state) else { break };
        minutes.push(ms / 60_000);
        state.apply(&run, &Event::WaitStarted { until_ms: 1, why: Why::UsageLimit });
        state.apply(&run, &Event::WaitEnded { ms: 1 });
    }
    assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn usage_limits_are_waited_for_a_day_unless_the_user_says_otherwise() {
    for plan in all() {
        assert_eq!(plan.limits.max_wait_ms, 86_400_000, "{}", plan.preset);
    }
}
