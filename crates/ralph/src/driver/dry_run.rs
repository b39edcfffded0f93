//! What a run would begin with, for a user who only wants to see it: nothing is started and nothing is written.

use std::path::Path;

use ralph_core::{
    engine::{Order, event::Turn},
    prompt::{
        Count, compose,
        finish::{paragraph, told_how_to_finish},
    },
    session::contract,
    setup::{IssueSetup, PromptSource, Setup},
    stories::Mode,
    template::fill,
};
use ralph_sys::{
    error::Result,
    files::{self, MAX_TEXT_LEN},
};

use super::{
    assigned, prompts,
    refuse::check_names,
    start::{Start, check_prompt, find_agent},
    stories::{FirstTurn, first_turn},
};

/// Stands for the id of a run that there is not.
const NO_RUN: &str = "RUN";

impl Start {
    /// The prompt of the first turn. What would refuse the run because of the prompt refuses this, too.
    pub(crate) fn first_prompt(&self) -> Result<String> {
        let Self { plan, setup, drafts, .. } = self;
        check_names(setup)?;
        check_prompt(&setup.prompt, drafts)?;
        let adapter = ralph_agents::adapter(&setup.agent.command);
        let own = self.own_text();
        if setup.session.is_some() {
            return Ok(adapter.deliverable(contract(plan, &own)));
        }
        let limit = plan.limits.max_iterations;
        let order = Order {
            iteration: 1,
            attempt: 1,
            mode: Mode::Work,
            story: None,
            chosen: None,
            notes: Vec::new(),
        };
        let (task, spec) = prompts::task_of(setup, |path| files::read(path, MAX_TEXT_LEN).ok());
        let turn = Turn { task, spec, ..order.into() };
        let of_story = setup.stories.as_ref().and_then(|stories| first_turn(&setup.project, stories, limit));
        let (turn, assignment, variables) = match of_story {
            Some(FirstTurn { turn, assignment, variables }) => {
                (turn, adapter.harmless(&assignment), variables)
            }
            None => (turn, String::new(), Vec::new()),
        };
        let base = match setup.prompt {
            PromptSource::Template(_) => fill(&own, &prompts::variables(plan, setup, variables, &turn)),
            PromptSource::Text(_) | PromptSource::File(_) => own.clone(),
        };
        let base = assignment + &IssueSetup::behind(setup.issue.as_ref(), base);
        let base = match &setup.assignment {
            Some(assignment) => {
                let is_continued = assignment.previous.is_some();
                assigned::prompt_of_run(NO_RUN, assignment, is_continued, adapter, &base)
            }
            None => base,
        };
        let count = setup.include_iteration_count_in_prompt.then_some(Count { iteration: 1, of: limit });
        let prompt = compose(&base, &[], count);
        let finish = paragraph(plan.done_when.as_deref(), &plan.claims);
        let prompt = told_how_to_finish(prompt, &own, finish.as_deref(), &plan.claims);
        Ok(adapter.deliverable(prompt))
    }

    /// The user's own text, or the one that would be written where there is none.
    fn own_text(&self) -> String {
        let read = |path: &Path| {
            let draft = self.drafts.iter().find(|(draft, _)| draft == path);
            let draft = || draft.map(|(_, text)| text.to_string()).unwrap_or_default();
            files::read_text(path).unwrap_or_else(|_| draft())
        };
        match &self.setup.prompt {
            PromptSource::Text(text) => text.clone(),
            PromptSource::File(path) | PromptSource::Template(path) => read(path),
        }
    }

    /// Why the run could not start its agent, if it could not.
    pub(crate) fn missing_agent(setup: &Setup) -> Option<String> {
        find_agent(setup).err().map(|error| error.to_string())
    }
}
