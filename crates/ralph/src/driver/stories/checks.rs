//! The checks of a stories loop that need no command: task rules, clean tree, every story done.

use ralph_core::{engine::event::Event, stories::Statistics};

use super::{StoryKeeper, assignment};
use crate::{
    driver::site::Site,
    project::git::{self, Git},
};

impl StoryKeeper {
    /// What is wrong with the task list, and with what the last turn did to it.
    pub(in crate::driver) fn broken_rules(&mut self, site: &mut Site, git: Option<&Git>) -> Option<String> {
        if site.run().state.is_unjudged() {
            self.judge(site, git, true);
        }
        if let Some(broken) = site.run().state.broken() {
            return Some(broken.to_owned());
        }
        let (review, shown) = (self.setup.review(), self.shown());
        let problems = self.list().cloned().unwrap_or_default().problems(review);
        let lines: Vec<String> = problems.iter().map(|it| format!("- {shown}:{}: {it}", it.line)).collect();
        (!lines.is_empty()).then(|| format!("The task list is not in order:\n{}", lines.join("\n")))
    }

    /// What is not committed.
    pub(in crate::driver) fn unclean_tree(&self, site: &mut Site, git: Option<&Git>) -> Option<String> {
        match git?.changes(&mut site.supervisor) {
            Ok(changes) => assignment::unclean(&git::since(&site.setup.dirty, changes), &self.setup),
            Err(error) => Some(format!("git could not say what is committed: {error}")),
        }
    }

    /// Which stories are not done.
    pub(in crate::driver) fn open_stories(&mut self, site: &mut Site) -> Option<String> {
        let review = self.setup.review();
        let file = self.list().cloned().unwrap_or_default();
        let list = file.list();
        if list.is_complete(review) {
            return None;
        }
        let open: Vec<&str> = list
            .user_stories
            .iter()
            .filter(|story| !story.is_done(review))
            .map(|story| story.id.as_str())
            .collect();
        let open = open.join(", ");
        let done = if self.setup.skip_review { "pass" } else { "pass and are approved" };
        let text = format!("Not every story is done. These do not {done} yet: {open}.");
        site.ledger.warn(format!("the agent says that all is complete, but these stories are open: {open}"));
        Some(text)
    }

    /// What the reviews of a list that is done say.
    pub(in crate::driver) fn count_reviews(&mut self, site: &mut Site) {
        let cap = self.setup.review_cap;
        let statistics = Statistics::of(self.list().cloned().unwrap_or_default().list(), cap);
        site.ledger.record(Event::ReviewsCounted(statistics));
    }
}
