//! What the agent says and does.

use ralph_agents::{Excerpt, TodoItem, TodoState};

use super::Human;
use crate::{
    report::{style::Marks, summary},
    term::{
        Palette,
        fit::{columns, fit, one_line},
        printable,
    },
};

impl Human {
    pub(super) fn text(&mut self, text: &str, joins: bool) {
        if !joins {
            self.screen.end_line();
        }
        self.screen.text(&printable(text));
    }

    /// Text among the events, shown also to a user who does not want the agent's output: it may be meant for them.
    pub(super) fn stray(&mut self, text: &str) {
        let mark = self.look.marks.output;
        self.line(&format!("{mark} {}", printable(text)));
    }

    pub(super) fn tool_started(&mut self, id: &str, name: &str, summary: &str, parent: Option<&str>) {
        let (name, summary) = (one_line(name).into_owned(), one_line(summary).into_owned());
        let mark = self.look.marks.tool;
        let depth = self.tools.start(id, name.clone(), summary.clone(), parent);
        let indent = "  ".repeat(depth);
        let used = columns(&indent) + columns(mark) + columns(&name) + "  ()".len() - 1;
        let summary = fit(&summary, self.screen.columns().saturating_sub(used));
        let Palette { accent, .. } = self.look.palette;
        self.line(&format!("{indent}{mark} {accent}{name}{accent:#}({summary})"));
    }

    pub(super) fn tool_ended(&mut self, id: &str, ok: bool, output: &Excerpt) {
        let (tool, follows) = self.tools.end(id);
        let Palette { good, bad, quiet, .. } = self.look.palette;
        let Marks { good: ok_mark, bad: bad_mark, arrow, .. } = self.look.marks;
        let (mark, style, what) = if ok { (ok_mark, good, "Result") } else { (bad_mark, bad, "Error") };
        let indent = "  ".repeat(tool.depth);
        let size = match (output.lines, output.chars) {
            (_, 0) => "(no output)".to_owned(),
            (lines, chars) => {
                format!(
                    "({}, {})",
                    summary::count(lines as u64, "line"),
                    summary::count(chars as u64, "char")
                )
            }
        };
        let mut name = tool.name;
        if !follows && !tool.summary.is_empty() {
            let used = columns(&format!("{indent}{mark} {what} {arrow} {name}() {size}"));
            let room = self.screen.columns().saturating_sub(used);
            name = format!("{name}({})", fit(&tool.summary, room));
        }
        self.line(&format!("{indent}{mark} {style}{what}{style:#} {arrow} {name} {quiet}{size}{quiet:#}"));
        self.excerpt(&output.text, output.lines, &indent);
    }

    /// The first lines of a text, and how many more there are of so many.
    pub(super) fn excerpt(&mut self, text: &str, lines: usize, indent: &str) {
        let Palette { quiet, .. } = self.look.palette;
        let mark = self.look.marks.output;
        let room = self.screen.columns().saturating_sub(indent.len() + columns(mark) + 3);
        let (mut left, mut shown) = (self.look.max_chars, 0);
        for line in text.lines().take(self.look.max_lines) {
            let end = line.char_indices().nth(left).map_or(line.len(), |(at, _)| at);
            left = left.saturating_sub(line.chars().count());
            let line = printable(&line[..end]).replace('\t', "    ");
            self.line(&format!("{indent}  {mark} {quiet}{}{quiet:#}", fit(line.trim_end(), room)));
            shown += 1;
            if left == 0 {
                break;
            }
        }
        if shown < lines {
            let more = summary::count((lines - shown) as u64, "more line");
            self.line(&format!("{indent}     {quiet}... {more}{quiet:#}"));
        }
    }

    pub(super) fn todo(&mut self, items: &[TodoItem]) {
        let Marks { todo, good, active, pending, progress, arrow, .. } = self.look.marks;
        let active_arrow = format!(" {arrow} ACTIVE");
        if items.is_empty() {
            return;
        }
        self.line(&format!("{todo} Todo List"));
        for TodoItem { text, state } in items {
            let (mark, arrow) = match state {
                TodoState::Done => (good, ""),
                TodoState::Active => (active, active_arrow.as_str()),
                TodoState::Pending => (pending, ""),
            };
            let room = self.screen.columns().saturating_sub(columns(mark) + columns(arrow) + 3);
            self.line(&format!("  {mark} {}{arrow}", fit(&one_line(text), room)));
        }
        let done = items.iter().filter(|item| item.state == TodoState::Done).count();
        if let Some(percent) = (100 * done).checked_div(items.len()) {
            self.line(&format!("  {progress} Progress: {done}/{} ({percent}%)", items.len()));
        }
    }
}
