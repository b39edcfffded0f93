//! What the work is measured by stays what it was: acceptance criteria, who does a story, the verify commands.

use super::{Bench, DroppedCriterion, json};
use crate::{
    located::text::parse,
    stories::{Mode, Story, TaskList, edit::set_in_list},
};

impl Bench<'_> {
    /// What a story demands does not change once it was submitted, and who does it never does.
    pub(super) fn scope_is_kept(&mut self) {
        let (old, now) = (self.old.list.clone(), self.list());
        let is_split = now.user_stories.iter().any(|story| old.story(&story.id).is_none());
        for before in &old.user_stories {
            let Some(after) = now.story(&before.id) else { continue };
            if before.kind != after.kind {
                self.set(&before.id, "kind", &json(&before.kind));
                self.undone(Some(&before.id), "kind", json(&after.kind), json(&before.kind));
                self.found.broken.push(format!("The kind of story {} may not be changed.", before.id));
            }
            if before.acceptance_criteria == after.acceptance_criteria {
                continue;
            }
            match self.without_criteria(before, after, &now, is_split) {
                Ok(lost) => {
                    let dropped = lost
                        .into_iter()
                        .map(|criterion| DroppedCriterion { story: before.id.clone(), criterion });
                    self.found.dropped.extend(dropped);
                }
                Err(why) => {
                    self.set(&before.id, "acceptanceCriteria", &self.old_criteria(&before.id));
                    self.undone(Some(&before.id), "acceptanceCriteria", "changed", "as before the turn");
                    self.found.broken.push(why);
                }
            }
        }
    }

    /// The criteria that no story demands any more, or why that may not be.
    fn without_criteria(
        &self,
        before: &Story,
        after: &Story,
        now: &TaskList,
        is_split: bool,
    ) -> Result<Vec<String>, String> {
        if is_closed(before) {
            return Err(format!(
                "The acceptance criteria of story {} may not be changed any more: it was submitted.",
                before.id
            ));
        }
        let was = before.acceptance_criteria.iter();
        let gone = was.filter(|criterion| !after.acceptance_criteria.contains(criterion));
        let lost: Vec<String> = gone.filter(|it| !self.has_moved(it, before, now)).cloned().collect();
        let is_selected = self.turn.mode == Mode::Implement && self.turn.story == Some(before.id.as_str());
        if lost.is_empty() || (is_split && is_selected) {
            return Ok(lost);
        }
        Err(format!(
            "Story {} lost acceptance criteria. Only the story of this iteration can be split: keep its id for the \
             first part and add new stories for the rest.",
            before.id
        ))
    }

    /// Whether another story that is still open demands this since the turn, word for word.
    fn has_moved(&self, criterion: &String, from: &Story, now: &TaskList) -> bool {
        let has_it = |story: &Story| story.acceptance_criteria.contains(criterion);
        let gained = |story: &Story| match self.old.list.story(&story.id) {
            Some(old) => !is_closed(old) && !has_it(old),
            None => true,
        };
        now.user_stories.iter().any(|story| story.id != from.id && has_it(story) && gained(story))
    }

    /// The text of a story's criteria before the turn.
    fn old_criteria(&self, id: &str) -> String {
        let story = self.old_text(id).unwrap_or_default();
        let node = parse(&story, 0).ok();
        let span = node.and_then(|node| Some(node.get("acceptanceCriteria")?.position.span()));
        span.map_or_else(|| "[]".to_owned(), |span| story[span].to_owned())
    }

    pub(super) fn verify_commands_are_kept(&mut self) {
        let now = self.list().verify_commands;
        if now == self.rules.verify_commands {
            return;
        }
        let pinned = json(&self.rules.verify_commands);
        self.rewrite(set_in_list(&self.text, "verifyCommands", &pinned));
        self.undone(None, "verifyCommands", json(&now), pinned);
        self.found.broken.push(
            "verifyCommands may not be changed during a run: they are what the work is verified by."
                .to_owned(),
        );
    }
}

/// Whether what a story demands is settled.
fn is_closed(story: &Story) -> bool {
    story.is_submitted() || story.passes
}
