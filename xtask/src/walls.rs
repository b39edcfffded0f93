//! The walls of the house: which crate knows which, and inside a crate which module. Dependencies point one way.
//!
//! `cargo xtask generate` draws them into ARCHITECTURE.md and refuses a circle; the tests here do the same without
//! building ralph.

mod draw;
mod graph;
mod modules;
mod paths;
#[cfg(test)]
mod tests;
mod tokens;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::cargo::{cargo, root};
use graph::Graph;

/// A crate of the program.
#[derive(Debug)]
struct Crate {
    name: String,
    /// Everything it depends on, without what only its tests need.
    dependencies: Vec<String>,
    modules: Graph,
}

/// The whole drawing, for the page; an error if anything goes in circles.
pub(crate) fn drawing() -> Result<String> {
    let crates = crates()?;
    let circles = circles(&crates);
    ensure!(circles.is_empty(), "dependencies go in circles:\n{}", circles.join("\n"));
    Ok(draw::page(&crates, &between(&crates)))
}

/// Every circle, in words.
fn circles(crates: &[Crate]) -> Vec<String> {
    let inside = crates.iter().flat_map(|it| it.modules.circles());
    between(crates).circles().into_iter().chain(inside).collect()
}

/// Which crate depends on which.
fn between(crates: &[Crate]) -> Graph {
    let mut graph = Graph::default();
    for it in crates {
        graph.node(&it.name);
        for to in it.dependencies.iter().filter(|to| crates.iter().any(|other| other.name == **to)) {
            graph.edge(&it.name, to, "Cargo.toml");
        }
    }
    graph
}

/// The crates below `crates/`, by name.
fn crates() -> Result<Vec<Crate>> {
    let mut command = cargo();
    let output = command.args(["metadata", "--no-deps", "--format-version=1", "--offline"]).output()?;
    ensure!(output.status.success(), "`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).context("what `cargo metadata` says")?;
    let mut crates = Vec::new();
    for package in metadata.packages {
        let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
        if !folder.starts_with(root().join("crates")) {
            continue;
        }
        let needed = package.dependencies.into_iter().filter(|it| it.kind.is_none());
        let dependencies = needed.map(|it| it.name).collect();
        let modules = modules::graph(&package.name, &modules::read(&folder.join("src"))?);
        crates.push(Crate { name: package.name, dependencies, modules });
    }
    crates.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(crates)
}

/// What `cargo metadata` says, as far as it matters here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// Nothing for what the crate itself needs.
    kind: Option<String>,
}
