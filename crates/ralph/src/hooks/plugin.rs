//! The plugin for Claude Code that is inside the program, and the hooks for Codex.
//!
//! What is installed calls this very program by its absolute path, and does nothing once the program has gone.

mod codex;
mod scopes;

use std::{
    env,
    path::{Path, PathBuf},
};

use ralph_sys::{
    error::{Context, Error, Result},
    paths::state_dir,
};
use serde_json::{Value, json};

pub(crate) use codex::Codex;
pub(crate) use scopes::Scopes;

/// The name of the plugin and of the marketplace that has it.
pub(crate) const NAME: &str = "ralph@ralph";

const MARKETPLACE: (&str, &str) =
    (".claude-plugin/marketplace.json", include_str!("../../../../.claude-plugin/marketplace.json"));
const HOOKS: (&str, &str) = ("plugin/hooks/hooks.json", include_str!("../../../../plugin/hooks/hooks.json"));

/// The files of the plugin, but for its hooks.
const FILES: [(&str, &str); 7] = [
    MARKETPLACE,
    ("plugin/.claude-plugin/plugin.json", include_str!("../../../../plugin/.claude-plugin/plugin.json")),
    ("plugin/README.md", include_str!("../../../../plugin/README.md")),
    ("plugin/skills/ralph-loop/SKILL.md", include_str!("../../../../plugin/skills/ralph-loop/SKILL.md")),
    ("plugin/skills/ulw-loop/SKILL.md", include_str!("../../../../plugin/skills/ulw-loop/SKILL.md")),
    ("plugin/skills/cancel-ralph/SKILL.md", include_str!("../../../../plugin/skills/cancel-ralph/SKILL.md")),
    ("plugin/skills/ralph-plan/SKILL.md", include_str!("../../../../plugin/skills/ralph-plan/SKILL.md")),
];

/// Where the plugin is kept once it is installed.
pub(crate) fn folder() -> Result<PathBuf> {
    Ok(state_dir()?.join("plugin"))
}

/// Every file with its contents, for a program at this path.
pub(crate) fn files(program: &Path) -> Result<Vec<(&'static str, String)>> {
    let mut files: Vec<(&str, String)> =
        FILES.into_iter().map(|(name, text)| (name, text.to_owned())).collect();
    let mut hooks: Value = serde_json::from_str(HOOKS.1).context("the plugin's hooks are no JSON")?;
    for hook in commands(&mut hooks) {
        if let Some((event, _)) = hook.as_str().and_then(called) {
            *hook = json!(command(program, event)?);
        }
    }
    files.push((HOOKS.0, format!("{hooks:#}\n")));
    Ok(files)
}

/// Writes the plugin.
pub(crate) fn write(folder: &Path) -> Result<()> {
    for (name, text) in files(&env::current_exe()?)? {
        let path = folder.join(name);
        fs_err::create_dir_all(path.parent().unwrap_or(folder))?;
        fs_err::write(path, text)?;
    }
    Ok(())
}

/// The program that an installed plugin calls; nothing if there is no plugin.
pub(crate) fn installed(folder: &Path) -> Option<PathBuf> {
    let text = fs_err::read(folder.join(HOOKS.0)).ok()?;
    let mut hooks: Value = serde_json::from_slice(&text).ok()?;
    let command = commands(&mut hooks).find_map(|hook| hook.as_str().map(str::to_owned))?;
    called(&command).map(|(_, program)| PathBuf::from(program))
}

/// Whether an installed plugin is what this program would install.
pub(crate) fn is_current(folder: &Path) -> Result<bool> {
    let files = files(&env::current_exe()?)?;
    Ok(files
        .iter()
        .all(|(name, text)| fs_err::read(folder.join(name)).is_ok_and(|there| there == text.as_bytes())))
}

/// A command line that calls the program for an event, and does nothing when the program has gone.
fn command(program: &Path, event: &str) -> Result<String> {
    let program = program.to_str().ok_or_else(|| Error::new("ralph's own path is not a name in UTF-8"))?;
    let program = shell_words::quote(program);
    Ok(format!("test -x {program} || exit 0; exec {program} hook {event} --in-loop-only"))
}

/// The event that one of our command lines is for, and the program it calls.
fn called(command: &str) -> Option<(&str, String)> {
    let (_, call) = command.split_once("exec ")?;
    let call = call.strip_suffix(" --in-loop-only")?;
    let (program, event) = call.rsplit_once(" hook ")?;
    Some((event, shell_words::split(program).ok()?.pop()?))
}

/// Every command of a hooks file.
fn commands(hooks: &mut Value) -> impl Iterator<Item = &mut Value> {
    let events = hooks["hooks"].as_object_mut().into_iter().flat_map(|events| events.values_mut());
    let entries = events.filter_map(Value::as_array_mut).flatten();
    let hooks = entries.filter_map(|entry| entry.get_mut("hooks")?.as_array_mut()).flatten();
    hooks.filter_map(|hook| hook.get_mut("command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_call_the_program_by_its_path_and_close_nothing() {
        let files = files(Path::new("/opt/my tools/ralph")).expect("files");
        let (_, text) = files.iter().find(|(name, _)| *name == HOOKS.0).expect("hooks");
        assert!(!text.contains("onFailure") && !text.contains("command -v"), "{text}");
        let mut hooks: Value = serde_json::from_str(text).expect("JSON");
        let commands: Vec<String> = commands(&mut hooks).map(|hook| hook.to_string()).collect();
        assert_eq!(commands.len(), 8);
        for command in commands {
            assert!(command.contains("exec '/opt/my tools/ralph' hook "), "{command}");
            assert!(command.ends_with(" --in-loop-only\""), "{command}");
        }
    }

    #[test]
    fn the_stop_hook_knows_how_long_its_host_waits() {
        let hooks: Value = serde_json::from_str(HOOKS.1).expect("JSON");
        let stop = &hooks["hooks"]["Stop"][0]["hooks"][0];
        let told = format!("hook stop --host-timeout {} --in-loop-only", stop["timeout"]);
        assert!(stop["command"].as_str().expect("a command").ends_with(&told), "{stop}");
    }

    #[test]
    fn versions_agree() {
        for (name, text) in [MARKETPLACE, FILES[1]] {
            let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
            assert!(text.contains(&version), "{name} does not have {version}");
        }
    }
}
