//! Texts that name what a release has: whether they are what their readers want, and name what is there.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{Scratch, said};
use crate::{
    cargo::{REPOSITORY, cargo, root},
    dist::target::HOST,
};

/// Enough of nixpkgs to ask the flake for what it says.
const NIXPKGS: &str = "{ lib.genAttrs = names: make: builtins.listToAttrs \
    (map (name: { inherit name; value = make name; }) names); \
    legacyPackages = builtins.listToAttrs (map (name: { inherit name; value = \
    { rustPlatform.buildRustPackage = about: about; }; }) [ \"x86_64-linux\" \"aarch64-darwin\" ]); }";

pub(super) fn formula(scratch: &Scratch) -> Result<()> {
    said(scratch.command("ruby").arg("-c").arg(scratch.package("ralph-loop", ".rb")?)).map(drop)
}

/// It can be read, and what it builds is this version.
pub(super) fn flake(scratch: &Scratch) -> Result<()> {
    let path = root().join("flake.nix");
    said(scratch.command("nix-instantiate").arg("--parse").arg(&path))?;
    let ask = |what: &str| {
        let outputs = format!("(import {}).outputs {{ self = ./.; nixpkgs = {NIXPKGS}; }}", path.display());
        let mut nix = scratch.command("nix-instantiate");
        nix.env("NIX_STATE_DIR", scratch.path("nix")).env("NIX_STORE_DIR", scratch.path("store"));
        said(nix.args(["--eval", "--expr", &format!("({outputs}).packages.{what}")]))
    };
    for system in ["x86_64-linux", "aarch64-darwin"] {
        let version = ask(&format!("{system}.default.version"))?;
        ensure!(version.contains(&format!("\"{}\"", scratch.version)), "the flake builds {version}");
    }
    Ok(())
}

#[derive(Deserialize)]
struct Workspace {
    packages: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    name: String,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    binstall: Option<Binstall>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Binstall {
    pkg_url: String,
    bin_dir: String,
}

/// What it is told leads to the tarball, and to the program in it.
pub(super) fn binstall(scratch: &Scratch) -> Result<()> {
    let output = cargo().args(["metadata", "--no-deps", "--locked", "--format-version=1"]).output()?;
    let workspace: Workspace = serde_json::from_slice(&output.stdout)?;
    let told = workspace.packages.into_iter().find(|it| it.name == "ralph").and_then(|it| it.metadata);
    let told = told.and_then(|it| it.binstall).context("Cargo.toml tells it nothing")?;
    let fill = |text: &str| {
        [("repo", REPOSITORY), ("version", &scratch.version), ("target", HOST), ("bin", "ralph")]
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{ {name} }}"), value))
    };
    let (address, program) = (fill(&told.pkg_url), fill(&told.bin_dir));
    let start = format!("{REPOSITORY}/releases/download/v{}/", scratch.version);
    let name =
        address.strip_prefix(&start).with_context(|| format!("{address} is no address of a release"))?;
    has(scratch, name, &program)
}

/// What it adds and links is there.
pub(super) fn container(scratch: &Scratch) -> Result<()> {
    let text = fs_err::read_to_string(root().join("packaging/container/Containerfile"))?;
    let text = text.replace("${VERSION}", &scratch.version).replace("${TARGET}", HOST);
    ensure!(!text.contains("${"), "something is left to fill in:\n{text}");
    let name = text.lines().find_map(|line| line.strip_prefix("ADD ")?.strip_suffix(" /opt/"));
    let program = text.split_once("ln -s /opt/").and_then(|(_, rest)| rest.split(' ').next());
    has(scratch, name.context("nothing is added")?, program.context("nothing is linked")?)
}

/// Fails unless a tarball of the release has this file.
fn has(scratch: &Scratch, tarball: &str, file: &str) -> Result<()> {
    let list = said(scratch.command("tar").arg("-tzf").arg(scratch.packages.join(tarball)))?;
    ensure!(list.lines().any(|line| line == file), "`{tarball}` has no `{file}`:\n{list}");
    Ok(())
}
