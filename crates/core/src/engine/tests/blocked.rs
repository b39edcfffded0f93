//! Agents that say that they cannot continue.

use super::{
    super::{
        plan::{Cause, OnBlocked},
        stop::Stop,
    },
    *,
};
use crate::fail_action::FailAction;

#[test]
fn a_run_ends_when_its_agent_is_blocked() {
    let run = presets::run("DONE", every(&["test"]));
    check(&run, &["turn stumped"], "Work1.1 g0 c Blocked=6");
    // Whatever else it says, and whatever its checks say.
    check(&run, &["turn claim stumped"], "Work1.1 g0 c Blocked=6");
    check(&run, &["turn stumped", "gate red"], "Work1.1 g0! Blocked=6");
    check(&run, &["turn a", "turn stumped"], "Work1.1 g0 c Work2.1 g0 c Blocked=6");
    let build = presets::build("plan.md", every(&["test"]));
    check(&build, &["look +plan.md", "turn stumped", "commit none"], "Work1.1 g0 c Blocked=6");
    check(&build, &["look +plan.md", "turn stumped", "gate red"], "Work1.1 g0! Blocked=6");
    check(&presets::prompt(), &["turn stumped", "commit none"], "Work1.1 c Blocked=6");
    check(&presets::job(), &["turn stumped"], "Work1.1 Blocked=6");
    let session = presets::session("DONE", 3, vec![gate("work", When::Claimed)]);
    check(&session, &["turn claim stumped"], "Work1.1 Blocked=6");
    // A work that cannot be committed is tried again.
    check(&run, &["turn stumped", "commit fail", "commit none"], "Work1.1 g0 c Work1.2<The> g0 c Blocked=6");
}

#[test]
fn a_done_beside_it_is_put_aside() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(&task, &["look", "turn stumped +DONE", "aside DONE.1"], "Work1.1 DONE>DONE.1 Blocked=6");
}

#[test]
fn a_second_opinion_is_asked_for_once() {
    let run = Plan { blocked: OnBlocked::Confirm, ..presets::run("DONE", every(&["test"])) };
    check(&run, &["turn stumped"], "Work1.1 g0 c Work2.1<The> g0 c Blocked=6");
    check(&run, &["turn stumped", "gate red"], "Work1.1 g0! Work2.1<red|The> g0! Blocked=6");
    check(&run, &["turn stumped", "turn claim"], "Work1.1 g0 c Work2.1<The> g0 c Done=0");
    check(
        &run,
        &["turn stumped", "turn a", "turn stumped"],
        "Work1.1 g0 c Work2.1<The> g0 c Work3.1 g0 c Work4.1<The> g0 c Blocked=6",
    );
    // There is no one left to ask.
    check(&limited(1, run), &["turn stumped"], "Work1.1 g0 c Blocked=6");
}

#[test]
fn a_story_is_left_to_a_person_and_the_others_go_on() {
    let stories = presets::stories(&["tasks.json".to_owned()], &[], When::Claimed);
    let looks =
        ["look +tasks.json +of US-1", "look +tasks.json +of US-2", "look +tasks.json +blocked +people"];
    let turns = ["turn stumped +tasks.json", "turn a +tasks.json"];
    check(
        &stories,
        &[looks.as_slice(), &turns].concat(),
        "Implement1.1 g0 g1 US-1(no key) Implement2.1 g0 g1 Blocked=6",
    );
    let both = ["turn stumped +tasks.json", "turn stumped +tasks.json"];
    check(
        &stories,
        &[looks.as_slice(), &both].concat(),
        "Implement1.1 g0 g1 US-1(no key) Implement2.1 g0 g1 US-2(no key) Blocked=6",
    );
    // What a person has done meanwhile is no reason any more.
    check(
        &stories,
        &[looks[0], looks[1], "look +tasks.json +blocked", turns[0], turns[1]],
        "Implement1.1 g0 g1 US-1(no key) Implement2.1 g0 g1 NoStory=6",
    );
    // Each story has its own second opinion.
    let confirmed = Plan { blocked: OnBlocked::Confirm, ..stories.clone() };
    check(
        &limited(3, confirmed),
        &[&looks[..2], &both].concat(),
        "Implement1.1 g0 g1 Implement2.1<The> g0 g1 Implement3.1<The> g0 g1 US-2(no key) Exhausted(MaxIterations)=1",
    );
    // Where there is no story, the whole is blocked.
    check(&stories, &["look +tasks.json +fix", turns[0]], "Fix1.1 g0 g1 Blocked=6");
}

/// A state after a turn that says it is blocked and passes its gates, and then these events.
fn after_a_block(plan: &Plan, more: &[Event]) -> State {
    let started = || Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() });
    let mut state = State::default();
    for event in [started(), ended(TurnEnd::Finished, "stumped")].iter().chain(more) {
        state.apply(plan, event);
    }
    state
}

#[test]
fn the_second_opinion_hears_of_it_first() {
    let run = Plan { blocked: OnBlocked::Confirm, commit: CommitRule::Never, ..presets::run("DONE", vec![]) };
    let state = after_a_block(&run, &[]);
    let told: Vec<(FailAction, bool)> =
        state.feedback().iter().map(|it| (it.action, it.text.contains("no key"))).collect();
    assert_eq!(told, [(FailAction::Prepend, true)]);
}

#[test]
fn after_a_person_has_looked_a_second_opinion_is_asked_for_again() {
    let run = Plan { blocked: OnBlocked::Confirm, commit: CommitRule::Never, ..presets::run("DONE", vec![]) };
    let second = || Event::TurnStarted(Turn { iteration: 2, attempt: 1, ..Turn::default() });
    let again = [second(), ended(TurnEnd::Finished, "stumped")];
    let stays = after_a_block(&run, &again);
    assert!(matches!(decide(&run, &stays), Action::Finish(_)));
    // The one that was asked could not even begin.
    let outcome = Outcome::GaveUp { cause: Cause::Agent, reason: "no".to_owned() };
    let looked_at = [
        second(),
        ended(turn_end("bad key"), ""),
        Event::RunEnded { outcome, exit_code: 4 },
        Event::RunResumed { pid: 1, limits: run.limits },
    ];
    let asked = after_a_block(&run, &[&looked_at[..], &again].concat());
    assert!(matches!(decide(&run, &asked), Action::RunTurn(_)), "{asked:?}");
}

#[test]
fn the_last_reason_of_each_story_is_why_nothing_is_left() {
    let stories = presets::stories(&["tasks.json".to_owned()], &[], When::Claimed);
    let mut state = State::default();
    for (story, reason) in [("US-1", "no key"), ("US-2", "no host"), ("US-1", "no quota")] {
        let (story, reason) = (story.to_owned(), reason.to_owned());
        state.apply(&stories, &Event::StoryHandedOver { story, reason });
    }
    let people = ["US-1", "US-2"].map(str::to_owned);
    let stop = state.without_story("nothing is left", &people);
    assert_eq!(stop, Stop::Blocked { reason: "US-2: no host; US-1: no quota".to_owned() });
}
