//! What the agent says and does.

use std::io::Write;

use super::Human;
use crate::{
    agent::{Excerpt, TodoItem, TodoState, TurnResult},
    report::{
        look::Marks,
        summary::{self, tokens},
    },
    term::{Palette, printable},
};

impl Human {
    pub(super) fn text(&mut self, text: &str, joins: bool) {
        if !joins {
            self.end_line();
        }
        let text = printable(text);
        if let Some(last) = text.chars().last() {
            if !self.in_line {
                self.stamp();
            }
            let _ = write!(self.out, "{text}");
            self.in_line = last != '\n';
        }
    }

    pub(super) fn tool_ended(&mut self, id: &str, ok: bool, output: &Excerpt) {
        self.tool_errors += u64::from(!ok);
        let name = self.tools.remove(id).unwrap_or_else(|| "tool".to_owned());
        let Palette { good, bad, quiet, .. } = self.look.palette;
        let (mark, style, what) =
            if ok { (self.look.marks.good, good, "Result") } else { (self.look.marks.bad, bad, "Error") };
        let Excerpt { text, lines, chars } = output;
        self.line(&format!(
            "{mark} {style}{what}{style:#} ← {name} {quiet}({lines} lines, {chars} chars){quiet:#}"
        ));
        let mut left = self.look.max_chars;
        let mut shown = 0;
        for line in text.lines().take(self.look.max_lines) {
            let line: String = printable(line).chars().take(left.min(self.width.saturating_sub(5))).collect();
            left = left.saturating_sub(line.chars().count());
            self.line(&format!("  {} {quiet}{line}{quiet:#}", self.look.marks.output));
            shown += 1;
            if left == 0 {
                break;
            }
        }
        if shown < *lines {
            self.line(&format!(
                "     {quiet}... {}{quiet:#}",
                summary::count((lines - shown) as u64, "more line")
            ));
        }
    }

    pub(super) fn todo(&mut self, items: &[TodoItem]) {
        let Marks { todo, good, active, pending, progress, .. } = self.look.marks;
        self.line(&format!("{todo} Todo List"));
        for TodoItem { text, state } in items {
            let (mark, arrow) = match state {
                TodoState::Done => (good, ""),
                TodoState::Active => (active, " ← ACTIVE"),
                TodoState::Pending => (pending, ""),
            };
            self.line(&format!("  {mark} {}{arrow}", printable(text)));
        }
        let done = items.iter().filter(|item| item.state == TodoState::Done).count();
        if let Some(percent) = (100 * done).checked_div(items.len()) {
            self.line(&format!("  {progress} Progress: {done}/{} ({percent}%)", items.len()));
        }
    }

    pub(super) fn result(&mut self, result: &TurnResult) {
        let Palette { quiet, .. } = self.look.palette;
        let mut parts = Vec::new();
        if let Some(cost) = result.usage.cost_usd {
            parts.push(format!("cost: ${cost:.2}"));
        }
        if 0 < result.usage.input + result.usage.output {
            parts.push(format!(
                "tokens: {}",
                tokens(result.usage.input, result.usage.cached, result.usage.output)
            ));
        }
        parts.push(format!("tools: {}", self.tool_count));
        parts.push(format!("errors: {}", self.tool_errors));
        let (mark, what) = match result.failure {
            None => (self.look.marks.good, "Complete"),
            Some(_) => (self.look.marks.bad, "Failed"),
        };
        self.line(&format!("{mark} {what} {quiet}({}){quiet:#}", parts.join(", ")));
    }
}
