//! The variables that processes inside of a sandbox find.

use std::{collections::BTreeMap, path::Path};

use ralph_sys::paths;

/// Sockets of the machine that nothing inside can use.
pub(super) const USELESS: [&str; 5] =
    ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "DOCKER_HOST"];

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
