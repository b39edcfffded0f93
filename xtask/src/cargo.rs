//! Calls of cargo from inside `cargo xtask`: the same cargo, the same target folder.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Where the project lives.
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The cargo that started this program, in the repository's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The folder that cargo builds into.
pub(crate) fn target_dir() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root().join(target)
}

/// A program in Rust that only a chore needs.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// The version that is built when the machine has none.
    pub(crate) version: &'static str,
}

impl Tool {
    /// The one of the machine, or else the one in the target folder, which is built if need be.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        let Self { name, version } = self;
        if let Ok(installed) = which::which(name) {
            return Ok(installed);
        }
        let tools = target_dir().join("tools");
        let built = tools.join("bin").join(name);
        if !built.exists() {
            fs_err::create_dir_all(&tools)?;
            let mut install = cargo();
            // A program that runs for a second need not be built for a minute longer.
            install
                .args(["install", "--debug", "--locked", name, "--version", version, "--root"])
                .arg(&tools);
            // Outside the repository, whose settings (a static target) are not meant for tools.
            install.current_dir(env::temp_dir()).env_remove("CARGO_TARGET_DIR");
            let status = install.status().context("cannot start cargo")?;
            ensure!(
                status.success(),
                "there is no `{name}`; to get it: cargo install --locked {name} --version {version}"
            );
        }
        Ok(built)
    }
}

/// Builds ralph as people build it and returns the path of the program.
pub(crate) fn release() -> Result<PathBuf> {
    build(&["--release"])
}

/// Builds ralph as it is shipped and measured and returns the path of the program.
pub(crate) fn dist() -> Result<PathBuf> {
    dist_in(root())
}

/// The same with more flags, for another program or other features. The last one that was built lies at the path.
pub(crate) fn dist_with(more: &[&str]) -> Result<PathBuf> {
    dist_by(root(), more)
}

/// The same for a repository elsewhere, which is built in its own target folder.
pub(crate) fn dist_in(repository: &Path) -> Result<PathBuf> {
    dist_by(repository, &[])
}

fn dist_by(repository: &Path, more: &[&str]) -> Result<PathBuf> {
    let flags = flags_for_dist(crate::dist::HOST, repository);
    let mut command = cargo();
    command.current_dir(repository);
    if repository != root() {
        command.env("CARGO_TARGET_DIR", repository.join("target"));
    }
    let words: Vec<&str> = ["--profile", "dist"]
        .into_iter()
        .chain(flags.iter().map(String::as_str))
        .chain(more.iter().copied())
        .collect();
    build_by(command, &words)
}

/// Keeps the paths of this machine out of the program.
pub(crate) fn flags_for_dist(triple: &str, repository: &Path) -> [String; 2] {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"))).unwrap_or_default();
    let flags = [format!("{}=/ralph", repository.display()), format!("{}=/cargo", home.display())]
        .map(|remap| format!("--remap-path-prefix={remap}"));
    ["--config".to_owned(), format!("target.{triple}.rustflags={flags:?}")]
}

/// The version that all crates of the program have.
pub(crate) fn version() -> Result<String> {
    let manifest = fs_err::read_to_string(root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    line.map(str::to_owned).context("Cargo.toml names no version")
}

/// Builds ralph with these flags and returns the path of the program.
pub(crate) fn build(flags: &[&str]) -> Result<PathBuf> {
    build_by(cargo(), flags)
}

fn build_by(mut command: Command, flags: &[&str]) -> Result<PathBuf> {
    command.args(["build", "--locked", "--message-format=json-render-diagnostics"]).args(flags);
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "`cargo build --locked {}` failed", flags.join(" "));
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut programs =
        messages.lines().filter_map(|line| serde_json::from_str::<Built>(line).ok()?.executable);
    programs.next_back().context("cargo built no program")
}

/// One message of cargo about something that it built.
#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
}
