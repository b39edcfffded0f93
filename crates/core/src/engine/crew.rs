//! What a run knows of its agents: who worked, what each has used, who cannot work for now, and how high on the ladder of
//! stronger ones it stands.

use std::collections::BTreeMap;

use super::{
    budget,
    event::Turn,
    roles::{Absence, AgentRole, Because, Chosen, ESCALATE_AFTER, MAIN, Roles, TurnOf},
};
use ralph_agents::{Failure, FailureKind, Usage};

/// As long as that an agent whose service is overloaded rests while another works; doubles when it is so again.
const OVERLOAD_REST_MS: i64 = 5 * 60 * 1000;

/// As long as that an agent whose quota is used up rests where no one says when it is back; doubles, too.
const UNKNOWN_RESET_MS: i64 = 15 * 60 * 1000;

/// No rest is doubled more often.
const MAX_DOUBLINGS: u32 = 4;

/// What is known of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrewMember {
    /// Turns that ended.
    pub turns: u32,
    /// Tokens and dollars.
    pub usage: Usage,
    /// Time of its turns.
    pub ms: u64,
    absence: Option<Absence>,
    /// How often in a row it could not work.
    absences: u32,
}

/// The agents of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crew {
    members: BTreeMap<String, CrewMember>,
    /// Who has, or had last, a turn.
    worker: Option<String>,
    /// Who is being asked about a claim.
    reviewer: Option<String>,
    /// Red iterations in a row since the ladder was climbed last.
    red: u32,
    step: usize,
    /// When the last event was recorded, in milliseconds since 1970.
    pub(super) at_ms: i64,
}

impl Crew {
    /// Who has, or had last, a turn; who is asked about it while that lasts.
    pub fn worker(&self) -> &str {
        self.reviewer.as_deref().or(self.worker.as_deref()).unwrap_or(MAIN)
    }

    /// A reviewer is asked about a claim.
    pub(super) fn opinion_started(&mut self, reviewer: Option<&str>) {
        self.reviewer = reviewer.map(str::to_owned);
    }

    /// It has answered, or not. Returns who it was.
    pub(super) fn opinion_ended(&mut self) -> Option<String> {
        self.reviewer.take()
    }

    /// Everybody who has had a turn, by name.
    pub fn members(&self) -> impl Iterator<Item = (&str, &CrewMember)> {
        self.members.iter().map(|(name, member)| (name.as_str(), member))
    }

    /// How high on the ladder the run stands; 0 is below it.
    pub fn step(&self) -> usize {
        self.step
    }

    /// What an agent has used.
    pub fn used(&self, name: &str) -> Usage {
        self.members.get(name).map(|member| member.usage).unwrap_or_default()
    }

    pub(super) fn turn_started(&mut self, turn: &Turn) {
        self.worker.clone_from(&turn.agent);
    }

    /// Counts a turn of the worker.
    pub(super) fn take_turn(&mut self, usage: Usage, ms: u64) {
        let member = self.members.entry(self.worker().to_owned()).or_default();
        member.turns = member.turns.saturating_add(1);
        member.usage.add(usage);
        member.ms = member.ms.saturating_add(ms);
    }

    /// Counts what an agent used beside its turns.
    pub(super) fn take_usage(&mut self, name: Option<&str>, usage: Usage) {
        let name = name.map_or_else(|| self.worker().to_owned(), str::to_owned);
        self.members.entry(name).or_default().usage.add(usage);
    }

    /// The worker came to the end of a turn.
    pub(super) fn worked(&mut self) {
        let member = self.members.entry(self.worker().to_owned()).or_default();
        (member.absence, member.absences) = (None, 0);
    }

    /// The worker cannot work for now, if that is what its failure says.
    pub(super) fn failed(&mut self, failure: &Failure) -> bool {
        let at_ms = self.at_ms;
        let member = self.members.entry(self.worker().to_owned()).or_default();
        let rest = |first: i64| at_ms.saturating_add(first << member.absences.min(MAX_DOUBLINGS));
        let absence = match failure.kind {
            FailureKind::Limited { resets_at } => {
                let named = resets_at.map(|at| at.saturating_mul(1000)).filter(|at| at_ms < *at);
                Absence::Limited { back_ms: named.unwrap_or_else(|| rest(UNKNOWN_RESET_MS)) }
            }
            FailureKind::Overloaded => Absence::Overloaded { back_ms: rest(OVERLOAD_REST_MS) },
            FailureKind::Permanent => Absence::Refused { message: failure.message.clone() },
            FailureKind::Transient | FailureKind::AgentBudget => return false,
        };
        member.absence = Some(absence);
        member.absences = member.absences.saturating_add(1);
        true
    }

    /// Forgets that the worker cannot work.
    pub(super) fn keep_worker(&mut self) {
        if let Some(member) = self.worker.as_ref().and_then(|worker| self.members.get_mut(worker)) {
            member.absence = None;
        }
    }

    /// A person has looked at the run: what only a person could mend may be mended.
    pub(super) fn looked_at(&mut self) {
        for member in self.members.values_mut() {
            if matches!(member.absence, Some(Absence::Refused { .. })) {
                (member.absence, member.absences) = (None, 0);
            }
        }
    }

    /// The gates refused an iteration. Returns whether a stronger agent works from here on.
    pub(super) fn was_red(&mut self, roles: &Roles) -> bool {
        self.red = self.red.saturating_add(1);
        let after = roles.escalate_after.unwrap_or(ESCALATE_AFTER).max(1);
        let climbs = after <= self.red && self.step < roles.escalate.len();
        if climbs {
            (self.red, self.step) = (0, self.step + 1);
        }
        climbs
    }

    /// The gates let an iteration pass: who worked before works again.
    pub(super) fn was_green(&mut self) {
        (self.red, self.step) = (0, 0);
    }

    /// Who has the next turn of a role at this moment, in milliseconds since 1970; nothing where the run's only agent has no
    /// name.
    pub fn choose(&self, roles: &Roles, role: AgentRole, now: i64) -> Option<TurnOf> {
        let is_stronger = |agent: &str| {
            role.climbs() && roles.escalate.get(self.step.wrapping_sub(1)).is_some_and(|it| it == agent)
        };
        let choice = self.choose_of(roles, &roles.order(role, self.step), now)?;
        Some(match choice {
            TurnOf::Agent(Chosen { agent, because: None }) if is_stronger(&agent) => {
                let step = u32::try_from(self.step).unwrap_or(u32::MAX);
                TurnOf::Agent(Chosen { agent, because: Some(Because::Escalated { step }) })
            }
            TurnOf::Agent(_) | TurnOf::NotBefore(_) | TurnOf::NoOne => choice,
        })
    }

    /// The first of these who can have a turn at this moment.
    pub(super) fn choose_of(&self, roles: &Roles, order: &[&str], now: i64) -> Option<TurnOf> {
        let first = *order.first()?;
        let Some(agent) = order.iter().find(|name| self.absence_at(roles, name, now).is_none()) else {
            let back = order.iter().filter_map(|name| self.absence_at(roles, name, now)?.back_ms()).min();
            return Some(back.map_or(TurnOf::NoOne, TurnOf::NotBefore));
        };
        let absence = self.absence_at(roles, first, now);
        let because = absence.map(|absence| Because::StandsIn { for_agent: first.to_owned(), absence });
        Some(TurnOf::Agent(Chosen { agent: (*agent).to_owned(), because }))
    }

    /// Why an agent cannot have a turn at this moment.
    fn absence_at(&self, roles: &Roles, name: &str, now: i64) -> Option<Absence> {
        if roles.budgets.get(name).is_some_and(|own| budget::is_used_up(own, &self.used(name))) {
            return Some(Absence::Spent);
        }
        let absence = self.members.get(name)?.absence.as_ref()?;
        absence.back_ms().is_none_or(|back| now < back).then(|| absence.clone())
    }

    /// Whether no agent of the role is back before the one that had the turn.
    pub(super) fn is_first_back(&self, roles: &Roles, role: AgentRole) -> bool {
        let back = |name: &str| {
            self.absence_at(roles, name, i64::MIN).as_ref().and_then(Absence::back_ms).unwrap_or(i64::MAX)
        };
        let own = back(self.worker());
        roles.order(role, self.step).into_iter().all(|name| own <= back(name))
    }

    /// What is the matter with everybody of a role, in words.
    pub(super) fn excuses(&self, roles: &Roles, role: AgentRole) -> String {
        self.excuses_of(roles, &roles.order(role, self.step))
    }

    /// What is the matter with all of these, in words.
    pub(super) fn excuses_of(&self, roles: &Roles, order: &[&str]) -> String {
        // No agent is back at the beginning of time.
        let words = order.iter().filter_map(|name| {
            let absence = self.absence_at(roles, name, i64::MIN)?;
            Some(format!("{name} {}", absence.words()))
        });
        words.collect::<Vec<_>>().join("; ")
    }
}
