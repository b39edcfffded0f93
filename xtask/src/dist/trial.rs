//! Installs each package as a user would, in a scratch root, and uses it.
//!
//! What a machine lacks (npm, Python, dpkg) is named, and fails only where `CI=true`.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use super::target::{self, HOST};
use crate::{cargo, say};

/// A package manager: the program that must be there, and how its package is tried.
type Trial = (&'static str, &'static str, fn(&Scratch) -> Result<()>);

const TRIALS: [Trial; 5] = [
    ("tarball", "tar", tarball),
    ("deb", "dpkg", deb),
    ("npm", "npm", npm),
    ("wheel", "python3", wheel),
    ("formula", "ruby", formula),
];

/// A folder for one package, and where the packages are.
struct Scratch {
    root: PathBuf,
    packages: PathBuf,
    version: String,
}

/// Tries every package of this machine in this folder; returns what the machine lacks.
pub(crate) fn each(packages: &Path) -> Result<Vec<String>> {
    let version = cargo::version()?;
    let mut missing = Vec::new();
    for (name, program, trial) in TRIALS {
        if which::which(program).is_err() {
            let is_promised = env::var("CI").is_ok_and(|ci| ci == "true") && program != "ruby";
            ensure!(!is_promised, "there is no `{program}`, which installs the {name}");
            missing.push(format!("{name}: there is no `{program}`"));
            continue;
        }
        let folder = tempfile::Builder::new().prefix("ralph-package-").tempdir()?;
        let root = fs_err::canonicalize(folder.path())?;
        let scratch = Scratch { root, packages: packages.to_owned(), version: version.clone() };
        trial(&scratch).with_context(|| format!("the {name}"))?;
        say(&format!("{name}: installed and used\n"));
    }
    for line in &missing {
        say(&format!("skipped: {line}\n"));
    }
    Ok(missing)
}

impl Scratch {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The package whose name begins and ends like this.
    fn package(&self, start: &str, end: &str) -> Result<PathBuf> {
        for entry in fs_err::read_dir(&self.packages)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.starts_with(start) && name.ends_with(end) {
                return Ok(self.packages.join(name));
            }
        }
        bail!("there is no package `{start}*{end}`")
    }

    /// A program that knows nothing of the user's files.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("RALPH_RUN_ID").stdin(Stdio::null());
        command
    }

    /// What the installed program must do: say its version, and work.
    fn use_program(&self, mut words: Vec<String>) -> Result<()> {
        let program = words.remove(0);
        let run = |more: &[&str]| said(self.command(&program).args(&words).args(more));
        let version = run(&["--version"])?;
        ensure!(version.trim() == format!("ralph {}", self.version), "it says that it is {version}");
        let demo = run(&["demo"])?;
        ensure!(demo.contains("Complete"), "the demo says:\n{demo}");
        Ok(())
    }
}

/// What a command prints; an error if it fails.
fn said(command: &mut Command) -> Result<String> {
    let line = format!("{command:?}");
    let output = command.output().with_context(|| format!("cannot start {line}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{line} ended with {}:\n{text}", output.status);
    Ok(text)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn tarball(scratch: &Scratch) -> Result<()> {
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
    scratch.use_program(vec![text(&folder.join("ralph"))])
}

fn deb(scratch: &Scratch) -> Result<()> {
    let architecture = target::find(HOST)?.debian.context("there is no Debian for this machine")?;
    let package = scratch.package("ralph-loop_", &format!("_{architecture}.deb"))?;
    if which::which("lintian").is_ok() {
        let tags =
            said(scratch.command("lintian").args(["--fail-on", "error,warning", "--no-cfg"]).arg(&package))?;
        ensure!(tags.lines().all(|line| line.starts_with("N:")), "lintian says:\n{tags}");
    } else {
        say("skipped: lintian: as root: apt-get install lintian\n");
    }
    let root = scratch.path("debian");
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "tmp"] {
        fs_err::create_dir_all(root.join(folder))?;
    }
    fs_err::write(root.join("var/lib/dpkg/status"), "")?;
    if !rustix::process::geteuid().is_root() {
        said(scratch.command("dpkg-deb").arg("-x").arg(&package).arg(&root))?;
        return scratch.use_program(vec![text(&root.join("usr/bin/ralph"))]);
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
    scratch.use_program(vec![text(&root.join("usr/bin/ralph"))])?;
    said(remove.arg(format!("--root={}", root.display())).args([
        "--force-not-root",
        "--purge",
        "ralph-loop",
    ]))?;
    ensure!(!root.join("usr/bin/ralph").exists(), "it was not removed");
    Ok(())
}

fn npm(scratch: &Scratch) -> Result<()> {
    let platform = super::npm::name(target::find(HOST)?);
    let packages = [
        scratch.package("ralph-loop-", &format!("ralph-loop-{}.tgz", scratch.version))?,
        scratch.package(&platform, ".tgz")?,
    ];
    fs_err::write(scratch.path("package.json"), "{\"name\": \"scratch\", \"private\": true}\n")?;
    let cache = text(&scratch.path("npm"));
    let install = ["install", "--offline", "--no-audit", "--no-fund", "--omit=optional", "--cache", &cache];
    said(scratch.command("npm").args(install).args(&packages))?;
    scratch.use_program(vec![text(&scratch.path("node_modules/.bin/ralph"))])?;
    scratch.use_program(["npx", "--offline", "--no-install", "ralph-loop"].map(str::to_owned).to_vec())?;
    // What ends the program ends the launcher in the same way.
    let refused = scratch
        .command("npx")
        .args(["--offline", "--no-install", "ralph-loop", "no-such-command"])
        .output()?;
    ensure!(refused.status.code() == Some(2), "a mistake ends with {}", refused.status);
    Ok(())
}

fn wheel(scratch: &Scratch) -> Result<()> {
    let wheel = scratch.package("ralph_loop-", &format!("{}.whl", target::find(HOST)?.wheel))?;
    let venv = scratch.path("venv");
    said(scratch.command("python3").args(["-m", "venv"]).arg(&venv))?;
    let pip = ["-m", "pip", "install", "--no-index", "--disable-pip-version-check"];
    said(scratch.command(venv.join("bin/python3")).args(pip).arg(&wheel))?;
    scratch.use_program(vec![text(&venv.join("bin/ralph"))])?;
    ensure!(venv.join("share/man/man1/ralph.1").is_file(), "the manual is not in it");
    let checked = said(scratch.command(venv.join("bin/python3")).args(["-m", "pip", "check"]))?;
    ensure!(checked.contains("No broken"), "{checked}");
    if which::which("uvx").is_err() {
        say("skipped: uvx: pip install uv\n");
        return Ok(());
    }
    scratch.use_program(
        ["uvx", "--offline", "--no-config", "--from", &text(&wheel), "ralph-loop"]
            .map(str::to_owned)
            .to_vec(),
    )
}

fn formula(scratch: &Scratch) -> Result<()> {
    said(scratch.command("ruby").arg("-c").arg(scratch.package("ralph-loop", ".rb")?)).map(drop)
}
