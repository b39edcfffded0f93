//! The hooks that an agent can carry: which, and the language they speak.

pub mod answer;
pub mod host;
pub mod input;

/// Hooks for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// Ralph's own program, absolute.
    pub program: String,
    /// Whether ralph is asked when the agent tries to stop.
    pub on_stop: bool,
    /// What stands in the settings file that the user's flags name, for an agent that takes only one.
    pub settings: Option<String>,
}

impl Hooks {
    /// The command line for a shell that calls ralph for this event.
    pub(super) fn command(&self, event: &str) -> String {
        format!("{} hook {event}", shell_words::quote(&self.program))
    }
}

/// Whether an agent can carry hooks, and how it is seen that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooking {
    /// It cannot.
    Never,
    /// Its stream shows each call.
    Shown,
    /// Only the hooks themselves tell.
    Silent,
}

/// As many stops in a row Claude Code holds back, unless [`CAP_VARIABLE`] says otherwise.
pub const USUAL_CAP: u32 = 8;

/// The variable that lifts it.
pub const CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
