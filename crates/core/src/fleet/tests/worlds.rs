//! Random worlds: lanes that finish, fail, die and are slow, red merges, a target that others move, usage limits, stops,
//! and a fleet that is killed at any event. What must hold, holds in all of them.

use std::{collections::BTreeSet, convert::Infallible};

use jiff::Timestamp;
use proptest::prelude::*;

use crate::fleet::{
    FleetAction, FleetEntry, FleetEvent, FleetItem, FleetOutcome, FleetPlan, FleetStarted, FleetState,
    FleetWorld, ItemEntry, ItemStep, LANDER, Ledger, Offer, Pick, Refusal, Stored, after_death, decide,
};

/// More than any world needs that ends.
const MAX_STEPS: usize = 5000;
/// What a turn costs.
const TURN: f64 = 0.1;

/// The commits of the target: by whom, under which lease. Someone else's have no lease.
type Tree = Vec<(String, u64)>;

struct Sim {
    entries: Vec<FleetEntry>,
    /// The fold, kept up to date, so that a crash can be compared with it.
    state: FleetState,
    world: FleetWorld,
    target: Tree,
    /// Trees on which every guardrail passed.
    passed: BTreeSet<Tree>,
    /// What is being landed: item, lease, and the target that it is judged on.
    landing: Option<(String, u64, Tree)>,
    /// What decides what happens; when it is used up, everything goes well.
    luck: Vec<u8>,
    max_cost: Option<f64>,
}

impl Ledger for Sim {
    type Error = Infallible;

    fn read(&self, item: &str) -> Result<Vec<ItemEntry>, Infallible> {
        let of_item = |entry: &FleetEntry| match &entry.event {
            FleetEvent::Item { item: id, who, step, .. } if id == item => {
                Some(ItemEntry { sequence: entry.n, who: who.clone(), step: step.clone() })
            }
            _ => None,
        };
        Ok(self.entries.iter().filter_map(of_item).collect())
    }

    fn append(&mut self, item: &str, who: &str, step: ItemStep, after: u64) -> Result<Stored, Infallible> {
        if self.read(item)?.last().map_or(0, |entry| entry.sequence) != after {
            return Ok(Stored::Overtaken);
        }
        let (item, who) = (item.to_owned(), who.to_owned());
        Ok(Stored::At(self.record(FleetEvent::Item { item, who, board: None, step })))
    }
}

impl Sim {
    fn new(plan: FleetPlan, luck: Vec<u8>) -> Self {
        let mut sim = Self {
            entries: Vec::new(),
            state: FleetState::default(),
            world: FleetWorld::default(),
            target: Vec::new(),
            passed: BTreeSet::new(),
            landing: None,
            luck,
            max_cost: plan.max_cost,
        };
        sim.record(FleetEvent::FleetStarted(Box::new(FleetStarted { plan, ..FleetStarted::default() })));
        sim
    }

    fn record(&mut self, event: FleetEvent) -> u64 {
        let n = self.entries.len() as u64 + 1;
        let entry = FleetEntry { n, at: Timestamp::UNIX_EPOCH, event };
        self.state.apply(&entry);
        self.entries.push(entry);
        // Killed at any event.
        if self.chance() == 7 {
            self.crash();
        }
        n
    }

    fn step(&mut self, item: &str, who: &str, step: ItemStep) {
        let after = self.state.item(item).last;
        let Ok(stored) = self.append(item, who, step, after);
        assert!(matches!(stored, Stored::At(_)));
    }

    /// From 0 to 9; 0 when it is used up.
    fn chance(&mut self) -> u8 {
        self.luck.pop().unwrap_or_default() % 10
    }

    /// Everything is killed, and a new process reads the journal.
    fn crash(&mut self) {
        self.world = FleetWorld { now_ms: self.world.now_ms, ..FleetWorld::default() };
        self.landing = None;
        assert_eq!(FleetState::fold(&self.entries), self.state);
        let n = self.entries.len() as u64 + 1;
        let event = FleetEvent::FleetResumed { pid: 2, max_cost: self.max_cost };
        let entry = FleetEntry { n, at: Timestamp::UNIX_EPOCH, event };
        self.state.apply(&entry);
        self.entries.push(entry);
    }

    fn has_landed(&self, item: &str) -> bool {
        self.target.iter().any(|(id, _)| id == item)
    }

    /// Does what was decided. Returns how the fleet ended, if it did.
    fn perform(&mut self, action: FleetAction) -> Option<FleetOutcome> {
        match action {
            FleetAction::Post(item) => self.step(&item, LANDER, ItemStep::Posted),
            FleetAction::Claim { item, lane } => {
                self.may_begin(&item);
                self.step(&item, &lane, ItemStep::Claimed);
            }
            FleetAction::Attend { item, lane } => {
                self.may_begin(&item);
                let lease = self.state.item(&item).held().expect("a lease").sequence;
                assert!(self.world.running.insert(lane.clone(), lease).is_none(), "two in one lane");
                self.world.asked.remove(&lane);
                assert!(self.world.running.len() <= self.state.started.plan.lanes as usize);
            }
            FleetAction::Land(item) => self.begin_landing(item),
            FleetAction::Cancel(item) => {
                self.step(&item, LANDER, ItemStep::Cancelled { why: "beaten".to_owned() });
            }
            FleetAction::End(lane) => {
                self.world.running.remove(&lane);
            }
            FleetAction::Ask(lane) => {
                assert!(self.world.asked.insert(lane), "asked twice");
            }
            FleetAction::Withdraw(_) | FleetAction::GiveUp(_) => panic!("there is no board"),
            FleetAction::Wait => self.something_happens(),
            FleetAction::Finish(outcome) => {
                assert!(self.world.running.is_empty() && self.landing.is_none());
                if outcome != FleetOutcome::Interrupted {
                    return Some(outcome);
                }
                self.crash();
            }
        }
        None
    }

    /// No turn begins that may not.
    fn may_begin(&self, id: &str) {
        let plan = &self.state.started.plan;
        assert!(self.max_cost.is_none_or(|most| self.state.cost() < most), "over the budget");
        let planned = plan.item(id).expect("an item");
        assert!(planned.after.iter().all(|id| self.has_landed(id)), "begun too early");
        let until = self.state.limits.get(&planned.account).copied().unwrap_or_default();
        assert!(until <= self.world.now_ms, "begun inside a usage limit");
        let is_rival = |item: &FleetItem| planned.group.is_some() && item.group == planned.group;
        let is_beaten = plan.items.iter().any(|item| is_rival(item) && self.state.item(&item.id).is_merged());
        assert!(!is_beaten, "a candidate is worked on after another has landed");
    }

    fn begin_landing(&mut self, item: String) {
        assert!(self.landing.is_none(), "two landings at once");
        let lease = self.state.item(&item).offered().expect("a candidate").lease;
        // It may have landed before the fleet was killed.
        if self.target.contains(&(item.clone(), lease)) {
            return self.step(&item, LANDER, ItemStep::Merged { commit: item.clone() });
        }
        self.landing = Some((item, lease, self.target.clone()));
        self.world.is_landing = true;
    }

    fn end_landing(&mut self) {
        let Some((item, lease, tip)) = self.landing.take() else { return };
        self.world.is_landing = false;
        match self.chance() {
            1 | 2 => {
                let refusal = Refusal::Unusable { reason: "red".to_owned() };
                self.step(&item, LANDER, ItemStep::Refused(refusal));
            }
            3 => drop(self.record(FleetEvent::LandingBlocked { why: "dirty".to_owned() })),
            _ if tip != self.target => {
                // The old value is not there any more: once again, on the new tip.
            }
            _ => {
                let mut tree = tip;
                tree.push((item.clone(), lease));
                self.passed.insert(tree.clone());
                self.target = tree;
                // Killed between git and the journal.
                if self.chance() == 7 {
                    return self.crash();
                }
                self.step(&item, LANDER, ItemStep::Merged { commit: item.clone() });
            }
        }
    }

    fn end_lane(&mut self, lane: &str) {
        let Some(lease) = self.world.running.remove(lane) else { return };
        let is_asked = self.world.asked.remove(lane);
        let plan = self.state.started.plan.clone();
        let held = |planned: &&FleetItem| {
            self.state.item(&planned.id).held().is_some_and(|held| held.sequence == lease)
        };
        let Some(planned) = plan.items.iter().find(held) else { return };
        let run = format!("{lane}-{lease}");
        self.record(FleetEvent::Spent { run, cost: TURN });
        let item = self.state.item(&planned.id);
        let step = match self.chance() {
            1 => ItemStep::Failed { lease, exit: Some(1), why: "no".to_owned() },
            2 => after_death(&plan, &item, lease),
            _ if is_asked => ItemStep::Released { lease, died: false },
            _ => ItemStep::Done(Offer {
                lease,
                base: "b".to_owned(),
                head: "h".to_owned(),
                cost: TURN,
                run: None,
                parcel: None,
            }),
        };
        self.step(&planned.id, lane, step);
    }

    fn something_happens(&mut self) {
        self.world.now_ms += 10;
        match self.chance() {
            8 => {
                let until_ms = self.world.now_ms + 100;
                self.record(FleetEvent::LimitSeen { account: "claude".to_owned(), until_ms });
            }
            9 => drop(self.record(FleetEvent::StopRequested)),
            // Someone else moves the target; whether their commits pass is theirs to know.
            6 => self.target.push(("somebody".to_owned(), 0)),
            5 => {}
            choice => {
                let lanes: Vec<String> = self.world.running.keys().cloned().collect();
                match lanes.get(usize::from(choice) % (lanes.len() + 1)) {
                    Some(lane) => self.end_lane(&lane.clone()),
                    None if self.landing.is_some() => self.end_landing(),
                    None => {
                        let first = lanes.first().cloned().unwrap_or_default();
                        self.end_lane(&first);
                    }
                }
            }
        }
    }
}

fn plans() -> impl Strategy<Value = FleetPlan> {
    let item = (0_u8..4, 0_u8..4, any::<bool>(), any::<bool>());
    (prop::collection::vec(item, 1..7), 1_u32..5, 0_u32..3, any::<bool>(), any::<bool>()).prop_map(
        |(items, lanes, evictions, has_budget, is_cheapest)| {
            let make = |(index, (after, touches, is_grouped, _)): (usize, (u8, u8, bool, bool))| FleetItem {
                id: format!("i{index}"),
                // On one that comes before it, if there is one so far back.
                after: index
                    .checked_sub(usize::from(after))
                    .filter(|it| *it < index && !is_grouped)
                    .map(|it| format!("i{it}"))
                    .into_iter()
                    .collect(),
                touches: (touches == 0).then(|| "src/**".to_owned()).into_iter().collect(),
                group: is_grouped.then(|| "g".to_owned()),
                account: if touches == 1 { "codex" } else { "claude" }.to_owned(),
                ..FleetItem::default()
            };
            FleetPlan {
                items: items.into_iter().enumerate().map(make).collect(),
                lanes,
                evictions,
                deaths: 2,
                max_cost: has_budget.then_some(0.75),
                pick: if is_cheapest { Pick::Cheapest } else { Pick::First },
            }
        },
    )
}

/// A story of a group can wait for one that never lands; nothing else may depend on a group.
fn without_group_dependencies(mut plan: FleetPlan) -> FleetPlan {
    let grouped: BTreeSet<String> =
        plan.items.iter().filter(|item| item.group.is_some()).map(|item| item.id.clone()).collect();
    for item in &mut plan.items {
        item.after.retain(|id| !grouped.contains(id));
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_must_hold_holds_in_every_world(
        plan in plans(),
        luck in prop::collection::vec(any::<u8>(), 0..250),
    ) {
        let plan = without_group_dependencies(plan);
        let mut sim = Sim::new(plan.clone(), luck);
        let mut outcome = None;
        let mut steps = 0;
        while outcome.is_none() {
            steps += 1;
            prop_assert!(steps < MAX_STEPS, "it does not end: {:?}", sim.entries.last());
            let action = decide(&sim.state, &sim.world);
            outcome = sim.perform(action);
            // Every tip of ours passed its guardrails on exactly that tree.
            if sim.target.last().is_some_and(|(_, lease)| *lease != 0) {
                prop_assert!(sim.passed.contains(&sim.target));
            }
        }
        for planned in &plan.items {
            // Nothing lands twice, and what the journal says landed is what is there.
            let times = sim.target.iter().filter(|(id, _)| *id == planned.id).count();
            let item = sim.state.item(&planned.id);
            prop_assert!(times <= 1, "{} landed {times} times", planned.id);
            // Who was killed between the two, and then kept from landing anything, finds out in the next process.
            let is_unnoticed = sim.state.blocked.is_some() && item.offered().is_some();
            prop_assert_eq!(times == 1, item.is_merged() || times == 1 && is_unnoticed, "{}", planned.id);
            // Nothing unlanded is lost: the last candidate is known as long as it has not landed.
            let log = sim.read(&planned.id).expect("a log");
            let last = log.iter().rev().find_map(|entry| match &entry.step {
                ItemStep::Done(offer) => Some(offer.clone()),
                _ => None,
            });
            prop_assert_eq!(item.candidate, last);
        }
        let of_group = plan.items.iter().filter(|it| it.group.is_some());
        prop_assert!(of_group.filter(|it| sim.has_landed(&it.id)).count() <= 1);
        let is_done = plan.items.iter().all(|planned| {
            let is_beaten = planned.group.is_some()
                && plan.items.iter().any(|it| it.group == planned.group && sim.has_landed(&it.id));
            sim.has_landed(&planned.id) || is_beaten
        });
        prop_assert_eq!(outcome == Some(FleetOutcome::Done), is_done, "{:?}", outcome);
    }
}
