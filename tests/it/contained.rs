//! What tests must know about sandboxes and users of this machine, whatever they are about.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

use crate::env::{Env, RALPH, lacks, skip};

/// A user that owns nothing.
pub(crate) const NOBODY: u32 = 65_534;

/// Who attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    /// The user who runs the tests.
    Me,
    /// A user without any privileges.
    Nobody,
}

/// What the tests find out once about the machine.
pub(crate) fn levels() -> &'static Value {
    static FOUND: OnceLock<Value> = OnceLock::new();
    FOUND.get_or_init(|| {
        let env = Env::new();
        serde_json::from_str(&env.ralph(&["sandbox", "check", "--json"]).stdout).expect("JSON")
    })
}

/// Whether a level works here. Where `CI=true` it must: a test of it that cannot be made has failed.
#[track_caller]
pub(crate) fn works(level: &str) -> bool {
    let all = levels()["levels"].as_array().expect("levels");
    let found = all.iter().find(|it| it["level"] == level).expect("a level");
    if found["works"] != true {
        lacks(&format!("the sandbox `{level}` does not work here: {}", found["obstacle"]));
    }
    found["works"] == true
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether the tests can attack as this user; says so if not.
pub(crate) fn can_be(user: As) -> bool {
    let can = user == As::Me || is_root();
    if !can {
        skip("only the superuser can become another user");
    }
    can
}

/// The programs where everyone can read them: a build folder may be in a user's home.
pub(crate) fn programs() -> PathBuf {
    static MADE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = MADE.get_or_init(|| {
        let folder = tempfile::Builder::new().prefix("ralph-it-programs-").tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("a folder");
        let this = std::env::current_exe().expect("this program");
        for (from, name) in [(Path::new(RALPH), "ralph"), (this.as_path(), "attacker")] {
            let to = folder.path().join(name);
            if fs::hard_link(from, &to).is_err() {
                fs::copy(from, &to).expect("a copy");
            }
        }
        let path = folder.path().to_owned();
        (folder, path)
    });
    path.clone()
}

/// The same command as another user, without any groups.
pub(crate) fn as_user(command: Command, user: As) -> Command {
    if user == As::Me {
        return command;
    }
    let mut other = Command::new("setpriv");
    let id = NOBODY.to_string();
    other.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
    other.arg(command.get_program()).args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        other.env(name, value.unwrap_or_default());
    }
    other.current_dir(command.get_current_dir().expect("a folder")).stdin(Stdio::null());
    other
}

/// The same command as a user without any privileges.
pub(crate) fn as_nobody(command: Command) -> Command {
    as_user(command, As::Nobody)
}
