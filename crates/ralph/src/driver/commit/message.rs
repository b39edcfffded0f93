//! Who words the message of a commit: the agent, or the task.

use std::path::Path;

use ralph_agents::{Output, Usage};
use ralph_core::{
    duration::millis,
    engine::event::Event,
    prompt::{commit_message, message_from_task},
    setup::MessageFrom,
};
use ralph_sandbox::spool::FOLDER;
use ralph_sys::{
    calls::succeeded,
    error::Result,
    files::Root,
    process::{ProcessEvent, Sink},
};

use super::{Committing, MAX_ANSWER_LEN};
use crate::{
    driver::{
        agent::{Call, copied_to},
        site::Site,
    },
    journal::hook_notes,
};

/// What the agent is asked, word for word.
const MESSAGE_PROMPT: &str =
    "Provide a short imperative commit message for the changes. Output only the message, no explanation.";
/// How often it is asked.
const MESSAGE_TURNS: u32 = 2;

impl Committing<'_> {
    /// The agent's words for what it did, or a message made from the task.
    pub(super) fn message(&mut self) -> Result<String> {
        if self.site.setup.message == MessageFrom::Task {
            return self.message_from_task();
        }
        let turns = if self.site.run().memory.misused_question { 0 } else { MESSAGE_TURNS };
        for asked in 1..=turns {
            if let Some(message) = self.ask_for_message(asked) {
                return Ok(message);
            }
            if self.site.supervisor.stop_requested() {
                break;
            }
        }
        self.message_from_task()
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
        // Inside a sandbox the record cannot be written.
        let writable = self.containment.tmp().unwrap_or(&folder).to_owned();
        let answer = writable.join(format!("message-{asked}.txt"));
        let call = Call {
            prompt: MESSAGE_PROMPT,
            streams_input: false,
            output: Output::Text { answer: &answer.to_string_lossy() },
            iteration,
            spool: &folder.join(FOLDER),
            stdout: copied_to(&folder.join(format!("message-{asked}.out"))),
            stderr: Sink::Null,
        };
        let spec = self.agent.spec(self.site, call);
        let spec = self.containment.wrap(spec).ok()?;
        let Site { supervisor, ledger, .. } = &mut *self.site;
        let notice = &mut |happening: &ProcessEvent<'_>| ledger.notice(happening);
        let Ok(captured) = supervisor.capture_and(spec, MAX_ANSWER_LEN, notice) else {
            return None;
        };
        let said = written(&writable, &answer)
            .unwrap_or_else(|| String::from_utf8_lossy(&captured.out).into_owned());
        let message = if succeeded(&captured) { commit_message(&said) } else { None };
        let ms = millis(captured.ended.took);
        self.containment.note_contacts(self.site);
        self.site.ledger.record_judgements(hook_notes::take(&folder.join(FOLDER)).calls);
        self.site.ledger.record(Event::MessageAsked {
            message: message.clone(),
            usage: Usage::default(),
            ms,
        });
        message
    }
}

/// What the agent wrote into its answer file, if it writes one.
fn written(folder: &Path, answer: &Path) -> Option<String> {
    let text = Root::new(folder).read(answer, MAX_ANSWER_LEN as u64).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.trim().is_empty())
}
