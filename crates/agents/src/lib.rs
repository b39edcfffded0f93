//! What agents say, in one vocabulary, and how each kind of agent is called.
//!
//! Invariant: nothing an agent prints is an error here. A line that cannot be understood becomes
//! [`AgentEvent::Unknown`], and the stream goes on.

#![forbid(unsafe_code)]

mod amp;
mod claude;
mod codex;
pub mod context;
mod conversation;
mod copilot;
mod flags;
mod gemini;
pub mod hooking;
mod lines;
mod messages;
mod ndjson;
mod opencode;
mod pi;
mod qwen;
pub mod raw;
mod running;
pub mod scripted;
mod status;
mod summary;
mod text;
mod todos;
pub mod transcript;
pub mod turn;
pub mod versions;

#[cfg(test)]
mod tests;

use hooking::{Hooking, Hooks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The agents that are known by name, in the order in which they are offered.
pub const AGENTS: [&str; 8] = ["claude", "codex", "amp", "gemini", "opencode", "qwen", "copilot", "pi"];

/// Returns how to call and read the agent behind a command; an unknown one is read as plain text.
pub fn adapter(command: &str) -> &'static dyn Adapter {
    match name(command).as_str() {
        "amp" => &amp::Amp,
        "claude" => &claude::Claude,
        "codex" => &codex::Codex,
        "copilot" => &copilot::Copilot,
        "gemini" => &gemini::Gemini,
        "opencode" => &opencode::Opencode,
        "pi" => &pi::Pi,
        "qwen" => &qwen::Qwen,
        "ralph" => &scripted::Scripted,
        _ => plain_text(),
    }
}

/// Returns the adapter for what prints nothing but its answer: unknown agents, and known ones that were
/// asked for [`Output::Text`].
pub fn plain_text() -> &'static dyn Adapter {
    &text::Text
}

/// Returns the lower-case base name of a command without `.exe`; both kinds of slash separate.
fn name(command: &str) -> String {
    let base = command.rsplit(['/', '\\']).next().unwrap_or(command).to_lowercase();
    base.strip_suffix(".exe").unwrap_or(&base).to_owned()
}

/// One thing an agent said or did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The agent is up and says who it is.
    Started {
        /// The agent's own name of the conversation.
        session: Option<String>,
        /// The model that answers.
        model: Option<String>,
        /// The agent's own version, where it says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// The agent's own words; the only place where a claim counts.
    Text {
        /// What was said.
        text: String,
        /// This goes on where the text before it stopped: same message, nothing in between.
        joins: bool,
    },
    /// The words of a subagent, in one line; no claim counts in them.
    Subagent {
        /// What was said.
        text: String,
    },
    /// A tool call began.
    ToolStart {
        /// Joins the start with its end.
        id: String,
        /// The tool's name as the agent says it.
        name: String,
        /// The most telling argument: a path, a command, a pattern.
        summary: String,
        /// The tool call of the subagent that does this, if one does.
        parent: Option<String>,
    },
    /// A tool call ended.
    ToolEnd {
        /// Joins the end with its start.
        id: String,
        /// Whether the tool says that it worked.
        ok: bool,
        /// The beginning of what it printed.
        output: Excerpt,
    },
    /// The agent's list of things to do, whole.
    Todo {
        /// In the agent's order.
        items: Vec<TodoItem>,
    },
    /// A hook has judged a tool call before it runs.
    Judged,
    /// Something worth a quiet line: thinking, a retry, a notice.
    Progress {
        /// What happens.
        text: String,
    },
    /// The agent considers its turn finished. There may be several; usage is what came since the last.
    Result(TurnResult),
    /// What the service says about the user's quota.
    Limit(Limit),
    /// A line that this version does not know.
    Unknown {
        /// The event's own type, or what kind of junk it was.
        what: String,
    },
}

/// The beginning of a text that may be very long.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// At most [`Excerpt::MAX`] bytes, cut at a character.
    pub text: String,
    /// Lines of the whole.
    pub lines: usize,
    /// Characters of the whole.
    pub chars: usize,
}

impl Excerpt {
    /// How many bytes of a text are kept.
    pub const MAX: usize = 8 * 1024;

    /// Keeps the beginning of `whole` and counts the rest.
    pub fn of(whole: &str) -> Self {
        let text = &whole[..whole.floor_char_boundary(Self::MAX)];
        Self { text: text.to_owned(), lines: whole.lines().count(), chars: whole.chars().count() }
    }
}

/// One entry of an agent's to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TodoItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far an entry of a to-do list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Being worked on.
    Active,
    /// Finished.
    Done,
}

/// What an agent reports when it considers its turn finished.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TurnResult {
    /// The final answer where the agent repeats it.
    pub text: Option<String>,
    /// Why the turn failed, if it did.
    pub failure: Option<Failure>,
    /// What it used since the last result.
    pub usage: Usage,
    /// How many times it asked the model, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Tool calls that the agent's own permission rules refused, by tool name.
    pub denials: Vec<String>,
}

/// What a turn used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// In US dollars, where the agent says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens in, cached ones included.
    pub input: u64,
    /// Of those, tokens read from the cache.
    pub cached: u64,
    /// Tokens out.
    pub output: u64,
}

impl Usage {
    /// Tokens in and out.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds what came after.
    pub fn add(&mut self, other: Self) {
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

/// Why a turn failed, as far as the structure of the stream says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What can be done about it.
    pub kind: FailureKind,
    /// For people.
    pub message: String,
}

/// What can be done about a failed turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Another attempt may work.
    Transient,
    /// The service is overloaded: wait longer each time.
    Overloaded,
    /// The quota is used up until this moment, in seconds since 1970.
    Limited {
        /// When the quota comes back, where the service says so.
        resets_at: Option<i64>,
    },
    /// The agent's own limit on what a turn may cost is reached.
    OwnCap,
    /// No attempt will work before a person acts: bad key, no credit.
    Permanent,
}

/// What the service says about the user's quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// Whether requests are refused until it resets.
    pub refused: bool,
    /// Seconds since 1970.
    pub resets_at: Option<i64>,
    /// Which window: `five_hour` and the like.
    pub window: Option<String>,
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
    /// Whether it can go on with an earlier conversation.
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
    /// The conversation to go on with, if it can.
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
    /// Nobody: the agent's checks are skipped.
    Skip,
}

/// The first signal an agent gets when it must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstSignal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
}
