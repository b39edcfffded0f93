//! The tools of a turn: those that run, and which was shown last.

use std::collections::HashMap;

/// The tools of a turn.
#[derive(Default)]
pub(super) struct Tools {
    /// Those that run, by id.
    running: HashMap<String, Tool>,
    /// The one whose start was shown last, while nothing else was shown.
    last: Option<String>,
}

/// A tool that runs.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) summary: String,
    /// How many subagents stand between the agent and this tool.
    pub(super) depth: usize,
}

impl Tools {
    /// A new turn begins.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Something else was shown.
    pub(super) fn interrupted(&mut self) {
        self.last = None;
    }

    /// A tool began; returns its depth.
    pub(super) fn start(&mut self, id: &str, name: String, summary: String, parent: Option<&str>) -> usize {
        let depth = parent.map_or(0, |parent| self.running.get(parent).map_or(0, |parent| parent.depth) + 1);
        self.running.insert(id.to_owned(), Tool { name, summary, depth });
        self.last = Some(id.to_owned());
        depth
    }

    /// A tool ended; returns it, and whether its start stands right above.
    pub(super) fn end(&mut self, id: &str) -> (Tool, bool) {
        let follows = self.last.take().is_some_and(|last| last == id);
        let unknown = || Tool { name: "tool".to_owned(), summary: String::new(), depth: 0 };
        (self.running.remove(id).unwrap_or_else(unknown), follows)
    }
}
