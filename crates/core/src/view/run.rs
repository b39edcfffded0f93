//! A run as it is watched, and the picture of it at a moment.

use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use super::{
    Activity, Attention, GateDot, ShownFinding, ShownLine, ShownRefusal, ShownSpend, ShownTask, ShownTurn,
    Standing, TurnMark, harmless,
    notices::{Notices, findings},
    turns::Turns,
};
use crate::{
    engine::{
        Run,
        entry::Entry,
        event::{CUT_OFF, Event, PlanView, WorkCounted},
    },
    setup::Role,
};

/// As many turns are in a picture: the last ones. [`Watched::turns`] has all.
const MAX_SHOWN_TURNS: usize = 240;

/// A run that is watched: the fold of its journal, and what is shown over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    run: Option<Run>,
    turns: Turns,
    notices: Notices,
    activity: Activity,
    /// How far the plan file was when someone looked last.
    plan_tasks: Option<PlanView>,
    started_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    sandbox: Option<&'static str>,
    /// How many lines of the journal were taken in.
    sequence: u64,
}

/// What the record of a run alone does not say.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// The run's id.
    pub id: String,
    /// Whether a process works on it.
    pub is_running: bool,
    /// The first line of what was asked.
    pub asked: Option<String>,
    /// How the run ended, in words.
    pub outcome: Option<String>,
    /// What the agent was last seen doing, where it has its turn.
    pub doing: Option<String>,
    /// Its stories, or the tasks of its plan.
    pub tasks: Vec<ShownTask>,
    /// The last lines of its stream.
    pub stream: Vec<ShownLine>,
    /// What is the matter with its record.
    pub damage: Option<String>,
    /// The zone that moments are shown in.
    pub zone: Option<TimeZone>,
}

/// A gate, and what it said last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownGate {
    /// What people call it.
    pub name: String,
    /// What it said after the last turn in which it was checked.
    pub last: GateDot,
    /// How often it passed, and how often it failed.
    pub passed: u32,
    /// How often it failed.
    pub failed: u32,
}

/// A run at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownRun {
    /// Its id.
    pub id: String,
    /// How many lines of its journal this is made of.
    pub sequence: u64,
    /// How it stands.
    pub standing: Standing,
    /// What a person has to do with it, if anything.
    pub attention: Option<Attention>,
    /// The kind of loop.
    pub preset: String,
    /// The folder that it works in.
    pub project: String,
    /// The command of its agent.
    pub agent: String,
    /// Whether another run started it for a part of a task.
    pub is_child: bool,
    /// The first line of what was asked.
    pub asked: Option<String>,
    /// What it is doing, if it runs.
    pub doing: Option<String>,
    /// How it ended, if it did.
    pub outcome: Option<String>,
    /// What it exited with.
    pub exit_code: Option<u8>,
    /// Whether it was asked to stop.
    pub is_stopping: bool,
    /// The iteration of the current or the last turn.
    pub iteration: u32,
    /// Its attempt.
    pub attempt: u32,
    /// As many iterations as there may be.
    pub max_iterations: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When something was recorded last.
    pub last_at: Timestamp,
    /// When the turn began that is on its way.
    pub turn_since: Option<Timestamp>,
    /// The level of the sandbox.
    pub sandbox: Option<&'static str>,
    /// The gates, and what each said last.
    pub gates: Vec<ShownGate>,
    /// The last turns, oldest first.
    pub turns: Vec<ShownTurn>,
    /// How many turns there are.
    pub turns_total: usize,
    /// The stories of its list, or the tasks of its plan.
    pub tasks: Vec<ShownTask>,
    /// How many tasks its plan file has, and how many of them are open, as the rules saw it last.
    pub plan_tasks: Option<(usize, usize)>,
    /// What it has used.
    pub spend: ShownSpend,
    /// What was done to the judgement.
    pub findings: Vec<ShownFinding>,
    /// Whether a person has accepted them.
    pub is_accepted: bool,
    /// Why the agent did it, as it says.
    pub reason: Option<String>,
    /// What else was seen at the last claim, and what weakens the judgement.
    pub notes: Vec<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// Tool calls that the guard refused: the last ones.
    pub refusals: Vec<ShownRefusal>,
    /// How many tool calls the guard judged, and how many it refused.
    pub judged: u64,
    /// Of those that it judged.
    pub refused: u64,
    /// What it has done to the files.
    pub work: Option<String>,
    /// The commit that it started from, where there was one.
    pub base: Option<String>,
    /// The last lines of the agent's stream.
    pub stream: Vec<ShownLine>,
    /// What can be typed next.
    pub commands: Vec<String>,
    /// What is the matter with its record.
    pub damage: Option<String>,
}

impl Watched {
    /// Takes in the next line of the journal. What comes before the start of the run is passed over.
    pub fn apply(&mut self, entry: &Entry) {
        self.sequence += 1;
        match &mut self.run {
            Some(run) => run.apply(entry),
            None => self.run = Run::begin(entry),
        }
        let Some(run) = &self.run else { return };
        self.started_at.get_or_insert(entry.at);
        self.last_at = Some(entry.at);
        self.turns.apply(&run.plan, entry);
        self.notices.apply(run.state.position().0, entry);
        self.activity = Activity::after(&entry.event).unwrap_or(self.activity);
        let view = match &entry.event {
            Event::Looked(view) => Some(view),
            Event::TurnEnded(ended) => ended.view.as_ref(),
            Event::Sandboxed { level, .. } => {
                self.sandbox = Some(level.name());
                None
            }
            _ => None,
        };
        self.plan_tasks = view.and_then(|view| view.plan).or(self.plan_tasks);
    }

    /// The run, once its start was read.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// All its turns, oldest first.
    pub fn turns(&self) -> &[ShownTurn] {
        &self.turns.rows
    }

    /// What it was last seen doing.
    pub fn activity(&self) -> Activity {
        self.activity
    }

    /// How many lines of the journal were taken in.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The picture of it; nothing before its start was read.
    pub fn shown(&self, outside: &Outside) -> Option<ShownRun> {
        let run = self.run.as_ref()?;
        let Run { started, plan, state, memory } = run;
        let standing = Standing::of(outside.is_running, state);
        let (iteration, attempt) = Self::position(run);
        let is_running = matches!(standing, Standing::Running | Standing::Paused);
        let is_in_turn = is_running && self.activity == Activity::Turn;
        let words = || self.activity.words(plan, outside.zone.as_ref().unwrap_or(&TimeZone::UTC));
        let doing = outside.doing.clone().filter(|_| is_in_turn).or_else(words).filter(|_| is_running);
        let notes = state.notes().iter().map(ToString::to_string);
        let caveats = state.caveats(plan).into_iter().map(|it| it.to_string());
        let commands = standing.commands(&outside.id, run).into_iter().map(|(_, command)| command);
        let ended = state.outcome().filter(|_| !is_running);
        Some(ShownRun {
            id: harmless(&outside.id),
            sequence: self.sequence,
            standing,
            attention: Attention::of(standing, run),
            preset: harmless(&plan.preset),
            project: harmless(&started.setup.project.to_string_lossy()),
            agent: harmless(&started.setup.agent.command),
            is_child: started.setup.assignment.as_ref().is_some_and(|it| it.role == Role::Child),
            asked: outside.asked.as_deref().map(harmless),
            doing: doing.map(|doing| harmless(&doing)),
            outcome: outside.outcome.as_deref().map(harmless),
            exit_code: ended.map(|outcome| state.exit_code(plan, outcome)),
            is_stopping: is_running && state.is_stopping(),
            iteration,
            attempt,
            max_iterations: plan.limits.max_iterations,
            started_at: self.started_at?,
            last_at: self.last_at?,
            turn_since: memory.turn.as_ref().filter(|_| is_in_turn).map(|turn| turn.began),
            sandbox: self.sandbox,
            gates: self.gates(),
            turns: self.last_turns(standing),
            turns_total: self.turns.rows.len(),
            tasks: outside.tasks.clone(),
            plan_tasks: self.plan_tasks.map(|it| (it.tasks, it.open)),
            spend: ShownSpend::of(run),
            findings: findings(run),
            is_accepted: state.is_accepted(),
            reason: state.reason().map(harmless),
            notes: notes.chain(caveats).map(|note| harmless(&note)).collect(),
            warnings: self.notices.warnings.iter().cloned().collect(),
            refusals: self.notices.refusals.iter().cloned().collect(),
            judged: self.notices.judged,
            refused: self.notices.refused,
            work: memory.work.as_ref().and_then(WorkCounted::words),
            base: memory.first_head.as_deref().map(harmless),
            stream: outside.stream.clone(),
            commands: commands.map(|command| harmless(&command)).collect(),
            damage: outside.damage.as_deref().map(harmless),
        })
    }

    /// The iteration and attempt that are shown: what has ended does not begin another.
    fn position(run: &Run) -> (u32, u32) {
        let (iteration, attempt) = run.state.position();
        let iteration = if run.state.outcome().is_some() { run.state.spent().begun } else { iteration };
        (iteration.min(run.plan.limits.max_iterations), attempt)
    }

    fn last_turns(&self, standing: Standing) -> Vec<ShownTurn> {
        let rows = &self.turns.rows;
        let mut last = rows[rows.len().saturating_sub(MAX_SHOWN_TURNS)..].to_vec();
        if let Some(open) =
            last.last_mut().filter(|it| it.mark == TurnMark::Open && standing == Standing::Killed)
        {
            (open.mark, open.problem) = (TurnMark::Ended, Some(CUT_OFF.to_owned()));
        }
        last
    }

    fn gates(&self) -> Vec<ShownGate> {
        let shown = |(index, name): (usize, &String)| {
            let dots = self.turns.rows.iter().filter_map(|row| row.gates.get(index));
            let mut gate = ShownGate { name: harmless(name), last: GateDot::Unchecked, passed: 0, failed: 0 };
            for dot in dots {
                match dot {
                    GateDot::Unchecked => continue,
                    GateDot::Running => {}
                    GateDot::Passed => gate.passed += 1,
                    GateDot::Failed | GateDot::FailedInJudge => gate.failed += 1,
                }
                gate.last = *dot;
            }
            gate
        };
        self.turns.gates.iter().enumerate().map(shown).collect()
    }
}
