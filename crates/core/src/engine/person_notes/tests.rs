//! What becomes of a note, whatever happens to the turns.

use jiff::Timestamp;

use super::*;
use crate::{
    engine::{
        Action,
        entry::Entry,
        event::RunStarted,
        outcome::Exhausted,
        plan::{CommitRule, Plan},
        presets,
    },
    setup::{PromptSource, Setup},
};

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).expect("a moment")
}

struct World {
    run: Run,
}

impl World {
    fn new(plan: Plan) -> Self {
        let plan = Plan { commit: CommitRule::Never, ..plan };
        let setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
        let (run, version) = ("r".to_owned(), "v".to_owned());
        Self { run: Run::new(RunStarted { run, version, pid: 1, plan, setup }) }
    }

    fn happens(&mut self, event: Event) -> &mut Self {
        self.run.apply(&Entry { at: at(1), event });
        self
    }

    fn says(&mut self, request: u64, text: &str, keep: bool) -> &mut Self {
        let note = u32::try_from(self.run.state.person_notes().len()).expect("few") + 1;
        self.happens(Event::NoteSaid(NoteSaid { note, text: text.to_owned(), keep, now: false, request }))
    }

    /// The turn that is due; says which notes it is told.
    fn turn(&mut self, end: TurnEnd, claimed: bool) -> Vec<u32> {
        let Action::RunTurn(order) = self.run.next(at(1)) else { panic!("{:?}", self.run.next(at(1))) };
        let told = order.notes.clone();
        self.happens(Event::TurnStarted(order.into()));
        self.happens(Event::TurnEnded(Box::new(TurnEnded { claimed, ..TurnEnded::new(end) })));
        told
    }
}

fn failed() -> TurnEnd {
    use ralph_agents::{Failure, FailureKind};
    TurnEnd::Failed(Failure { kind: FailureKind::Transient, message: "x".to_owned() })
}

#[test]
fn a_note_is_due_until_a_turn_that_was_told_came_to_its_end() {
    let mut world = World::new(presets::run("DONE", vec![]));
    world.says(1, "tabs", false);
    for end in [TurnEnd::Interrupted, TurnEnd::Abandoned] {
        assert_eq!(world.turn(end.clone(), false), [1], "{end:?}");
    }
    assert_eq!(world.turn(failed(), false), [1]);
    world.happens(Event::WaitStarted { until_ms: 1, why: crate::engine::event::Why::Retry });
    world.happens(Event::WaitEnded { ms: 0 });
    assert_eq!(world.turn(TurnEnd::Finished, false), [1]);
    assert_eq!(world.run.state.person_notes()[0].told, Some(1));
    assert_eq!(world.turn(TurnEnd::Finished, false), [0; 0]);
}

#[test]
fn what_is_kept_is_told_to_every_turn_until_it_is_withdrawn() {
    let mut world = World::new(presets::run("DONE", vec![]));
    world.says(1, "tabs", true).says(2, "once", false);
    assert_eq!(world.turn(TurnEnd::Finished, false), [1, 2]);
    assert_eq!(world.turn(TurnEnd::Finished, false), [1]);
    world.happens(Event::NoteWithdrawn { note: 1, request: 3 });
    // It was told, and stays so.
    world.happens(Event::NoteWithdrawn { note: 2, request: 4 });
    assert_eq!(world.turn(TurnEnd::Finished, false), [0; 0]);
    let withdrawn: Vec<bool> = world.run.state.person_notes().iter().map(|note| note.withdrawn).collect();
    assert_eq!((withdrawn, world.run.state.requests_taken()), (vec![true, false], 4));
    assert_eq!(world.run.state.note_texts(&[2]), ["once"]);
}

#[test]
fn what_was_not_printed_was_not_told() {
    let mut world = World::new(presets::run("DONE", vec![]));
    world.says(1, "tabs", false);
    let Action::RunTurn(order) = world.run.next(at(1)) else { panic!("no turn") };
    world.happens(Event::TurnStarted(order.into()));
    let ended = TurnEnded { untold: vec![1], ..TurnEnded::new(TurnEnd::Finished) };
    world.happens(Event::TurnEnded(Box::new(ended)));
    assert_eq!(world.turn(TurnEnd::Finished, false), [1]);
}

#[test]
fn a_run_is_not_complete_before_it_has_listened() {
    for plan in [presets::run("DONE", vec![]), presets::prompt(), presets::job()] {
        let mut world = World::new(plan.clone());
        world.run.plan.limits.max_iterations = 1;
        let Action::RunTurn(order) = world.run.next(at(1)) else { panic!("no turn") };
        world.happens(Event::TurnStarted(order.into())).says(1, "and the docs", false);
        let ended = TurnEnded { claimed: true, ..TurnEnded::new(TurnEnd::Finished) };
        world.happens(Event::TurnEnded(Box::new(ended)));
        assert_eq!(world.turn(TurnEnd::Finished, true), [1], "{}", plan.preset);
        assert_eq!(world.run.next(at(1)), Action::Finish(Outcome::Done), "{}", plan.preset);
        // In the moment before its end is on record, too.
        world.says(2, "and the tests", false);
        assert_eq!(world.turn(TurnEnd::Finished, true), [2], "{}", plan.preset);
        let ended = Event::RunEnded { outcome: Outcome::Done, exit_code: 0 };
        world.happens(ended).says(3, "too late", false);
        assert_eq!(world.run.next(at(1)), Action::Finish(Outcome::Done), "{}", plan.preset);
    }
}

#[test]
fn what_is_done_stays_done_where_no_turn_may_begin() {
    let check = |limit: fn(&mut Plan)| {
        let mut world = World::new(presets::run("DONE", vec![]));
        limit(&mut world.run.plan);
        let Action::RunTurn(order) = world.run.next(at(0)) else { panic!("no turn") };
        world.happens(Event::TurnStarted(order.into())).says(1, "and the docs", false);
        let ended = TurnEnded { claimed: true, ms: 5, ..TurnEnded::new(TurnEnd::Finished) };
        world.happens(Event::TurnEnded(Box::new(ended)));
        assert_eq!(world.run.next(at(1)), Action::Finish(Outcome::Done));
    };
    check(|plan| plan.limits.max_time_ms = Some(5));
    check(|plan| plan.limits.until_ms = Some(1));
}

#[test]
fn a_pause_begins_after_the_turn_and_ends_when_a_person_says_so() {
    let mut world = World::new(presets::run("DONE", vec![]));
    let Action::RunTurn(order) = world.run.next(at(1)) else { panic!("no turn") };
    world.happens(Event::TurnStarted(order.into())).happens(Event::PauseRequested { request: 1 });
    assert!(world.run.state.is_pausing() && !world.run.state.is_held());
    world.happens(Event::TurnEnded(Box::new(TurnEnded::new(TurnEnd::Finished))));
    assert_eq!(world.run.next(at(1)), Action::Hold);
    world.happens(Event::PauseStarted);
    assert_eq!((world.run.next(at(1)), world.run.state.is_held()), (Action::Hold, true));
    // The moment at which the run is to end comes in a pause, too.
    world.run.plan.limits.until_ms = Some(7);
    assert_eq!(world.run.next(at(7)), Action::Finish(Outcome::Exhausted { limit: Exhausted::Until }));
    world.happens(Event::PauseEnded { request: 2 });
    assert!(!world.run.state.is_pausing() && !world.run.state.is_held());
    assert!(matches!(world.run.next(at(1)), Action::RunTurn(_)));
    // A process that takes the run up again goes on.
    let limits = world.run.plan.limits;
    world.happens(Event::PauseRequested { request: 3 }).happens(Event::PauseStarted);
    world.happens(Event::RunResumed { pid: 2, limits });
    assert!(matches!(world.run.next(at(1)), Action::RunTurn(_)));
    // A person who asks to stop need not continue it first.
    world.happens(Event::PauseRequested { request: 4 }).happens(Event::StopRequested);
    assert_eq!(world.run.next(at(1)), Action::Finish(Outcome::Interrupted));
}

#[test]
fn only_the_note_that_is_named_is_withdrawn() {
    let mut world = World::new(presets::run("DONE", vec![]));
    world.says(1, "tabs", true).says(2, "and docs", true);
    world.happens(Event::NoteWithdrawn { note: 2, request: 3 });
    assert_eq!(world.turn(TurnEnd::Finished, false), [1]);
}
