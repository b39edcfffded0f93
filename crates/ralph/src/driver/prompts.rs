//! What a turn is told: the user's prompt, filled in, with what ralph has to add.

use std::{cell::OnceCell, path::Path};

use jiff::Zoned;
use ralph_core::{
    engine::{Run, event::Turn, plan::Plan},
    key_mask::masked,
    plan_file::next_task,
    prompt::{
        Count, Feedback, compose,
        finish::{paragraph, told_how_to_finish},
        notes::with_notes,
    },
    setup::{IssueSetup, PROJECT_DIR, PlanFile, PromptSource, Setup, TaskFrom},
    template::fill,
};
use ralph_sys::{
    error::{Error, Result},
    files::{Readers, Root},
};

use super::{assigned, containment::Containment, conversation, site::Site, stories::StoryKeeper};
use crate::{
    gates::log_name, journal::run_dir::record, project::iteration_files, report::Reporter, tasks::Task,
};

/// The prompts of a run.
#[derive(Default)]
pub(super) struct Prompts {
    /// The last text that could be read, in case its file goes away.
    last: Option<String>,
    /// How to finish, the same in every turn.
    finish: OnceCell<Option<String>>,
}

impl Prompts {
    /// What the turn is told.
    pub(super) fn of_turn(
        &mut self,
        site: &mut Site,
        containment: &Containment,
        stories: Option<&StoryKeeper>,
        turn: &Turn,
    ) -> Result<String> {
        let adapter = site.adapter();
        if let Some(message) = conversation::next_message(site, turn) {
            return Ok(message);
        }
        let own = self.base(site, containment)?;
        let base = match site.setup.prompt {
            PromptSource::Template(_) => {
                let of_story = stories.map(|stories| stories.variables(turn)).unwrap_or_default();
                fill(&own, &variables(&site.run().plan, &site.setup, of_story, turn))
            }
            PromptSource::Text(_) | PromptSource::File(_) => own.clone(),
        };
        let base = IssueSetup::behind(site.setup.issue.as_ref(), base);
        let limit = site.run().plan.limits.max_iterations;
        let base = match stories.and_then(|stories| stories.assignment(turn, limit)) {
            Some(assignment) => adapter.harmless(&assignment) + &base,
            None => base,
        };
        let base = match &site.setup.assignment {
            Some(assignment) => assigned::prompt(site, assignment, &base),
            None => base,
        };
        let harmless = |feedback: &Feedback| feedback.harmless(|text| adapter.harmless(text));
        let feedback: Vec<Feedback> =
            site.run().state.feedback_for(turn.story.as_deref()).iter().map(harmless).collect();
        let count = site
            .setup
            .include_iteration_count_in_prompt
            .then_some(Count { iteration: turn.iteration, of: limit });
        let Run { plan, state, .. } = site.run();
        let prompt = compose(&base, &feedback, count);
        let prompt = with_notes(prompt, &state.note_texts(&turn.notes), &plan.claims);
        let finish = self.finish.get_or_init(|| paragraph(plan.done_when.as_deref(), &plan.claims));
        let prompt = told_how_to_finish(prompt, &own, finish.as_deref(), &plan.claims);
        Ok(adapter.deliverable(prompt))
    }

    /// The user's prompt. A file is read again each time; if it has gone, the last text stands.
    pub(super) fn base(&mut self, site: &mut Site, containment: &Containment) -> Result<String> {
        let path = match &site.setup.prompt {
            PromptSource::Text(text) => return Ok(text.clone()),
            PromptSource::File(path) | PromptSource::Template(path) => path.clone(),
        };
        match (containment.read_for_agent(&path), &self.last) {
            (Ok(bytes), _) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.last = Some(text.clone());
                Ok(text)
            }
            (Err(error), Some(text)) => {
                let path = path.display();
                site.ledger.warn(format!("{path}: {error}; continuing with the prompt of the last turn"));
                Ok(text.clone())
            }
            (Err(error), None) => {
                Err(Error::new(format!("cannot read the prompt file `{}`: {error}", path.display())))
            }
        }
    }
}

/// The variables of a prompt template.
pub(super) fn variables<'a>(
    plan: &Plan,
    setup: &'a Setup,
    of_story: Vec<(&'static str, String)>,
    turn: &Turn,
) -> Vec<(&'a str, String)> {
    let name = setup.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut variables = vec![
        ("MODE", plan.preset.clone()),
        ("ITERATION", turn.iteration.to_string()),
        ("MAX_ITERATIONS", plan.limits.max_iterations.to_string()),
        ("TASK_DESCRIPTION", turn.task.clone().unwrap_or_default()),
        ("SPEC", turn.spec.clone().unwrap_or_else(|| "none is named".to_owned())),
        ("DATE", Zoned::now().strftime("%Y-%m-%d").to_string()),
        ("PROJECT_NAME", name),
    ];
    for (name, value) in of_story {
        variables.retain(|(known, _)| *known != name);
        variables.push((name, value));
    }
    variables.extend(setup.variables.iter().map(|(name, value)| (name.as_str(), value.clone())));
    variables
}

/// What the next turn is about, and the specification it belongs to; nothing where only the prompt knows.
pub(super) fn task(site: &Site, containment: &Containment) -> (Option<String>, Option<String>) {
    task_of(&site.setup, |path| containment.read_for_agent(path).ok())
}

/// The same, with another way to read the plan.
pub(super) fn task_of(
    setup: &Setup,
    read: impl Fn(&Path) -> Option<Vec<u8>>,
) -> (Option<String>, Option<String>) {
    match &setup.task {
        TaskFrom::Prompt => (None, None),
        TaskFrom::Fixed(task) => (Some(task.clone()), None),
        TaskFrom::PlanFile => {
            let next = setup.plan_file.as_ref().and_then(|PlanFile { path, specs }| {
                let text = read(&setup.project.join(path))?;
                next_task(&String::from_utf8_lossy(&text), specs)
            });
            let (task, spec) = match next {
                Some(task) => (task.title, task.spec),
                None => ("finish what the plan leaves open".to_owned(), None),
            };
            (Some(task), spec)
        }
    }
}

/// Keeps the prompt of a turn with its record, and a copy for people in the project.
pub(super) fn record_prompt(site: &mut Site, folder: &Path, iteration: u32, prompt: &str) {
    let folder_in_project = match &site.setup.assignment {
        // Others work on tasks at the same time.
        Some(assignment) => Task::of(assignment).run_folder(&site.dir.id()),
        None => site.setup.project.join(PROJECT_DIR),
    };
    let in_project = folder_in_project.join(iteration_files::prompt(iteration));
    let gates = &site.run().plan.gates;
    let logs = (0..gates.len()).map(|gate| log_name(gates, gate));
    iteration_files::forget_oldest(&site.setup.project, &folder_in_project, iteration, logs);
    let own = folder.join("prompt.md");
    let prompt = masked(prompt);
    let recorded = record(&own, prompt.as_bytes());
    // The agent may have put a link there, to a place that it cannot write itself.
    let copied = Root::new(&site.setup.project).replace(&in_project, prompt.as_bytes(), Readers::AsBefore);
    for (path, result) in [(own, recorded), (in_project, copied)] {
        if let Err(error) = result {
            site.ledger.reporters.detail(&format!("cannot write {}: {error}", path.display()));
        }
    }
}
