//! What is known while commands follow each other: variables, functions, links, where they run.

use std::{collections::BTreeMap, rc::Rc};

use crate::{command::Stdin, paths, shell::Stage, text};

/// The state of a shell, as far as it can be followed. A subshell gets a copy.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that hold or do not, independently")]
pub(super) struct Scope {
    /// Every value that a variable may have, or the elements of an array: both are judged one by one.
    pub(super) variables: BTreeMap<String, Vec<String>>,
    /// `$1` and on.
    pub(super) positional: Vec<String>,
    pub(super) functions: BTreeMap<String, Rc<Stage>>,
    pub(super) aliases: BTreeMap<String, String>,
    /// Paths that were made to mean another one, by a link or a copy.
    pub(super) links: BTreeMap<String, String>,
    /// Files that came from the network.
    pub(super) downloads: Vec<String>,
    /// Names that were given to other repositories.
    pub(super) remotes: Vec<String>,
    /// The working directory; unknown parts are marked.
    pub(super) cwd: String,
    pub(super) earlier_dirs: Vec<String>,
    /// The aliases that are being expanded.
    pub(super) open_aliases: Vec<String>,
    /// The functions that are being called; another one may have the same name.
    pub(super) open_calls: Vec<Rc<Stage>>,
    /// What is read from standard input.
    pub(super) stdin: Stdin,
    /// What this command was unwrapped from, such as `sudo`.
    pub(super) wrappers: Vec<String>,
    /// In a container or on another machine: its paths are not ours.
    pub(super) is_remote: bool,
    pub(super) in_background: bool,
    pub(super) in_pipe: bool,
    /// In a loop that nothing ends.
    pub(super) is_endless: bool,
    /// How often text became commands on the way here.
    pub(super) unwrappings: usize,
    /// How deep in brackets this is.
    pub(super) nesting: usize,
}

impl Scope {
    /// A path as seen from the working directory, with links followed.
    pub(super) fn resolve_path(&self, path: &str, home: &str) -> String {
        let whole = paths::resolve(path, &self.cwd, home);
        for (link, target) in &self.links {
            if whole == *link {
                return target.clone();
            }
            if let Some(rest) = whole.strip_prefix(link.as_str()).filter(|rest| rest.starts_with('/')) {
                return format!("{target}{rest}");
            }
        }
        whole
    }

    /// Sets a variable to one value.
    pub(super) fn set_variable(&mut self, name: &str, value: String) {
        self.variables.insert(name.to_owned(), vec![value]);
    }

    /// Whether what follows finds the same here as there.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.cwd == other.cwd
            && self.variables == other.variables
            && self.positional == other.positional
            && self.links == other.links
            && self.downloads == other.downloads
            && self.remotes == other.remotes
            && self.aliases == other.aliases
            && self.functions.keys().eq(other.functions.keys())
    }

    /// Takes in what may have been set in another branch.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, values) in other.variables {
            let mine = self.variables.entry(name).or_default();
            for value in values {
                if !mine.contains(&value) && mine.len() < 16 {
                    mine.push(value);
                }
            }
        }
        self.functions.extend(other.functions);
        self.aliases.extend(other.aliases);
        self.links.extend(other.links);
        self.downloads.extend(other.downloads);
        self.remotes.extend(other.remotes);
        if self.cwd != other.cwd {
            self.cwd = text::unknown("the working directory");
        }
    }
}
