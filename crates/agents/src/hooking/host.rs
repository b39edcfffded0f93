//! The program that calls the hooks, as far as ralph must know it.

/// The program that a conversation is held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Another one that speaks their language: Gemini, Qwen, Copilot.
    Other,
}

impl Host {
    /// Its name among the agents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Other => "other",
        }
    }

    /// Whether its hooks count tool calls.
    pub fn counts_tools(self) -> bool {
        match self {
            Self::Claude | Self::Codex => true,
            Self::Other => false,
        }
    }

    /// What stands before the name of a command.
    pub fn sign(self) -> char {
        match self {
            Self::Claude | Self::Other => '/',
            Self::Codex => '$',
        }
    }

    /// What the agent must know about the words of a hook, if they do not reach it as they are.
    pub fn caution(self) -> Option<&'static str> {
        match self {
            Self::Claude | Self::Other => None,
            Self::Codex => Some(
                "(Angle brackets and ampersands may be shown as entities in this message. In the promise, write the \
                 characters themselves.)",
            ),
        }
    }
}
