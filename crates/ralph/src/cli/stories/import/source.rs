//! Where stories come from: a file, and what lies beside it.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use ralph_core::imports::{self, BadLine, Grouping, Imported, SourceKind, SpecDocument, requirements};
use ralph_sys::{
    error::{Context, Error, Result},
    files,
};

/// As many lines are named that are not understood.
const MAX_BAD_LINES: usize = 20;

/// A list of another tool.
pub(super) struct ImportSource {
    /// How it is written; nothing for issues.
    pub(super) kind: Option<SourceKind>,
    pub(super) path: PathBuf,
    /// What people call it: relative to the project where it is in it.
    pub(super) shown: String,
    pub(super) text: String,
    /// The files in its folder.
    beside: Vec<String>,
}

impl ImportSource {
    /// The file that a person named, or the list in the folder.
    pub(super) fn find(named: &Path, project: &Path, kind: Option<SourceKind>) -> Result<Self> {
        let mut path = std::path::absolute(named)?;
        if path.is_dir() {
            let lists = ["tasks.md", "prd.json"].map(|name| path.join(name));
            path = lists.into_iter().find(|path| path.is_file()).ok_or_else(|| {
                Error::new(format!("there is no tasks.md and no prd.json in {}", named.display()))
                    .hint("name the file: ralph stories import FILE")
            })?;
        }
        let inside = path.strip_prefix(project).map(Path::to_path_buf);
        let shown = inside.unwrap_or_else(|_| path.clone()).display().to_string();
        let bytes = files::read(&path, files::MAX_TEXT_LEN).context(format!("cannot read {shown}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = good.split(|byte| *byte == b'\n').count();
            Error::new(format!("{shown}:{line}: not UTF-8 text"))
        })?;
        let beside = names(path.parent().unwrap_or(project));
        let listed: Vec<&str> = beside.iter().map(String::as_str).collect();
        let kind = Some(kind.unwrap_or_else(|| SourceKind::of(&path.to_string_lossy(), &listed, &text)));
        Ok(Self { kind, path, shown, text, beside })
    }

    /// The issues of a repository.
    pub(super) fn of_issues(repository: &str) -> Self {
        let shown = format!("https://{repository}/issues");
        Self { kind: None, path: PathBuf::new(), shown, text: String::new(), beside: Vec::new() }
    }

    /// How its text is read.
    pub(super) fn read_as(&self) -> SourceKind {
        self.kind.unwrap_or(SourceKind::CheckList)
    }

    /// The stories in it.
    pub(super) fn read(&self, grouping: Grouping) -> Result<Imported> {
        let mut imported =
            imports::read(self.read_as(), &self.text, grouping).map_err(|bad| self.refuse(&bad))?;
        if imported.name.is_none() && self.kind == Some(SourceKind::OpenSpec) {
            // The folder of a change has its name.
            let folder = self.path.parent().and_then(Path::file_name);
            imported.name = folder.map(|name| name.to_string_lossy().into_owned());
        }
        Ok(imported)
    }

    /// An error that names every line.
    pub(super) fn refuse(&self, bad: &[BadLine]) -> Error {
        let lines =
            bad.iter().take(MAX_BAD_LINES).map(|bad| format!("{}:{}: {}", self.shown, bad.line, bad.text));
        let rest = bad.len().saturating_sub(MAX_BAD_LINES);
        let rest = (0 < rest).then(|| format!("and {rest} more"));
        let lines: Vec<String> = lines.chain(rest).collect();
        let kinds = SourceKind::NAMES.map(|(name, _)| name).join(", ");
        Error::new(lines.join("\n")).hint(format!(
            "it was read as {}; if it is something else, use --as: {kinds}",
            self.read_as().name()
        ))
    }

    /// What is wanted, for a PRD: the proposal and the requirements of a change, or which documents to read.
    pub(super) fn about(&self, name: &str) -> Result<String> {
        let mut text = format!("# {name}\n\nThe stories come from `{}`.\n", self.shown);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let shown = |name: &str| Path::new(&self.shown).with_file_name(name).display().to_string();
        if self.kind == Some(SourceKind::OpenSpec) {
            for file in ["proposal.md", "design.md"].into_iter().filter(|file| self.has(file)) {
                let document =
                    files::read_text(&folder.join(file)).context(format!("cannot read {}", shown(file)))?;
                let _ = write!(text, "\n<!-- {} -->\n\n{}\n", shown(file), document.trim());
            }
            for name in names(&folder.join("specs")) {
                let file = format!("specs/{name}/spec.md");
                let (path, called) = (folder.join(&file), Path::new(&self.shown).with_file_name(&file));
                let document = match files::read_text(&path) {
                    Ok(document) => document,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error).context(format!("cannot read {}", called.display())),
                };
                let called = called.display().to_string();
                let lines = requirements(SpecDocument { file: &called, text: &document })
                    .map_err(|bad| Error::new(format!("{called}:{}: {}", bad.line, bad.text)))?;
                let _ = write!(text, "\n## Requirements in `{called}`\n\n{}\n", lines.join("\n"));
            }
        }
        if self.kind == Some(SourceKind::SpecKit) {
            let known = ["spec.md", "plan.md", "data-model.md", "research.md", "quickstart.md"];
            let read: Vec<String> = known
                .into_iter()
                .filter(|file| self.has(file))
                .map(|file| format!("- `{}`\n", shown(file)))
                .collect();
            if !read.is_empty() {
                let _ = write!(text, "\n## Read before you begin\n\n{}", read.concat());
            }
        }
        Ok(text)
    }

    fn has(&self, file: &str) -> bool {
        self.beside.iter().any(|name| name == file)
    }
}

/// What lies in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
