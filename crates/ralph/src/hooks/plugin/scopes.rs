//! For whom the plugin was installed: Claude Code calls one copy of it for the user and for every project.

use std::path::{Path, PathBuf};

use ralph_sys::error::Result;

/// Whose installations there are, a line each.
pub(crate) struct Scopes {
    path: PathBuf,
    lines: Vec<String>,
}

impl Scopes {
    /// Those of the plugin in this folder; none where nothing was written down.
    pub(crate) fn read(folder: &Path) -> Self {
        let path = folder.join("installed");
        let text = fs_err::read_to_string(&path).unwrap_or_default();
        Self { path, lines: text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect() }
    }

    /// The user, or one project.
    pub(crate) fn name(project: Option<&Path>) -> String {
        project.map_or_else(|| "the user".to_owned(), |project| project.display().to_string())
    }

    /// Whether it is installed there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.lines.iter().any(|line| line == name)
    }

    /// Everybody who has it, for people.
    pub(crate) fn all(&self) -> String {
        self.lines.join(", ")
    }

    /// Who else has it, for people.
    pub(crate) fn others(&self, name: &str) -> String {
        let others: Vec<&str> = self.lines.iter().map(String::as_str).filter(|line| *line != name).collect();
        others.join(", ")
    }

    /// Notes an installation.
    pub(crate) fn add(mut self, name: String) -> Result<()> {
        if !self.has(&name) {
            self.lines.push(name);
        }
        self.write()
    }

    /// Notes that one is gone.
    pub(crate) fn remove(mut self, name: &str) -> Result<()> {
        self.lines.retain(|line| line != name);
        self.write()
    }

    fn write(&self) -> Result<()> {
        Ok(fs_err::write(&self.path, self.lines.join("\n") + "\n")?)
    }
}
