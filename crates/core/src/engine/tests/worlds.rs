//! Random worlds with crashes and resumes: whatever happens, the rules hold.

mod opinions;
mod oracles;

use proptest::{prelude::*, test_runner::TestRng};

use crate::{
    review::{Fixes, OpinionAbout, ReviewVerdict},
    verify::rules::{CheckoutWhen, LookWhen, OnFinding, OnLook},
};

use super::{
    super::{
        Action, State,
        commit::CommitEnd,
        decide,
        event::{Event, OpinionEnded, Tree, Turn, TurnEnd, View, Why},
        outcome::Outcome,
        plan::{Check, Gate, OnFailure, Plan, When},
        stop::Stop,
    },
    all, ended, judged, turn_end, view,
};

/// Everything that happened in one world.
pub(super) struct World {
    plan: Plan,
    journal: Vec<Event>,
    state: State,
    rng: TestRng,
    crashes: u32,
    lost: u32,
    turns: u32,
}

impl World {
    pub(super) fn new(mut plan: Plan, mut rng: TestRng) -> Self {
        if rng.next_u32().is_multiple_of(2) {
            plan.checkout = CheckoutWhen::Claim;
        }
        plan.on_finding = OnFinding::NAMES[(rng.next_u32() % 4) as usize].1;
        if rng.next_u32().is_multiple_of(3) {
            let (name, by, rounds) = ("review".to_owned(), vec!["b".to_owned()], 2);
            plan.gates.push(Gate::new(Check::Review { name, by, rounds }, When::Claimed));
        }
        plan.look = LookWhen::NAMES[(rng.next_u32() % 3) as usize].1;
        plan.on_look = OnLook::NAMES[(rng.next_u32() % 2) as usize].1;
        plan.limits.max_iterations = 4;
        plan.stuck_after = plan.stuck_after.map(|_| 1);
        Self { plan, journal: Vec::new(), state: State::default(), rng, crashes: 0, lost: 0, turns: 0 }
    }

    pub(super) fn journal(&self) -> &[Event] {
        &self.journal
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What is left of its chance.
    pub(super) fn into_rng(self) -> TestRng {
        self.rng
    }

    fn roll(&mut self, sides: u32) -> u32 {
        self.rng.next_u32() % sides
    }

    fn record(&mut self, event: Event) {
        self.state.apply(&self.plan, &event);
        self.journal.push(event);
    }

    /// Ralph dies here and is started again: only the journal is left, and at times not all of it.
    fn crash(&mut self) {
        self.crashes += 1;
        if self.roll(2) == 0 {
            self.lose_a_verdict();
        }
        self.journal.push(Event::RunResumed { pid: 1, limits: self.plan.limits });
        self.state = self.replayed();
    }

    /// The line of a gate that was checked after the last turn is damaged.
    fn lose_a_verdict(&mut self) {
        let is_turn = |event: &Event| matches!(event, Event::TurnEnded(_));
        let since = self.journal.iter().rposition(is_turn).unwrap_or(0);
        let is_verdict = |at: &usize| matches!(self.journal[*at], Event::GateEnded(_));
        let verdicts: Vec<usize> = (since..self.journal.len()).filter(is_verdict).collect();
        if !verdicts.is_empty() {
            let nth = usize::try_from(self.rng.next_u32()).unwrap_or(0) % verdicts.len();
            self.journal.remove(verdicts[nth]);
            self.lost += 1;
        }
    }

    fn replayed(&self) -> State {
        let mut state = State::default();
        self.journal.iter().for_each(|event| state.apply(&self.plan, event));
        state
    }

    fn random_view(&mut self) -> View {
        let mut line = "+plan.md +tasks.json".to_owned();
        for word in [" +DONE", " +fix", " +review", " +approved", " +submitted", " +other", " +of US-1"] {
            if self.roll(6) == 0 {
                line.push_str(word);
            }
        }
        for word in [" +WAIT", " +folder"] {
            if self.roll(40) == 0 {
                line.push_str(word);
            }
        }
        view(&line)
    }

    fn random_tree(&mut self) -> Option<Tree> {
        let (head, files) = (self.roll(20), self.roll(5));
        (files < 4).then(|| Tree { head: Some((head / 19).to_string()), changes: (files / 3).to_string() })
    }

    fn run_turn(&mut self) {
        self.turns += 1;
        let kinds = [
            "a",
            "a",
            "a",
            "a",
            "claim",
            "claim",
            "claim",
            "claim",
            "fail",
            "fail",
            "fail",
            "overload",
            "quota",
            "used up",
            "own cap",
            "spent",
            "bad key",
            "pause",
            "cut",
            "stumped",
            "claim stumped",
        ];
        let kind = match self.roll(100) {
            0 => "tampered claim",
            1 => "unguarded claim",
            _ => kinds[usize::try_from(self.roll(21)).unwrap_or(0)],
        };
        // A turn that the user ended comes with a request to stop; others may.
        if kind == "cut" || self.roll(30) == 0 {
            self.record(Event::StopRequested);
        }
        let mut event = ended(turn_end(kind), kind);
        if let Event::TurnEnded(turn) = &mut event {
            turn.view = Some(self.random_view());
            turn.tree = self.random_tree();
        }
        self.record(event);
    }

    fn judge_tasks(&mut self) {
        let line = if self.roll(3) == 0 { "no approval" } else { "" };
        self.record(judged(line));
    }

    /// The judge does something, or ralph dies before it has.
    fn of_judge(&mut self, action: &Action) {
        match action {
            Action::BringJudge => self.record(Event::JudgeStarted { commit: None }),
            Action::RunInJudge(gate) => self.record(Event::JudgeGateStarted { gate: *gate }),
            Action::Examine => self.record(Event::ExamineStarted),
            _ => {}
        }
        if self.roll(8) == 0 {
            return self.crash();
        }
        let line = ["", "", "", "", "fetch", "place"][self.roll(6) as usize];
        let (_, event) = super::of_judge(action, &mut |kind| match kind {
            "bring" => line.to_owned(),
            "find" => line.replace("fetch", "a").replace("place", "b"),
            _ => line.replace("place", ""),
        });
        self.record(event);
    }

    /// Lives until the run ends.
    #[expect(clippy::too_many_lines, reason = "one arm for each thing that can happen")]
    pub(super) fn live(&mut self) -> Outcome {
        for _ in 0..10_000 {
            match decide(&self.plan, &self.state) {
                Action::Finish(Outcome::Interrupted) if self.roll(2) == 0 => self.crash(),
                Action::Finish(outcome) => return outcome,
                Action::Hold => self.record(Event::PauseEnded { request: 1 }),
                Action::Look | Action::AwaitFiles(_) => {
                    let view = self.random_view();
                    self.record(Event::Looked(view));
                }
                Action::AbandonTurn => self.record(ended(TurnEnd::Abandoned, "")),
                Action::RunTurn(order) => {
                    assert!(self.may_start(), "a turn was started in spite of {:?}", self.journal.last());
                    let turn = Turn { tree: self.random_tree(), ..order.into() };
                    assert!(
                        turn.iteration <= self.plan.limits.max_iterations && turn.attempt <= 4,
                        "{turn:?}"
                    );
                    self.record(Event::TurnStarted(turn));
                    if self.roll(12) == 0 {
                        self.crash();
                    } else {
                        self.run_turn();
                    }
                }
                Action::JudgeTasks => self.judge_tasks(),
                Action::HandOver { story, reason } => {
                    if self.roll(8) == 0 {
                        self.crash();
                        continue;
                    }
                    self.record(Event::StoryHandedOver { story, reason });
                }
                Action::PutAside(file) => {
                    if self.roll(8) == 0 {
                        self.crash();
                        continue;
                    }
                    let to = (self.roll(2) == 0).then(|| format!("{file}.1"));
                    self.record(Event::ClaimPutAside { file, to });
                }
                Action::RunBaseline(gate) => {
                    let is_new = |event: &Event| match event {
                        Event::TurnStarted(_) => false,
                        Event::BaselineEnded(ended) => ended.gate != gate,
                        _ => true,
                    };
                    assert!(self.journal.iter().all(is_new), "gate {gate} again");
                    self.record(Event::BaselineStarted { gate });
                    if self.roll(8) == 0 {
                        self.crash();
                        continue;
                    }
                    let failure = (self.roll(3) == 0).then(|| "no".to_owned());
                    self.record(Event::BaselineEnded(super::gate_ended(gate, failure)));
                }
                action @ (Action::TakeBase
                | Action::BringJudge
                | Action::RunInJudge(_)
                | Action::Examine
                | Action::PutBack(_)
                | Action::Deliver) => {
                    self.of_judge(&action);
                }
                Action::AskOpinion(order) => {
                    let about = order.about;
                    self.record(Event::OpinionStarted(Box::new(order.into())));
                    if self.roll(8) == 0 {
                        self.crash();
                        continue;
                    }
                    let opinion = self.random_opinion(about);
                    self.record(Event::OpinionEnded(Box::new(opinion)));
                }
                Action::AbandonOpinion => {
                    let about = self.journal.iter().rev().find_map(|event| match event {
                        Event::OpinionStarted(started) => Some(started.about),
                        _ => None,
                    });
                    let about = about.expect("a reviewer that was asked");
                    self.record(Event::OpinionEnded(Box::new(OpinionEnded::new(about, TurnEnd::Abandoned))));
                }
                Action::ForgoLook(why) => self.record(Event::LookForgone { why }),
                Action::RunGate(gate) => {
                    self.record(Event::GateStarted { gate });
                    if self.roll(8) == 0 {
                        self.crash();
                        continue;
                    }
                    let is_rules = self.plan.gates[gate].check == Check::TaskRules;
                    if is_rules && self.state.is_unjudged() {
                        self.judge_tasks();
                        if self.roll(8) == 0 {
                            self.crash();
                            continue;
                        }
                    }
                    let failure = (self.roll(3) == 0).then(|| "no".to_owned());
                    let failure = failure.or(self.state.broken().filter(|_| is_rules).map(str::to_owned));
                    self.record(Event::GateEnded(super::gate_ended(gate, failure)));
                }
                Action::Commit => {
                    if self.roll(2) == 0 {
                        self.record(Event::CommitStarted { head: None, message: String::new(), boot: None });
                        if self.roll(8) == 0 {
                            self.crash();
                            continue;
                        }
                    }
                    let end = match self.roll(6) {
                        0 => CommitEnd::Nothing,
                        1 => CommitEnd::Failed { output: "no".to_owned() },
                        2 => CommitEnd::Already { beyond: vec![] },
                        3 => CommitEnd::Changed { cause: None },
                        4 => CommitEnd::NotWanted,
                        _ => {
                            CommitEnd::Made { commit: String::new(), subject: String::new(), beyond: vec![] }
                        }
                    };
                    self.record(Event::CommitEnded(end));
                }
                Action::StartWait(_) => self.record(Event::WaitStarted { until_ms: 5, why: Why::UsageLimit }),
                Action::WaitUntil(_) => self.record(Event::WaitEnded { ms: 1 }),
            }
            if self.roll(20) == 0 {
                self.crash();
            }
        }
        panic!("the run does not end: {:?}", self.state);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_within_its_limits_and_done_is_proven(
        preset in 0..all().len(),
        rng in any::<u64>().prop_perturb(|_, rng| rng),
    ) {
        let mut world = World::new(all().remove(preset), rng);
        let outcome = world.live();
        prop_assert_eq!(&world.replayed(), &world.state, "replaying the journal gives another state");
        if let Outcome::Stopped(Stop::Stuck(_)) = &outcome {
            prop_assert!(world.plan.stuck_after.is_some());
            prop_assert!(world.state.repeats().is_some(), "ended without a word to the agent");
        }
        prop_assert!(world.is_safe(&outcome), "went on after {:?}: {outcome:?}", world.journal);
        if outcome == Outcome::Done {
            prop_assert!(!world.is_blocked(), "done though the agent is blocked: {:?}", world.journal);
            prop_assert!(world.is_proven(), "done without proof: {:?}", world.journal);
            prop_assert!(world.is_looked_at(), "done without a look: {:?}", world.journal);
        }
        prop_assert!(world.is_judged(&outcome), "a turn that no one judged: {:?}", world.journal);
        // Four attempts for each iteration; what was cut off, refused for its quota, or given up and resumed
        // is not counted, and there is at most one such turn per crash and twenty per refusal.
        let retries = match world.plan.failures.agent {
            OnFailure::Retry { retries } => retries,
            OnFailure::Ignore | OnFailure::Continue => 3,
        };
        let judged = world.plan.limits.max_iterations * (retries + 1);
        prop_assert!(world.turns <= (judged + 21) * (world.crashes + 1));
    }
}

#[test]
fn worlds_are_not_boring() {
    let (mut done, mut gave_up, mut crashes, mut claimed_gates) = (0, 0, 0, 0);
    let (mut stuck, mut baselines, mut lost) = (0, 0, 0);
    for seed in 0..200_u8 {
        for plan in all() {
            let rng = TestRng::from_seed(prop::test_runner::RngAlgorithm::ChaCha, &[seed; 32]);
            let mut world = World::new(plan, rng);
            match world.live() {
                Outcome::Done => done += 1,
                Outcome::GaveUp { .. } => gave_up += 1,
                Outcome::Stopped(Stop::Stuck(_)) => stuck += 1,
                _ => {}
            }
            crashes += world.crashes;
            lost += world.lost;
            let is_baseline = |event: &&Event| matches!(event, Event::BaselineEnded(_));
            baselines += world.journal.iter().filter(is_baseline).count();
            claimed_gates += world
                .journal
                .iter()
                .filter(|event| {
                    matches!(event, Event::GateEnded(ended) if world.plan.gates[ended.gate].when == When::Claimed)
                })
                .count();
        }
    }
    assert!(10 < stuck && 100 < baselines && 100 < lost, "{stuck} {baselines} {lost}");
    assert!(
        100 < done && 100 < gave_up && 100 < crashes && 100 < claimed_gates,
        "{done} {gave_up} {crashes} {claimed_gates}"
    );
}
