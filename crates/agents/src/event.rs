//! What agents say and do, in one vocabulary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// A line of plain text in a stream of events: what an agent says that cannot begin, such as where to log in.
    Stray {
        /// The line, or its beginning.
        text: String,
    },
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
    /// The cost is ralph's own estimate: from a list of prices, or because the turn ended before the agent said it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
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
        self.estimated |= other.estimated;
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
    /// The agent's own limit on what a turn may cost is reached; version 0.1 called it `own_cap`.
    #[serde(alias = "own_cap")]
    AgentBudget,
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
    /// Every window that is counted, as far as the service says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<QuotaWindow>,
}

/// How much of one usage window is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuotaWindow {
    /// In percent, rounded up; above 100 where more is used than the plan has.
    pub used: u32,
    /// When it begins anew, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resets_at: Option<i64>,
}

impl QuotaWindow {
    /// A window of which this many percent are used. Nonsense is no window.
    pub fn new(percent: f64, resets_at: Option<i64>) -> Option<Self> {
        // 81.3 used leave less than 19; 0.07 times 100 is a little more than 7.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
        let used = percent.is_finite().then(|| (percent - 1e-6).ceil().clamp(0.0, 1000.0) as u32)?;
        Some(Self { used, resets_at })
    }
}

impl Limit {
    /// The window of which most is used.
    pub fn fullest(&self) -> Option<QuotaWindow> {
        self.windows.iter().copied().max_by_key(|window| (window.used, window.resets_at))
    }

    /// When all windows that are used up have begun anew; nothing if none is, or one does not say it.
    pub fn full_until(&self) -> Option<i64> {
        let full = self.windows.iter().filter(|window| 100 <= window.used);
        full.map(|window| window.resets_at).max_by_key(|at| at.unwrap_or(i64::MAX)).flatten()
    }
}
