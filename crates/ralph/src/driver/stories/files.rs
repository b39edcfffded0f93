//! Judges the files of a stories loop: the task list, and those beside it that no turn may change.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use ralph_core::{
    engine::event::{TasksJudged, Turn},
    setup::{Setup, StoriesSetup},
    stories::{self, Mode, Rules, TaskFile, Undone},
};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN, Root},
    hash::fnv,
    process::{Spec, Supervisor},
};

use super::{super::steering, SNAPSHOT, touched::TreeBefore};
use crate::{
    journal::run_dir::{RunDir, record},
    project::{
        git::{self, Git},
        story_files::{ACTIVE, PRD, PROMPT, TASKS},
    },
};

/// The same call of git, without hooks: the agent may have written them, and this is not the agent's commit.
#[expect(clippy::unnecessary_wraps, reason = "other ways to change a call can fail")]
fn without_hooks(mut spec: Spec) -> io::Result<Spec> {
    let config = [("COUNT", "1"), ("KEY_0", "core.hooksPath"), ("VALUE_0", "/dev/null")];
    spec.env.extend(config.map(|(name, value)| (format!("GIT_CONFIG_{name}").into(), Some(value.into()))));
    Ok(spec)
}

/// A file that no turn may change.
pub(in crate::driver) struct Pin {
    /// Relative to the project.
    path: PathBuf,
    bytes: Vec<u8>,
}

/// The list before a turn.
pub(super) struct Snapshot {
    pub(super) file: TaskFile,
    pub(super) mode: Mode,
    pub(super) story: Option<String>,
    /// The files of the project before a review.
    pub(super) tree: Option<TreeBefore>,
}

/// A turn that is over, or would be if it ended now.
#[derive(Default)]
pub(super) struct TurnOver {
    /// Whether it came to its end.
    pub(super) finished: bool,
    /// What a review changed beside the files of the loop.
    pub(super) touched: Vec<String>,
}

/// What a turn did to the files, and what must be written to put them right.
pub(super) struct Findings {
    pub(super) judged: TasksJudged,
    /// The list as it must be.
    pub(super) file: TaskFile,
    /// The list as the turn left it, if it is not left so.
    pub(super) replaced: Option<String>,
    writes: Vec<(PathBuf, Vec<u8>)>,
    /// The story that is handed over to a person.
    handed_over: Option<String>,
}

/// A fingerprint of a file's contents.
pub(in crate::driver) fn hash(bytes: &[u8]) -> String {
    format!("{:x}-{:016x}", bytes.len(), fnv(bytes))
}

/// Copies the files that no turn may change into the run's folder.
pub(super) fn pin(project: &Path, setup: &StoriesSetup, run: &RunDir) -> Result<Vec<Pin>> {
    let mut pins = Vec::new();
    for name in [PRD, PROMPT] {
        let path = setup.ralph_dir.join(name);
        let whole = project.join(&path);
        let bytes = Root::around(project, &whole)
            .read(&whole, MAX_TEXT_LEN)
            .context(format!("cannot read {}", path.display()))?;
        record(&run.path().join("pinned").join(name), &bytes)
            .context(format!("cannot copy {} into the record", path.display()))?;
        pins.push(Pin { path, bytes });
    }
    Ok(pins)
}

/// What is recorded of them, to know the copies by.
pub(in crate::driver) fn hashes(pins: &[Pin]) -> BTreeMap<PathBuf, String> {
    pins.iter().map(|Pin { path, bytes }| (path.clone(), hash(bytes))).collect()
}

/// The copies of an earlier process; one that was changed is worth nothing.
pub(super) fn pinned(project: &Path, setup: &StoriesSetup, run: &RunDir) -> Vec<Pin> {
    let copy = |(path, expected): (&PathBuf, &String)| {
        let first = files::read(&run.path().join("pinned").join(path.file_name()?), MAX_TEXT_LEN).ok();
        let is_it = |bytes: &Vec<u8>| hash(bytes) == *expected;
        let later = || steering::kept(run, &project.join(path), expected).ok();
        let bytes = first.filter(is_it).or_else(later).filter(is_it)?;
        Some(Pin { path: path.clone(), bytes })
    };
    setup.pinned.iter().filter_map(copy).collect()
}

/// Copies a file that is about to be overwritten into the run's folder; the same text once.
fn keep_overwritten(root: &Root, path: &Path, run: &RunDir) -> io::Result<()> {
    // What is no file of a usual size has no text to lose.
    let Ok(bytes) = root.read(path, MAX_TEXT_LEN) else { return Ok(()) };
    let name = path.file_name().unwrap_or_default();
    record(&run.path().join("overwritten").join(hash(&bytes)).join(name), &bytes)
}

/// The list before this turn, as the record has it.
pub(super) fn snapshot(run: &RunDir, setup: &Setup, turn: &Turn) -> Result<Snapshot> {
    let path = run.turn(turn.iteration, turn.attempt).join(SNAPSHOT);
    let bytes = files::read(&path, MAX_TEXT_LEN).unwrap_or_default();
    if turn.tasks.as_deref() != Some(&*hash(&bytes)) {
        return Err(Error::new(format!(
            "the task list from before the last turn of run {} is missing or was changed, so the turn cannot be judged",
            run.id()
        ))
        .hint("look at the review fields of the task list yourself")
        .hint(format!("when they are right, remove the record: rm -r {}", run.path().display())));
    }
    let file = TaskFile::new(String::from_utf8_lossy(&bytes));
    let tree = TreeBefore::recall(run, setup, turn);
    Ok(Snapshot { file, mode: turn.mode, story: turn.story.clone(), tree })
}

/// The files of a stories loop, and what they are judged by.
pub(super) struct StoryFiles<'a> {
    pub(super) project: &'a Path,
    pub(super) setup: &'a StoriesSetup,
    pub(super) pins: &'a [Pin],
}

impl StoryFiles<'_> {
    /// The task list as it is now; nothing if it cannot be read.
    pub(super) fn list(&self) -> Option<TaskFile> {
        let path = self.project.join(&self.setup.ralph_dir).join(TASKS);
        let bytes = Root::around(self.project, &path).read(&path, MAX_TEXT_LEN).ok()?;
        Some(TaskFile::new(String::from_utf8_lossy(&bytes)))
    }

    /// Judges the list that is there by the one that was there before the turn, and the others by their copies.
    pub(super) fn judge(&self, before: &Snapshot, after: Option<&TaskFile>, over: TurnOver) -> Findings {
        let Self { project, setup, pins } = self;
        let TurnOver { finished, touched } = over;
        let story = before.story.as_deref();
        let turn = stories::StoryTurn { mode: before.mode, story, finished, touched: &touched };
        let rules =
            Rules { review: setup.review(), cap: setup.review_cap, verify_commands: &setup.verify_commands };
        let judgement = stories::judge(&before.file, after, turn, rules);
        let mut findings = Findings {
            judged: TasksJudged {
                run: None,
                broken: judgement.broken,
                undone: judgement.undone,
                taken_back: Vec::new(),
                capped: judgement.capped,
                dropped: judgement.dropped,
                review_changed: touched,
            },
            file: judgement.text.clone().map(TaskFile::new).or(after.cloned()).unwrap_or_default(),
            replaced: judgement.text.as_ref().and(after).map(|after| after.text().to_owned()),
            writes: Vec::new(),
            handed_over: None,
        };
        if let Some(text) = judgement.text {
            findings.writes.push((project.join(&setup.ralph_dir).join(TASKS), text.into_bytes()));
        }
        for Pin { path, bytes } in *pins {
            findings.pinned(project, path, bytes);
        }
        findings
    }

    /// What is wrong with a turn that has left the list as it was, without reading the list: it was right then.
    pub(super) fn untouched(&self, before: &Snapshot) -> Vec<String> {
        let story = before.story.as_deref();
        let turn = stories::StoryTurn { mode: before.mode, story, finished: true, touched: &[] };
        let is_idle = self.setup.review() == stories::Review::Required;
        let broken = stories::idle(turn).filter(|_| is_idle).into_iter().collect();
        let mut findings = Findings::none(TaskFile::default());
        findings.judged.broken = broken;
        for Pin { path, bytes } in self.pins {
            findings.pinned(self.project, path, bytes);
        }
        findings.judged.broken
    }
}

impl StoryFiles<'_> {
    /// The same without what was submitted since `before`.
    pub(super) fn without_submission(&self, before: &TaskFile, mut findings: Findings) -> Findings {
        let Some(taken) = stories::take_back(before, &findings.file, self.setup.review()) else {
            return findings;
        };
        let path = self.project.join(&self.setup.ralph_dir).join(TASKS);
        findings.writes.retain(|(written, _)| *written != path);
        findings.writes.push((path, taken.text.clone().into_bytes()));
        findings.replaced.get_or_insert_with(|| findings.file.text().to_owned());
        findings.judged.undone.extend(taken.undone);
        findings.judged.taken_back = taken.stories;
        findings.file = TaskFile::new(taken.text);
        findings
    }

    /// The list with this text, in which a story is one for a person.
    pub(super) fn handed_over(&self, story: &str, text: String) -> Findings {
        let path = self.project.join(&self.setup.ralph_dir).join(TASKS);
        Findings {
            writes: vec![(path, text.clone().into_bytes())],
            handed_over: Some(story.to_owned()),
            ..Findings::none(TaskFile::new(text))
        }
    }
}

impl Findings {
    /// Nothing that must be put right in this list.
    pub(super) fn none(file: TaskFile) -> Self {
        let judged = TasksJudged::default();
        Self { judged, file, replaced: None, writes: Vec::new(), handed_over: None }
    }

    /// A file that must be as it was.
    fn pinned(&mut self, project: &Path, path: &Path, bytes: &[u8]) {
        let whole = project.join(path);
        let now = Root::around(project, &whole).read(&whole, MAX_TEXT_LEN).ok();
        if now.as_deref() == Some(bytes) {
            return;
        }
        let name = path.display().to_string();
        let was = if whole.symlink_metadata().is_ok() { "changed" } else { "deleted" };
        self.judged.broken.push(format!("{name} is read-only during a run: it was {was}."));
        self.judged.undone.push(Undone {
            story: None,
            field: name,
            was: was.to_owned(),
            now: "as at the start of the run".to_owned(),
        });
        self.writes.push((whole, bytes.to_vec()));
    }

    /// The marker must be as ralph wrote it.
    pub(super) fn marker(&mut self, project: &Path, text: &str) {
        self.pinned(project, Path::new(ACTIVE), text.as_bytes());
    }

    /// Puts the files right, after a copy of what is there; returns what could not be.
    pub(super) fn write(&self, project: &Path, run: &RunDir) -> Vec<String> {
        let write = |(path, bytes): &(PathBuf, Vec<u8>)| {
            let root = Root::around(project, path);
            if let Err(error) = keep_overwritten(&root, path, run) {
                return Some(format!("{} is left as it is: it cannot be copied: {error}", path.display()));
            }
            let error = root.restore(path, bytes).err()?;
            Some(format!("{} cannot be restored: {error}", path.display()))
        };
        self.writes.iter().filter_map(write).collect()
    }

    /// Commits what was put right, and nothing else.
    pub(super) fn commit(
        &self,
        supervisor: &mut Supervisor,
        git: &Git,
        dirty: &BTreeMap<String, String>,
    ) -> io::Result<()> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let is_ours = |change: &git::Change| {
            let path = git.top().join(&change.path);
            self.writes.iter().any(|(written, _)| *written == path)
        };
        let changes: Vec<git::Change> =
            git::since(dirty, git.changes(supervisor)?).into_iter().filter(is_ours).collect();
        if changes.is_empty() {
            return Ok(());
        }
        let made = git.commit(supervisor, &changes, None, &self.message(), &mut without_hooks)?;
        made.map(|_| ()).map_err(io::Error::other)
    }

    fn message(&self) -> String {
        if let Some(story) = &self.handed_over {
            return format!("ralph: leave {story} to a person");
        }
        let mut lines: Vec<String> = self
            .judged
            .undone
            .iter()
            .map(|Undone { story, field, was, now }| {
                let story = story.as_ref().map(|story| format!("{story}: ")).unwrap_or_default();
                format!("- {story}{field}: {was}, now {now}")
            })
            .collect();
        lines.extend(self.judged.capped.iter().map(|id| format!("- {id}: approved at the review cap")));
        let subject = match (self.judged.undone.is_empty(), self.judged.broken.is_empty()) {
            (true, _) => "ralph: approve at the review cap",
            // It broke no rule; it was not ready.
            (false, true) => "ralph: take back what did not pass its checks",
            (false, false) => "ralph: undo what a turn may not change",
        };
        format!("{subject}\n\n{}", lines.join("\n"))
    }
}
