//! What the plan, build and prompt modes share: they begin with a template, name the task in headers and commit
//! messages, and keep a session log.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;
use ralph_core::{
    engine::plan::Plan,
    plan_file::tasks,
    setup::{MessageFrom, PROJECT_DIR, PlanFile, PromptSource, Scm, ScmTask, Setup, TaskFrom},
};
use ralph_sys::{
    error::{Error, Result},
    files,
};
use serde_json::{Map, Value};

use super::loop_args::{LoopArgs, setup, tune};
use crate::{
    driver::{Driver, Start, fingerprints},
    project::git::is_git,
    report::{streams::say_at_end, summary::count},
    settings::{
        Loaded, Settings,
        flags::{IterationFlags, layer},
    },
    term::Stream,
};

const DEFAULT_PLAN: &str = "implementation_plan.md";

/// How many iterations there may be, as a word or as a flag.
#[derive(Args, Debug, Default)]
pub(super) struct CountArgs {
    /// End after this many iterations
    #[arg(value_name = "N", conflicts_with = "max_iterations")]
    iterations: Option<u32>,

    #[command(flatten)]
    flag: IterationFlags,
}

impl CountArgs {
    /// As a layer of settings.
    pub(super) fn layer(&self) -> Map<String, Value> {
        layer(&IterationFlags { max_iterations: self.iterations.or(self.flag.max_iterations) })
    }
}

/// A run of one of the modes.
pub(super) struct Mode {
    pub(super) plan: Plan,
    pub(super) prompt: PathBuf,
    pub(super) task: TaskFrom,
    pub(super) plan_file: Option<PlanFile>,
    /// What may be committed beside the plan and the specifications, where not everything may.
    pub(super) may_touch: Option<Vec<String>>,
    pub(super) variables: BTreeMap<String, String>,
    /// Files that decide how the work is judged; a change of them is shown.
    pub(super) pinned: Vec<PathBuf>,
    pub(super) drafts: Vec<(PathBuf, Cow<'static, str>)>,
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
            plan_file: self.plan_file,
            may_touch: self.may_touch,
            variables: self.variables,
            session_log: true,
            scm: Some(git_of(&loaded.settings)),
            ..setup(loaded, PromptSource::Template(self.prompt), project)
        };
        setup.settings.extend(fingerprints(self.pinned.iter().map(PathBuf::as_path)));
        let Self { drafts, warnings, .. } = self;
        let start = Start { plan, setup, run: None, drafts, reporters, warnings, settled: None };
        if args.is_dry_run() {
            return args.show(&start);
        }
        drive(start.begin()?, args.is_for_people())
    }
}

/// Drives a run to its end; one that works on a plan then says how far that is.
pub(super) fn drive(driver: Driver, is_for_people: bool) -> Result<u8> {
    let Setup { project, plan_file, .. } = driver.setup();
    let plan = plan_file.clone().map(|plan| (project.join(&plan.path), plan));
    let code = driver.drive()?;
    if let Some((path, plan)) = plan.filter(|_| is_for_people) {
        say_at_end(&super::broken(Stream::Out, &progress(&plan, &path)));
    }
    Ok(code)
}

/// How far the plan is, in one line.
fn progress(PlanFile { path: name, specs }: &PlanFile, path: &Path) -> String {
    let Ok(text) = files::read_text(path) else { return format!("There is no {name}.\n") };
    let tasks = tasks(&text, specs);
    let open: Vec<_> = tasks.iter().filter(|task| task.is_open()).collect();
    match (tasks.len(), open.first()) {
        (0, _) => format!("{name}: no tasks found. They are written as `- [ ] task`.\n"),
        (all, None) => format!("{name}: {} done, none open.\n", count(all as u64, "task")),
        (all, Some(next)) => {
            let all = count(all as u64, "task");
            format!("{name}: {} of {all} open. Next: {}\n", open.len(), next.title)
        }
    }
}

/// Where the modes find the plan and the specifications.
pub(super) fn find_plan(settings: &Settings, project: &Path) -> PlanFile {
    let in_own_folder = format!("{PROJECT_DIR}/{DEFAULT_PLAN}");
    let path = settings.build.plan_file.clone().unwrap_or_else(|| {
        let is_there = |name: &str| project.join(name).exists();
        if !is_there(DEFAULT_PLAN) && is_there(&in_own_folder) {
            in_own_folder.clone()
        } else {
            DEFAULT_PLAN.to_owned()
        }
    });
    PlanFile { path, specs: settings.build.specs_dir.trim_end_matches('/').to_owned() }
}

/// Refuses a project that has no specifications, or a plan where ralph commits nothing.
pub(super) fn check_plan(PlanFile { path, specs }: &PlanFile, project: &Path) -> Result<()> {
    if !project.join(specs).is_dir() {
        return Err(Error::new(format!("there is no folder `{specs}` in {}", project.display()))
            .hint(format!("say what is wanted in Markdown files there: mkdir {specs}"))
            .hint("or name the folder that has them: \"build\": {\"specsDir\": \"...\"} in the settings"));
    }
    let is_hidden = Path::new(path).components().any(|part| part.as_os_str() == PROJECT_DIR);
    if is_hidden && !path.ends_with(&format!("{PROJECT_DIR}/{DEFAULT_PLAN}")) {
        return Err(Error::new(format!(
            "build.planFile: git does not see `{path}`, so it could not be committed"
        ))
        .hint(format!("keep the plan elsewhere, or as {PROJECT_DIR}/{DEFAULT_PLAN}")));
    }
    Ok(())
}

/// The variables of a template that say where things are.
pub(super) fn variables(plan: &PlanFile) -> BTreeMap<String, String> {
    let variables = [("PLAN_FILE", &*plan.path), ("SPECS_DIR", &*plan.specs), ("RALPH_DIR", PROJECT_DIR)];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// The template of a mode: the one that the settings name, or ours, to be written where there is none.
pub(super) fn template(
    named: Option<&str>,
    name: &str,
    text: &'static str,
    project: &Path,
) -> (PathBuf, Vec<(PathBuf, Cow<'static, str>)>) {
    if let Some(path) = named {
        return (project.join(path), Vec::new());
    }
    let path = project.join(PROJECT_DIR).join("prompts").join(name);
    (path.clone(), vec![(path, text.into())])
}

/// These modes live by git's history; what else the settings do with a commit, they do too.
fn git_of(settings: &Settings) -> Scm {
    let commits = |scm: &Scm| scm.tasks.iter().any(ScmTask::commits);
    let wanted = settings.scm.as_ref().filter(|scm| is_git(&scm.command) && commits(scm));
    wanted.cloned().unwrap_or_else(|| Scm::git(vec![ScmTask::Commit]))
}
