//! What the plan, build and prompt modes share: they begin with a template, name the task in headers and commit
//! messages, and keep a session log.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::{Map, Value};

use super::loop_args::{LoopArgs, setup, tune};
use crate::{
    driver::{Driver, PROJECT_DIR, Start, fingerprints},
    engine::plan::Plan,
    error::{Error, Result},
    git::is_git,
    plan_file::tasks,
    settings::{Loaded, Settings},
    setup::{MessageFrom, PromptSource, Scm, Setup, TaskFrom},
};

/// The variable of a template that names the plan; a run that has it works on one.
const PLAN_FILE: &str = "PLAN_FILE";
const DEFAULT_PLAN: &str = "implementation_plan.md";

/// How many iterations there may be, as a word or as a flag.
#[derive(Args, Debug, Default)]
pub(super) struct CountArgs {
    /// End after this many iterations
    #[arg(value_name = "N", conflicts_with = "max_iterations")]
    iterations: Option<u32>,

    /// End after this many iterations
    #[arg(short = 'm', long, visible_alias = "maximum-iterations", value_name = "N")]
    max_iterations: Option<u32>,
}

impl CountArgs {
    /// As a layer of settings.
    pub(super) fn layer(&self) -> Map<String, Value> {
        let count = self.iterations.or(self.max_iterations);
        count.map(|count| ("maximumIterations".to_owned(), count.into())).into_iter().collect()
    }
}

/// A run of one of the modes.
pub(super) struct Mode {
    pub(super) plan: Plan,
    pub(super) prompt: PathBuf,
    pub(super) task: TaskFrom,
    pub(super) variables: BTreeMap<String, String>,
    /// Files that decide how the work is judged; a change of them is shown.
    pub(super) pinned: Vec<PathBuf>,
    pub(super) drafts: Vec<(PathBuf, &'static str)>,
    pub(super) warnings: Vec<String>,
}

impl Mode {
    /// Runs it.
    pub(super) fn run(self, args: &LoopArgs, loaded: &Loaded, project: &Path) -> Result<u8> {
        let reporters = args.reporters(loaded, project)?;
        let plan = args.limit(tune(self.plan, &loaded.settings));
        let mut setup = Setup {
            task: self.task,
            message: MessageFrom::Task,
            variables: self.variables,
            session_log: true,
            scm: Some(git_of(&loaded.settings)),
            ..setup(loaded, PromptSource::Template(self.prompt), project)
        };
        setup.settings.extend(fingerprints(self.pinned.iter().map(PathBuf::as_path)));
        let Self { drafts, warnings, .. } = self;
        let driver = Start { plan, setup, drafts, reporters, warnings }.begin()?;
        drive(driver, args.is_for_people())
    }
}

/// Drives a run to its end; one that works on a plan then says how far that is.
pub(super) fn drive(driver: Driver, is_for_people: bool) -> Result<u8> {
    let Setup { project, variables, .. } = driver.setup();
    let plan = variables.get(PLAN_FILE).map(|name| (name.clone(), project.join(name)));
    let code = driver.drive()?;
    if let Some((name, path)) = plan.filter(|_| is_for_people) {
        super::print(&progress(&name, &path))?;
    }
    Ok(code)
}

/// How far the plan is, in one line.
fn progress(name: &str, path: &Path) -> String {
    let Ok(text) = std::fs::read(path) else { return format!("There is no {name}.\n") };
    let tasks = tasks(&String::from_utf8_lossy(&text));
    let open: Vec<_> = tasks.iter().filter(|task| !task.is_done).collect();
    match (tasks.len(), open.first()) {
        (0, _) => format!("{name}: no tasks found. They are written as `- [ ] task`.\n"),
        (all, None) => format!("{name}: all {all} tasks are done.\n"),
        (all, Some(next)) => {
            format!("{name}: {} of {all} tasks are open. Next: {}\n", open.len(), next.title)
        }
    }
}

/// Where the modes find things, relative to the project.
pub(super) struct Files {
    pub(super) plan: String,
    pub(super) specs: String,
}

impl Files {
    /// Looks for them; the specifications must be there.
    pub(super) fn find(settings: &Settings, project: &Path) -> Result<Self> {
        let specs = settings.build.specs_dir.clone();
        if !project.join(&specs).is_dir() {
            return Err(Error::new(format!("there is no folder `{specs}` in {}", project.display()))
                .hint(format!("say what is wanted in Markdown files there: mkdir {specs}"))
                .hint(
                    "or name the folder that has them: \"build\": {\"specsDir\": \"...\"} in the settings",
                ));
        }
        let in_own_folder = format!("{PROJECT_DIR}/{DEFAULT_PLAN}");
        let plan = settings.build.plan_file.clone().unwrap_or_else(|| {
            let is_there = |name: &str| project.join(name).exists();
            if !is_there(DEFAULT_PLAN) && is_there(&in_own_folder) {
                in_own_folder
            } else {
                DEFAULT_PLAN.to_owned()
            }
        });
        Ok(Self { plan, specs })
    }

    /// As variables of a template.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        let variables = [(PLAN_FILE, &*self.plan), ("SPECS_DIR", &*self.specs), ("RALPH_DIR", PROJECT_DIR)];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }
}

/// The template of a mode: the one that the settings name, or ours, to be written where there is none.
pub(super) fn template(
    named: Option<&str>,
    name: &str,
    text: &'static str,
    project: &Path,
) -> (PathBuf, Vec<(PathBuf, &'static str)>) {
    if let Some(path) = named {
        return (project.join(path), Vec::new());
    }
    let path = project.join(PROJECT_DIR).join("prompts").join(name);
    (path.clone(), vec![(path, text)])
}

/// These modes live by git's history; what else the settings do with a commit, they do too.
fn git_of(settings: &Settings) -> Scm {
    let commits = |scm: &Scm| scm.tasks.iter().any(|task| task.split_whitespace().next() == Some("commit"));
    let wanted = settings.scm.as_ref().filter(|scm| is_git(&scm.command) && commits(scm));
    wanted.cloned().unwrap_or_else(|| Scm { command: "git".to_owned(), tasks: vec!["commit".to_owned()] })
}
