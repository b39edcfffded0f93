//! What a person says to a run on its way, and whether the person wants it to pause.
//!
//! Invariant: a note stays due until a turn that was told it came to its end. Neither a turn that was cut off nor one that
//! failed counts, because the next one has a fresh context. A note that is due is told before the run may be complete.

use super::{
    Run, State,
    deadline::closed,
    event::{Event, NoteSaid, Turn, TurnEnd, TurnEnded},
    exhausted,
    outcome::Outcome,
    phase::Phase,
};

/// What a person said to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonNote {
    /// Its number, from 1.
    pub number: u32,
    /// What the turn is told.
    pub text: String,
    /// Every following turn is told, not only the next.
    pub keep: bool,
    /// The last iteration that was told and came to its end.
    pub told: Option<u32>,
    /// The person took it back.
    pub withdrawn: bool,
}

impl PersonNote {
    /// Whether the next turn is told.
    pub fn is_due(&self) -> bool {
        !self.withdrawn && (self.keep || self.told.is_none())
    }

    /// Whether no turn was told yet, and one is to be.
    pub fn is_untold(&self) -> bool {
        !self.withdrawn && self.told.is_none()
    }
}

/// What a person wants of a run beside what it was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PersonNotes {
    all: Vec<PersonNote>,
    /// Those that the turn on its way was told.
    telling: Vec<u32>,
    /// The last request of a person that was taken.
    taken: u64,
    /// No turn begins.
    pause: bool,
    /// The run waits for the person to continue it.
    is_held: bool,
}

impl PersonNotes {
    /// Takes in what a person wants.
    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::NoteSaid(NoteSaid { note, text, keep, request, .. }) => {
                self.taken = self.taken.max(*request);
                let (number, text, keep) = (*note, text.clone(), *keep);
                self.all.push(PersonNote { number, text, keep, told: None, withdrawn: false });
            }
            Event::NoteWithdrawn { note, request } => {
                self.taken = self.taken.max(*request);
                // What a turn was told alone cannot be taken back.
                let due = self.all.iter_mut().filter(|it| it.number == *note && it.is_due());
                due.for_each(|note| note.withdrawn = true);
            }
            Event::PauseRequested { request } => (self.taken, self.pause) = (self.taken.max(*request), true),
            Event::PauseStarted => self.is_held = true,
            Event::PauseEnded { request } => {
                self.taken = self.taken.max(*request);
                self.go_on();
            }
            _ => {}
        }
    }

    /// No pause any more.
    pub(super) fn go_on(&mut self) {
        (self.pause, self.is_held) = (false, false);
    }

    pub(super) fn due(&self) -> Vec<u32> {
        self.all.iter().filter(|note| note.is_due()).map(|note| note.number).collect()
    }

    pub(super) fn turn_started(&mut self, turn: &Turn) {
        self.telling.clone_from(&turn.notes);
        self.is_held = false;
    }

    pub(super) fn turn_ended(&mut self, iteration: u32, turn: &TurnEnded) {
        let telling = std::mem::take(&mut self.telling);
        if !matches!(turn.end, TurnEnd::Finished | TurnEnd::Paused { .. }) {
            return;
        }
        for note in &mut self.all {
            if telling.contains(&note.number) && !turn.untold.contains(&note.number) {
                note.told = Some(iteration);
            }
        }
    }
}

impl State {
    /// What a person said to the run, in the order of the numbers.
    pub fn person_notes(&self) -> &[PersonNote] {
        &self.person.all
    }

    /// The texts of these notes.
    pub fn note_texts(&self, numbers: &[u32]) -> Vec<&str> {
        let told = self.person.all.iter().filter(|note| numbers.contains(&note.number));
        told.map(|note| note.text.as_str()).collect()
    }

    /// The last request of a person that the record has.
    pub fn requests_taken(&self) -> u64 {
        self.person.taken
    }

    /// Whether a person wants the run to pause: no turn begins.
    pub fn is_pausing(&self) -> bool {
        self.person.pause
    }

    /// Whether the run waits for a person to continue it.
    pub fn is_held(&self) -> bool {
        self.person.is_held
    }
}

impl Run {
    /// One more iteration where the run would be complete and a person said something that no turn was told. What a person
    /// asks for is not beyond the number of iterations that the person set; money and time are.
    pub(super) fn listen_first(&mut self, now: i64) {
        let is_done = self.state.phase == Phase::Over(Outcome::Done) && self.state.ended.is_none();
        if !is_done || !self.state.person.all.iter().any(PersonNote::is_untold) {
            return;
        }
        let mut state = self.state.clone();
        state.one_more();
        let mut plan = self.plan.clone();
        plan.limits.max_iterations = plan.limits.max_iterations.max(state.iteration);
        if exhausted(&plan, &state).is_none() && closed(&plan, &state, now).is_none() {
            (self.plan.limits, self.state) = (plan.limits, state);
        }
    }
}

#[cfg(test)]
mod tests;
