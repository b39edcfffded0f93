//! A place of its own for one loop: home, state, temporary files, a fresh repository. All of it goes with the value.

use std::{
    env,
    ffi::OsString,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use ralph_sys::{
    error::{Error, Result},
    process::{Crew, Spec},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripted;

use super::{
    Rules,
    catalogue::{Act, Breaks, Entry, Fixture, Reach, Text},
    trial::LOOP_TIMEOUT,
};

/// What of the user's environment a loop sees.
const INHERITED: [&str; 5] = ["LANG", "LC_ALL", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "TERM"];

/// The program under the name that it is known by, for agents that call it.
const OWN_LINK: &str = "home/.local/bin/ralph";

/// Makes the first commit; ralph's own folder is not part of it.
const COMMIT: &str = "set -e
git init --quiet --initial-branch=main
git config user.name 'A Tester'
git config user.email tester@localhost
git config commit.gpgsign false
git add --all -- . ':!.ralph'
git commit --quiet --message='Begin'
";

/// The place.
pub(super) struct Place {
    root: TempDir,
    project: PathBuf,
    environment: Variables,
    /// The settings, where they are not those of the project.
    config: Option<PathBuf>,
}

/// Variables that are set, or removed.
pub(super) type Variables = Vec<(OsString, Option<OsString>)>;

impl Place {
    /// A place without a project.
    pub(super) fn empty() -> Result<Self> {
        let root = tempfile::Builder::new().prefix("ralph-selftest-").tempdir()?;
        for folder in ["home/.local/bin", "tmp", "project/.ralph", "script.json.d"] {
            fs_err::create_dir_all(root.path().join(folder))?;
        }
        // As ralph names it.
        let project = fs_err::canonicalize(root.path().join("project"))?;
        symlink(env::current_exe()?, root.path().join(OWN_LINK))?;
        let environment = environment(root.path());
        Ok(Self { root, project, environment, config: None })
    }

    /// The same place with another project below it, other variables and settings of its own.
    pub(super) fn with(mut self, project: PathBuf, more: Variables, settings: &Value) -> Result<Self> {
        let config = self.root.path().join("settings.json");
        fs_err::write(&config, format!("{settings:#}\n"))?;
        self.project = project;
        // What is the place's own stays so.
        let own = self.environment.into_iter().filter(|(_, value)| value.is_some());
        self.environment = more.into_iter().chain(own).collect();
        self.config = Some(config);
        Ok(self)
    }

    /// The settings, where they are not those of the project.
    pub(super) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// All of it.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The project of an entry, committed, with the agent that does what the entry says.
    pub(super) fn new(crew: &Crew, rules: &Rules, fixture: &Fixture, entry: &Entry) -> Result<Self> {
        let place = Self::empty()?;
        for file in &fixture.files {
            place.write(file)?;
        }
        place.write_script(fixture, entry)?;
        fs_err::write(place.project.join(".ralph/settings.json"), place.settings(rules, fixture, entry)?)?;
        let commands = format!("set -e\n{}\n{COMMIT}", entry.base);
        let spec = place.within(Spec::shell(&commands, &place.project));
        let ended = crew.run(&spec, LOOP_TIMEOUT)?;
        if ended.code != Some(0) && !crew.is_stopping() {
            return Err(Error::new(format!("cannot prepare `{}`: {}", entry.id, ended.err.trim())));
        }
        Ok(place)
    }

    /// This program under a name by which it is known as the scripted agent, whatever its file is called.
    pub(super) fn program(&self) -> Result<PathBuf> {
        Ok(scripted::program(&self.root.path().join(OWN_LINK))?)
    }

    pub(super) fn project(&self) -> &Path {
        &self.project
    }

    /// What the agent follows.
    pub(super) fn script(&self) -> PathBuf {
        self.root.path().join("script.json")
    }

    pub(super) fn write_script(&self, fixture: &Fixture, entry: &Entry) -> Result<()> {
        Ok(fs_err::write(self.script(), script(fixture, entry).to_string())?)
    }

    /// A process that sees nothing of the user's but the programs.
    pub(super) fn within(&self, spec: Spec) -> Spec {
        spec.envs(self.environment.iter().cloned())
    }

    fn write(&self, file: &Text) -> Result<()> {
        let path = self.project.join(&file.path);
        fs_err::create_dir_all(path.parent().unwrap_or(&self.project))?;
        Ok(fs_err::write(path, &file.text)?)
    }

    fn settings(&self, rules: &Rules, fixture: &Fixture, entry: &Entry) -> Result<String> {
        let guardrails = guardrails(fixture, entry).iter().map(|command| json!({"command": command}));
        let mut settings = json!({
            "maximumIterations": entry.turns.len(),
            "retries": 0,
            "agent": {
                "command": self.program()?,
                "flags": [shell_words::quote(&self.script().to_string_lossy())],
            },
            "guardrails": guardrails.collect::<Vec<_>>(),
            "scm": {"command": "git", "tasks": ["commit"]},
        });
        if let (Some(settings), Some(rules)) = (settings.as_object_mut(), rules.settings.as_object()) {
            settings.extend(rules.clone());
        }
        if rules.is_contained {
            // The agent writes down what it was told.
            settings["sandbox"]["writable"] = json!([self.root.path().join("script.json.d")]);
        }
        Ok(format!("{settings:#}\n"))
    }
}

/// The guardrails of an entry.
pub(super) fn guardrails<'a>(fixture: &'a Fixture, entry: &'a Entry) -> &'a [String] {
    if entry.guardrails.is_empty() { &fixture.guardrails } else { &entry.guardrails }
}

/// What the scripted agent does.
fn script(fixture: &Fixture, entry: &Entry) -> Value {
    let write = |file: &Text| json!({"write": {"path": file.path, "text": file.text}});
    let mut turns: Vec<Vec<Value>> =
        entry.turns.iter().map(|acts| acts.iter().map(|act| step(act, entry.reach)).collect()).collect();
    if let (Some(first), Breaks::Yes) = (turns.first_mut(), entry.breaks) {
        first.splice(0..0, fixture.broken.iter().map(write));
    }
    json!({"turns": turns, "text": [[{"say": "Work on the project"}]]})
}

fn step(act: &Act, reach: Reach) -> Value {
    match act {
        Act::Write { path, text } => json!({"write": {"path": path, "text": text}}),
        Act::Say(text) => json!({"say": text}),
        // What a sandbox keeps it from doing does not end the agent.
        Act::Shell(text) if reach != Reach::Repository => {
            json!({"shell": format!("(set -e\n{text}) || true")})
        }
        Act::Shell(text) => json!({"shell": format!("set -e\n{text}")}),
    }
}

/// The user's variables are removed, but for a few; home and the rest are the place's own.
fn environment(root: &Path) -> Variables {
    let is_removed = |name: &OsString| !INHERITED.iter().any(|inherited| name == inherited);
    let mut all: Variables =
        env::vars_os().map(|(name, _)| name).filter(is_removed).map(|name| (name, None)).collect();
    let mut set = |name: &str, value: OsString| {
        all.retain(|(other, _)| other != name);
        all.push((name.into(), Some(value)));
    };
    let mut path = root.join("home/.local/bin").into_os_string();
    if let Some(inherited) = env::var_os("PATH") {
        path.push(":");
        path.push(inherited);
    }
    set("PATH", path);
    set("HOME", root.join("home").into());
    set("TMPDIR", root.join("tmp").into());
    set("RALPH_STATE_DIR", root.join("state").into());
    set("GIT_CONFIG_NOSYSTEM", "1".into());
    // Where cargo is a proxy, it looks for its toolchains at home.
    let toolchains =
        env::var_os("HOME").map(|home| Path::new(&home).join(".rustup")).filter(|it| it.is_dir());
    if let (None, Some(toolchains)) = (env::var_os("RUSTUP_HOME"), toolchains) {
        set("RUSTUP_HOME", toolchains.into());
    }
    all
}
