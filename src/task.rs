//! Tasks: their folders in the project, and who works on them.
//!
//! ```text
//! .ralph/tasks/PROJECT-MESSAGE-BUS.md            what concerns the whole project
//! .ralph/tasks/greeter/TASK-MESSAGE-BUS.md       what those who work on a task tell each other
//! ```

use std::{
    env, io,
    path::{Path, PathBuf},
};

use crate::{
    bus::Bus,
    driver::PROJECT_DIR,
    error::{Error, Result},
};

/// The folder of the task, for its agents.
pub(crate) const FOLDER_VARIABLE: &str = "TASK_FOLDER";
/// The task, for its agents.
pub(crate) const TASK_VARIABLE: &str = "RALPH_TASK_ID";

const TASK_BUS: &str = "TASK-MESSAGE-BUS.md";
const PROJECT_BUS: &str = "PROJECT-MESSAGE-BUS.md";
/// The longest name of a task.
const LONGEST_ID: usize = 80;

/// The tasks of a project.
pub(crate) struct Tasks {
    root: PathBuf,
}

/// One task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) folder: PathBuf,
}

impl Tasks {
    pub(crate) fn of(project: &Path) -> Self {
        Self { root: project.join(PROJECT_DIR).join("tasks") }
    }

    /// The bus of the whole project.
    pub(crate) fn bus(&self) -> Bus {
        Bus::at(self.root.join(PROJECT_BUS))
    }

    /// Makes the folder of all tasks.
    pub(crate) fn make(&self) -> io::Result<()> {
        fs_err::create_dir_all(&self.root)
    }

    /// A task, whether it is there or not.
    pub(crate) fn task(&self, id: &str) -> Task {
        Task { id: id.to_owned(), folder: self.root.join(id) }
    }

    /// A task that is there.
    pub(crate) fn existing(&self, id: &str) -> Result<Task> {
        let task = self.task(id);
        if task.folder.is_dir() {
            return Ok(task);
        }
        let near = self.all().into_iter().map(|known| known.id);
        let near = near.max_by(|one, other| likeness(id, one).total_cmp(&likeness(id, other)));
        let error = Error::new(format!("there is no task `{id}`")).hint("`ralph task list` lists them");
        Err(match near.filter(|near| 0.8 < likeness(id, near)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    /// All tasks, by their names.
    pub(crate) fn all(&self) -> Vec<Task> {
        let entries = fs_err::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| parse_id(name).is_ok());
        let mut tasks: Vec<Task> = names.map(|name| self.task(&name)).collect();
        tasks.sort_by(|one, other| one.id.cmp(&other.id));
        tasks
    }
}

impl Task {
    pub(crate) fn bus(&self) -> Bus {
        Bus::at(self.folder.join(TASK_BUS))
    }
}

/// Checks the name of a task: it is also the name of a folder.
pub(crate) fn parse_id(text: &str) -> std::result::Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins_well && text.len() <= LONGEST_ID && text.bytes().all(is_part) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most {LONGEST_ID}"
    ))
}

/// The variables that say which task a process works for.
pub(crate) fn surroundings() -> Option<(PathBuf, Task)> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let (folder, id) = (PathBuf::from(set(FOLDER_VARIABLE)?), set(TASK_VARIABLE)?.into_string().ok()?);
    // PROJECT/.ralph/tasks/ID
    let project = folder.ancestors().nth(3)?.to_owned();
    let is_task = parse_id(&id).is_ok() && Tasks::of(&project).task(&id).folder == folder;
    is_task.then_some((project, Task { id, folder }))
}

fn likeness(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(one, other)
}
