//! What a turn came to: the events of one agent process, counted, and whether it succeeded.

use std::time::Duration;

use super::{AgentEvent, Failure, FailureKind, Limit, Usage};

/// A tool call that a hook comes before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookedTool {
    /// The agent's own name of the call.
    pub id: String,
    /// The tool's name as the agent says it.
    pub name: String,
}

/// The events of one turn, counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Whether the agent said anything at all.
    pub spoke: bool,
    /// Tool calls that began.
    pub tools: u64,
    /// Tool calls that failed.
    pub tool_errors: u64,
    /// Tool calls that did what they should and that a hook comes before.
    pub hooked_tools: Vec<HookedTool>,
    /// Tool calls that a hook judged before they ran.
    pub judged: u64,
    /// What the turn used.
    pub usage: Usage,
    /// The model that answered.
    pub model: Option<String>,
    /// The agent's own version, where it says so.
    pub version: Option<String>,
    /// The agent's own name of the conversation.
    pub session: Option<String>,
    /// How many times the agent considered its turn finished.
    pub results: u64,
    /// Why the last of them failed, if it did.
    pub failure: Option<Failure>,
    /// The last word on the user's quota.
    pub limit: Option<Limit>,
    /// Tools that the agent's own permission rules refused, each once.
    pub denials: Vec<String>,
    /// Events that ralph understands.
    pub recognised: u64,
    /// Lines that it does not.
    pub unknown: u64,
    /// Of those, lines of plain text.
    pub stray: u64,
}

impl Tally {
    /// Takes the next event.
    pub fn take(&mut self, event: &AgentEvent) {
        if let AgentEvent::Unknown { .. } | AgentEvent::Stray { .. } = event {
            self.unknown += 1;
            self.stray += u64::from(matches!(event, AgentEvent::Stray { .. }));
            return;
        }
        self.recognised += 1;
        match event {
            AgentEvent::Started { session, model, version } => {
                self.version = version.clone().or_else(|| self.version.take());
                self.session = session.clone().or_else(|| self.session.take());
                self.model = model.clone().or_else(|| self.model.take());
            }
            AgentEvent::Text { text, .. } => self.on_text(text),
            AgentEvent::ToolStart { .. } => self.tools += 1,
            AgentEvent::ToolEnd { ok, .. } => self.tool_errors += u64::from(!ok),
            AgentEvent::Judged => self.judged += 1,
            AgentEvent::Result(result) => {
                self.on_text(result.text.as_deref().unwrap_or_default());
                self.results += 1;
                self.usage.add(result.usage);
                self.failure.clone_from(&result.failure);
                for tool in &result.denials {
                    if !self.denials.contains(tool) {
                        self.denials.push(tool.clone());
                    }
                }
            }
            AgentEvent::Limit(limit) => self.limit = Some(limit.clone()),
            AgentEvent::Todo { .. }
            | AgentEvent::Subagent { .. }
            | AgentEvent::Progress { .. }
            | AgentEvent::Stray { .. }
            | AgentEvent::Unknown { .. } => {}
        }
    }

    fn on_text(&mut self, text: &str) {
        self.spoke = self.spoke || !text.trim().is_empty();
    }
}

/// How an agent's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took longer than this and was ended.
    TimedOut(Duration),
    /// It printed nothing for this long and was ended.
    Idle(Duration),
    /// It printed no event for this long after its start and was ended.
    NoStart(Duration),
    /// It printed its result, did not exit, and was ended.
    Lingered,
}

/// Judges a turn. What the agent's last result says comes first: exit codes tell little.
pub fn conclude(structured: bool, exit: Exit, tally: &Tally) -> Result<(), Failure> {
    if let Some(failure) = &tally.failure {
        return Err(failure.clone());
    }
    let problem = match exit {
        Exit::TimedOut(limit) => format!("took longer than {limit:?}"),
        Exit::Idle(limit) => format!("printed nothing for {limit:?}"),
        // Text instead of events is meant for a person: where to log in, what to accept. No attempt changes that.
        Exit::NoStart(limit) if 0 < tally.stray => {
            return Err(Failure {
                kind: FailureKind::Permanent,
                message: format!("did not begin within {limit:?}, and printed text for a person"),
            });
        }
        Exit::NoStart(limit) => format!("did not begin within {limit:?}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::Code(code) if code != 0 => format!("exited with code {code}"),
        Exit::Code(_) | Exit::Lingered if structured && tally.recognised == 0 => {
            "printed nothing that ralph understands".to_owned()
        }
        Exit::Code(_) | Exit::Lingered if !tally.spoke && tally.tools == 0 => "said nothing".to_owned(),
        Exit::Code(_) | Exit::Lingered => return Ok(()),
    };
    Err(Failure { kind: FailureKind::Transient, message: problem })
}

#[cfg(test)]
mod tests;
