//! Who words the message of a commit: the agent, in a turn that is metered like any other, or the task.

use std::io;

use ralph_agents::{AgentEvent, Output};
use ralph_core::{
    duration::millis,
    engine::{Run, budget::reached, event::Event},
    prompt::message::{commit_message, message_from_task},
    setup::MessageFrom,
};
use ralph_sandbox::spool::FOLDER;
use ralph_sys::{
    error::Result,
    process::{Control, Ended, ProcessEvent, Sink, Spec, Stream},
};

use super::{Committing, MAX_ANSWER_LEN};
use crate::{
    driver::{
        agent::{Call, Purpose, copied_to},
        budget::{end_of_run, keep_to_budget, time_left, worth},
        listener::Listener,
        site::Site,
    },
    journal::hook_notes,
};

/// What the agent is asked, word for word.
const MESSAGE_PROMPT: &str =
    "Provide a short imperative commit message for the changes. Output only the message, no explanation.";
/// How often it is asked.
const MESSAGE_TURNS: u32 = 2;

/// The words for a commit.
pub(super) struct Worded {
    pub(super) message: String,
    /// Whether an agent had a turn for them: it may have changed files.
    pub(super) was_asked: bool,
}

impl Committing<'_> {
    /// The agent's words for what it did, or a message made from the task.
    pub(super) fn message(&mut self) -> Result<Worded> {
        // By an earlier process of the run, which did not live to commit: it is not paid for twice.
        if let Some(message) = self.site.run().memory.message.clone() {
            return Ok(Worded { message, was_asked: false });
        }
        if self.site.setup.message == MessageFrom::Task {
            return Ok(Worded { message: self.message_from_task()?, was_asked: false });
        }
        let turns = if self.site.run().memory.misused_question { 0 } else { MESSAGE_TURNS };
        let mut was_asked = false;
        for asked in 1..=turns {
            if is_spent(self.site.run()) {
                break;
            }
            was_asked = true;
            if let Some(message) = self.ask_for_message(asked) {
                return Ok(Worded { message, was_asked });
            }
            if self.site.supervisor.stop_requested() {
                break;
            }
        }
        Ok(Worded { message: self.message_from_task()?, was_asked })
    }

    fn message_from_task(&mut self) -> Result<String> {
        let (iteration, _) = self.site.run().state.position();
        let task = match self.site.run().memory.turn.as_ref().and_then(|last| last.turn.task.clone()) {
            Some(task) => task,
            None => self.prompts.base(self.site, self.containment)?,
        };
        Ok(message_from_task(&self.site.run().plan.preset, iteration, &task))
    }

    fn ask_for_message(&mut self, asked: u32) -> Option<String> {
        let (iteration, _) = self.site.run().state.position();
        let folder = self.site.turn_folder();
        let call = Call {
            prompt: MESSAGE_PROMPT,
            purpose: Purpose::Message,
            streams_input: false,
            // Only the stream says what the turn used.
            output: Output::Stream,
            iteration,
            spool: &folder.join(FOLDER),
            stdout: copied_to(&folder.join(format!("message-{asked}.out"))),
            stderr: Sink::Null,
        };
        let spec = self.agent.spec(self.site, call);
        let total = spec.limits.total.into_iter().chain(time_left(self.site.run())).min();
        let spec = spec.within(total).until(end_of_run(self.site.run()));
        let spec = self.containment.wrap(spec).ok()?;
        let mut listener = Listener::new(self.site.adapter(), &[], MESSAGE_PROMPT);
        let mut answer = Answer::default();
        let ended = hear_answer(self.site, spec, &mut listener, &mut answer);
        let (has_succeeded, ms) = match &ended {
            Ok(ended) => (ended.status.is_some_and(|status| status.success()), millis(ended.took)),
            Err(_) => (false, 0),
        };
        let is_answer = has_succeeded && listener.tally.failure.is_none();
        let message = if is_answer { commit_message(&answer.words(&listener)) } else { None };
        let usage = worth(&self.site.setup, &listener);
        self.containment.note_contacts(self.site);
        self.site.ledger.record_judgements(hook_notes::take(&folder.join(FOLDER)).calls);
        self.site.ledger.record(Event::MessageAsked {
            agent: self.wording.clone(),
            message: message.clone(),
            usage,
            ms,
        });
        message
    }
}

/// Whether a budget of the run is used up: then the agent is not asked.
fn is_spent(run: &Run) -> bool {
    let spent = run.state.spent();
    reached(&run.plan.limits, &spent.usage, &spent.iteration).is_some()
}

/// Runs the agent to its end, without showing what it says: its answer is shown as the commit's.
fn hear_answer(
    site: &mut Site,
    spec: Spec,
    listener: &mut Listener,
    answer: &mut Answer,
) -> io::Result<Ended> {
    let Site { supervisor, ledger, setup, .. } = site;
    let ended = supervisor.run(spec, &mut |happening| match happening {
        ProcessEvent::Output(Stream::Err, _) => Control::Noise,
        ProcessEvent::Output(Stream::Out, bytes) => {
            answer.keep(bytes);
            let heard = listener.on_output(bytes, &mut |event| answer.take(event));
            keep_to_budget(ledger, setup, listener, heard)
        }
        ProcessEvent::StopRequested | ProcessEvent::Tick => {
            ledger.notice(&happening);
            Control::Something
        }
    });
    listener.finish(&mut |event| answer.take(event));
    ended
}

/// What the agent answers: its last message, at most [`MAX_ANSWER_LEN`] bytes of it.
#[derive(Default)]
struct Answer {
    message: String,
    /// What it printed, for an agent that answers outside of its stream.
    printed: Vec<u8>,
}

impl Answer {
    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_ANSWER_LEN.saturating_sub(self.printed.len());
        self.printed.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take(&mut self, event: &AgentEvent) {
        let (text, joins) = match event {
            AgentEvent::Text { text, joins } => (text.as_str(), *joins),
            AgentEvent::Result(result) => (result.text.as_deref().unwrap_or_default(), false),
            _ => return,
        };
        if !joins {
            // A result may repeat the answer, or say nothing.
            if text.trim().is_empty() {
                return;
            }
            self.message.clear();
        }
        let room = MAX_ANSWER_LEN.saturating_sub(self.message.len());
        self.message.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// The words of the answer.
    fn words(self, listener: &Listener) -> String {
        if listener.tally.recognised == 0 {
            return String::from_utf8_lossy(&self.printed).into_owned();
        }
        self.message
    }
}
