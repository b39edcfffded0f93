//! The agent's own folder inside a sandbox, with the user's login and settings in it.
//!
//! The user's real folder stays read-only: settings and hooks there would be a way to persist. Keys and tokens in
//! the environment are enough. Without them the credential is copied in before a turn, and a well-formed change of
//! it (a token that was renewed) is copied back after the turn, because an old token would log the user out.

use std::{
    io::{self, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::survey::home;

/// How an agent keeps its state.
struct Kind {
    name: &'static str,
    /// The variable that says where.
    variable: &'static str,
    /// Where it is otherwise, in the user's home.
    folder: &'static str,
    credential: &'static str,
    /// Variables that make a login unnecessary.
    keys: &'static [&'static str],
    /// What is copied: the agent may change its copy.
    copied: &'static [&'static str],
    /// What is only read.
    linked: &'static [&'static str],
}

const KINDS: [Kind; 2] = [
    Kind {
        name: "claude",
        variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        credential: ".credentials.json",
        keys: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        copied: &["settings.json", ".claude.json"],
        linked: &["CLAUDE.md", "agents", "commands", "skills", "output-styles", "plugins", "rules"],
    },
    Kind {
        name: "codex",
        variable: "CODEX_HOME",
        folder: ".codex",
        credential: "auth.json",
        keys: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        copied: &["config.toml"],
        linked: &["AGENTS.md", "prompts", "skills", "rules"],
    },
];

/// The folders that other agents keep their state in; they are written where they are.
pub(super) fn state_folders(agent: &str) -> Vec<PathBuf> {
    let names: &[&str] = match agent {
        "amp" => &[".local/share/amp", ".cache/amp"],
        "gemini" => &[".gemini"],
        "qwen" => &[".qwen"],
        "opencode" => &[".local/share/opencode", ".local/state/opencode", ".cache/opencode"],
        "copilot" => &[".copilot"],
        "pi" => &[".pi"],
        _ => &[],
    };
    let Some(home) = home() else { return Vec::new() };
    let folders = names.iter().map(|name| home.join(name));
    // An agent that was never used has none yet, and could not make it inside.
    folders.filter_map(|it| std::fs::create_dir_all(&it).ok().and_then(|()| it.canonicalize().ok())).collect()
}

/// The login of an agent that has a folder of its own inside.
pub(super) struct Login {
    variable: &'static str,
    folder: PathBuf,
    credential: Option<Credential>,
}

/// The user's credential and its copy inside.
struct Credential {
    theirs: PathBuf,
    copy: PathBuf,
    /// What both were when they were last the same.
    known: Option<Vec<u8>>,
}

impl Login {
    /// Makes the agent's folder in `state`; nothing for agents that have none. `variable` is the environment.
    pub(super) fn prepare(
        agent: &str,
        state: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> io::Result<Option<Self>> {
        let Some(kind) = KINDS.iter().find(|kind| kind.name == agent) else { return Ok(None) };
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let theirs =
            set(kind.variable).map(PathBuf::from).or_else(|| home().map(|home| home.join(kind.folder)));
        let folder = state.join(kind.name);
        fs_err::create_dir_all(&folder)?;
        let Some(theirs) = theirs else {
            return Ok(Some(Self { variable: kind.variable, folder, credential: None }));
        };
        for name in kind.copied {
            // Claude keeps this one beside its folder unless the variable names the folder.
            let beside = theirs.parent().map(|dir| dir.join(name)).filter(|_| *name == ".claude.json");
            let from = Some(theirs.join(name)).filter(|it| it.is_file()).or(beside);
            if let Some(from) = from.filter(|from| from.is_file() && !folder.join(name).exists()) {
                fs_err::copy(from, folder.join(name))?;
            }
        }
        for name in kind.linked {
            let (from, to) = (theirs.join(name), folder.join(name));
            if from.exists() && to.symlink_metadata().is_err() {
                symlink(from, to)?;
            }
        }
        let credential = kind.keys.iter().all(|key| set(key).is_none()).then(|| Credential {
            theirs: theirs.join(kind.credential),
            copy: folder.join(kind.credential),
            known: None,
        });
        Ok(Some(Self { variable: kind.variable, folder, credential }))
    }

    /// What tells the agent where its folder is.
    pub(super) fn variables(&self) -> Option<(String, Option<String>)> {
        Some((self.variable.to_owned(), Some(self.folder.to_str()?.to_owned())))
    }

    /// Copies the credential in, before a turn.
    pub(super) fn renew(&mut self) {
        let Some(credential) = &mut self.credential else { return };
        let theirs = std::fs::read(&credential.theirs).ok();
        if theirs != credential.known
            && let Some(bytes) = &theirs
            && write_private(&credential.copy, bytes).is_ok()
        {
            credential.known = theirs;
        }
    }

    /// Removes the copy of the credential: the run is over.
    pub(super) fn forget(&self) {
        if let Some(credential) = &self.credential {
            let _ = std::fs::remove_file(&credential.copy);
        }
    }

    /// Copies a renewed credential back, after a turn, unless the user has a newer one.
    pub(super) fn keep(&mut self) {
        let Some(credential) = &mut self.credential else { return };
        let Some(known) = &credential.known else { return };
        let Ok(copy) = std::fs::read(&credential.copy) else { return };
        let is_theirs_unchanged = std::fs::read(&credential.theirs).is_ok_and(|theirs| theirs == *known);
        if copy != *known
            && is_theirs_unchanged
            && is_well_formed(&copy, known)
            && write_private(&credential.theirs, &copy).is_ok()
        {
            credential.known = Some(copy);
        }
    }
}

/// Whether a credential has the shape of the one before: no agent can break the user's login by its own.
fn is_well_formed(bytes: &[u8], before: &[u8]) -> bool {
    fn same_shape(now: &Value, before: &Value) -> bool {
        match (now, before) {
            (Value::Object(now), Value::Object(before)) => {
                before.iter().all(|(key, value)| now.get(key).is_some_and(|now| same_shape(now, value)))
            }
            (Value::String(now), Value::String(_)) => !now.is_empty(),
            (now, before) => std::mem::discriminant(now) == std::mem::discriminant(before),
        }
    }
    match (serde_json::from_slice(bytes), serde_json::from_slice(before)) {
        (Ok(now @ Value::Object(_)), Ok(before)) => same_shape(&now, &before),
        _ => false,
    }
}

/// Replaces a file as a whole, for nobody else to read.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    // Through a link, so that a file that somebody keeps elsewhere is replaced there.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = tempfile::Builder::new().prefix(".ralph-").tempfile_in(path.parent().unwrap_or(folder))?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        _root: tempfile::TempDir,
        theirs: PathBuf,
        login: Login,
        copy: PathBuf,
    }

    fn world(keys: &[(&str, &str)]) -> World {
        let root = tempfile::tempdir().expect("a folder");
        let theirs = root.path().join("home/.claude");
        std::fs::create_dir_all(theirs.join("skills")).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(theirs.join(name), text).expect("a file");
        write(".credentials.json", r#"{"token":{"access":"a","refresh":"b","until":1}}"#);
        write("settings.json", "{}");
        std::fs::write(root.path().join("home/.claude.json"), "{}").expect("a file");
        let set = |name: &str| match name {
            "CLAUDE_CONFIG_DIR" => Some(theirs.display().to_string()),
            _ => keys.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()),
        };
        let state = root.path().join("state");
        let mut login = Login::prepare("claude", &state, &set).expect("it can be made").expect("it has one");
        login.renew();
        World {
            theirs: theirs.join(".credentials.json"),
            login,
            copy: state.join("claude/.credentials.json"),
            _root: root,
        }
    }

    #[test]
    fn the_folder_has_what_the_user_has() {
        let world = world(&[]);
        let folder = world.copy.parent().expect("a folder");
        for name in [".credentials.json", "settings.json", ".claude.json"] {
            assert!(folder.join(name).is_file(), "{name}");
        }
        assert!(folder.join("skills").is_symlink());
        assert_eq!(world.login.variables().expect("one").0, "CLAUDE_CONFIG_DIR");
    }

    #[test]
    fn a_renewed_token_is_kept_and_nothing_else() {
        let read = |path: &Path| std::fs::read_to_string(path).expect("a file");
        for (written, is_kept) in [
            (r#"{"token":{"access":"c","refresh":"d","until":2}}"#, true),
            (r#"{"token":{"access":"c","refresh":"d","until":2},"more":1}"#, true),
            (r#"{"token":{"access":"","refresh":"d","until":2}}"#, false),
            (r#"{"token":{"access":"c"}}"#, false),
            ("{}", false),
            ("nonsense", false),
            ("", false),
        ] {
            let mut world = world(&[]);
            std::fs::write(&world.copy, written).expect("a file");
            world.login.keep();
            assert_eq!(read(&world.theirs) == written, is_kept, "{written}");
        }
        // The user logged in again meanwhile.
        let mut world = world(&[]);
        std::fs::write(&world.copy, r#"{"token":{"access":"c","refresh":"d","until":2}}"#).expect("a file");
        let newer = r#"{"token":{"access":"x","refresh":"y","until":3}}"#;
        std::fs::write(&world.theirs, newer).expect("a file");
        world.login.keep();
        assert_eq!(read(&world.theirs), newer);
        world.login.renew();
        assert_eq!(read(&world.copy), newer);
        world.login.forget();
        assert!(!world.copy.exists());
    }

    #[test]
    fn a_key_makes_the_login_unnecessary() {
        let world = world(&[("ANTHROPIC_API_KEY", "k")]);
        assert!(!world.copy.exists());
    }
}
