//! The last lines of an agent's stream, as a screen shows them.

use std::collections::{HashMap, VecDeque};

use ralph_agents::{AgentEvent, TodoItem, TodoState};
use serde::Serialize;

use super::harmless;

/// As many tool calls may be on their way at once; more than that are forgotten.
const MAX_OPEN_TOOLS: usize = 256;

/// A line that comes in pieces is not taken in beyond this, in bytes.
const MAX_OPEN_LEN: usize = 16 * 1024;

/// What a line of the stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LineKind {
    /// The agent's own words.
    Text,
    /// A tool call.
    Tool,
    /// A tool call that failed, and what it printed.
    ToolFailed,
    /// An entry of the agent's own list of things to do.
    Todo,
    /// What is worth a quiet line: thinking, a retry, a subagent.
    Note,
    /// A turn begins; written by ralph.
    Turn,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownLine {
    /// Counts on; no two lines of a run have the same.
    pub number: u64,
    /// What it is.
    pub kind: LineKind,
    /// One harmless line.
    pub text: String,
}

/// The last lines of a stream.
#[derive(Clone, Debug)]
pub struct StreamTail {
    max_lines: usize,
    lines: VecDeque<ShownLine>,
    next: u64,
    /// The last line as it came, if it is text that may go on.
    open: Option<String>,
    /// What each tool call on its way was to do.
    tools: HashMap<String, String>,
}

impl StreamTail {
    /// Keeps so many lines.
    pub fn new(max_lines: usize) -> Self {
        let (lines, tools) = (VecDeque::new(), HashMap::new());
        Self { max_lines, lines, next: 0, open: None, tools }
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> &VecDeque<ShownLine> {
        &self.lines
    }

    /// How many lines there ever were.
    pub fn count(&self) -> u64 {
        self.next
    }

    /// A turn begins.
    pub fn turn(&mut self, text: &str) {
        self.tools.clear();
        self.push(LineKind::Turn, text);
    }

    /// Takes in what the agent said or did.
    pub fn agent(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Text { text, joins } => self.text(text, *joins),
            AgentEvent::ToolStart { id, name, summary, .. } => self.tool_started(id, name, summary),
            AgentEvent::ToolEnd { id, ok: false, output } => {
                let what = self.tools.remove(id).unwrap_or_default();
                let first = output.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                self.push(LineKind::ToolFailed, &format!("{what} failed: {first}"));
            }
            AgentEvent::ToolEnd { id, ok: true, .. } => drop(self.tools.remove(id)),
            AgentEvent::Todo { items } => items.iter().for_each(|item| self.todo(item)),
            AgentEvent::Subagent { text } | AgentEvent::Progress { text } | AgentEvent::Stray { text } => {
                self.push(LineKind::Note, text.lines().next().unwrap_or_default());
            }
            AgentEvent::Limit(limit) if limit.refused => {
                self.push(LineKind::Note, "the service refuses requests: the usage limit is reached");
            }
            AgentEvent::Started { .. }
            | AgentEvent::Judged
            | AgentEvent::Limit(_)
            | AgentEvent::Result(_)
            | AgentEvent::Unknown { .. } => {}
        }
    }

    fn text(&mut self, text: &str, joins: bool) {
        let (begun, mut parts) = (self.open.take(), text.split('\n'));
        let mut last = None;
        if let (true, Some(begun), Some(line)) = (joins, begun, self.lines.back_mut()) {
            let mut whole = begun;
            // What is shown of a line is limited, so is what is kept of it.
            if whole.len() < MAX_OPEN_LEN {
                whole.push_str(parts.next().unwrap_or_default());
            }
            line.text = harmless(&whole);
            last = Some(whole);
        }
        for part in parts {
            last = None;
            if !part.trim().is_empty() {
                self.push(LineKind::Text, part);
                last = Some(part.to_owned());
            }
        }
        self.open = last;
    }

    fn tool_started(&mut self, id: &str, name: &str, summary: &str) {
        let what = if summary.is_empty() { name.to_owned() } else { format!("{name}({summary})") };
        if self.tools.len() < MAX_OPEN_TOOLS {
            self.tools.insert(id.to_owned(), what.clone());
        }
        self.push(LineKind::Tool, &what);
    }

    fn todo(&mut self, item: &TodoItem) {
        let mark = match item.state {
            TodoState::Pending => "[ ]",
            TodoState::Active => "[>]",
            TodoState::Done => "[x]",
        };
        self.push(LineKind::Todo, &format!("{mark} {}", item.text));
    }

    fn push(&mut self, kind: LineKind, text: &str) {
        self.open = None;
        if self.lines.len() == self.max_lines {
            self.lines.pop_front();
        }
        self.lines.push_back(ShownLine { number: self.next, kind, text: harmless(text) });
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ralph_agents::Excerpt;

    use super::*;

    fn text(text: &str, joins: bool) -> AgentEvent {
        AgentEvent::Text { text: text.to_owned(), joins }
    }

    fn tool(id: &str, name: &str, summary: &str) -> AgentEvent {
        let [id, name, summary] = [id, name, summary].map(str::to_owned);
        AgentEvent::ToolStart { id, name, summary, parent: None }
    }

    #[track_caller]
    fn check(events: &[AgentEvent], expected: &[&str]) {
        let mut tail = StreamTail::new(4);
        for event in events {
            tail.agent(event);
        }
        let lines: Vec<&str> = tail.lines().iter().map(|line| &*line.text).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn text_comes_in_pieces() {
        check(&[text("one ", false), text("and two", true)], &["one and two"]);
        check(&[text("one\n", false), text("two\n\nthree", true)], &["one", "two", "three"]);
        check(&[text("one", false), text("two", false)], &["one", "two"]);
        check(
            &[text("one", false), tool("1", "Read", "a.rs"), text("two", true)],
            &["one", "Read(a.rs)", "two"],
        );
        check(&[text("\n \n", false)], &[]);
    }

    #[test]
    fn the_last_lines_stay() {
        let events: Vec<AgentEvent> = (0..9).map(|n| text(&format!("{n}\n"), false)).collect();
        check(&events, &["5", "6", "7", "8"]);
    }

    #[test]
    fn a_tool_is_named_when_it_fails() {
        let output = Excerpt::of("\nno such file\nmore");
        let ended = |ok| AgentEvent::ToolEnd { id: "1".to_owned(), ok, output: output.clone() };
        check(&[tool("1", "Bash", "make"), ended(false)], &["Bash(make)", "Bash(make) failed: no such file"]);
        check(&[tool("1", "Bash", ""), ended(true)], &["Bash"]);
    }

    proptest! {
        #[test]
        fn lines_are_harmless_and_few(pieces in prop::collection::vec((any::<String>(), any::<bool>()), 0..40)) {
            let mut tail = StreamTail::new(7);
            for (piece, joins) in &pieces {
                tail.agent(&text(piece, *joins));
            }
            prop_assert!(tail.lines().len() <= 7);
            prop_assert!(tail.lines().iter().all(|line| !line.text.contains(char::is_control)));
            let numbers: Vec<u64> = tail.lines().iter().map(|line| line.number).collect();
            prop_assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
        }
    }

    #[test]
    fn what_the_agent_plans_and_what_refuses_it_are_lines() {
        let item = |text: &str, state| TodoItem { text: text.to_owned(), state };
        let items =
            vec![item("a", TodoState::Pending), item("b", TodoState::Active), item("c", TodoState::Done)];
        check(&[AgentEvent::Todo { items }], &["[ ] a", "[>] b", "[x] c"]);
        let limit = |refused| {
            AgentEvent::Limit(ralph_agents::Limit {
                refused,
                resets_at: None,
                window: None,
                windows: Vec::new(),
            })
        };
        check(&[limit(false)], &[]);
        check(&[limit(true)], &["the service refuses requests: the usage limit is reached"]);
    }

    #[test]
    fn a_turn_is_a_line_and_forgets_the_tools_of_the_last_one() {
        let mut tail = StreamTail::new(4);
        tail.agent(&tool("1", "Read", "a.rs"));
        tail.turn("turn 2");
        tail.agent(&AgentEvent::ToolEnd { id: "1".to_owned(), ok: false, output: Excerpt::of("no") });
        let lines: Vec<&str> = tail.lines().iter().map(|line| &*line.text).collect();
        assert_eq!((lines, tail.count()), (vec!["Read(a.rs)", "turn 2", " failed: no"], 3));
    }
}
