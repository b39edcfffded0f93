//! `testing/agents.json`: which agents there are, in which versions, and where their programs lie.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The agents that can be tested.
#[derive(Debug)]
pub(super) struct Manifest(BTreeMap<String, Entry>);

/// One agent as the file has it. `{arch}` and `{triple}` stand for this machine's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// `name@version` for npm; the first is the agent itself.
    packages: Vec<String>,
    /// The program, below the folder of the installation.
    program: String,
    /// A folder that must stand first on the path when the program runs.
    path: Option<String>,
}

/// One agent on this machine.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) packages: Vec<String>,
    pub(super) program: PathBuf,
    pub(super) path: Option<PathBuf>,
}

impl Manifest {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let text = fs_err::read_to_string(root.join("testing/agents.json"))?;
        Ok(Self(serde_json::from_str(&text).context("testing/agents.json")?))
    }

    pub(super) fn all(&self) -> Vec<Agent> {
        self.0.iter().map(|(name, entry)| here(name, entry)).collect()
    }

    pub(super) fn agent(&self, name: &str) -> Result<Agent> {
        match self.0.get(name) {
            Some(entry) => Ok(here(name, entry)),
            None => bail!("there is no agent `{name}` in testing/agents.json"),
        }
    }
}

impl Agent {
    /// The version of the agent's own package.
    pub(super) fn version(&self) -> &str {
        self.package().1
    }

    /// Takes the newest version there is instead of the pinned one.
    pub(super) fn take_newest(&mut self, npm: &Path) -> Result<()> {
        let (package, _) = self.package();
        let output = Command::new(npm).args(["view", package, "version"]).output().context("npm view")?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || version.is_empty() {
            bail!("npm knows no newest version of {package}");
        }
        self.packages[0] = format!("{package}@{version}");
        Ok(())
    }

    /// The name and the version of the agent's own package; the name may begin with an `@`.
    fn package(&self) -> (&str, &str) {
        let package = self.packages.first().map(String::as_str).unwrap_or_default();
        package.rsplit_once('@').unwrap_or((package, "latest"))
    }
}

fn here(name: &str, entry: &Entry) -> Agent {
    let (arch, triple) = match std::env::consts::ARCH {
        "aarch64" => ("arm64", "aarch64-unknown-linux-musl"),
        _ => ("x64", "x86_64-unknown-linux-musl"),
    };
    let fill = |text: &String| text.replace("{arch}", arch).replace("{triple}", triple);
    Agent {
        name: name.to_owned(),
        packages: entry.packages.iter().map(fill).collect(),
        program: fill(&entry.program).into(),
        path: entry.path.as_ref().map(|path| fill(path).into()),
    }
}
