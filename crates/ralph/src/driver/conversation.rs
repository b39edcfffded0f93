//! Turns of one conversation: what the agent is told each time, and how a process that takes one message after the
//! other is kept going.

use std::{
    io::{self, Write},
    sync::mpsc::{Sender, channel},
    time::Instant,
};

use jiff::Timestamp;
use ralph_agents::{
    Adapter,
    turn::{Exit, Tally, conclude},
};
use ralph_core::duration::millis;
use ralph_core::{
    engine::{
        Action, Run,
        event::{Event, GateEnded, Turn, TurnEnd},
        plan::Check,
    },
    key_mask::masked,
    prompt::{Feedback, notes::with_notes},
    session::{contract, reminder},
    setup::{InSession, PromptSource, Setup},
};
use ralph_sandbox::Sandbox;
use ralph_sys::process::{Control, Ended, ProcessEvent, Spec, Stream};

use super::{
    budget::{keep_to_budget, worth},
    containment::tampered,
    ended::{Noticed, Over},
    hooking::Hooked,
    ledger::Ledger,
    listener::Listener,
    site::Site,
    work,
};
use crate::{
    journal::{
        kept_stream::KeptStream,
        run_dir::{AGENT_STREAM, RunDir, record, record_into},
    },
    report::Reporter,
};

/// What the agent is told in a run that lives in a conversation; nothing in other runs.
pub(super) fn next_message(site: &Site, turn: &Turn) -> Option<String> {
    let session = site.setup.session.as_ref()?;
    let is_new = site.run().memory.conversation.is_none();
    Some(message(&site.ledger, &site.setup, session, site.adapter(), (is_new, &turn.notes)))
}

/// The first message of a process that takes several; nothing if it takes one.
pub(super) fn first_message(site: &Site, prompt: &str) -> Option<String> {
    site.setup.session.as_ref()?;
    // Those need processes of their own, which must not run beside the agent.
    let has_commands = site.run().plan.gates.iter().any(|gate| gate.check.is_command());
    if has_commands { None } else { site.adapter().next_message(prompt) }
}

/// Runs a process that takes one message after the other, turn by turn, as long as the engine wants another.
/// The turn in which it ends by itself is left to the caller.
pub(super) fn converse(
    site: &mut Site,
    spec: Spec,
    listener: &mut Listener,
    hooked: Option<&Hooked>,
    sandbox: Option<&Sandbox>,
) -> io::Result<Ended> {
    let (sender, more) = channel();
    let (adapter, folder) = (site.adapter(), site.turn_folder());
    let Site { supervisor, ledger, setup, dir } = site;
    let (sender, since) = (Some(sender), Instant::now());
    let copy = record_into(&folder.join(AGENT_STREAM)).ok().map(KeptStream::new);
    let mut talk = Talk { ledger, setup, dir, adapter, sender, since, hooked, copy, sandbox };
    let ended = supervisor.converse(spec, more, &mut |happening| match happening {
        ProcessEvent::Output(Stream::Err, bytes) => {
            talk.ledger.reporters.moment(Timestamp::now());
            listener.on_complaint(bytes, &mut |line| talk.ledger.complaint(line))
        }
        ProcessEvent::Output(Stream::Out, bytes) => {
            talk.ledger.reporters.moment(Timestamp::now());
            talk.keep(bytes);
            let heard = listener.on_output(bytes, &mut |event| talk.ledger.reporters.agent(event));
            let heard = if heard == Control::Result { talk.next(listener) } else { heard };
            talk.ledger.reporters.flush();
            keep_to_budget(talk.ledger, talk.setup, listener, heard)
        }
        ProcessEvent::StopRequested => {
            talk.ledger.notice(&happening);
            Control::Something
        }
        ProcessEvent::Tick => listener.time_passed(talk.ledger, talk.dir),
    });
    listener.finish(&mut |event| site.ledger.reporters.agent(event));
    ended
}

/// A conversation with a running process.
struct Talk<'a> {
    ledger: &'a mut Ledger,
    setup: &'a Setup,
    dir: &'a RunDir,
    adapter: &'static dyn Adapter,
    /// Closed when nothing more will be said.
    sender: Option<Sender<Vec<u8>>>,
    since: Instant,
    /// Who looks after the hooks of the process, if it has any.
    hooked: Option<&'a Hooked>,
    /// Where the stream of the current turn is kept; nowhere if the disk refuses.
    copy: Option<KeptStream>,
    sandbox: Option<&'a Sandbox>,
}

impl Talk<'_> {
    /// Keeps what the agent prints with the turn it belongs to.
    fn keep(&mut self, bytes: &[u8]) {
        if self.copy.as_mut().is_some_and(|copy| copy.write_all(bytes).is_err()) {
            self.copy = None;
        }
    }

    /// A turn is over: records it, and gives the agent the next message or none.
    fn next(&mut self, listener: &mut Listener) -> Control {
        if self.sender.is_none() || !self.ledger.run().state.is_in_turn() {
            return Control::Result;
        }
        let (claimed, blocked) = (listener.scanner.claimed(), listener.scanner.blocked());
        if (claimed || blocked.is_some()) && self.sandbox.is_some_and(|sandbox| !sandbox.level().protects()) {
            // Before it counts, the process ends and the caller looks what it changed to the last.
            self.sender = None;
            return Control::Result;
        }
        let usage = worth(self.setup, listener);
        let tally = listener.renew(&self.ledger.run().plan.claims);
        // The caller knows more about a process that fails.
        if conclude(true, Exit::Code(0), &tally).is_err() {
            listener.tally = tally;
            self.sender = None;
            return Control::Result;
        }
        let session = tally.session.clone().or_else(|| self.ledger.run().memory.conversation.clone());
        let over = Over {
            end: TurnEnd::Finished,
            claimed,
            blocked,
            reason: None,
            code: None,
            is_mute: false,
            ms: millis(self.since.elapsed()),
            usage,
            leftovers: Vec::new(),
            last_lines: Vec::new(),
            tally: Tally { session, ..tally },
            review: None,
        };
        let noticed = Noticed {
            tampered: self.sandbox.and_then(tampered),
            hooks: self.hooked.map(|hooked| hooked.settle(&over.tally)),
            ..Noticed::default()
        };
        let (calls, ended) = over.recorded(noticed);
        self.ledger.record_judgements(calls);
        self.ledger.record(Event::TurnEnded(Box::new(ended)));
        self.since = Instant::now();
        self.advance().unwrap_or(Control::Result)
    }

    /// Judges the turn; nothing if that ends the process.
    fn advance(&mut self) -> Option<Control> {
        loop {
            match self.ledger.run().next(Timestamp::now()) {
                Action::RunGate(gate) => {
                    let Check::Work { tool_calls, otherwise } = self.ledger.run().plan.gates[gate].check
                    else {
                        break;
                    };
                    let is_enough = u64::from(tool_calls) <= self.ledger.run().state.spent().tools;
                    let failure = work::judge(self.ledger, is_enough, otherwise);
                    let ended = GateEnded::own(gate, failure, String::new());
                    self.ledger.record(Event::GateEnded(ended));
                }
                Action::RunTurn(order) => {
                    let session = self.setup.session.as_ref()?;
                    let text = message(self.ledger, self.setup, session, self.adapter, (false, &order.notes));
                    let line = self.adapter.next_message(&text)?;
                    let folder = self.dir.turn(order.iteration, order.attempt);
                    // Before the turn is on record: what stands in it from then on is this turn's.
                    self.copy = record_into(&folder.join(AGENT_STREAM)).ok().map(KeptStream::new);
                    self.ledger.record(Event::TurnStarted(order.into()));
                    // What people may want to read later; the loop does without.
                    let _ = record(&folder.join("prompt.md"), masked(&text).as_bytes());
                    self.sender.as_ref()?.send(line.into_bytes()).ok()?;
                    return Some(Control::Something);
                }
                _ => break,
            }
        }
        self.sender = None;
        None
    }
}

/// The contract at the start of a conversation, a reminder later on.
fn message(
    ledger: &Ledger,
    setup: &Setup,
    session: &InSession,
    adapter: &dyn Adapter,
    (is_new, notes): (bool, &[u32]),
) -> String {
    let task = match &setup.prompt {
        PromptSource::Text(task) => task,
        PromptSource::File(_) | PromptSource::Template(_) => "",
    };
    let harmless = |feedback: &Feedback| feedback.harmless(|text| adapter.harmless(text));
    let text = if is_new {
        contract(&ledger.run().plan, task)
    } else {
        let feedback: Vec<Feedback> = ledger.run().state.feedback().iter().map(harmless).collect();
        reminder(&ledger.run().plan, session, task, &feedback)
    };
    let Run { plan, state, .. } = ledger.run();
    adapter.deliverable(with_notes(text, &state.note_texts(notes), &plan.claims))
}
