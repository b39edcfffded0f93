//! What a fleet does next.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    event::FleetOutcome,
    item::{Item, ItemPhase, Lease},
    overlap::overlap,
    plan::{FleetItem, FleetPlan, Pick},
    state::FleetState,
    step::ItemStep,
};

/// What is going on beside the journal: processes, and the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetWorld {
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// The lanes that have a process, with the lease that it works under.
    pub running: BTreeMap<String, u64>,
    /// The lanes that were asked to stop.
    pub asked: BTreeSet<String>,
    /// The lanes whose run waits for its usage limit by itself.
    pub waiting: BTreeSet<String>,
    /// Whether a candidate is being landed.
    pub is_landing: bool,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetAction {
    /// Append `posted`.
    Post(String),
    /// Append `claimed` for this lane.
    Claim {
        /// Which item.
        item: String,
        /// Which lane.
        lane: String,
    },
    /// Start a process for the claim that this lane holds.
    Attend {
        /// Which item.
        item: String,
        /// Which lane.
        lane: String,
    },
    /// Put the candidate onto the target, or refuse it.
    Land(String),
    /// Append `withdrawn`: workers elsewhere are to end what they do with it.
    Withdraw(String),
    /// Append `failed`: worker after worker died on it.
    GiveUp(String),
    /// Append `cancelled`: another candidate for the same has landed.
    Cancel(String),
    /// End the process of this lane: its lease is void.
    End(String),
    /// Ask the run in this lane to stop after its turn.
    Ask(String),
    /// Nothing to do before something happens.
    Wait,
    /// Nothing to do any more.
    Finish(FleetOutcome),
}

/// Names the next action.
pub fn decide(state: &FleetState, world: &FleetWorld) -> FleetAction {
    let fleet = Fleet { plan: &state.started.plan, state, world };
    let next = fleet
        .tidy()
        .or_else(|| fleet.tidy_far())
        .or_else(|| fleet.post())
        .or_else(|| fleet.start())
        .or_else(|| fleet.land());
    next.unwrap_or_else(|| fleet.rest())
}

/// What a lane leaves in the log when its process died.
pub fn after_death(plan: &FleetPlan, item: &Item, lease: u64) -> ItemStep {
    if item.deaths < plan.deaths {
        return ItemStep::Released { lease, died: true };
    }
    let why = format!("its lane died {} times", item.deaths + 1);
    ItemStep::Failed { lease, exit: None, why }
}

/// The name of a lane, by its number.
fn lane_name(number: u32) -> String {
    format!("lane-{number}")
}

struct Fleet<'a> {
    plan: &'a FleetPlan,
    state: &'a FleetState,
    world: &'a FleetWorld,
}

impl Fleet<'_> {
    /// Ends what no one wants any more.
    fn tidy(&self) -> Option<FleetAction> {
        let is_won = |group: &str| {
            let mut members = self.plan.items.iter().filter(|item| item.group.as_deref() == Some(group));
            members.any(|item| self.item(&item.id).is_merged())
        };
        for planned in &self.plan.items {
            let is_open = matches!(
                self.item(&planned.id).phase,
                ItemPhase::Waiting | ItemPhase::Held(_) | ItemPhase::Offered(..) | ItemPhase::Refused
            );
            if is_open && planned.group.as_deref().is_some_and(is_won) {
                return Some(FleetAction::Cancel(planned.id.clone()));
            }
        }
        if self.state.is_far() {
            return None;
        }
        let held: BTreeSet<u64> = self.held().map(|(_, lease)| lease.sequence).collect();
        let void = self.world.running.iter().find(|(_, lease)| !held.contains(lease));
        if let Some((lane, _)) = void {
            return Some(FleetAction::End(lane.clone()));
        }
        let mut held = self.held();
        let to_ask = held.find(|(planned, lease)| {
            let is_running = self.world.running.contains_key(&lease.worker);
            let is_asked = self.world.asked.contains(&lease.worker);
            let waits = self.world.waiting.contains(&lease.worker);
            is_running && !is_asked && (self.is_closed() || self.is_limited(planned) && !waits)
        });
        to_ask.map(|(_, lease)| FleetAction::Ask(lease.worker))
    }

    /// Ends what workers elsewhere are not to go on with. There is no other way to ask them.
    fn tidy_far(&self) -> Option<FleetAction> {
        if !self.state.is_far() {
            return None;
        }
        self.plan.items.iter().find_map(|planned| {
            let item = self.item(&planned.id);
            let is_open = matches!(item.phase, ItemPhase::Waiting | ItemPhase::Held(_));
            if is_open && self.is_closed() {
                return Some(FleetAction::Withdraw(planned.id.clone()));
            }
            (is_open && self.plan.deaths < item.deaths).then(|| FleetAction::GiveUp(planned.id.clone()))
        })
    }

    /// Asks for what can be begun, and for what was sent back.
    fn post(&self) -> Option<FleetAction> {
        let is_due = |planned: &&FleetItem| {
            let item = self.item(&planned.id);
            // What is posted on a board is as good as begun.
            if self.state.is_far() && (self.is_in_the_way(planned) || self.may_have_lost(planned)) {
                return false;
            }
            match item.phase {
                ItemPhase::Unknown => {
                    planned.after.iter().all(|id| self.item(id).is_merged()) && !self.is_beaten(planned)
                }
                ItemPhase::Refused => item.refusals <= self.plan.evictions,
                _ => false,
            }
        };
        if self.state.is_stopping || self.state.is_far() && self.is_closed() {
            return None;
        }
        self.plan.items.iter().find(is_due).map(|planned| FleetAction::Post(planned.id.clone()))
    }

    /// Gives work to a lane.
    fn start(&self) -> Option<FleetAction> {
        if self.is_closed() || self.state.is_far() {
            return None;
        }
        let idle = |lease: &Lease| !self.world.running.contains_key(&lease.worker);
        let unattended = self.held().find(|(planned, lease)| idle(lease) && !self.is_limited(planned));
        if let Some((planned, lease)) = unattended {
            return Some(FleetAction::Attend { item: planned.id.clone(), lane: lease.worker });
        }
        let taken: BTreeSet<String> = self.held().map(|(_, lease)| lease.worker).collect();
        let is_free = |lane: &String| !taken.contains(lane) && !self.world.running.contains_key(lane);
        let free: Vec<String> = (1..=self.plan.lanes).map(lane_name).filter(is_free).collect();
        self.plan.items.iter().find_map(|planned| {
            let item = self.item(&planned.id);
            let is_ready = item.phase == ItemPhase::Waiting
                && !self.is_limited(planned)
                && !self.is_in_the_way(planned)
                && !self.may_have_lost(planned);
            // What was begun in a lane is continued there, and nowhere else.
            let may_take = |lane: &&String| item.worker.as_ref().is_none_or(|worker| worker == *lane);
            let lane = free.iter().find(may_take).filter(|_| is_ready)?.clone();
            Some(FleetAction::Claim { item: planned.id.clone(), lane })
        })
    }

    /// The oldest candidate, or the cheapest where all have ended.
    fn land(&self) -> Option<FleetAction> {
        if self.world.is_landing || self.state.blocked.is_some() {
            return None;
        }
        let offered = self.plan.items.iter().filter_map(|planned| {
            let item = self.item(&planned.id);
            let offer = item.offered()?;
            Some((planned, self.rank(planned, offer.cost, item.last)?))
        });
        let first =
            offered.min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        Some(FleetAction::Land(first.0.id.clone()))
    }

    /// What decides who lands first; nothing if it is not its turn yet.
    fn rank(&self, planned: &FleetItem, cost: f64, last: u64) -> Option<(f64, u64)> {
        let Some(group) = planned.group.as_ref().filter(|_| self.plan.pick == Pick::Cheapest) else {
            return Some((0.0, last));
        };
        let mut others = self.plan.items.iter().filter(|item| item.group.as_ref() == Some(group));
        let is_open = |item: &FleetItem| {
            let item = self.item(&item.id);
            match item.phase {
                ItemPhase::Unknown | ItemPhase::Waiting | ItemPhase::Held(_) => true,
                ItemPhase::Refused => item.refusals <= self.plan.evictions,
                ItemPhase::Offered(..)
                | ItemPhase::Failed { .. }
                | ItemPhase::Merged { .. }
                | ItemPhase::Cancelled => false,
            }
        };
        // What will not be worked on any more is not waited for.
        (self.is_closed() && self.world.running.is_empty() || !others.any(is_open)).then_some((cost, last))
    }

    /// Waits for what goes on, or says how it ended.
    fn rest(&self) -> FleetAction {
        if !self.world.running.is_empty() || self.world.is_landing {
            return FleetAction::Wait;
        }
        let open = |planned: &&FleetItem| {
            matches!(self.item(&planned.id).phase, ItemPhase::Waiting | ItemPhase::Held(_))
        };
        let mut open = self.plan.items.iter().filter(open).peekable();
        let has_work = open.peek().is_some();
        if has_work && self.state.is_far() {
            return FleetAction::Wait;
        }
        // A usage limit ends by itself. What else keeps an item from a lane when nothing goes on does not.
        if open.any(|planned| self.is_limited(planned)) && !self.is_closed() {
            return FleetAction::Wait;
        }
        FleetAction::Finish(self.outcome(has_work))
    }

    fn outcome(&self, has_work: bool) -> FleetOutcome {
        let lacking = |planned: &&FleetItem| !self.is_settled(planned);
        if self.plan.items.iter().find(lacking).is_none() {
            return FleetOutcome::Done;
        }
        if self.state.is_stopping {
            return FleetOutcome::Interrupted;
        }
        let mut reasons: Vec<String> = self.state.blocked.clone().into_iter().collect();
        reasons.extend(self.plan.items.iter().filter(lacking).filter_map(|planned| {
            let item = self.item(&planned.id);
            let why = match item.phase {
                ItemPhase::Failed { why } => why,
                ItemPhase::Refused => item.refusal?.line(),
                ItemPhase::Unknown => {
                    let missing = planned.after.iter().filter(|id| !self.item(id).is_merged());
                    let missing: Vec<&str> = missing.map(String::as_str).collect();
                    format!("waits for {}", missing.join(", "))
                }
                _ => return None,
            };
            Some(format!("{}: {why}", planned.id))
        }));
        if self.state.is_exhausted() && (has_work || self.has_withdrawn()) || reasons.is_empty() {
            return FleetOutcome::Exhausted;
        }
        FleetOutcome::Stopped { reasons }
    }

    /// Whether nothing is left to do for an item: it landed, or another candidate for the same has.
    fn is_settled(&self, planned: &FleetItem) -> bool {
        let item = self.item(&planned.id);
        item.is_merged() || item.phase == ItemPhase::Cancelled || self.is_beaten(planned)
    }

    fn is_beaten(&self, planned: &FleetItem) -> bool {
        let Some(group) = &planned.group else { return false };
        let mut members = self.plan.items.iter().filter(|item| item.group.as_ref() == Some(group));
        members.any(|item| self.item(&item.id).is_merged())
    }

    /// Whether something was taken back because the budget is used up.
    fn has_withdrawn(&self) -> bool {
        self.state.is_far() && self.plan.items.iter().any(|it| self.item(&it.id).phase == ItemPhase::Unknown)
    }

    /// Whether no turn may begin any more.
    fn is_closed(&self) -> bool {
        self.state.is_stopping || self.state.is_exhausted()
    }

    fn is_limited(&self, planned: &FleetItem) -> bool {
        self.state.limits.get(&planned.account).is_some_and(|until| self.world.now_ms < *until)
    }

    /// Whether what is worked on, or waits to land, may change the same files. Candidates for the same may: one of them lands.
    fn is_in_the_way(&self, planned: &FleetItem) -> bool {
        self.plan.items.iter().any(|other| {
            let is_begun = match self.item(&other.id).phase {
                ItemPhase::Held(_) | ItemPhase::Offered(..) => true,
                ItemPhase::Waiting => self.state.is_far(),
                _ => false,
            };
            let is_rival = planned.group.is_some() && planned.group == other.group;
            other.id != planned.id && is_begun && !is_rival && overlap(planned, other)
        })
    }

    /// Whether a candidate for the same is about to land, so that there may be nothing left to do.
    fn may_have_lost(&self, planned: &FleetItem) -> bool {
        let is_rival = |other: &&FleetItem| planned.group.is_some() && planned.group == other.group;
        self.plan.pick == Pick::First
            && self.plan.items.iter().filter(is_rival).any(|it| self.item(&it.id).offered().is_some())
    }

    fn held(&self) -> impl Iterator<Item = (&FleetItem, Lease)> {
        self.plan.items.iter().filter_map(|planned| Some((planned, self.item(&planned.id).held()?.clone())))
    }

    fn item(&self, id: &str) -> Item {
        self.state.item(id)
    }
}
