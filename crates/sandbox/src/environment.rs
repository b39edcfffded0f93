//! The variables that processes inside of a sandbox find.

use std::{collections::BTreeMap, env, ffi::OsString, path::Path};

use ralph_core::containment::environment::Passed;
use ralph_sys::{paths, process::Spec};

use super::{Sandbox, inside::USELESS};

impl Sandbox {
    /// Variables of the environment that do not reach the inside.
    pub fn withheld_variables(&self) -> Vec<String> {
        let passed = self.passed(&is_set);
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut withheld: Vec<String> =
            names.filter(|name| !passed.has(name) && !USELESS.contains(&name.as_str())).collect();
        withheld.sort();
        withheld
    }

    /// The same process without the variables that do not reach the inside. What it is given by name, it gets.
    pub(super) fn without_variables(&self, mut spec: Spec) -> Spec {
        let passed = self.passed(&is_set);
        let is_given = |name: &OsString| spec.env.iter().any(|(given, _)| given == name);
        let has = |name: &OsString| name.to_str().is_some_and(|name| passed.has(name));
        let withheld: Vec<OsString> =
            env::vars_os().map(|(name, _)| name).filter(|name| !is_given(name) && !has(name)).collect();
        spec.env.extend(withheld.into_iter().map(|name| (name, None)));
        spec
    }

    fn passed<'a>(&'a self, is_set: &'a dyn Fn(&str) -> bool) -> Passed<'a> {
        Passed { agent: self.agent, more: &self.wanted.env, is_set }
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}

/// The variables of a sandbox whose caches are in this folder; nothing means that a variable is not there.
pub(super) fn of(cache: &Path, agent: &str) -> BTreeMap<String, Option<String>> {
    let mut env = BTreeMap::new();
    let mut set = |name: &str, value: String| env.insert(name.to_owned(), Some(value));
    // Where ralph's own commands look, whatever an agent's variables say.
    if let Ok(state) = paths::state_dir() {
        set("RALPH_STATE_DIR", state.display().to_string());
    }
    // What tools keep to be faster the next time.
    set("XDG_CACHE_HOME", cache.display().to_string());
    for (name, folder) in [
        ("npm_config_cache", "npm"),
        ("YARN_CACHE_FOLDER", "yarn"),
        ("PIP_CACHE_DIR", "pip"),
        ("UV_CACHE_DIR", "uv"),
        ("GOCACHE", "go-build"),
    ] {
        set(name, cache.join(folder).display().to_string());
    }
    if let Some(variable) = ralph_agents::adapter(agent).skips_as_root_with()
        && rustix::process::geteuid().is_root()
    {
        set(variable, "1".to_owned());
    }
    env
}
