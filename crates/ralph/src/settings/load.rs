//! Finds the layers of the settings, checks each by itself, and merges them.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ralph_core::located::{node::Node, report::Report};
use ralph_core::setup::Invocation;
use ralph_sys::files::{self, MAX_TEXT_LEN};
use serde_json::Value;

use super::Settings;
use super::error::{SettingsError, told};
use super::json::{Parsed, Refused, parse};
use super::layers::{Origin, Sources, merge, nothing, of_flags, rename};
use super::read::{RENAMED, read};
use super::{sandbox, verify};

/// The settings of a project, below its directory.
pub(crate) const PROJECT_FILE: &str = ".ralph/settings.json";

/// What one person changes in them for themselves.
pub(crate) const LOCAL_FILE: &str = ".ralph/settings.local.json";

/// The settings, and how they came about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loaded {
    /// What holds.
    pub(crate) settings: Settings,
    /// The files that were read, in order, as people are told about them.
    pub(crate) files: Vec<PathBuf>,
    /// The files that were looked for.
    pub(crate) looked_for: Vec<PathBuf>,
    /// What is odd in them.
    pub(crate) warnings: Vec<String>,
    /// What gave each key that is not at its default: `agent.command` → `.ralph/settings.json:3`.
    pub(crate) origins: BTreeMap<String, Origin>,
    /// What was typed beside them.
    pub(crate) invocation: Invocation,
}

/// The settings as they are, good or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inspected {
    /// What holds as far as it can be understood; there may be no agent in it.
    pub(crate) loaded: Loaded,
    /// What the files say together, without the defaults.
    pub(crate) merged: Value,
    /// What is wrong with the files, each as `file:line: key: expected …, found …`.
    pub(crate) problems: Vec<String>,
}

/// Reads the settings of `project`, or `config` in their place, then the local ones, then the flags.
///
/// The flags have the shape of a settings file. A null in them takes a key away as it does in a file, so
/// a flag that was not given must not be in them at all.
pub(crate) fn load(project: &Path, config: Option<&Path>, flags: Value) -> Result<Loaded, SettingsError> {
    load_with(project, config, flags, &read_file)
}

/// How a settings file is read: from the project, or from a copy of it.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    files::read(path, MAX_TEXT_LEN)
}

/// The same, from files that are read in another way.
pub(crate) fn load_with(
    project: &Path,
    config: Option<&Path>,
    flags: Value,
    read: ReadFile<'_>,
) -> Result<Loaded, SettingsError> {
    let typed = flags.as_object().cloned().unwrap_or_default();
    let Inspected { mut loaded, mut problems, .. } = gather(project, config, flags, read);
    loaded.invocation = Invocation { config: config.map(Path::to_owned), flags: typed };
    let mut hints = Vec::new();
    if problems.is_empty() && loaded.settings.agent.command.is_empty() && loaded.settings.agents.is_empty() {
        problems.push("agent.command: missing".to_owned());
        hints = vec![
            "name the agent for this run: `--agent claude`".to_owned(),
            format!("or for good, in `{PROJECT_FILE}`: `ralph init`"),
        ];
    }
    if problems.is_empty() { Ok(loaded) } else { Err(SettingsError { problems, hints }) }
}

/// Reads the settings files of `project` to look at them, not to run with them.
pub(crate) fn inspect(project: &Path) -> Inspected {
    gather(project, None, Value::Object(serde_json::Map::new()), &read_file)
}

/// Reads settings that are in no file.
pub(crate) fn of_bytes(bytes: &[u8]) -> Inspected {
    let mut merge = Merge::new();
    merge.text(bytes, PROJECT_FILE);
    merge.finish()
}

fn gather(project: &Path, config: Option<&Path>, flags: Value, read: ReadFile<'_>) -> Inspected {
    let mut merge = Merge::new();
    let project_file = project.join(PROJECT_FILE);
    match config {
        None => merge.file(&project_file, project, Missing::IsFine, read),
        Some(config) => merge.file(config, project, Missing::IsWrong, read),
    }
    // Local settings are changes to the project's own file. On top of another file they would make a run
    // that was asked for by name come out differently for each person.
    if config.is_none_or(|config| is_same_file(config, &project_file)) {
        merge.file(&project.join(LOCAL_FILE), project, Missing::IsFine, read);
    }
    merge.layer(of_flags(flags), Report::default());
    merge.finish()
}

/// Whether there must be a file.
#[derive(Clone, Copy)]
enum Missing {
    IsFine,
    IsWrong,
}

struct Merge {
    merged: Node,
    sources: Sources,
    files: Vec<PathBuf>,
    looked_for: Vec<PathBuf>,
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Merge {
    fn new() -> Self {
        Self {
            merged: nothing(),
            sources: Sources::default(),
            files: Vec::new(),
            looked_for: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn file(&mut self, path: &Path, project: &Path, missing: Missing, read: ReadFile<'_>) {
        self.looked_for.push(path.to_owned());
        let bytes = match (read(path), missing) {
            (Ok(bytes), _) => bytes,
            (Err(error), Missing::IsFine) if error.kind() == ErrorKind::NotFound => return,
            (Err(error), _) => {
                self.problems.push(format!("failed to open file `{}`: {error}", path.display()));
                return;
            }
        };
        let shown = path.strip_prefix(project).unwrap_or(path);
        self.files.push(shown.to_owned());
        self.text(&bytes, &shown.to_string_lossy());
    }

    fn text(&mut self, bytes: &[u8], name: &str) {
        match parse(bytes, self.sources.next()) {
            Ok(Parsed { node, lines, mut report }) => {
                self.sources.add(name, lines);
                verify::refuse_hidden(&node, &mut report);
                if name == PROJECT_FILE {
                    sandbox::refuse_from_project(&node, &mut report);
                }
                self.layer(node, report);
            }
            Err(Refused { at: (line, column), why }) => {
                self.problems.push(format!("{name}:{line}:{column}: {why}"));
            }
        }
    }

    /// Checks a layer by itself: what a later one replaces must be right too, and each has its own lines.
    fn layer(&mut self, mut node: Node, mut report: Report) {
        read(&node, &mut report);
        sandbox::as_object(&mut node);
        rename(&mut node, &RENAMED);
        let (problems, warnings) = told(report, &self.sources);
        self.problems.extend(problems);
        self.warnings.extend(warnings);
        merge(&mut self.merged, node);
    }

    fn finish(self) -> Inspected {
        // Whatever is wrong or odd in the whole was so in a layer, and has been noted there.
        let settings = read(&self.merged, &mut Report::default());
        let origins = self.sources.origins(&self.merged);
        Inspected {
            loaded: Loaded {
                settings,
                files: self.files,
                looked_for: self.looked_for,
                warnings: self.warnings,
                origins,
                invocation: Invocation::default(),
            },
            merged: self.merged.into_value(),
            problems: self.problems,
        }
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs_err::canonicalize(one), fs_err::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), _) | (_, Err(_)) => false,
    }
}
