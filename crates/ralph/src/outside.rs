//! Looks at what judges from outside of the project: start-up files, and the programs that guardrails run.
//!
//! Invariant: a file whose number, size and times are those of a look before is not read again, and a large one is not
//! read at all: its change time says whether it was written.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use ralph_checks::leads::programs;
use ralph_core::{
    engine::plan::Plan,
    path_pattern::is_meant,
    setup::Setup,
    verify::outside::{
        OutsideSeen, SeenFile, SeenProgram,
        table::{
            JudgingPart, LOGIN_SHELL, NAMED_BY, PYTHON, START_UP, Start, StartUp, judging_part,
            starts_login_shell,
        },
    },
};
use ralph_sys::files::{self, Root};
use sha2::{Digest, Sha256};

/// Larger files are known by their change time alone.
const MAX_READ_LEN: u64 = 1024 * 1024;

/// Larger programs are: scripts are installed again with the same text all the time, programs that were compiled are not.
const MAX_PROGRAM_READ_LEN: u64 = 16 * 1024;

/// A longer file is no recipe and no script.
const MAX_SCRIPT_LEN: u64 = 1024 * 1024;

/// So many files of one row are looked at.
const MAX_FILES: usize = 500;

/// Who looks.
pub(crate) struct Outside<'a> {
    project: &'a Path,
    /// Variables of guardrails.
    env: &'a BTreeMap<String, String>,
    /// What they run.
    commands: Vec<&'a str>,
    /// What was seen before; what has not changed is not read again.
    known: Option<&'a OutsideSeen>,
}

impl<'a> Outside<'a> {
    /// Nothing where no command judges.
    pub(crate) fn of(plan: &'a Plan, setup: &'a Setup, known: Option<&'a OutsideSeen>) -> Option<Self> {
        let commands: Vec<&str> = plan.gates.iter().filter_map(|gate| gate.check.command()).collect();
        let (project, env) = (setup.project.as_path(), &setup.guardrail_env);
        (!commands.is_empty()).then_some(Self { project, env, commands, known })
    }

    /// Looks. The programs are those that were looked at before, if there was a look.
    pub(crate) fn look(&self) -> OutsideSeen {
        let mut seen = OutsideSeen::default();
        let names = match self.known {
            Some(known) => known.programs.keys().cloned().collect(),
            None => self.programs(),
        };
        let mut prefixes = BTreeSet::new();
        for name in names {
            let program = self.program(&name);
            if let Some(program) = program.as_ref().filter(|_| is_python(&name)) {
                prefixes.extend(prefixes_of(&program.path));
            }
            seen.programs.insert(name, program);
        }
        let is_login = self.commands.iter().any(|command| starts_login_shell(command));
        for row in START_UP.iter().chain(LOGIN_SHELL.iter().filter(|_| is_login)) {
            for folder in self.starts(row.start) {
                self.files(row, &folder, &mut seen.files);
            }
        }
        for prefix in prefixes.iter().filter(|prefix| !prefix.starts_with(self.project)) {
            for row in &PYTHON {
                self.files(row, prefix, &mut seen.files);
            }
        }
        for (variable, read_by) in NAMED_BY {
            let Some(path) = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute())
            else {
                continue;
            };
            let names = &[];
            let row = StartUp { read_by, start: Start::Home, names, judging: JudgingPart::Whole };
            self.file(&row, path, &mut seen.files);
        }
        seen
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.env.get(name).map(OsString::from).or_else(|| std::env::var_os(name)).filter(|it| !it.is_empty())
    }

    fn starts(&self, start: Start) -> Vec<PathBuf> {
        let home = self.variable("HOME").map(PathBuf::from);
        match start {
            Start::Home => home.into_iter().collect(),
            Start::Variable(name, otherwise) => {
                let named = self.variable(name).map(PathBuf::from);
                named.or_else(|| Some(home?.join(otherwise))).into_iter().collect()
            }
            Start::Above => self.project.ancestors().skip(1).map(Path::to_owned).collect(),
        }
    }

    fn files(&self, row: &StartUp, folder: &Path, seen: &mut BTreeMap<PathBuf, SeenFile>) {
        for name in row.names {
            for path in expanded(folder, name) {
                self.file(row, path, seen);
            }
        }
    }

    fn file(&self, row: &StartUp, path: PathBuf, seen: &mut BTreeMap<PathBuf, SeenFile>) {
        // What is in the project is what the judge has of it.
        if path.starts_with(self.project) {
            return;
        }
        let Some(stat) = stat(&path) else { return };
        let known = self.known.and_then(|known| known.files.get(&path)).filter(|known| known.stat == stat);
        let print = match known {
            Some(known) => known.print.clone(),
            None => match files::read(&path, MAX_READ_LEN) {
                Ok(bytes) => match judging_part(row.judging, &bytes, self.project) {
                    part if part.is_empty() => return,
                    part => hash(&part),
                },
                Err(_) => stat.clone(),
            },
        };
        let read_by = row.read_by.to_owned();
        seen.insert(path, SeenFile { read_by, stat, print });
    }

    /// The programs that guardrails run, and those that run them.
    fn programs(&self) -> BTreeSet<String> {
        let root = Root::new(self.project);
        let read = |path: &str| String::from_utf8(root.read(path, MAX_SCRIPT_LEN).ok()?).ok();
        let mut names: BTreeSet<String> = BTreeSet::from(["sh".to_owned()]);
        names.extend(self.commands.iter().flat_map(|command| programs(command, &read)));
        let scripts: Vec<PathBuf> = names.iter().filter_map(|name| self.find(name)).collect();
        names.extend(scripts.iter().filter_map(|path| interpreter(path)));
        // A path into the project is what the judge has of it.
        names.retain(|name| !name.contains('/') || Path::new(name).is_absolute());
        names
    }

    fn program(&self, name: &str) -> Option<SeenProgram> {
        let path = self.find(name)?;
        let stat = stat(&path)?;
        let known = self.known.and_then(|known| known.programs.get(name)).and_then(Option::as_ref);
        let print = match known.filter(|known| known.stat == stat) {
            Some(known) => known.print.clone(),
            None => {
                files::read(&path, MAX_PROGRAM_READ_LEN).map_or_else(|_| stat.clone(), |bytes| hash(&bytes))
            }
        };
        Some(SeenProgram { path, stat, print })
    }

    /// Where a shell finds a program, if that is outside of the project.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        let found = if Path::new(name).is_absolute() {
            Some(PathBuf::from(name)).filter(is_program)
        } else {
            let path = self.variable("PATH")?;
            let folders = std::env::split_paths(&path).map(|folder| self.project.join(folder));
            folders.map(|folder| folder.join(name)).find(is_program)
        };
        found.filter(|path| !path.starts_with(self.project))
    }
}

/// Number, size, mode and times of the file that a path leads to; nothing if there is none.
fn stat(path: &Path) -> Option<String> {
    let it = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(format!(
        "{:x}-{:x}-{:x}-{:x}-{}.{}-{}.{}",
        it.dev(),
        it.ino(),
        it.size(),
        it.mode(),
        it.mtime(),
        it.mtime_nsec(),
        it.ctime(),
        it.ctime_nsec()
    ))
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let half: [u8; 16] = std::array::from_fn(|at| digest[at]);
    format!("{:032x}", u128::from_be_bytes(half))
}

/// The files below a folder that a name with stars means.
fn expanded(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for part in name.split('/') {
        found = found.into_iter().flat_map(|folder| children(&folder, part)).take(MAX_FILES).collect();
    }
    found
}

fn children(folder: &Path, name: &str) -> Vec<PathBuf> {
    if !name.contains('*') {
        return vec![folder.join(name)];
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|found| is_meant(found, name));
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

fn is_python(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with("python"))
}

/// Where an interpreter may be installed: an environment that links to one, and that one.
fn prefixes_of(program: &Path) -> Vec<PathBuf> {
    let linked = fs::canonicalize(program).ok();
    let programs = [Some(program.to_owned()), linked];
    let prefix = |program: PathBuf| program.parent().and_then(Path::parent).map(Path::to_owned);
    programs.into_iter().flatten().filter_map(prefix).collect()
}

/// Who runs a script: an absolute path, or what `env` looks for.
fn interpreter(path: &Path) -> Option<String> {
    let mut start = [0; 256];
    let length = io::Read::read(&mut files::open(path).ok()?, &mut start).ok()?;
    let line = String::from_utf8_lossy(&start[..length]);
    let mut words = line.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(first.to_owned());
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

#[cfg(test)]
mod tests;
