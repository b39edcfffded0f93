//! What the agent and what it started were kept from doing: by the guard, by the sandbox, by the agent's own rules.

use super::{Page, escape, recap::Recap, sections::middle_cut};

/// Something that was refused, as often as it was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Who refused it.
    pub(super) by: &'static str,
    pub(super) what: String,
    /// Nothing if no one said why.
    pub(super) why: String,
    pub(super) times: u64,
}

impl Recap {
    /// Adds a refusal, or counts it.
    pub(super) fn refuse(&mut self, by: &'static str, what: &str, why: &str) {
        let is_same = |it: &&mut Refusal| it.by == by && it.what == what && it.why == why;
        if let Some(known) = self.refusals.iter_mut().find(is_same) {
            known.times += 1;
            return;
        }
        let (what, why) = (what.to_owned(), why.to_owned());
        self.refusals.push(Refusal { by, what, why, times: 1 });
    }
}

impl Page<'_> {
    /// A row for each.
    pub(super) fn refused(story: &Recap) -> Option<String> {
        let row = |Refusal { by, what, why, times }: &Refusal| {
            let times = if 1 < *times { format!("{times} times") } else { String::new() };
            format!(
                "<tr><td class=\"who\">{by}</td><td><code>{}</code></td><td>{}</td><td class=\"number\">{times}</td></tr>\n",
                escape(what),
                escape(why),
            )
        };
        let rows: Vec<String> = story.refusals.iter().map(row).collect();
        let head = "<tr><th>by</th><th>what</th><th>why</th><th></th></tr>\n";
        (!rows.is_empty()).then(|| format!("<table>\n{head}{}</table>", middle_cut(&rows, 4)))
    }
}
