//! The only place that starts and ends processes.
//!
//! Theory of operation: every process gets its own session and no terminal. Threads block on one thing each
//! (a process's output and end, the signals of ralph itself) and send to one channel; [`Supervisor`]
//! owns the other end, and [`Watch`] decides what to do. After each process ralph looks for what it left
//! behind; a system's `backend` knows how. If ralph itself is killed, the [`guardian`] ends what is left.

mod aside;
mod awake;
mod backend;
mod beside;
mod captured;
pub mod detach;
mod ends;
pub mod foreground;
pub mod guardian;
mod launch;
pub mod mark;
mod other_processes;
pub mod outliving;
mod printed_into;
mod spawn;
mod spec;
mod sweep;
mod table;

use std::{
    io,
    process::ExitStatus,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    time::{Duration, Instant, SystemTime},
};

use rustix::process::Signal;

use backend::Backend;
use ends::Ends;
use guardian::Guardian;

pub use aside::Aside;
pub use beside::{Beside, Crew};
pub use captured::Captured;
pub use other_processes::{ask_to_stop, at_once, beginning_at_once, end_at_once, foreground};
#[cfg(debug_assertions)]
pub use other_processes::{die, stand_still};
pub use printed_into::{PrintedInto, printed_into};
pub use spec::{Filter, Leftovers, Sink, Spec};
pub use table::{ancestry, is_alive, is_at_work, is_same_process, lock_holder, start_time, variable};

use crate::{
    signals,
    watch::{Cause, Order, Watch},
};

/// Which output a chunk comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What happens while a process runs.
pub enum ProcessEvent<'a> {
    /// It printed this.
    Output(Stream, &'a [u8]),
    /// A person or another process asked ralph to stop, for the first time.
    StopRequested,
    /// Time has passed; only where [`Supervisor::ticking`] asked for it.
    Tick,
}

/// What the listener has to say about an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Nothing: it goes on.
    Something,
    /// This is no beginning yet, whatever it is.
    Noise,
    /// The process should go now.
    Result,
    /// The process must go now.
    Enough,
}

/// How a process ended.
pub struct Ended {
    /// Nothing if it could not even be killed.
    pub status: Option<ExitStatus>,
    /// Why ralph ended it, if ralph did.
    pub cause: Option<Cause>,
    /// How long it ran.
    pub took: Duration,
    /// What it left behind, in words.
    pub leftovers: Vec<String>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The time is over.
    Elapsed,
    /// A person or another process asked ralph to stop.
    StopRequested,
}

/// What the threads report.
pub(super) enum Message {
    Signal(signals::Urgency),
    Output { serial: u64, stream: Stream, bytes: Vec<u8> },
    Closed { serial: u64 },
    Exited { serial: u64 },
}

/// Starts processes one at a time, watches them and cleans up after them.
pub struct Supervisor {
    sender: SyncSender<Message>,
    receiver: Receiver<Message>,
    backend: Box<dyn Backend>,
    guardian: Option<Guardian>,
    /// Tells the threads of the current process from those of earlier ones.
    serial: u64,
    stops: u32,
    kept: Vec<i32>,
    /// Says of a process whether it is for others to look after.
    spared: Box<dyn Fn(i32) -> bool>,
    /// Is told the group of every process that was started.
    on_start: Box<dyn FnMut(i32)>,
    /// When the next tick is due, if anyone wants them.
    next_tick: Option<Instant>,
    /// When everything that may wait for others has to end.
    ends: Ends,
    is_awake: bool,
}

/// How often there is a tick.
const TICK_INTERVAL: Duration = Duration::from_secs(1);

impl Supervisor {
    /// Takes over signals and orphans for the whole program.
    pub fn new() -> io::Result<Self> {
        // Bounded, so that an agent that prints faster than ralph reads waits instead of filling the memory.
        let (sender, receiver) = sync_channel(8);
        signals::listen(sender.clone(), Message::Signal)?;
        let backend = backend::chosen();
        let kept = backend.present();
        Ok(Self {
            sender,
            receiver,
            backend,
            guardian: None,
            serial: 0,
            stops: 0,
            kept,
            spared: Box::new(|_| false),
            on_start: Box::new(|_| {}),
            next_tick: None,
            ends: Ends::default(),
            is_awake: false,
        })
    }

    /// Leaves those alone, wherever they come from, of which this is true.
    pub fn spare(&mut self, is_spared: impl Fn(i32) -> bool + 'static) {
        self.spared = Box::new(is_spared);
    }

    /// Says which group every process has that is started from here on.
    pub fn tell_groups(&mut self, on_start: impl FnMut(i32) + 'static) {
        self.on_start = Box::new(on_start);
    }

    /// Lets `guardian` end the processes of its run if ralph is killed, marks them, and finds whatever they orphan.
    pub fn guarded(&mut self, guardian: Guardian) {
        // From here on: the guardian itself must not become a child of ralph.
        self.backend.guard(&guardian);
        self.guardian = Some(guardian);
    }

    /// From now on processes end by then; those that [wait for no one](Spec::waits_for_no_one) have some more time.
    pub fn end_within(&mut self, left: Option<Duration>, until: Option<SystemTime>) {
        self.ends = Ends { at: left.map(|left| Instant::now() + left), until };
    }

    /// Lets time be noticed while nothing happens.
    pub fn ticking(&mut self) {
        self.next_tick = Some(Instant::now() + TICK_INTERVAL);
    }

    /// Whether someone wants the running operation to end, too.
    pub fn is_ending(&self) -> bool {
        1 < self.stops
    }

    /// Whether someone asked ralph to stop.
    pub fn stop_requested(&mut self) -> bool {
        while let Ok(message) = self.receiver.try_recv() {
            self.count_stop(&message);
        }
        0 < self.stops
    }

    /// Runs a process to its end and sweeps up after it.
    pub fn run(
        &mut self,
        spec: Spec,
        listener: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
    ) -> io::Result<Ended> {
        self.run_with(spec, None, listener)
    }

    /// Runs a process whose input continues with what comes through `more`, until no sender is left.
    pub fn converse(
        &mut self,
        spec: Spec,
        more: Receiver<Vec<u8>>,
        listener: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
    ) -> io::Result<Ended> {
        self.run_with(spec, Some(more), listener)
    }

    fn run_with(
        &mut self,
        spec: Spec,
        more: Option<Receiver<Vec<u8>>>,
        listener: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
    ) -> io::Result<Ended> {
        self.serial += 1;
        let started = Instant::now();
        let spec = match &self.guardian {
            Some(guardian) => spec.of_run(guardian.mark()),
            None => spec,
        };
        let limits = self.ends.limits(&spec, self.is_ending(), started);
        let (first_signal, leftovers) = (spec.first_signal, spec.leftovers);
        let mut child = spawn::spawn(&mut *self.backend, spec, more, self.serial, &self.sender)?;
        if let Some(guardian) = &mut self.guardian {
            guardian.watch(child.group);
        }
        (self.on_start)(child.group.as_raw_nonzero().get());
        let mut watch = Watch::new(limits, child.pipes, started);
        watch.clock(started, SystemTime::now());
        let mut order = watch.tick(started);
        loop {
            order = match order {
                Order::Done => break,
                Order::Terminate => {
                    child.signal(first_signal);
                    // A stopped process cannot act on a signal before it is continued.
                    child.signal(Signal::CONT);
                    watch.tick(Instant::now())
                }
                Order::Kill => {
                    child.signal(Signal::KILL);
                    watch.tick(Instant::now())
                }
                Order::Wait => self.next(None, &mut watch, listener),
                Order::WaitUntil(deadline) => self.next(Some(deadline), &mut watch, listener),
            };
        }
        self.read_the_rest(listener);
        let status = child.reap();
        let leftovers = sweep::sweep(&mut *self.backend, leftovers, &mut self.kept, &*self.spared);
        Ok(Ended { status, cause: watch.cause(), took: started.elapsed(), leftovers })
    }

    /// What was printed in time but waits in the channel, because the listener was slow, still counts.
    fn read_the_rest(&mut self, listener: &mut dyn FnMut(ProcessEvent<'_>) -> Control) {
        while let Ok(message) = self.receiver.try_recv() {
            match message {
                Message::Output { serial, stream, bytes } if serial == self.serial => {
                    listener(ProcessEvent::Output(stream, &bytes));
                }
                message => self.count_stop(&message),
            }
        }
    }

    /// Runs a process and keeps the beginning of what it prints.
    pub fn capture(&mut self, spec: Spec, most: usize) -> io::Result<Captured> {
        self.capture_and(spec, most, &mut |_| {})
    }

    /// Runs a process, keeps the beginning of what it prints, and says what happens beside that.
    pub fn capture_and(
        &mut self,
        spec: Spec,
        most: usize,
        notice: &mut dyn FnMut(&ProcessEvent<'_>),
    ) -> io::Result<Captured> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ended = self.run(spec, &mut |happening| {
            match happening {
                ProcessEvent::Output(stream, bytes) => {
                    let into = if stream == Stream::Out { &mut out } else { &mut err };
                    into.extend_from_slice(&bytes[..bytes.len().min(most.saturating_sub(into.len()))]);
                }
                ProcessEvent::StopRequested | ProcessEvent::Tick => notice(&happening),
            }
            Control::Something
        })?;
        Ok(Captured { ended, out, err })
    }

    /// Waits until that moment or until someone asks ralph to stop.
    pub fn wait(&mut self, deadline: Instant, on_tick: &mut dyn FnMut()) -> Waited {
        if let Some(guardian) = &mut self.guardian {
            guardian.watch_nothing();
        }
        loop {
            if 0 < self.stops {
                return Waited::StopRequested;
            }
            let now = Instant::now();
            if self.is_tick(now) {
                on_tick();
            }
            let until = self.next_tick.map_or(deadline, |tick| tick.min(deadline));
            match self.receiver.recv_timeout(until.saturating_duration_since(now)) {
                Ok(message) => self.count_stop(&message),
                Err(RecvTimeoutError::Timeout) if until < deadline => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Waited::Elapsed,
            }
        }
    }

    /// Whether a tick was due; sets the next.
    fn is_tick(&mut self, now: Instant) -> bool {
        let is_due = self.next_tick.is_some_and(|tick| tick <= now);
        if is_due {
            self.next_tick = Some(now + TICK_INTERVAL);
        }
        is_due
    }

    /// Says that the run ended as it should, so that the guardian lets go.
    pub fn release(mut self) {
        if let Some(guardian) = self.guardian.take() {
            guardian.release();
        }
    }

    fn count_stop(&mut self, message: &Message) {
        if let Message::Signal(urgency) = message {
            self.stops = match urgency {
                signals::Urgency::Another => self.stops + 1,
                signals::Urgency::Once => self.stops.max(1),
                signals::Urgency::Now => self.stops.max(1) + 1,
            };
        }
    }

    fn next(
        &mut self,
        deadline: Option<Instant>,
        watch: &mut Watch,
        listener: &mut dyn FnMut(ProcessEvent<'_>) -> Control,
    ) -> Order {
        let message = match deadline.into_iter().chain(self.next_tick).min() {
            Some(deadline) => {
                self.receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
            }
            None => self.receiver.recv().ok(),
        };
        let now = Instant::now();
        watch.clock(now, SystemTime::now());
        let is_enough = self.is_tick(now) && listener(ProcessEvent::Tick) == Control::Enough;
        match message {
            Some(Message::Output { serial, stream, bytes }) if serial == self.serial => {
                watch.output(now);
                match listener(ProcessEvent::Output(stream, &bytes)) {
                    Control::Noise => {}
                    Control::Something => watch.begun(),
                    Control::Result => {
                        watch.begun();
                        watch.result();
                    }
                    Control::Enough => return watch.enough(now),
                }
            }
            Some(Message::Closed { serial }) if serial == self.serial => watch.pipe_closed(),
            Some(Message::Exited { serial }) if serial == self.serial => watch.exited(now),
            Some(message @ Message::Signal(_)) => {
                let before = self.stops;
                self.count_stop(&message);
                if before == 0 {
                    listener(ProcessEvent::StopRequested);
                }
                // The first request lets the operation finish.
                if before < self.stops && 1 < self.stops {
                    return watch.interrupt(now);
                }
            }
            // A leftover of an earlier process, or nothing at all.
            Some(Message::Output { .. } | Message::Closed { .. } | Message::Exited { .. }) | None => {}
        }
        if is_enough { watch.enough(now) } else { watch.tick(now) }
    }
}
