//! Whether an agent is logged in, as far as its files and variables tell. Nothing is started, no service is asked, and
//! no secret leaves this file: what is found is named by its variable or its path.

use std::path::{Path, PathBuf};

use ralph_core::doctor::Login;
use ralph_sys::files;
use serde_json::Value;

use super::{
    KINDS, Kind, MAX_LOGIN_LEN, home,
    ways::{Ways, ways},
};

/// Who would log in, and from where.
pub struct Asked<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The arguments that the settings give it.
    pub flags: &'a [String],
    /// The project: its files may have a key, too.
    pub project: &'a Path,
    /// The environment that the agent has.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Whether an agent is logged in.
pub fn found(asked: &Asked<'_>) -> Login {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == asked.agent) else {
        return Login::Unknown { why: "ralph does not know how it logs in".to_owned() };
    };
    let ways = ways(asked.agent);
    let is_set = |key: &&&str| (asked.variable)(key).is_some_and(|value| !value.is_empty());
    if let Some(key) = kind.keys.iter().chain(ways.keys).find(is_set) {
        return Login::Key { variable: (*key).to_owned() };
    }
    let folder = kind.theirs(asked.variable);
    if let Some(path) = folder.as_deref().and_then(|folder| login_file(kind, folder)) {
        return Login::File { path };
    }
    match doubt(&ways, folder.as_deref(), asked) {
        Some(why) => Login::Unknown { why },
        None => Login::Missing,
    }
}

/// Why the agent may be logged in although neither a key nor a login was found.
fn doubt(ways: &Ways, folder: Option<&Path>, asked: &Asked<'_>) -> Option<String> {
    let is_given = |flag: &&String| ways.flags.iter().any(|known| flag.starts_with(known));
    if let Some(flag) = asked.flags.iter().find(is_given) {
        // Without what follows: it may be a key.
        let name = flag.split('=').next().unwrap_or_default();
        return Some(format!("its flag {name} may log it in"));
    }
    let place = |path: &str| -> Vec<PathBuf> {
        if let Some(name) = path.strip_prefix("~/") {
            home().map(|home| home.join(name)).into_iter().collect()
        } else if let Some(name) = path.strip_prefix(".../") {
            asked.project.ancestors().map(|dir| dir.join(name)).collect()
        } else if let Some(name) = path.strip_prefix("./") {
            vec![asked.project.join(name)]
        } else {
            // An absolute path stays what it is.
            folder.map(|folder| folder.join(path)).into_iter().collect()
        }
    };
    let has_any = |path: &Path, words: &[&str]| {
        let text = files::read(path, MAX_LOGIN_LEN).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        words.iter().any(|word| text.contains(word))
    };
    let mut places =
        ways.files.iter().flat_map(|(path, words)| place(path).into_iter().map(|it| (it, *words)));
    let file = places.find(|(path, words)| path.exists() && (words.is_empty() || has_any(path, words)));
    let named = file.map(|(path, _)| format!("{} may log it in", path.display()));
    named.or_else(|| ways.unsure.map(str::to_owned))
}

/// The file with the login, if there is one in it.
fn login_file(kind: &Kind, folder: &Path) -> Option<PathBuf> {
    let path = folder.join(kind.credential.or(kind.copied.first().copied())?);
    let bytes = files::read(&path, MAX_LOGIN_LEN).ok()?;
    let Value::Object(members) = serde_json::from_slice(&bytes).ok()? else { return None };
    let is_filled = |value: &Value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    // Where there are settings in the same file, only these are a login.
    let is_login = |name: &str| {
        kind.credential.is_some() || ["token", "logged"].iter().any(|word| name.to_lowercase().contains(word))
    };
    members.iter().any(|(name, value)| is_login(name) && is_filled(value)).then_some(path)
}

#[cfg(test)]
mod tests;
