//! What JavaScript projects install.

use serde_json::Value;

use super::{Place, PrepareStep};

/// A package manager: the lock files it is known by, and how it installs exactly what they say.
struct Manager {
    name: &'static str,
    locks: &'static [&'static str],
    install: &'static str,
}

/// The first whose lock file is there.
const MANAGERS: [Manager; 4] = [
    Manager { name: "pnpm", locks: &["pnpm-lock.yaml"], install: "pnpm install --frozen-lockfile" },
    Manager { name: "yarn", locks: &["yarn.lock"], install: "yarn install --frozen-lockfile" },
    Manager { name: "bun", locks: &["bun.lock", "bun.lockb"], install: "bun install --frozen-lockfile" },
    Manager {
        name: "npm",
        locks: &["package-lock.json", "npm-shrinkwrap.json"],
        // Lock files that npm itself wrote lack optional packages of other machines at times, and then `ci` refuses them.
        install: "npm ci --no-audit --no-fund || npm install --no-save --no-audit --no-fund",
    },
];

/// Everything that decides what is installed.
pub(super) const READS: [&str; 9] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    ".yarnrc.yml",
    "bun.lock",
    "bun.lockb",
];

/// Installs the packages of this folder, if it needs any.
pub(super) fn step(place: &Place<'_>) -> Option<PrepareStep> {
    let package: Value =
        serde_json::from_str(place.text("package.json")?.trim_start_matches('\u{feff}')).ok()?;
    let named = package["packageManager"].as_str().and_then(|name| name.split('@').next());
    let is_locked = |manager: &&Manager| manager.locks.iter().any(|lock| place.has(lock));
    let manager = MANAGERS
        .iter()
        .find(|manager| Some(manager.name) == named && is_locked(manager))
        .or_else(|| MANAGERS.iter().find(is_locked));
    let command = match manager {
        Some(manager) if manager.name == "yarn" && is_berry(place, &package) => "yarn install --immutable",
        Some(manager) => manager.install,
        None if has_dependencies(&package) => "npm install --no-package-lock --no-audit --no-fund",
        None => return None,
    };
    // Without any dependency npm makes no folder.
    let makes: &[&str] =
        if has_dependencies(&package) && !is_berry(place, &package) { &["node_modules"] } else { &[] };
    Some(place.step(command, makes, &READS))
}

/// Yarn since version 2, which knows no `--frozen-lockfile` and may install without `node_modules`.
fn is_berry(place: &Place<'_>, package: &Value) -> bool {
    let version = package["packageManager"].as_str().and_then(|name| name.strip_prefix("yarn@"));
    place.has(".yarnrc.yml")
        || version.is_some_and(|version| !version.starts_with("0.") && !version.starts_with("1."))
}

fn has_dependencies(package: &Value) -> bool {
    ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "workspaces"].iter().any(
        |key| match &package[key] {
            Value::Object(members) => !members.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        },
    )
}
