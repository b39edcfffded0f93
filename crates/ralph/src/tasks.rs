//! Tasks: their folders in the project, and who works on them.
//!
//! ```text
//! .ralph/tasks/PROJECT-MESSAGE-BUS.md      what concerns the whole project
//! .ralph/tasks/greeter/TASK.md             what is to be done
//!                      DONE                the agent says that it is done
//!                      WAIT_WITHOUT_RESTART   the agent waits for someone
//!                      TASK-MESSAGE-BUS.md what those who work on it tell each other
//!                      depends-on.json     the tasks that must be done before it
//!                      runs/ID/run.json    who works or worked on it
//! ```

pub(crate) mod bus;
pub(crate) mod child;
pub(crate) mod ending;
pub(crate) mod record;
pub(crate) mod registration;
pub(crate) mod reporter;
pub(crate) mod store;

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::{
    dependencies::{self, Graph},
    setup::{Assignment, PROJECT_DIR},
};
use ralph_sys::{
    error::{Context, Error, Result},
    file_lock,
    files::{MAX_TEXT_LEN, Readers, Root},
};

use crate::tasks::bus::Bus;

/// The agent says that the task is done.
pub(crate) const DONE: &str = "DONE";
/// The agent waits for someone and is not to be started again.
pub(crate) const MARKER: &str = "WAIT_WITHOUT_RESTART";
/// The folder of the task, for its agents.
pub(crate) const FOLDER_VARIABLE: &str = "TASK_FOLDER";
/// The task, for its agents.
pub(crate) const TASK_VARIABLE: &str = "RALPH_TASK_ID";

const TASK_FILE: &str = "TASK.md";
const TASK_BUS: &str = "TASK-MESSAGE-BUS.md";
const PROJECT_BUS: &str = "PROJECT-MESSAGE-BUS.md";
const DEPENDS_ON: &str = "depends-on.json";
/// How long others may look at all tasks.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest name of a task.
const MAX_ID_LEN: usize = 80;

/// The tasks of a project.
pub(crate) struct Tasks {
    project: PathBuf,
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
        Self { project: project.to_owned(), root: project.join(PROJECT_DIR).join("tasks") }
    }

    /// The bus of the whole project.
    pub(crate) fn bus(&self) -> Bus {
        Bus::at(&self.project, self.root.join(PROJECT_BUS))
    }

    /// Makes the folder of all tasks.
    pub(crate) fn make(&self) -> io::Result<()> {
        Root::new(&self.project).make_folder(&self.root)
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
        let near = near.max_by(|one, other| signature(id, one).total_cmp(&signature(id, other)));
        let error = Error::new(format!("there is no task `{id}`")).hint("`ralph task list` lists them");
        Err(match near.filter(|near| 0.8 < signature(id, near)) {
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

    /// Has a task wait for others; refuses what could never end. Under a lock, so that two tasks that are
    /// started at once do not both get a place in a circle.
    pub(crate) fn depend(&self, task: &Task, on: &[String]) -> Result<()> {
        let root = File::open(&self.root).context(format!("cannot open {}", self.root.display()))?;
        file_lock::take_within(&root, LOCK_TIMEOUT)
            .context(format!("cannot lock {}", self.root.display()))?;
        let mut graph: Graph = self.all().into_iter().map(|it| (it.id.clone(), it.depends_on())).collect();
        graph.insert(task.id.clone(), on.to_vec());
        if let Some(path) = dependencies::cycle(&graph, &task.id) {
            let path = path.join("` waits for `");
            return Err(Error::new(format!("the tasks would wait for each other for ever: `{path}`"))
                .hint("leave out one `--depends-on`"));
        }
        let text = serde_json::to_vec_pretty(on)?;
        task.files()
            .replace(task.folder.join(DEPENDS_ON), &text, Readers::AsBefore)
            .context(format!("cannot write into {}", task.folder.display()))
    }
}

impl Task {
    /// The task that a run is assigned to.
    pub(crate) fn of(assignment: &Assignment) -> Self {
        Self { id: assignment.task.clone(), folder: assignment.folder.clone() }
    }

    /// The task that has this folder.
    pub(crate) fn in_folder(folder: &Path) -> Option<Self> {
        Some(Self { id: folder.file_name()?.to_str()?.to_owned(), folder: folder.to_owned() })
    }

    /// Reads and writes its files, whatever its agents have made of its folders.
    pub(crate) fn files(&self) -> Root {
        Root::new(project_of(&self.folder).unwrap_or(&self.folder))
    }

    pub(crate) fn text_file(&self) -> PathBuf {
        self.folder.join(TASK_FILE)
    }

    pub(crate) fn done(&self) -> PathBuf {
        self.folder.join(DONE)
    }

    pub(crate) fn marker(&self) -> PathBuf {
        self.folder.join(MARKER)
    }

    pub(crate) fn bus(&self) -> Bus {
        let project = project_of(&self.folder).unwrap_or(&self.folder);
        Bus::at(project, self.folder.join(TASK_BUS))
    }

    /// The folder of one run of the task, where its agent may keep what it wants.
    pub(crate) fn run_folder(&self, run: &str) -> PathBuf {
        self.folder.join("runs").join(run)
    }

    /// The tasks that it waits for.
    pub(crate) fn depends_on(&self) -> Vec<String> {
        let text = self.files().read(self.folder.join(DEPENDS_ON), MAX_TEXT_LEN).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Something that changes whenever the task is announced as done again.
    pub(crate) fn done_key(&self) -> String {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(self.done());
        let (second, part) = metadata.map_or((0, 0), |it| (it.mtime(), it.mtime_nsec()));
        format!("done-{second}.{part:09}")
    }
}

/// Checks the name of a task: it is also the name of a folder.
pub(crate) fn parse_id(text: &str) -> std::result::Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins_well && text.len() <= MAX_ID_LEN && text.bytes().all(is_part) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected letters, digits, `.`, `_` and `-`, beginning with a letter or digit, at most {MAX_ID_LEN}"
    ))
}

/// The project of a task's folder, `PROJECT/.ralph/tasks/ID`.
fn project_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().nth(3)
}

/// The variables that say which task a process works for.
pub(crate) fn surroundings() -> Option<(PathBuf, Task)> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let (folder, id) = (PathBuf::from(set(FOLDER_VARIABLE)?), set(TASK_VARIABLE)?.into_string().ok()?);
    let project = project_of(&folder)?.to_owned();
    let is_task = parse_id(&id).is_ok() && Tasks::of(&project).task(&id).folder == folder;
    is_task.then_some((project, Task { id, folder }))
}

fn signature(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(one, other)
}

/// Records by their runs.
pub(crate) type Records = BTreeMap<String, record::Record>;
