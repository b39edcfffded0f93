//! The packages that have the program in them, installed by what installs them.

use std::env;

use anyhow::{Context, Result, ensure};

use super::{Scratch, registry::Registry, said, text};
use crate::{
    debian::{LINTIAN, Missing},
    dist::{
        self,
        target::{self, HOST},
    },
    python::UVX,
    say,
};

pub(super) fn tarball(scratch: &Scratch) -> Result<()> {
    let mut sums = scratch.command("sha256sum");
    said(sums.args(["--check", "--strict", "SHA256SUMS"]).current_dir(&scratch.packages))?;
    let tarball = scratch.package("ralph-", &format!("{HOST}.tar.gz"))?;
    said(scratch.command("tar").arg("-xzf").arg(&tarball))?;
    let folder = scratch.path(&format!("ralph-{}-{HOST}", scratch.version));
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "man/man1/ralph-run.1", "completions/_ralph"] {
        ensure!(folder.join(file).is_file(), "there is no `{file}` in it");
    }
    let sbom: serde_json::Value = serde_json::from_slice(&fs_err::read(folder.join("sbom.cdx.json"))?)?;
    let parts = sbom["components"].as_array().map_or(0, Vec::len);
    ensure!(20 < parts, "the list of what it is made of has {parts} entries");
    said(scratch.command("bash").arg("-n").arg(folder.join("completions/ralph.bash")))?;
    if which::which("man").is_ok() {
        let page = said(scratch.command("man").args(["-P", "cat"]).arg(folder.join("man/man1/ralph.1")))?;
        ensure!(page.contains("ralph"), "its manual says:\n{page}");
    }
    scratch.use_program(&[&text(&folder.join("ralph"))])
}

pub(super) fn deb(scratch: &Scratch) -> Result<()> {
    let architecture = target::find(HOST)?.debian.context("there is no Debian for this machine")?;
    let package = scratch.package("ralph-loop_", &format!("_{architecture}.deb"))?;
    match LINTIAN.find(Missing::Name) {
        Ok(lintian) => {
            let mut lintian = scratch.command(lintian);
            lintian.args(["--fail-on", "error,warning", "--no-cfg", "--allow-root"]);
            let tags = said(lintian.arg(&package))?;
            ensure!(tags.lines().all(|line| line.starts_with("N:")), "lintian says:\n{tags}");
        }
        Err(error) => say(&format!("skipped: {error}\n")),
    }
    let root = scratch.path("debian");
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "tmp"] {
        fs_err::create_dir_all(root.join(folder))?;
    }
    fs_err::write(root.join("var/lib/dpkg/status"), "")?;
    if !rustix::process::geteuid().is_root() {
        said(scratch.command("dpkg-deb").arg("-x").arg(&package).arg(&root))?;
        return scratch.use_program(&[&text(&root.join("usr/bin/ralph"))]);
    }
    let mut install = scratch.command("dpkg");
    install.arg(format!("--root={}", root.display())).args(["--force-not-root", "--install"]).arg(&package);
    said(&mut install)?;
    // It is static: a root with nothing else in it is enough.
    let version = said(scratch.command("chroot").arg(&root).args(["/usr/bin/ralph", "--version"]))?;
    ensure!(version.contains(&scratch.version), "in its root it says that it is {version}");
    for file in ["man/man1/ralph.1.gz", "bash-completion/completions/ralph", "doc/ralph-loop/copyright"] {
        ensure!(root.join("usr/share").join(file).is_file(), "there is no `{file}` in it");
    }
    let mut remove = scratch.command("dpkg");
    scratch.use_program(&[&text(&root.join("usr/bin/ralph"))])?;
    said(remove.arg(format!("--root={}", root.display())).args([
        "--force-not-root",
        "--purge",
        "ralph-loop",
    ]))?;
    ensure!(!root.join("usr/bin/ralph").exists(), "it was not removed");
    Ok(())
}

pub(super) fn npm(scratch: &Scratch) -> Result<()> {
    let registry = Registry::start(scratch)?;
    let npm = |program: &str| {
        let mut command = scratch.command(program);
        // What a user or an outer npm has set does not count.
        for (name, _) in env::vars().filter(|(name, _)| name.to_lowercase().starts_with("npm_")) {
            command.env_remove(name);
        }
        command.env("npm_config_cache", scratch.path("npm")).env("npm_config_registry", registry.url());
        command.env("npm_config_update_notifier", "false").env("npm_config_audit", "false");
        command
    };
    // A user who has nothing.
    scratch.use_program_by(&|| {
        let mut npx = npm("npx");
        npx.args(["--yes", "ralph-loop"]);
        npx
    })?;
    // What ends the program ends the launcher in the same way.
    let refused = npm("npx").args(["--yes", "ralph-loop", "no-such-command"]).output()?;
    ensure!(refused.status.code() == Some(2), "a mistake ends with {}", refused.status);
    // A user who installs it, for all projects.
    let prefix = scratch.path("prefix");
    said(npm("npm").args(["install", "--global", "--no-fund", "ralph-loop"]).arg("--prefix").arg(&prefix))?;
    scratch.use_program(&[&text(&prefix.join("bin/ralph"))])?;
    let platform = dist::npm::name(target::find(HOST)?);
    let places = ["lib/node_modules", "lib/node_modules/ralph-loop/node_modules"];
    let manual = places.iter().map(|place| prefix.join(place).join(&platform).join("man/ralph.1"));
    ensure!(manual.into_iter().any(|page| page.is_file()), "the manual is not in it");
    Ok(())
}

pub(super) fn wheel(scratch: &Scratch) -> Result<()> {
    let packages = text(&scratch.packages);
    let venv = scratch.path("venv");
    said(scratch.command("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = || {
        let mut python = scratch.command(venv.join("bin/python3"));
        python.args(["-m", "pip", "--disable-pip-version-check"]);
        python
    };
    said(python().args(["install", "--no-index", "--find-links", &packages, "ralph-loop"]))?;
    scratch.use_program(&[&text(&venv.join("bin/ralph"))])?;
    for file in ["man/man1/ralph.1", "bash-completion/completions/ralph", "zsh/site-functions/_ralph"] {
        ensure!(venv.join("share").join(file).is_file(), "there is no `{file}` in it");
    }
    let checked = said(python().arg("check"))?;
    ensure!(checked.contains("No broken"), "{checked}");
    match UVX.find(Missing::Name) {
        Ok(uvx) => {
            let words = ["--offline", "--no-config", "--no-index", "--find-links", &packages, "ralph-loop"];
            scratch.use_program(&[&[&*text(&uvx)], &words[..]].concat())
        }
        Err(error) => {
            say(&format!("skipped: {error}\n"));
            Ok(())
        }
    }
}
