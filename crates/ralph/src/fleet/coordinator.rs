//! The loop of a fleet: looks at its processes, records what happened, and does what is decided.

mod on_board;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_core::fleet::{
    FleetAction, FleetEvent, FleetOutcome, FleetStarted, FleetWorld, ItemPhase, ItemStep, LANDER, Ledger,
    Stored, after_death, decide,
};
use ralph_sys::{
    error::{Context, Error, Result},
    process::{
        Aside, Supervisor, Waited,
        guardian::{Guardian, Looks, end_run},
        mark::Mark,
    },
};

use super::{
    FileLedger, FleetDir,
    answer::{self, LandingAnswer, LaneAnswer},
    crew::{LaneProcess, start_lander},
    far::BoardDesk,
    tail::Tail,
};
use crate::{report::fleet::FleetStyle, workspace::Source};

/// Between two looks at what lanes print and record.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// Between two looks at whether one has ended, which is one system call: everything else waits for that.
const END_INTERVAL: Duration = Duration::from_millis(3);
/// How often the lander may die on one candidate.
const MAX_LANDER_DEATHS: u32 = 3;

/// How a fleet begins.
pub(crate) enum Opening {
    New(Box<FleetStarted>),
    /// It goes on; what it may cost, if that changes.
    Resumed {
        max_cost: Option<f64>,
    },
}

/// A fleet at work.
pub(crate) struct Coordinator {
    dir: FleetDir,
    ledger: FileLedger,
    supervisor: Supervisor,
    guardian: Guardian,
    mark: Mark,
    prefix: PathBuf,
    lanes: BTreeMap<String, LaneProcess>,
    landing: Option<(Aside, String, u64)>,
    lander_deaths: u32,
    world: FleetWorld,
    tail: Tail,
    style: FleetStyle,
    /// Where the work is posted, if others do it.
    desk: Option<BoardDesk>,
    /// What was last wrong with the board.
    trouble: Option<String>,
}

impl Coordinator {
    /// Takes over a fleet.
    pub(crate) fn open(dir: FleetDir, opening: Opening, style: FleetStyle) -> Result<Self> {
        let mut ledger = FileLedger::open(&dir)?;
        let mut supervisor = Supervisor::new()?;
        let mark = Mark::new(&dir.id(), dir.path());
        // Should the guardian of an earlier process have been killed too.
        if let Opening::Resumed { .. } = opening {
            end_run(&mark, Looks::Twice);
        }
        let guardian =
            Guardian::start(mark.clone(), &[ledger.lock()?.into()]).context("cannot start the guardian")?;
        let mut tail = Tail::default();
        match opening {
            Opening::New(started) => style.event(ledger.record(FleetEvent::FleetStarted(started))?),
            Opening::Resumed { max_cost } => {
                let max_cost = max_cost.or(ledger.state().started.plan.max_cost);
                let pid = std::process::id();
                style.event(ledger.record(FleetEvent::FleetResumed { pid, max_cost })?);
                for number in 1..=ledger.state().started.plan.lanes {
                    tail.skip(dir.log(&format!("lane-{number}")));
                }
            }
        }
        let project = ledger.state().started.project.clone();
        let source = Source::find(&mut supervisor, &project)?;
        let desk = match (&ledger.state().started.board, &source) {
            (Some(board), Some(source)) => {
                Some(BoardDesk::open(&dir, (board, ledger.state()), &mut supervisor, source)?)
            }
            _ => None,
        };
        let prefix = source.map(|source| source.prefix).unwrap_or_default();
        let (lanes, world) = (BTreeMap::new(), FleetWorld::default());
        let mut fleet = Self {
            dir,
            ledger,
            supervisor,
            guardian,
            mark,
            prefix,
            lanes,
            landing: None,
            lander_deaths: 0,
            world,
            tail,
            style,
            desk,
            trouble: None,
        };
        fleet.look_far()?;
        fleet.post_failed()?;
        Ok(fleet)
    }

    /// A person who resumes a fleet wants what failed to be tried again.
    fn post_failed(&mut self) -> Result<()> {
        let items: Vec<String> = self.ledger.state().items.keys().cloned().collect();
        for item in items {
            if matches!(self.ledger.state().item(&item).phase, ItemPhase::Failed { .. }) {
                self.perform(FleetAction::Post(item))?;
            }
        }
        Ok(())
    }

    /// Works until there is nothing left to do; returns the exit code.
    pub(crate) fn run(mut self) -> Result<u8> {
        let outcome = loop {
            self.look()?;
            // A board that does not answer takes nothing back.
            if self.desk.is_some() && self.supervisor.is_ending() && self.landing.is_none() {
                break FleetOutcome::Interrupted;
            }
            match decide(self.ledger.state(), &self.world) {
                FleetAction::Wait => self.rest(),
                FleetAction::Finish(outcome) => break outcome,
                action => self.perform(action)?,
            }
        };
        let exit_code = outcome.exit_code();
        self.show_lines();
        self.record(FleetEvent::FleetEnded { outcome, exit_code })?;
        self.ship_end();
        self.guardian.release();
        self.supervisor.release();
        Ok(exit_code)
    }

    fn rest(&mut self) {
        if self.supervisor.stop_requested() {
            // A wait would end at once.
            thread::sleep(POLL_INTERVAL);
            return;
        }
        let until = Instant::now() + POLL_INTERVAL;
        loop {
            let next = until.min(Instant::now() + END_INTERVAL);
            let waited = self.supervisor.wait(next, &mut || {});
            if waited == Waited::StopRequested || until <= next || self.has_ended() {
                return;
            }
        }
    }

    /// Whether a lane or the lander has ended, and no one has looked at what it left.
    fn has_ended(&mut self) -> bool {
        let lanes = self.lanes.values_mut().map(|lane| &mut lane.process);
        let mut all = lanes.chain(self.landing.iter_mut().map(|(process, ..)| process));
        // What cannot be asked is asked again by who can say so.
        all.any(|process| process.ended().is_ok_and(|ended| ended.is_some()))
    }

    /// Takes in what happened since the last look.
    fn look(&mut self) -> Result<()> {
        self.world.now_ms = Timestamp::now().as_millisecond();
        if self.supervisor.stop_requested() && !self.ledger.state().is_stopping {
            self.record(FleetEvent::StopRequested)?;
        }
        if self.supervisor.is_ending() {
            self.lanes.values().for_each(|lane| lane.process.ask(true));
            self.landing.iter().for_each(|(process, ..)| process.ask(true));
        }
        self.show_lines();
        self.look_far()?;
        self.read_runs()?;
        self.reap_lanes()?;
        self.reap_lander()
    }

    fn show_lines(&mut self) {
        let mut lines = Vec::new();
        for number in 1..=self.ledger.state().started.plan.lanes {
            let lane = format!("lane-{number}");
            let item = self.lanes.get(&lane).map(|it| format!(" {}", it.item)).unwrap_or_default();
            let log = self.dir.log(&lane);
            lines.extend(self.tail.lines(&log).into_iter().map(|line| (format!("{lane}{item}"), line)));
        }
        for (who, line) in lines {
            self.style.line(&who, &line);
        }
    }

    /// Records what happened, and says it.
    fn record(&mut self, event: FleetEvent) -> Result<()> {
        self.style.event(self.ledger.record(event)?);
        Ok(())
    }

    /// What runs have spent, and whether one waits for its usage limit.
    fn read_runs(&mut self) -> Result<()> {
        let fleet = self.dir.id();
        let mut events = Vec::new();
        self.world.waiting.clear();
        for (name, lane) in &mut self.lanes {
            let state = self.ledger.state();
            let (id, item) = (lane.item.clone(), state.item(&lane.item));
            let news = lane.news(|claim| claim.is_for(&fleet, &id, &item));
            if let Some((run, cost)) = news.spent
                && state.spent.get(&run).is_none_or(|known| known + f64::EPSILON < cost)
            {
                events.push(FleetEvent::Spent { run, cost });
            }
            if let Some(until_ms) = news.waits_until {
                self.world.waiting.insert(name.clone());
                let account = state.started.plan.item(&id).map(|it| it.account.clone()).unwrap_or_default();
                if state.limits.get(&account).is_none_or(|known| *known < until_ms) {
                    events.push(FleetEvent::LimitSeen { account, until_ms });
                }
            }
        }
        events.into_iter().try_for_each(|event| self.record(event))
    }

    fn reap_lanes(&mut self) -> Result<()> {
        let mut ended = Vec::new();
        for (name, lane) in &mut self.lanes {
            if lane.process.ended()?.is_some() {
                ended.push(name.clone());
            }
        }
        for name in ended {
            // What was spent last counts too.
            self.read_runs()?;
            let Some(LaneProcess { item, lease, .. }) = self.lanes.remove(&name) else { continue };
            self.world.running.remove(&name);
            self.world.asked.remove(&name);
            let known = self.ledger.state().item(&item);
            if known.held().is_none_or(|held| held.sequence != lease) {
                continue;
            }
            let answer: Option<LaneAnswer> = answer::read(&self.dir.answer("lane", lease));
            let step = match answer {
                Some(answer) => answer.step,
                None => after_death(&self.ledger.state().started.plan, &known, lease),
            };
            self.append(&item, &name, step)?;
        }
        Ok(())
    }

    fn reap_lander(&mut self) -> Result<()> {
        let Some((process, item, lease)) = &mut self.landing else { return Ok(()) };
        if process.ended()?.is_none() {
            return Ok(());
        }
        let (item, lease) = (item.clone(), *lease);
        self.landing = None;
        self.world.is_landing = false;
        let path = self.dir.answer("landing", lease);
        let answer: Option<LandingAnswer> = answer::read(&path);
        // The next landing of the same candidate answers for itself.
        let _ = fs_err::remove_file(path);
        let step = match answer {
            Some(LandingAnswer::Merged { commit }) => ItemStep::Merged { commit },
            Some(LandingAnswer::Refused(refusal)) => {
                self.name_worker(&item);
                ItemStep::Refused(refusal)
            }
            Some(LandingAnswer::Overtaken | LandingAnswer::Interrupted) => return Ok(()),
            Some(LandingAnswer::Blocked { why }) => {
                return self.record(FleetEvent::LandingBlocked { why });
            }
            None => {
                self.lander_deaths += 1;
                if MAX_LANDER_DEATHS <= self.lander_deaths && !self.ledger.state().is_stopping {
                    let log = self.dir.log("lander");
                    let why = format!("the lander dies on {item}; see {}", log.display());
                    self.record(FleetEvent::LandingBlocked { why })?;
                }
                return Ok(());
            }
        };
        self.lander_deaths = 0;
        self.append(&item, LANDER, step)
    }

    fn perform(&mut self, action: FleetAction) -> Result<()> {
        match action {
            FleetAction::Post(item) if self.desk.is_some() => {
                self.on_board(|desk, state| desk.post(state, &item));
                self.look_far()?;
            }
            FleetAction::Post(item) => self.append(&item, LANDER, ItemStep::Posted)?,
            FleetAction::Claim { item, lane } => self.append(&item, &lane, ItemStep::Claimed)?,
            FleetAction::Attend { item, lane } => self.attend(&item, &lane)?,
            FleetAction::Land(item) => {
                let lease = self.ledger.state().item(&item).offered().map_or(0, |offer| offer.lease);
                // What a lander of an earlier process left says nothing about this one.
                let _ = fs_err::remove_file(self.dir.answer("landing", lease));
                self.style.line("lander", &format!("judging {item} on the merged tree"));
                let process = start_lander(&self.dir, &item, lease, &self.mark).context("cannot land")?;
                self.landing = Some((process, item, lease));
                self.world.is_landing = true;
            }
            FleetAction::Withdraw(item) => {
                let why = "no turn may begin any more".to_owned();
                self.append(&item, LANDER, ItemStep::Withdrawn { why })?;
            }
            FleetAction::GiveUp(item) => {
                let why = format!("workers died on it {} times", self.ledger.state().item(&item).deaths);
                self.append(&item, LANDER, ItemStep::Failed { lease: 0, exit: None, why })?;
            }
            FleetAction::Cancel(item) => {
                let why = "another candidate has landed".to_owned();
                self.append(&item, LANDER, ItemStep::Cancelled { why })?;
            }
            FleetAction::End(lane) => {
                if let Some(lane) = self.lanes.get(&lane) {
                    lane.process.ask(true);
                }
                self.rest();
            }
            FleetAction::Ask(lane) => {
                if let Some(process) = self.lanes.get(&lane) {
                    process.process.ask(false);
                }
                self.world.asked.insert(lane);
            }
            FleetAction::Wait | FleetAction::Finish(_) => {}
        }
        Ok(())
    }

    fn attend(&mut self, item: &str, lane: &str) -> Result<()> {
        let Some(lease) = self.ledger.state().item(item).held().map(|held| held.sequence) else {
            return Ok(());
        };
        // The process of an earlier coordinator may have answered before it was ended.
        if let Some(answer) = answer::read::<LaneAnswer>(&self.dir.answer("lane", lease)) {
            return self.append(item, lane, answer.step);
        }
        let process = LaneProcess::start(&self.dir, (item, lane, lease), &self.prefix, &self.mark)
            .context("cannot start a lane")?;
        self.lanes.insert(lane.to_owned(), process);
        self.world.running.insert(lane.to_owned(), lease);
        Ok(())
    }

    fn append(&mut self, item: &str, who: &str, step: ItemStep) -> Result<()> {
        if self.desk.is_some() {
            self.on_board(|desk, state| desk.append(state, item, &step).map(drop));
            return self.look_far();
        }
        let after = self.ledger.state().item(item).last;
        match self.ledger.append(item, who, step, after)? {
            Stored::At(_) => {
                self.ledger.last().into_iter().for_each(|entry| self.style.event(entry));
                Ok(())
            }
            Stored::Overtaken => Err(Error::new("another process writes the journal of this fleet")),
        }
    }
}
