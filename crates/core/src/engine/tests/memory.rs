//! What a process of a run knows, another one can know: random journals, cut anywhere.

use std::time::Duration;

use jiff::Timestamp;
use proptest::{prelude::*, test_runner::TestRng};
use serde_json::json;

use super::{
    super::{
        Run,
        commit::{ChangeCause, CommitEnd},
        entry::Entry,
        event::{Event, RunStarted, Topic, TurnEnd, TurnEnded, Why},
        memory::{Memory, Waiting, left_at},
        phase::Phase,
        plan::{Limits, Plan},
    },
    all,
    worlds::World,
};
use crate::{
    setup::{PromptSource, Setup},
    stories::Statistics,
};

/// The journal of a random world, with all that the rules do not look at.
struct Journal {
    rng: TestRng,
    now: i64,
    entries: Vec<Entry>,
}

impl Journal {
    fn of(plan: Plan, rng: TestRng) -> Vec<Entry> {
        let mut world = World::new(plan, rng);
        world.live();
        let (events, plan) = (world.journal().to_vec(), world.plan().clone());
        let mut journal = Self { rng: world.into_rng(), now: 1_763_208_000_000, entries: Vec::new() };
        let setup = journal.setup();
        let started = RunStarted { run: "r".to_owned(), version: "v".to_owned(), pid: 1, plan, setup };
        journal.push(Event::RunStarted(Box::new(started)));
        for event in events {
            let event = journal.dressed(event);
            journal.push(event);
            journal.aside();
        }
        journal.push(Event::ReviewsCounted(Statistics { cap: 5, stories: Vec::new() }));
        journal.entries
    }

    fn push(&mut self, event: Event) {
        self.now += i64::from(self.roll(5000));
        self.entries.push(Entry { at: Timestamp::from_millisecond(self.now).expect("a time"), event });
    }

    fn roll(&mut self, sides: u32) -> u32 {
        self.rng.next_u32() % sides
    }

    fn setup(&mut self) -> Setup {
        let mut setup = setup();
        if self.roll(2) == 0 {
            setup.session = serde_json::from_value(json!({"ultrawork": false})).ok();
        }
        setup
    }

    /// The same event, with what the driver adds to it.
    fn dressed(&mut self, mut event: Event) -> Event {
        let number = self.roll(100);
        match &mut event {
            Event::TurnStarted(turn) => {
                turn.head = (number < 80).then(|| number.to_string());
                turn.task = (number < 50).then(|| format!("task {number}"));
            }
            Event::TurnEnded(turn) => turn.session = (number < 50).then(|| number.to_string()),
            Event::CommitStarted { head, message, boot } => {
                *boot = (number < 40).then(|| number.to_string());
                *head = (number < 80).then(|| number.to_string());
                *message = number.to_string();
            }
            Event::CommitEnded(CommitEnd::Changed { cause }) => {
                *cause =
                    [None, Some(ChangeCause::AgentAsked), Some(ChangeCause::RalphDied)][number as usize % 3];
            }
            Event::WaitStarted { until_ms, why } => {
                *until_ms = self.now + i64::from(number) * 100;
                *why = [Why::Rest, Why::Retry, Why::UsageLimit][number as usize % 3];
            }
            _ => {}
        }
        event
    }

    /// At times an agent is told something, or a person changes a file.
    fn aside(&mut self) {
        if self.roll(20) == 0 {
            let file = self.roll(3).to_string();
            let files = [(file.into(), self.roll(100).to_string())].into();
            self.push(Event::FilesChanged { files });
        }
        let about = match self.roll(20) {
            0 => Some(Topic::Unmetered),
            1 => Some(Topic::Unpriced),
            2 => Some(Topic::OpenHooks),
            3 | 4 => Some(Topic::SettingsChanged { file: self.roll(3).to_string() }),
            5 => None,
            _ => return,
        };
        self.push(Event::Warned { text: "w".to_owned(), about });
    }
}

fn setup() -> Setup {
    let setup = json!({
        "project": "/home/ada/parser",
        "agent": {"command": "claude", "flags": [], "env": {}, "prompt_via": "stdin", "permissions": "agent"},
        "prompt": PromptSource::Text("Do it.".to_owned()),
        "include_iteration_count_in_prompt": false,
        "output_truncate_chars": 5000,
        "timeouts": {},
        "leftovers": "keep",
        "dirty": {},
        "settings": {},
    });
    serde_json::from_value(setup).expect("a setup")
}

/// As another process reads it.
fn read_again(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().map(|entry| Entry::of_line(&entry.to_line()).expect("a line")).collect()
}

/// A resume of a run, right after its last event.
fn resume(after: &Entry, limits: Limits) -> Entry {
    Entry { at: after.at, event: Event::RunResumed { pid: 2, limits } }
}

/// A memory without which process it belongs to: the one thing that a resume may change.
fn of_any_process(memory: &Memory) -> Memory {
    Memory { began: Timestamp::UNIX_EPOCH, ..memory.clone() }
}

/// Oracle: memory and state agree on what is going on.
fn agree(run: &Run) -> bool {
    let Run { state, memory, .. } = run;
    let waits = matches!(state.phase, Phase::Waiting { .. }) == memory.waiting.is_some();
    // Where a verdict is lost, the gates decide again though a commit was announced.
    let commits = !matches!(state.phase, Phase::Committing(_)) || memory.announced.is_some();
    let position = memory.turn.as_ref().map(|last| (last.turn.iteration, last.turn.attempt));
    waits && commits && (!state.is_in_turn() || position == Some(state.position()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A process that reads the record knows every field as the process did that wrote it.
    #[test]
    fn what_is_read_is_what_was_known(
        preset in 0..all().len(),
        rng in any::<u64>().prop_perturb(|_, rng| rng),
    ) {
        let entries = Journal::of(all().remove(preset), rng);
        let read = read_again(&entries);
        let mut live = Run::fold(&entries[..1]).expect("a start");
        for cut in 1..entries.len() {
            live.apply(&entries[cut]);
            let folded = Run::fold(&read[..=cut]);
            prop_assert_eq!(folded.as_ref(), Some(&live), "after {:?}", entries[cut]);
            prop_assert!(agree(&live), "{:?}", live);
        }
    }

    /// A run that was killed anywhere and resumed knows every field as if it had not been, now and ever after. What
    /// the rules do about it (gates decide again, patience begins anew) is theirs alone.
    #[test]
    fn a_resume_forgets_nothing(
        preset in 0..all().len(),
        rng in any::<u64>().prop_perturb(|_, rng| rng),
        cut in any::<prop::sample::Index>(),
    ) {
        let entries = Journal::of(all().remove(preset), rng);
        let cut = 1 + cut.index(entries.len() - 1);
        let mut live = Run::fold(&entries[..cut]).expect("a start");
        let mut resumed = Run::fold(&read_again(&entries[..cut])).expect("a start");
        resumed.apply(&resume(&entries[cut - 1], live.plan.limits));
        prop_assert_eq!(resumed.memory.began, entries[cut - 1].at);

        let rules_decide_again = matches!(live.state.phase, Phase::Looked(_) | Phase::Judging(_) | Phase::Trying(_) | Phase::Asking(_) | Phase::Over(_));
        let was_asked_to_stop = live.state.is_stopping() || live.state.outcome().is_some();
        if !rules_decide_again && !was_asked_to_stop {
            let mut patient = live.state.clone();
            patient.limited_turns = 0;
            patient.judge.resumed();
            prop_assert_eq!(&resumed.state, &patient);
        }
        for entry in &entries[cut..] {
            prop_assert_eq!(&resumed.started, &live.started);
            prop_assert_eq!(&resumed.plan, &live.plan);
            prop_assert_eq!(of_any_process(&resumed.memory), of_any_process(&live.memory));
            live.apply(entry);
            resumed.apply(entry);
        }
        prop_assert_eq!(of_any_process(&resumed.memory), of_any_process(&live.memory));
    }
}

#[test]
fn journals_are_not_boring() {
    let (mut told, mut conversations, mut misused, mut spared, mut waits, mut commits) = (0, 0, 0, 0, 0, 0);
    for seed in 0..60_u8 {
        for plan in all() {
            let rng = TestRng::from_seed(prop::test_runner::RngAlgorithm::ChaCha, &[seed; 32]);
            let entries = Journal::of(plan, rng);
            let mut run = Run::fold(&entries[..1]).expect("a start");
            for entry in &entries {
                run.apply(entry);
                waits += u32::from(run.memory.waiting.is_some());
                commits += u32::from(run.memory.announced.is_some());
            }
            told += u32::from(1 < run.memory.told.len());
            conversations += u32::from(run.memory.conversation.is_some());
            let changed =
                |entry: &Entry| matches!(entry.event, Event::CommitEnded(CommitEnd::Changed { .. }));
            misused += u32::from(run.memory.misused_question);
            spared += u32::from(!run.memory.misused_question && entries.iter().any(changed));
        }
    }
    let seen = [told, conversations, misused, spared, waits, commits];
    assert!(seen.iter().all(|count| 5 < *count), "{seen:?}");
}

#[test]
fn a_change_in_an_old_record_is_judged_by_what_was_announced() {
    let changed = || Event::CommitEnded(CommitEnd::Changed { cause: None });
    let announced = Event::CommitStarted { head: None, message: "m".to_owned(), boot: None };
    for (events, misused) in [(vec![changed()], true), (vec![announced, changed()], false)] {
        let started = RunStarted {
            run: "r".to_owned(),
            version: "0.1.0".to_owned(),
            pid: 1,
            plan: all().remove(0),
            setup: setup(),
        };
        let mut run = Run::new(started);
        for event in events {
            run.apply(&Entry { at: Timestamp::UNIX_EPOCH, event });
        }
        assert_eq!(run.memory.misused_question, misused);
    }
}

/// A run of a conversation, or of none, with nothing but these events.
fn run_of(is_session: bool, events: Vec<Event>) -> Run {
    let mut setup = setup();
    setup.session = is_session
        .then(|| serde_json::from_value(json!({"ultrawork": false})).expect("the settings of a session"));
    let (run, version, plan) = ("r".to_owned(), "v".to_owned(), all().remove(0));
    let mut run = Run::new(RunStarted { run, version, pid: 1, plan, setup });
    for event in events {
        run.apply(&Entry { at: Timestamp::UNIX_EPOCH, event });
    }
    run
}

#[test]
fn only_a_loop_inside_a_conversation_remembers_which_one() {
    let ended = |session: Option<&str>| {
        let session = session.map(str::to_owned);
        Event::TurnEnded(Box::new(TurnEnded { session, ..TurnEnded::new(TurnEnd::Finished) }))
    };
    let conversation = |is_session, events| run_of(is_session, events).memory.conversation;
    assert_eq!(conversation(false, vec![ended(Some("a"))]), None);
    assert_eq!(conversation(true, vec![ended(Some("a"))]), Some("a".to_owned()));
    assert_eq!(conversation(true, vec![ended(Some("a")), ended(None)]), Some("a".to_owned()));
    assert_eq!(conversation(true, vec![ended(Some("a")), ended(Some("b"))]), Some("b".to_owned()));
}

#[test]
fn the_limits_of_the_last_resume_count() {
    let limits = Limits { max_iterations: 77, ..all().remove(0).limits };
    let run = run_of(false, vec![Event::RunResumed { pid: 2, limits }]);
    assert_eq!(run.plan.limits, limits);
    assert_eq!(run.started.plan.limits, all().remove(0).limits);
}

#[test]
fn a_wait_knows_how_long_it_is() {
    let now = Timestamp::from_millisecond(1000).expect("a time");
    for (until_ms, left) in [(6000, 5000), (1000, 0), (0, 0), (i64::MIN, 0)] {
        assert_eq!(left_at(until_ms, now), Duration::from_millis(left));
        let waiting = Waiting { began: now, until_ms, why: Why::Rest };
        assert_eq!(waiting.planned(Timestamp::UNIX_EPOCH), Duration::from_millis(left));
    }
    // What was over before a process came back is not its wait.
    let waiting = Waiting { began: now, until_ms: 6000, why: Why::Rest };
    let later = Timestamp::from_millisecond(4000).expect("a time");
    assert_eq!(waiting.planned(later), Duration::from_secs(2));
}

fn turn_of(agent: &str) -> Event {
    Event::TurnStarted(crate::engine::event::Turn { agent: Some(agent.to_owned()), ..Default::default() })
}

fn happens(run: &mut Run, event: Event) {
    run.apply(&Entry { at: Timestamp::UNIX_EPOCH, event });
}

fn begun() -> Run {
    let session = serde_json::from_value(json!({"ultrawork": false})).ok();
    let plan = super::presets::run("DONE", Vec::new());
    let setup = Setup { session, ..setup() };
    Run::new(RunStarted { run: "r".to_owned(), version: "v".to_owned(), pid: 1, plan, setup })
}

#[test]
fn a_conversation_goes_on_with_the_same_agent_only() {
    let mut run = begun();
    happens(&mut run, turn_of("a"));
    let ended = TurnEnded { session: Some("s".to_owned()), ..TurnEnded::new(TurnEnd::Finished) };
    happens(&mut run, Event::TurnEnded(Box::new(ended)));
    happens(&mut run, turn_of("a"));
    assert_eq!(run.memory.conversation.as_deref(), Some("s"));
    happens(&mut run, turn_of("b"));
    assert_eq!(run.memory.conversation, None);
}

#[test]
fn a_message_is_kept_for_a_commit_that_was_cut_off_and_not_for_one_that_the_agent_spoiled() {
    for (cause, kept) in [(ChangeCause::RalphDied, Some("words")), (ChangeCause::AgentAsked, None)] {
        let mut run = begun();
        happens(&mut run, turn_of("a"));
        happens(&mut run, Event::CommitStarted { head: None, message: "words".to_owned(), boot: None });
        happens(&mut run, Event::CommitEnded(CommitEnd::Changed { cause: Some(cause) }));
        assert_eq!(run.memory.message.as_deref(), kept, "{cause:?}");
    }
}
