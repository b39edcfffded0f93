//! A copy of the user's project: what is committed, in a folder of its own. The project itself is only read.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_sys::{
    error::{Error, Result},
    files,
    process::{Crew, Spec},
};
use serde_json::{Value, json};

use super::{
    Rules,
    catalogue::{Entry, Fixture},
    generic::Files,
    place::{Place, Variables},
};

/// What git takes at most to say something.
const GIT_TIMEOUT: Duration = Duration::from_mins(1);
/// Larger files are not read: no one writes tests that long.
const MAX_FILE_LEN: u64 = 1024 * 1024;
/// What tools keep at home that takes long to get again, and the variables that say where it is.
const KEPT_AT_HOME: [(&str, &str); 5] = [
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("npm_config_cache", ".npm"),
];

/// The copy that the others are made of.
pub(super) struct Copy {
    place: Place,
    /// Where the project is in its repository, with a slash at the end; or nothing.
    prefix: String,
    /// The commit.
    pub(super) commit: String,
    /// What is not committed, and not in the copy.
    pub(super) left_out: Vec<String>,
}

impl Copy {
    /// Copies what the project's newest commit has.
    pub(super) fn new(crew: &Crew, project: &Path, limit: Duration) -> Result<Option<Self>> {
        let git = |args: &[&str], limit: Duration| {
            let spec = Spec::new("git", project).args(args).env("GIT_OPTIONAL_LOCKS", "0");
            crew.run(&spec, limit)
        };
        let commit = git(&["rev-parse", "--verify", "--quiet", "HEAD"], GIT_TIMEOUT)?;
        let top = git(&["rev-parse", "--show-toplevel"], GIT_TIMEOUT)?;
        if crew.is_stopping() {
            return Ok(None);
        }
        if commit.code != Some(0) || top.code != Some(0) {
            return Err(Error::new("the project has no commit that could be copied")
                .hint("make it a git repository and commit: git init && git add --all && git commit"));
        }
        let prefix = git(&["rev-parse", "--show-prefix"], GIT_TIMEOUT)?.out.trim_end_matches('\n').to_owned();
        let status = git(&["status", "--porcelain", "-z", "--no-renames", "--", "."], GIT_TIMEOUT)?;
        let left_out = status
            .out
            .split('\0')
            .filter_map(|line| line.get(3..))
            .filter(|path| !path.trim_start_matches(prefix.as_str()).starts_with(".ralph/"));
        let left_out = left_out.map(str::to_owned).collect();
        let place = Place::empty()?;
        let to = place.root().join("copy");
        let place = place.with(to.join(&prefix), users_variables(), &json!({}))?;
        let from = top.out.trim_end_matches('\n');
        let to_text = to.to_string_lossy();
        let cloned = git(&["clone", "--quiet", "--no-local", "--", from, &*to_text], limit)?;
        let copy = Self { place, prefix, commit: commit.out.trim().to_owned(), left_out };
        if cloned.code == Some(0) {
            copy.set_up(crew)?;
        } else if !crew.is_stopping() {
            return Err(Error::new(format!("cannot copy the project: {}", cloned.err.trim())));
        }
        Ok((!crew.is_stopping()).then_some(copy))
    }

    /// The copy knows nothing of where it comes from, and who commits.
    fn set_up(&self, crew: &Crew) -> Result<()> {
        let commands = "git remote remove origin && git config user.name 'A Tester' \
                        && git config user.email tester@localhost && git config commit.gpgsign false";
        let spec = self.place.within(Spec::shell(commands, &self.top()));
        let ended = crew.run(&spec, GIT_TIMEOUT)?;
        if ended.code == Some(0) || crew.is_stopping() {
            return Ok(());
        }
        Err(Error::new(format!("cannot copy the project: {}", ended.err.trim())))
    }

    /// Installs what the guardrails need.
    pub(super) fn prepare(&self, crew: &Crew, commands: &[String], limit: Duration) -> Result<()> {
        for command in commands {
            let spec = self.place.within(Spec::shell(command, self.place.project()));
            let ended = crew.run(&spec, limit)?;
            if ended.code != Some(0) && !crew.is_stopping() {
                let said = ended.err.trim();
                return Err(Error::new(format!("`{command}` of `verify.prepare` fails in a copy: {said}")));
            }
        }
        Ok(())
    }

    fn top(&self) -> PathBuf {
        self.place.root().join("copy")
    }

    /// The project's files that are text.
    pub(super) fn files(&self, crew: &Crew) -> Result<Files> {
        let folder = self.place.project();
        let spec = self.place.within(Spec::new("git", folder).args(["ls-files", "-z"]));
        let listed = crew.run(&spec, GIT_TIMEOUT)?.out;
        let text = |path: &str| {
            let whole = folder.join(path);
            let is_file = whole.symlink_metadata().is_ok_and(|it| it.is_file() && it.len() <= MAX_FILE_LEN);
            is_file
                .then(|| files::read(&whole, MAX_FILE_LEN).ok())
                .flatten()
                .and_then(|it| String::from_utf8(it).ok())
        };
        let paths = listed.split('\0').filter(|path| !path.is_empty() && !path.starts_with(".ralph/"));
        Ok(paths.filter_map(|path| Some((path.to_owned(), text(path)?))).collect())
    }

    /// Another copy of it with the agent that does what the entry says.
    pub(super) fn again(
        &self,
        crew: &Crew,
        rules: &Rules,
        (fixture, entry): (&Fixture, &Entry),
        limit: Duration,
    ) -> Result<Place> {
        let place = Place::empty()?;
        let to = place.project().to_owned();
        place.write_script(fixture, entry)?;
        let spec = Spec::new("cp", place.root()).args([
            "-a".into(),
            self.top().join(".").into_os_string(),
            to.clone().into(),
        ]);
        let copied = crew.run(&spec, limit)?;
        if copied.code != Some(0) && !crew.is_stopping() {
            return Err(Error::new(format!("cannot copy the project: {}", copied.err.trim())));
        }
        let settings = settings(&place, rules)?;
        place.with(to.join(&self.prefix), users_variables(), &settings)
    }
}

/// The rules, with the scripted agent in them.
fn settings(place: &Place, rules: &Rules) -> Result<Value> {
    let mut settings = rules.settings.clone();
    settings["maximumIterations"] = json!(1);
    settings["retries"] = json!(0);
    settings["agent"] = json!({
        "command": place.program()?,
        "flags": [shell_words::quote(&place.script().to_string_lossy())],
    });
    settings["scm"] = json!({"command": "git", "tasks": ["commit"]});
    if rules.is_contained {
        // The agent writes down what it was told.
        let mut writable = settings["sandbox"]["writable"].as_array().cloned().unwrap_or_default();
        writable.push(json!(place.root().join("script.json.d")));
        settings["sandbox"]["writable"] = json!(writable);
    }
    Ok(settings)
}

/// The user's variables stay, because guardrails may need them; those that lead git or ralph elsewhere do not.
fn users_variables() -> Variables {
    let leads_elsewhere = |name: &str| ["RALPH_", "GIT_", "XDG_"].iter().any(|start| name.starts_with(start));
    let all = env::vars_os().map(|(name, _)| name).filter(|name| leads_elsewhere(&name.to_string_lossy()));
    let mut all: Variables = all.map(|name| (name, None)).collect();
    let home = env::var_os("HOME").map(PathBuf::from);
    for (name, folder) in KEPT_AT_HOME {
        let there = home.as_ref().map(|home| home.join(folder)).filter(|path| path.is_dir());
        if let (None, Some(there)) = (env::var_os(name), there) {
            all.push((OsString::from(name), Some(there.into())));
        }
    }
    all
}
