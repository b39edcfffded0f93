//! Where ralph keeps what it knows of projects: outside of them, where an agent does not reach by accident.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Result},
    hash::fnv,
};

/// The folder of a project: readable by its name, unique by its path.
pub fn project_dir(project: &Path) -> Result<PathBuf> {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let hash = fnv(project.as_os_str().as_encoded_bytes());
    Ok(state_dir()?.join(format!("{name}-{:08x}", hash & 0xffff_ffff)))
}

/// Whether a folder is the top of a repository: by a file that leads there, or by a folder with a `HEAD` in it. An empty one
/// is a placeholder, and git takes it for nothing as well.
pub fn is_repository(dir: &Path) -> bool {
    let git = dir.join(".git");
    match git.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => git.join("HEAD").symlink_metadata().is_ok(),
        Ok(_) => git.exists(),
        Err(_) => false,
    }
}

/// The user's own file with hidden guardrails, below the folder of the user's configuration.
pub const HIDDEN_FILE: &str = "ralph/hidden.json";

/// What no agent may see of runs; sandboxes hide it.
pub fn hidden_dir() -> Result<PathBuf> {
    Ok(state_dir()?.join("hidden"))
}

/// Where the runs of all projects are recorded.
pub fn state_dir() -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let from_home = || set("HOME").map(|home| home.join(".local/state/ralph"));
    set("RALPH_STATE_DIR")
        .or_else(|| set("XDG_STATE_HOME").map(|state| state.join("ralph")))
        .or_else(from_home)
        .map(|dir| std::path::absolute(&dir).unwrap_or(dir))
        .ok_or_else(|| {
            Error::new("there is no home directory to keep the record of runs in")
                .hint("set RALPH_STATE_DIR to a folder that you can write to")
        })
}
