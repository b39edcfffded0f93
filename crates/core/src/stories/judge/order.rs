//! What stories wait for: no turn may make a list that no one can work on.

use super::{Bench, json};
use crate::stories::invariants::circle;

impl Bench<'_> {
    /// Puts `dependsOn` back where a turn made stories wait for each other.
    pub(super) fn no_story_waits_for_ever(&mut self) {
        while let Some(path) = circle(&self.now.list) {
            let Some(id) = self.made_to_wait(&path) else { return };
            let old = self.old.list.story(&id).map(|story| story.depends_on.clone()).unwrap_or_default();
            let now = self.now.list.story(&id).map(|story| story.depends_on.clone()).unwrap_or_default();
            self.set(&id, "dependsOn", &json(&old));
            self.undone(Some(&id), "dependsOn", json(&now), json(&old));
            self.found.broken.push(format!(
                "Stories wait for each other: {}. Ralph restored the dependsOn of story {id}.",
                path.join(" -> ")
            ));
        }
    }

    /// The story on the way whose `dependsOn` the turn has written: one that was there before, else a new one.
    fn made_to_wait(&self, path: &[String]) -> Option<String> {
        let depends = |id: &String| Some(&self.now.list.story(id)?.depends_on);
        let is_changed = |id: &&String| {
            self.old.list.story(id).is_some_and(|old| depends(id).is_some_and(|now| *now != old.depends_on))
        };
        let is_new = |id: &&String| self.old.list.story(id).is_none();
        path.iter().find(is_changed).or_else(|| path.iter().find(is_new)).cloned()
    }
}
