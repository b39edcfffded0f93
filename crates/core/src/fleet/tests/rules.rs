//! What is done next, case by case.

use crate::fleet::{
    FleetAction, FleetBoard, FleetEntry, FleetEvent, FleetItem, FleetOutcome, FleetPlan, FleetStarted,
    FleetState, FleetWorld, ItemStep, LANDER, Offer, Pick, Refusal, after_death, decide,
};

pub(super) fn item(id: &str, after: &[&str]) -> FleetItem {
    let after = after.iter().map(|it| (*it).to_owned()).collect();
    FleetItem { id: id.to_owned(), after, account: "claude".to_owned(), ..FleetItem::default() }
}

pub(super) struct Story {
    entries: Vec<FleetEntry>,
    pub(super) world: FleetWorld,
}

impl Story {
    fn new(items: Vec<FleetItem>) -> Self {
        Self::with(FleetPlan { items, lanes: 2, evictions: 1, deaths: 1, ..FleetPlan::default() })
    }

    pub(super) fn with(plan: FleetPlan) -> Self {
        let mut story = Self { entries: Vec::new(), world: FleetWorld::default() };
        story.add(FleetEvent::FleetStarted(Box::new(FleetStarted { plan, ..FleetStarted::default() })));
        story
    }

    pub(super) fn add(&mut self, event: FleetEvent) -> u64 {
        let n = self.entries.len() as u64 + 1;
        self.entries.push(FleetEntry { n, at: jiff::Timestamp::UNIX_EPOCH, event });
        n
    }

    pub(super) fn step(&mut self, item: &str, who: &str, step: ItemStep) -> u64 {
        self.add(FleetEvent::Item { item: item.to_owned(), who: who.to_owned(), board: None, step })
    }

    fn state(&self) -> FleetState {
        FleetState::fold(&self.entries)
    }

    pub(super) fn next(&self) -> FleetAction {
        decide(&self.state(), &self.world)
    }

    /// Posted and claimed, with a process.
    pub(super) fn begin(&mut self, item: &str, lane: &str) -> u64 {
        self.step(item, LANDER, ItemStep::Posted);
        let lease = self.step(item, lane, ItemStep::Claimed);
        self.world.running.insert(lane.to_owned(), lease);
        lease
    }

    pub(super) fn hand_in(&mut self, item: &str, lane: &str, lease: u64, cost: f64) {
        self.world.running.remove(lane);
        let offer =
            Offer { lease, base: "b".to_owned(), head: item.to_owned(), cost, run: None, parcel: None };
        self.step(item, lane, ItemStep::Done(offer));
    }

    pub(super) fn land(&mut self, item: &str) {
        self.step(item, LANDER, ItemStep::Merged { commit: format!("c-{item}") });
    }

    pub(super) fn refuse(&mut self, item: &str) {
        self.step(item, LANDER, ItemStep::Refused(Refusal::Unusable { reason: "red".to_owned() }));
    }
}

pub(super) fn claim(item: &str, lane: &str) -> FleetAction {
    FleetAction::Claim { item: item.to_owned(), lane: lane.to_owned() }
}

fn attend(item: &str, lane: &str) -> FleetAction {
    FleetAction::Attend { item: item.to_owned(), lane: lane.to_owned() }
}

fn land(item: &str) -> FleetAction {
    FleetAction::Land(item.to_owned())
}

#[test]
fn what_depends_waits_until_the_other_has_landed() {
    let mut story = Story::new(vec![item("a", &[]), item("b", &["a"])]);
    assert_eq!(story.next(), FleetAction::Post("a".to_owned()));
    story.step("a", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), claim("a", "lane-1"));
    let lease = story.step("a", "lane-1", ItemStep::Claimed);
    assert_eq!(story.next(), attend("a", "lane-1"));
    story.world.running.insert("lane-1".to_owned(), lease);
    assert_eq!(story.next(), FleetAction::Wait);
    story.hand_in("a", "lane-1", lease, 0.0);
    assert_eq!(story.next(), land("a"));
    story.world.is_landing = true;
    assert_eq!(story.next(), FleetAction::Wait);
    story.world.is_landing = false;
    story.land("a");
    assert_eq!(story.next(), FleetAction::Post("b".to_owned()));
}

#[test]
fn there_are_as_many_lanes_as_there_are() {
    let mut story = Story::new(vec![item("a", &[]), item("b", &[]), item("c", &[])]);
    story.begin("a", "lane-1");
    story.begin("b", "lane-2");
    story.step("c", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), FleetAction::Wait);
    // A lane that still ends something is not free either.
    story.step("a", LANDER, ItemStep::Cancelled { why: String::new() });
    assert_eq!(story.next(), FleetAction::End("lane-1".to_owned()));
    story.world.running.remove("lane-1");
    assert_eq!(story.next(), claim("c", "lane-1"));
}

#[test]
fn what_touches_the_same_is_not_worked_on_at_once() {
    let touching = |id: &str, glob: &str| FleetItem { touches: vec![glob.to_owned()], ..item(id, &[]) };
    let mut story =
        Story::new(vec![touching("a", "src/x/**"), touching("b", "src/x/y.rs"), touching("c", "docs/")]);
    let lease = story.begin("a", "lane-1");
    for id in ["b", "c"] {
        story.step(id, LANDER, ItemStep::Posted);
    }
    assert_eq!(story.next(), claim("c", "lane-2"));
    story.step("c", "lane-2", ItemStep::Claimed);
    story.world.running.insert("lane-2".to_owned(), 6);
    // Also not while it waits to land.
    story.hand_in("a", "lane-1", lease, 0.0);
    story.world.is_landing = true;
    assert_eq!(story.next(), FleetAction::Wait);
    story.land("a");
    assert_eq!(story.next(), claim("b", "lane-1"));
}

#[test]
fn a_refused_candidate_goes_back_and_then_to_a_person() {
    let mut story = Story::new(vec![item("a", &[])]);
    for time in 1..=2 {
        let lease = story.begin("a", "lane-1");
        story.hand_in("a", "lane-1", lease, 0.0);
        story.refuse("a");
        let again = FleetAction::Post("a".to_owned());
        assert_eq!(story.next() == again, time == 1, "time {time}");
    }
    let reasons = vec!["a: red".to_owned()];
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Stopped { reasons }));
}

#[test]
fn one_of_several_candidates_lands() {
    let candidate = |id: &str| FleetItem { group: Some("g".to_owned()), ..item(id, &[]) };
    let plan = FleetPlan {
        items: ["a", "b", "c"].map(candidate).to_vec(),
        lanes: 3,
        deaths: 1,
        ..FleetPlan::default()
    };
    for pick in [Pick::First, Pick::Cheapest] {
        let mut story = Story::with(FleetPlan { pick, ..plan.clone() });
        let leases: Vec<u64> =
            ["a", "b", "c"].iter().zip(1..).map(|(id, n)| story.begin(id, &format!("lane-{n}"))).collect();
        story.hand_in("a", "lane-1", leases[0], 0.9);
        let first = if pick == Pick::First { land("a") } else { FleetAction::Wait };
        assert_eq!(story.next(), first);
        story.hand_in("b", "lane-2", leases[1], 0.1);
        if pick == Pick::Cheapest {
            assert_eq!(story.next(), FleetAction::Wait);
            let lease = leases[2];
            story.world.running.remove("lane-3");
            story.step("c", "lane-3", ItemStep::Failed { lease, exit: Some(1), why: "no".to_owned() });
            assert_eq!(story.next(), land("b"));
            story.land("b");
            assert_eq!(story.next(), FleetAction::Cancel("a".to_owned()));
            continue;
        }
        story.land("a");
        for id in ["b", "c"] {
            assert_eq!(story.next(), FleetAction::Cancel(id.to_owned()));
            story.step(id, LANDER, ItemStep::Cancelled { why: String::new() });
        }
        assert_eq!(story.next(), FleetAction::End("lane-3".to_owned()));
        story.world.running.clear();
        assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Done));
    }
}

#[test]
fn no_other_candidate_begins_while_one_may_land() {
    let candidate = |id: &str| FleetItem { group: Some("g".to_owned()), ..item(id, &[]) };
    let items = vec![candidate("a"), candidate("b"), item("c", &[])];
    let mut story =
        Story::with(FleetPlan { items, lanes: 1, deaths: 1, evictions: 1, ..FleetPlan::default() });
    let lease = story.begin("a", "lane-1");
    story.step("b", LANDER, ItemStep::Posted);
    story.step("c", LANDER, ItemStep::Posted);
    story.hand_in("a", "lane-1", lease, 0.1);
    // What is no rival is not kept waiting.
    assert_eq!(story.next(), claim("c", "lane-1"));
    story.world.is_landing = true;
    let lease = story.begin("c", "lane-1");
    story.hand_in("c", "lane-1", lease, 0.1);
    assert_eq!(story.next(), FleetAction::Wait);
    story.world.is_landing = false;
    story.refuse("a");
    story.step("a", LANDER, ItemStep::Cancelled { why: String::new() });
    assert_eq!(story.next(), claim("b", "lane-1"));
}

#[test]
fn a_budget_lets_nothing_begin_and_everything_land() {
    let mut story = Story::new(vec![item("a", &[]), item("b", &[]), item("c", &[])]);
    let lease = story.begin("a", "lane-1");
    story.begin("b", "lane-2");
    story.add(FleetEvent::FleetResumed { pid: 1, max_cost: Some(1.0) });
    story.add(FleetEvent::Spent { run: "r1".to_owned(), cost: 0.4 });
    story.add(FleetEvent::Spent { run: "r2".to_owned(), cost: 0.6 });
    story.step("c", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), FleetAction::Ask("lane-1".to_owned()));
    story.world.asked.insert("lane-1".to_owned());
    assert_eq!(story.next(), FleetAction::Ask("lane-2".to_owned()));
    story.world.asked.insert("lane-2".to_owned());
    story.hand_in("a", "lane-1", lease, 0.4);
    assert_eq!(story.next(), land("a"));
    story.land("a");
    assert_eq!(story.next(), FleetAction::Wait);
    story.world.running.clear();
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Exhausted));
}

#[test]
fn a_usage_limit_is_everybodys_on_that_account() {
    let other = FleetItem { account: "codex".to_owned(), ..item("c", &[]) };
    let mut story = Story::new(vec![item("a", &[]), item("b", &[]), other]);
    let lease = story.begin("a", "lane-1");
    story.begin("b", "lane-2");
    story.world.waiting.insert("lane-1".to_owned());
    story.world.now_ms = 500;
    story.add(FleetEvent::LimitSeen { account: "claude".to_owned(), until_ms: 1000 });
    assert_eq!(story.next(), FleetAction::Ask("lane-2".to_owned()));
    story.world.asked.insert("lane-2".to_owned());
    story.world.running.remove("lane-2");
    let lease_of_b = story.state().item("b").held().expect("a lease").sequence;
    story.step("b", "lane-2", ItemStep::Released { lease: lease_of_b, died: false });
    // The other account goes on.
    story.step("c", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), claim("c", "lane-2"));
    story.step("c", LANDER, ItemStep::Cancelled { why: String::new() });
    assert_eq!(story.next(), FleetAction::Wait);
    story.hand_in("a", "lane-1", lease, 0.0);
    story.land("a");
    // Nothing runs: the limit alone is waited for.
    assert_eq!(story.next(), FleetAction::Wait);
    story.world.now_ms = 1000;
    // It was begun in the second lane.
    assert_eq!(story.next(), claim("b", "lane-2"));
}

#[test]
fn who_is_asked_to_stop_begins_nothing() {
    let mut story = Story::new(vec![item("a", &[]), item("b", &[])]);
    story.begin("a", "lane-1");
    story.add(FleetEvent::StopRequested);
    assert_eq!(story.next(), FleetAction::Ask("lane-1".to_owned()));
    story.world.asked.insert("lane-1".to_owned());
    assert_eq!(story.next(), FleetAction::Wait);
    story.world.running.clear();
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Interrupted));
    story.add(FleetEvent::FleetResumed { pid: 2, max_cost: None });
    story.world.asked.clear();
    assert_eq!(story.next(), FleetAction::Post("b".to_owned()));
}

#[test]
fn what_is_in_the_way_of_landing_is_for_a_person() {
    let mut story = Story::new(vec![item("a", &[])]);
    let lease = story.begin("a", "lane-1");
    story.hand_in("a", "lane-1", lease, 0.0);
    story.add(FleetEvent::LandingBlocked { why: "the working tree is in the way".to_owned() });
    let reasons = vec!["the working tree is in the way".to_owned()];
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Stopped { reasons }));
    story.add(FleetEvent::FleetResumed { pid: 2, max_cost: None });
    assert_eq!(story.next(), land("a"));
}

#[test]
fn what_waits_behind_a_blocked_landing_does_not_wait_for_ever() {
    let touching = |id: &str| FleetItem { touches: vec!["src/**".to_owned()], ..item(id, &[]) };
    let mut story = Story::new(vec![touching("a"), touching("b")]);
    let lease = story.begin("a", "lane-1");
    story.step("b", LANDER, ItemStep::Posted);
    story.hand_in("a", "lane-1", lease, 0.0);
    story.add(FleetEvent::LandingBlocked { why: "dirty".to_owned() });
    let reasons = vec!["dirty".to_owned()];
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Stopped { reasons }));
}

#[test]
fn a_lane_dies_only_so_often() {
    let mut story = Story::new(vec![item("a", &[])]);
    let lease = story.begin("a", "lane-1");
    let state = story.state();
    let step = after_death(&state.started.plan, &state.item("a"), lease);
    assert_eq!(step, ItemStep::Released { lease, died: true });
    story.step("a", "lane-1", step);
    let lease = story.step("a", "lane-1", ItemStep::Claimed);
    let state = story.state();
    let step = after_death(&state.started.plan, &state.item("a"), lease);
    assert!(matches!(step, ItemStep::Failed { .. }), "{step:?}");
}

/// A fleet whose workers are elsewhere.
pub(super) fn far(items: Vec<FleetItem>, max_cost: Option<f64>) -> Story {
    far_with(FleetPlan { items, evictions: 1, deaths: 1, max_cost, ..FleetPlan::default() })
}

pub(super) fn far_with(plan: FleetPlan) -> Story {
    let board = Some(FleetBoard::default());
    let mut story = Story { entries: Vec::new(), world: FleetWorld::default() };
    story.add(FleetEvent::FleetStarted(Box::new(FleetStarted { board, plan, ..FleetStarted::default() })));
    story
}

#[test]
fn workers_elsewhere_are_waited_for_and_nothing_is_claimed_for_them() {
    let mut story = far(vec![item("a", &[]), item("b", &["a"])], None);
    assert_eq!(story.next(), FleetAction::Post("a".to_owned()));
    story.step("a", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), FleetAction::Wait);
    let lease = story.step("a", "w1", ItemStep::Claimed);
    assert_eq!(story.next(), FleetAction::Wait);
    story.hand_in("a", "w1", lease, 1.0);
    assert_eq!(story.next(), land("a"));
    story.land("a");
    assert_eq!(story.next(), FleetAction::Post("b".to_owned()));
}

#[test]
fn what_may_change_the_same_files_is_not_posted_at_once() {
    let touching = |id: &str| FleetItem { touches: vec!["src/x.rs".to_owned()], ..item(id, &[]) };
    let mut story = far(vec![touching("a"), touching("b"), item("c", &[])], None);
    story.step("a", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), FleetAction::Post("c".to_owned()));
    story.step("c", LANDER, ItemStep::Posted);
    assert_eq!(story.next(), FleetAction::Wait);
}

#[test]
fn what_workers_elsewhere_are_not_to_go_on_with_is_withdrawn() {
    let mut story = far(vec![item("a", &[]), item("b", &[])], Some(2.0));
    story.step("a", LANDER, ItemStep::Posted);
    story.step("a", "w1", ItemStep::Claimed);
    story.step("b", LANDER, ItemStep::Posted);
    story.add(FleetEvent::Spent { run: "r1".to_owned(), cost: 2.5 });
    for id in ["a", "b"] {
        assert_eq!(story.next(), FleetAction::Withdraw(id.to_owned()));
        story.step(id, LANDER, ItemStep::Withdrawn { why: String::new() });
    }
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Exhausted));
    // Continued with more, it is posted again.
    story.add(FleetEvent::FleetResumed { pid: 2, max_cost: Some(9.0) });
    assert_eq!(story.next(), FleetAction::Post("a".to_owned()));
    story.step("a", LANDER, ItemStep::Posted);
    story.add(FleetEvent::StopRequested);
    assert_eq!(story.next(), FleetAction::Withdraw("a".to_owned()));
    story.step("a", LANDER, ItemStep::Withdrawn { why: String::new() });
    assert_eq!(story.next(), FleetAction::Finish(FleetOutcome::Interrupted));
}

#[test]
fn an_item_on_which_workers_die_is_given_up() {
    let mut story = far(vec![item("a", &[])], None);
    story.step("a", LANDER, ItemStep::Posted);
    for worker in ["w1", "w2"] {
        story.step("a", worker, ItemStep::Claimed);
        assert_eq!(story.next(), FleetAction::Wait);
    }
    story.step("a", "w3", ItemStep::Claimed);
    assert_eq!(story.next(), FleetAction::GiveUp("a".to_owned()));
}
