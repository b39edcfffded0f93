//! Ralph's hooks in Codex: entries in a `hooks.json` that may have others'.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN, Readers, Root},
};
use serde_json::{Value, json};

use super::{called, command};

/// The events that Codex has, each with what ralph is asked.
const EVENTS: [(&str, &str); 6] = [
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "user-prompt-submit"),
    ("PreToolUse", "pre-tool-use"),
    ("PostToolUse", "post-tool-use"),
    ("Stop", "stop --host-timeout 3600"),
    ("SessionEnd", "session-end"),
];

/// How long Codex waits at a stop, where guardrails may run.
const STOP_TIMEOUT: Duration = Duration::from_hours(1);

/// A hooks file of Codex's.
pub(crate) struct Codex {
    pub(crate) path: PathBuf,
}

impl Codex {
    /// The user's own.
    pub(crate) fn of_user() -> Result<Self> {
        let home = env::var_os("CODEX_HOME").map(PathBuf::from);
        let home = home.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".codex")));
        let home = home.ok_or_else(|| Error::new("there is no home directory to install into"))?;
        Ok(Self { path: home.join("hooks.json") })
    }

    /// The project's.
    pub(crate) fn of_project(project: &Path) -> Self {
        Self { path: project.join(".codex/hooks.json") }
    }

    /// The program that the file's entries of ours call.
    pub(crate) fn installed(&self) -> Result<Option<PathBuf>> {
        let mut hooks = self.read()?;
        let ours = super::commands(&mut hooks).find(|hook| is_ours(hook));
        Ok(ours.and_then(|hook| called(hook.as_str()?)).map(|(_, program)| PathBuf::from(program)))
    }

    /// Adds our entries; earlier ones of ours are replaced, others' stay.
    pub(crate) fn install(&self) -> Result<()> {
        let mut hooks = without_ours(self.read()?);
        let program = env::current_exe()?;
        for (event, name) in EVENTS {
            let mut hook = json!({"type": "command", "command": command(&program, name)?});
            if event == "Stop" {
                hook["timeout"] = json!(STOP_TIMEOUT.as_secs());
            }
            let entries = &mut hooks["hooks"][event];
            if !entries.is_array() {
                *entries = json!([]);
            }
            if let Some(entries) = entries.as_array_mut() {
                entries.push(json!({"hooks": [hook]}));
            }
        }
        self.write(&hooks)
    }

    /// Takes our entries out.
    pub(crate) fn uninstall(&self) -> Result<()> {
        let hooks = without_ours(self.read()?);
        // A link is the user's own.
        if hooks == json!({"hooks": {}}) && !self.path.is_symlink() {
            return Ok(fs_err::remove_file(&self.path)?);
        }
        self.write(&hooks)
    }

    fn read(&self) -> Result<Value> {
        let text = match files::read(&self.path, MAX_TEXT_LEN) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(json!({"hooks": {}})),
            text => text.context(format!("cannot read {}", self.path.display()))?,
        };
        let damaged = |why: &str| {
            Error::new(format!("{} is {why}", self.path.display()))
                .hint("fix it or move it away, and type this again")
        };
        let hooks: Value =
            serde_json::from_slice(&text).map_err(|error| damaged(&format!("no JSON: {error}")))?;
        if !hooks["hooks"].is_object() {
            return Err(damaged("not a file with hooks"));
        }
        Ok(hooks)
    }

    fn write(&self, hooks: &Value) -> Result<()> {
        // A link stays one: many people keep their settings elsewhere.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().unwrap_or(&path);
        fs_err::create_dir_all(folder)?;
        let text = format!("{hooks:#}\n");
        let written = Root::new(folder).replace(&path, text.as_bytes(), Readers::AsBefore);
        written.context(format!("cannot write {}", path.display()))
    }
}

fn without_ours(mut hooks: Value) -> Value {
    if let Some(events) = hooks["hooks"].as_object_mut() {
        for entries in events.values_mut().filter_map(Value::as_array_mut) {
            entries.retain_mut(|entry| {
                let Some(hooks) = entry["hooks"].as_array_mut() else { return true };
                let before = hooks.len();
                hooks.retain(|hook| !is_ours(&hook["command"]));
                // One that was empty already is not ours.
                hooks.len() == before || !hooks.is_empty()
            });
        }
        events.retain(|_, entries| entries.as_array().is_none_or(|entries| !entries.is_empty()));
    }
    hooks
}

fn is_ours(command: &Value) -> bool {
    command.as_str().is_some_and(|command| command.starts_with("test -x ") && called(command).is_some())
}
