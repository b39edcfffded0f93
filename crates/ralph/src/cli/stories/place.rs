//! Where the files of a stories loop are.

use std::path::{Path, PathBuf};

use ralph_core::{
    containment::level::{Choice, Level},
    engine::event::TasksJudged,
    stories::{Review, TaskFile, Undone},
};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{MAX_TEXT_LEN, Readers, Root},
};

use super::PlaceArgs;
use crate::{
    cli::display::settings_of,
    driver::{PendingJudgement, pending, settle},
    project::story_files::TASKS,
    settings::Settings,
    term::fit::one_line,
};

/// A project with a folder for stories.
pub(super) struct StoriesPlace {
    pub(super) project: PathBuf,
    /// The folder, as people call it: relative to the project where it is in it.
    pub(super) name: PathBuf,
    pub(super) review: Review,
    pub(super) cap: u32,
    /// The commands of the settings that check the work: a new list begins with them.
    pub(super) guardrails: Vec<String>,
    /// What the settings contain the agent with.
    pub(super) sandbox: Choice,
}

impl StoriesPlace {
    /// As the flags and the settings of today say.
    pub(super) fn of(args: &PlaceArgs, project: &Path) -> Result<Self> {
        let project = args.project(project)?;
        let settings = settings_of(&project);
        Self::with(args, project, &settings)
    }

    /// As the flags and these settings say.
    pub(super) fn with(args: &PlaceArgs, project: PathBuf, settings: &Settings) -> Result<Self> {
        let stories = &settings.stories;
        let named = args.ralph_dir.as_deref().unwrap_or_else(|| Path::new(&stories.ralph_dir));
        // Given with a slash at its end, or as `./ralph`, it is still the same folder.
        let name: PathBuf =
            named.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
        let name = name.strip_prefix(&project).map_or(name.clone(), Path::to_path_buf);
        if name.as_os_str().is_empty() || name.to_str().is_none() {
            return Err(Error::new(format!("`{}` cannot be the folder of the task list", named.display()))
                .hint("name a folder in the project: --ralph-dir ralph"));
        }
        let review = if stories.skip_review { Review::Skipped } else { Review::Required };
        let guardrails = settings.commands().map(|guardrail| guardrail.command.clone()).collect();
        let agent = ralph_agents::adapter(&settings.agent.command).name();
        let sandbox = settings.sandbox.wanted(agent, Choice::Level(Level::None)).level;
        Ok(Self { project, name, review, cap: stories.review_cap, guardrails, sandbox })
    }

    /// A file of the folder.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.project.join(&self.name).join(file)
    }

    /// What people call a file of the folder.
    pub(super) fn shown(&self, file: &str) -> String {
        self.name.join(file).display().to_string()
    }

    /// The text of the task list.
    pub(super) fn tasks(&self) -> Result<String> {
        let shown = self.shown(TASKS);
        let bytes = match self.root().read(self.path(TASKS), MAX_TEXT_LEN) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::new(format!("{shown} not found"))
                    .hint("write the files to fill in: ralph stories init --name FEATURE"));
            }
            Err(error) => return Err(error).context(format!("cannot read {shown}")),
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The task list, as it is once a turn that was cut off with its ralph is judged, and what is found then.
    pub(super) fn judged_tasks(&self) -> Result<(TaskFile, Option<TasksJudged>)> {
        Ok(match pending(&self.project, &self.name)? {
            Some(PendingJudgement { judged, list }) => (list, Some(judged)),
            None => (TaskFile::new(self.tasks()?), None),
        })
    }

    /// Judges a turn that was cut off with its ralph, and says what was put right.
    pub(super) fn settle(&self) -> Result<()> {
        if let Some(judged) = settle(&self.project, &self.name)? {
            for line in undone(&judged) {
                crate::cli::warn(&line);
            }
        }
        Ok(())
    }

    /// Replaces the task list.
    pub(super) fn write_tasks(&self, text: &str) -> Result<()> {
        self.write(TASKS, text)
    }

    /// Replaces a file of the folder.
    pub(super) fn write(&self, file: &str, text: &str) -> Result<()> {
        let written = self.root().replace(self.path(file), text.as_bytes(), Readers::AsBefore);
        written.context(format!("cannot write {}", self.shown(file)))
    }

    /// Reads and writes the files of the folder.
    pub(super) fn root(&self) -> Root {
        Root::around(&self.project, &self.path(TASKS))
    }
}

/// What was put back of a turn that was cut off, in lines.
pub(super) fn undone(judged: &TasksJudged) -> Vec<String> {
    let run = judged.run.as_deref().unwrap_or_default();
    let is_unverified = judged.broken.is_empty() && !judged.taken_back.is_empty();
    let missing = if is_unverified { "verified" } else { "judged" };
    let line = |Undone { story, field, was, now }: &Undone| {
        let story = story.as_ref().map(|story| format!("{story} ")).unwrap_or_default();
        let text = format!("{story}{field}: {was}, restored to {now}");
        format!("the last turn of run {run} was never {missing}; {}", one_line(&text))
    };
    judged.undone.iter().map(line).collect()
}

impl PlaceArgs {
    /// The project that was asked for.
    pub(super) fn project(&self, project: &Path) -> Result<PathBuf> {
        match &self.project {
            Some(dir) => crate::cli::project_dir(Some(dir.clone())),
            None => Ok(project.to_owned()),
        }
    }
}
