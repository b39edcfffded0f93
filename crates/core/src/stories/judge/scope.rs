//! What the work is measured by stays what it was: acceptance criteria, who does a story, the verify commands.

use super::{Bench, json};
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
            if let Some(why) = self.lost_criteria(before, after, &now, is_split) {
                self.set(&before.id, "acceptanceCriteria", &self.old_criteria(&before.id));
                self.undone(Some(&before.id), "acceptanceCriteria", "changed", "as before the turn");
                self.found.broken.push(why);
            }
        }
    }

    fn lost_criteria(&self, before: &Story, after: &Story, now: &TaskList, is_split: bool) -> Option<String> {
        let (was, is) = (&before.acceptance_criteria, &after.acceptance_criteria);
        if was == is {
            return None;
        }
        if before.is_submitted() || before.passes {
            return Some(format!(
                "The acceptance criteria of story {} may not be changed any more: it was submitted.",
                before.id
            ));
        }
        let is_elsewhere = |criterion: &String| {
            now.user_stories.iter().any(|it| it.id != before.id && it.acceptance_criteria.contains(criterion))
        };
        let is_lost = was.iter().any(|criterion| !is.contains(criterion) && !is_elsewhere(criterion));
        let may_split = self.turn.mode == Mode::Implement && is_split;
        (is_lost && !may_split).then(|| {
            format!(
                "Story {} lost acceptance criteria. If it is too large, keep its id for the first part and add new \
                 stories for the rest.",
                before.id
            )
        })
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
