//! Decides when a process must be signalled or given up on.
//!
//! Pure: time comes in as an argument, orders go out as values. The process module owns the process; this
//! type only owns the rules.

use std::time::{Duration, Instant, SystemTime};

/// How long a process has between the polite signal and the kill.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long pipes may stay open and silent after the process itself has ended.
const QUIET_TIMEOUT: Duration = Duration::from_millis(500);
/// How long pipes may stay open after the process itself has ended, even if something is still printing.
const MAX_DRAIN: Duration = Duration::from_secs(3);
/// How long a process that has printed its result may do nothing before it is ended.
const LINGER_TIMEOUT: Duration = Duration::from_secs(30);
/// A wait that ends so much later than it should: ralph itself was stopped.
const MAX_LATENESS: Duration = Duration::from_secs(1);
/// How often the clock on the wall is looked at, for a process that ends by it: it is put right now and then, and the other
/// one stands still while a laptop sleeps.
const CLOCK_INTERVAL: Duration = Duration::from_secs(30);
/// How long a killed process may take to disappear before ralph stops waiting for it.
const GIVE_UP_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limits of one process; nothing means no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// From start to end.
    pub total: Option<Duration>,
    /// Without any output.
    pub idle: Option<Duration>,
    /// Until the first output that counts as a beginning.
    pub start: Option<Duration>,
    /// By the clock on the wall.
    pub until: Option<SystemTime>,
}

/// Why a process was ended by ralph rather than by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It took too long.
    Timeout,
    /// The time of day came at which it was to end.
    Until,
    /// It was silent for too long.
    Idle,
    /// It did not begin.
    NoStart,
    /// It had printed its result and did not go.
    Lingered,
    /// It has used what it may use.
    Enough,
    /// The user wanted it.
    Interrupt,
}

/// What must be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing, until something happens.
    Wait,
    /// Nothing, until something happens or this moment comes.
    WaitUntil(Instant),
    /// Ask the process and its group to end.
    Terminate,
    /// End the process and its group.
    Kill,
    /// It is over.
    Done,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Running,
    Terminating { kill_at: Instant },
    Killed { give_up_at: Instant },
    Draining { until: Instant, at_the_latest: Instant },
    Over,
}

/// The watch over one process.
#[derive(Debug)]
pub struct Watch {
    limits: Limits,
    started: Instant,
    /// From when on the time to begin counts.
    silent_since: Instant,
    last_output: Instant,
    has_begun: bool,
    has_result: bool,
    open_pipes: u8,
    phase: Phase,
    cause: Option<Cause>,
    /// When the last wait was to end.
    due: Option<Instant>,
    /// When it has to end by the clock on the wall, as far as that is known by now.
    ends_by_clock: Option<Instant>,
}

impl Watch {
    /// Begins to watch a process with that many output pipes.
    pub fn new(limits: Limits, open_pipes: u8, now: Instant) -> Self {
        Self {
            limits,
            started: now,
            silent_since: now,
            last_output: now,
            has_begun: false,
            has_result: false,
            open_pipes,
            phase: Phase::Running,
            cause: None,
            due: None,
            ends_by_clock: None,
        }
    }

    /// What the clock on the wall shows.
    pub fn clock(&mut self, now: Instant, wall: SystemTime) {
        let left = self.limits.until.map(|until| until.duration_since(wall).unwrap_or_default());
        self.ends_by_clock = left.map(|left| now + left);
    }

    /// The process printed something.
    pub fn output(&mut self, now: Instant) {
        self.last_output = now;
        if let Phase::Draining { until, at_the_latest } = &mut self.phase {
            *until = (now + QUIET_TIMEOUT).min(*at_the_latest);
        }
    }

    /// What the process printed shows that it has begun.
    pub fn begun(&mut self) {
        self.has_begun = true;
    }

    /// What the process printed is its result: it should go now.
    pub fn result(&mut self) {
        self.has_result = true;
    }

    /// An output pipe was closed.
    pub fn pipe_closed(&mut self) {
        self.open_pipes = self.open_pipes.saturating_sub(1);
    }

    /// The process itself has ended; its pipes may still be open.
    pub fn exited(&mut self, now: Instant) {
        self.phase = Phase::Draining { until: now + QUIET_TIMEOUT, at_the_latest: now + MAX_DRAIN };
    }

    /// The process has used what it may use.
    pub fn enough(&mut self, now: Instant) -> Order {
        match self.phase {
            Phase::Running => self.terminate(Cause::Enough, now),
            Phase::Terminating { .. } | Phase::Killed { .. } | Phase::Draining { .. } | Phase::Over => {
                self.tick(now)
            }
        }
    }

    /// The user wants the process to end. A second time skips the grace.
    pub fn interrupt(&mut self, now: Instant) -> Order {
        match self.phase {
            Phase::Running => self.terminate(Cause::Interrupt, now),
            Phase::Terminating { .. } => self.kill(now),
            Phase::Killed { .. } | Phase::Draining { .. } | Phase::Over => self.tick(now),
        }
    }

    /// What to do now. Call after every input and whenever a wait ran out.
    pub fn tick(&mut self, now: Instant) -> Order {
        match self.phase {
            Phase::Running => self.running(now),
            Phase::Terminating { kill_at } if now < kill_at => Order::WaitUntil(kill_at),
            Phase::Terminating { .. } => self.kill(now),
            Phase::Killed { give_up_at } if now < give_up_at => Order::WaitUntil(give_up_at),
            Phase::Draining { until, .. } if 0 < self.open_pipes && now < until => Order::WaitUntil(until),
            Phase::Killed { .. } | Phase::Draining { .. } | Phase::Over => {
                self.phase = Phase::Over;
                Order::Done
            }
        }
    }

    /// Why ralph ended the process, if it did.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    fn running(&mut self, now: Instant) -> Order {
        if let Some(due) = self.due.filter(|due| *due + MAX_LATENESS < now) {
            // What the process printed meanwhile may not have been read yet, and is not to be held against it.
            self.started += now - due;
            self.last_output = now;
            self.silent_since = now;
        }
        let deadlines = [
            (self.ends_by_clock, Cause::Until),
            (self.limits.total.map(|total| self.started + total), Cause::Timeout),
            (self.has_result.then_some(self.last_output + LINGER_TIMEOUT), Cause::Lingered),
            (self.limits.idle.map(|idle| self.last_output + idle), Cause::Idle),
            (
                self.limits.start.filter(|_| !self.has_begun).map(|start| self.silent_since + start),
                Cause::NoStart,
            ),
        ];
        let mut next = None;
        for (deadline, cause) in deadlines {
            let Some(deadline) = deadline else { continue };
            if deadline <= now {
                return self.terminate(cause, now);
            }
            next = Some(next.map_or(deadline, |next: Instant| next.min(deadline)));
        }
        if self.ends_by_clock.is_some() {
            next = next.map(|next| next.min(now + CLOCK_INTERVAL));
        }
        self.due = next;
        next.map_or(Order::Wait, Order::WaitUntil)
    }

    fn terminate(&mut self, cause: Cause, now: Instant) -> Order {
        self.cause = Some(cause);
        self.phase = Phase::Terminating { kill_at: now + KILL_TIMEOUT };
        Order::Terminate
    }

    fn kill(&mut self, now: Instant) -> Order {
        self.phase = Phase::Killed { give_up_at: now + GIVE_UP_TIMEOUT };
        Order::Kill
    }
}

#[cfg(test)]
mod tests;
