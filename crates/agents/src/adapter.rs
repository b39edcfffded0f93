//! How an agent is called and read, whichever it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    event::{AgentEvent, FailureKind, Limit, Usage},
    hooking::{Hooking, Hooks},
};

/// One kind of agent: how it is called and how it is read.
pub trait Adapter: Sync {
    /// The lower-case name that settings and output use.
    fn name(&self) -> &'static str;
    /// The arguments after the program's name. A prompt in the request is the last of them.
    fn arguments(&self, request: &Request<'_>) -> Vec<String>;
    /// A fresh reader for one turn.
    fn parser(&self) -> Box<dyn Parser>;
    /// Whether the stream is structured, so that silence or junk on it is a failure.
    fn is_structured(&self) -> bool {
        true
    }
    /// What it says about what a turn uses.
    fn metering(&self) -> Metering {
        Metering::Tokens
    }
    /// The signal that asks this agent to clean up after itself and go.
    fn first_signal(&self) -> FirstSignal {
        FirstSignal::Term
    }
    /// What an exit code says about a failure that the stream leaves open.
    fn exit_means(&self, _code: i32) -> Option<FailureKind> {
        None
    }
    /// Whether this agent can carry ralph's hooks, and how it is seen that it does.
    fn hooks(&self) -> Hooking {
        Hooking::Never
    }
    /// The arguments that choose a model; nothing for an agent that always chooses by itself.
    fn model(&self, model: &str) -> Option<Vec<String>> {
        Some(vec!["--model".to_owned(), model.to_owned()])
    }
    /// The first version that does not run a tool when the hook before it fails, where earlier ones do.
    fn closes_hooks_since(&self) -> Option<&'static str> {
        None
    }
    /// The variable without which it refuses to skip its own rules for the superuser.
    fn skips_as_root_with(&self) -> Option<&'static str> {
        None
    }
    /// Whether a hook comes before this tool call: the service's own tools run where no hook is.
    fn is_hooked(&self, _id: &str, _name: &str) -> bool {
        true
    }
    /// Where it records what the service says about the quota, if its stream does not say it.
    fn quota_record(&self) -> Option<QuotaRecord> {
        None
    }
    /// Whether it says, for some accounts, how much of the usage limit is used.
    fn tells_quota(&self) -> bool {
        self.quota_record().is_some()
    }
    /// Whether it can continue an earlier conversation.
    fn can_resume(&self) -> bool {
        false
    }
    /// The line that gives it the next message of a running conversation, where it takes such lines on standard
    /// input.
    fn next_message(&self, _text: &str) -> Option<String> {
        None
    }
    /// Makes text that ralph adds to a prompt arrive as text: no mention or command of this agent's in it.
    fn harmless(&self, text: &str) -> String {
        text.to_owned()
    }
    /// Makes a whole prompt reach the model even when it looks like one of the agent's commands.
    fn deliverable(&self, prompt: String) -> String {
        prompt
    }
}

/// Turns the bytes of an agent's standard output into events.
pub trait Parser {
    /// Takes the next bytes, cut anywhere.
    fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(AgentEvent));
    /// The stream has ended; an unterminated last line counts.
    fn finish(&mut self, emit: &mut dyn FnMut(AgentEvent));
    /// What was used since the last result, as far as the stream says it meanwhile.
    fn running(&self) -> Usage {
        Usage::default()
    }
}

/// How an agent is to be called.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The user's flags, already split.
    pub flags: &'a [String],
    /// Events or plain text.
    pub output: Output<'a>,
    /// Who decides what the agent may do.
    pub permissions: Permissions,
    /// The prompt where it goes as an argument; nothing when it goes by standard input.
    pub prompt: Option<&'a str>,
    /// The hooks that it gets, if it can carry them.
    pub hooks: Option<&'a Hooks>,
    /// The conversation to continue, if it can.
    pub resume: Option<&'a str>,
    /// Whether messages come one by one on standard input, as [`Adapter::next_message`] has them.
    pub streams_input: bool,
    /// What the turn may cost, in US dollars, for agents that keep to such a limit by themselves.
    pub budget_usd: Option<f64>,
}

/// What the agent is asked to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// The agent's structured stream.
    Stream,
    /// Nothing but the answer. Agents that cannot keep it apart on standard output write it to this file.
    Text {
        /// Where such an agent writes its answer.
        answer: &'a str,
    },
}

/// Who decides what an agent may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permissions {
    /// The agent's own rules.
    #[default]
    Agent,
    /// No one: the agent's checks are skipped.
    Skip,
}

/// What an agent says about what a turn uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metering {
    /// Nothing at all.
    Nothing,
    /// Its tokens.
    Tokens,
    /// Its tokens and what they cost.
    Cost,
}

/// A record of conversations that has figures about the quota: `<home>/<sessions>/<year>/<month>/<day>/…-<session>.jsonl`.
#[derive(Clone, Copy, Debug)]
pub struct QuotaRecord {
    /// The variable that names the agent's folder.
    pub home: &'static str,
    /// Where that is without the variable, below the user's home.
    pub folder: &'static str,
    /// The folder of the records below it.
    pub sessions: &'static str,
    /// Finds the last word on the quota in the end of a record.
    pub last_limit: fn(&str) -> Option<Limit>,
}

/// The first signal an agent gets when it must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstSignal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
}
