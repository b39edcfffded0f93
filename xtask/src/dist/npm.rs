//! The npm packages: a launcher that everybody installs, and one package per kind of machine with the program.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::{
    Package,
    archive::{Entry, gzip, tar::tar},
    contents::Contents,
    target::{TARGETS, Target},
};
use crate::cargo::{REPOSITORY, root};

const LAUNCHER: &str = include_str!("../../../packaging/npm/ralph.js");
const README: &str = include_str!("../../../packaging/npm/README.md");

/// What a package for one kind of machine is called.
pub(super) fn name(target: &Target) -> String {
    format!("ralph-loop-{}-{}", target.npm.0, target.npm.1)
}

/// The package with the program.
pub(super) fn platform(contents: &Contents) -> Result<Package> {
    let name = name(contents.target);
    let (system, processor) = contents.target.npm;
    let mut about = common(&name, &contents.version);
    about["description"] = format!("The program of ralph-loop for {system} {processor}").into();
    about["os"] = json!([system]);
    about["cpu"] = json!([processor]);
    let mut entries = vec![Entry::program("bin/ralph", &*contents.program)];
    entries.push(Entry::new(
        "README.md",
        format!("The program of `ralph-loop` for {system} {processor}. Install `ralph-loop`.\n"),
    ));
    entries.push(Entry::new("sbom.cdx.json", &*contents.sbom));
    entries.extend(contents.manual.iter().map(|page| page.below("man")));
    entries.extend(contents.completions.iter().map(|script| script.below("completions")));
    entries.extend(contents.texts.iter().filter(|text| text.path.starts_with("LICENSE")).cloned());
    package(&name, &contents.version, &about, entries)
}

/// The package that everybody installs.
pub(super) fn launcher(version: &str) -> Result<Package> {
    let mut about = common("ralph-loop", version);
    about["description"] = "Runs a coding agent again and again until the work is verifiably done".into();
    about["keywords"] = json!(["agent", "loop", "claude", "codex", "cli", "automation"]);
    about["bin"] = json!({"ralph": "bin/ralph.js"});
    about["engines"] = json!({"node": ">=18"});
    let all: Map<String, Value> = TARGETS.iter().map(|target| (name(target), version.into())).collect();
    about["optionalDependencies"] = all.into();
    let mut entries = vec![
        Entry::program("bin/ralph.js", LAUNCHER),
        Entry::new("README.md", README.replace("{version}", version)),
    ];
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        entries.push(Entry::new(licence, fs_err::read(root().join(licence))?));
    }
    package("ralph-loop", version, &about, entries)
}

fn common(name: &str, version: &str) -> Value {
    json!({
        "name": name, "version": version, "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": format!("git+{REPOSITORY}.git")},
    })
}

fn package(name: &str, version: &str, about: &Value, mut entries: Vec<Entry>) -> Result<Package> {
    entries.push(Entry::new("package.json", format!("{about:#}\n")));
    let entries: Vec<Entry> = entries.iter().map(|entry| entry.below("package")).collect();
    Ok(Package { name: format!("{name}-{version}.tgz"), bytes: gzip(&tar(&entries, "")?)? })
}
