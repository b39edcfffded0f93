//! Which untracked paths of a workspace survive from one commit to the next: caches and what was installed.
//!
//! Invariant: a path that no pattern names does not survive.

use std::{
    ffi::OsStr,
    path::{Component, Path},
};

/// Where a workspace keeps the caches of tools that usually lie outside of the project. Tools do not look for sources
/// in there.
pub const OWN_CACHE: &str = ".git/ralph-cache";

/// The patterns of what survives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    patterns: Vec<Pattern>,
}

/// One path, or a path that may begin at any depth (`**/node_modules`).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    depth: Depth,
    parts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    Fixed,
    Any,
}

/// What happens to an untracked path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It survives, with everything below it.
    Kept,
    /// It does not survive, but something below it may.
    Above,
    /// It does not survive.
    Dropped,
}

impl Keep {
    /// The patterns, which are relative to the folder `prefix` of the tree. What leads out of it names nothing.
    pub fn new<'a>(prefix: &Path, patterns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { patterns: patterns.into_iter().filter_map(|pattern| Pattern::read(prefix, pattern)).collect() }
    }

    /// What happens to a path, relative to the top of the tree.
    pub fn fate(&self, path: &Path) -> Fate {
        let parts: Vec<&OsStr> = path.components().map(Component::as_os_str).collect();
        // A repository is not to be believed, whatever the patterns say.
        if parts.contains(&OsStr::new(".git")) {
            return Pattern::own_cache().fate(&parts);
        }
        let fates = self.patterns.iter().map(|pattern| pattern.fate(&parts));
        fates.fold(Fate::Dropped, |best, fate| match (best, fate) {
            (Fate::Kept, _) | (_, Fate::Kept) => Fate::Kept,
            (Fate::Above, _) | (_, Fate::Above) => Fate::Above,
            (Fate::Dropped, Fate::Dropped) => Fate::Dropped,
        })
    }
}

impl Pattern {
    fn own_cache() -> Self {
        Self { depth: Depth::Fixed, parts: OWN_CACHE.split('/').map(str::to_owned).collect() }
    }

    fn read(prefix: &Path, pattern: &str) -> Option<Self> {
        let trimmed = pattern.trim().trim_end_matches('/');
        let (depth, rest) = match trimmed.strip_prefix("**/") {
            Some(rest) => (Depth::Any, rest),
            None => (Depth::Fixed, trimmed.trim_start_matches("./")),
        };
        let inside = |part: Component<'_>| match part {
            Component::Normal(name) => name.to_str().map(str::to_owned),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        };
        let before = prefix.components().filter(|_| depth == Depth::Fixed);
        let parts: Vec<String> =
            before.chain(Path::new(rest).components()).map(inside).collect::<Option<_>>()?;
        // The whole tree is no cache.
        let names_something = rest.bytes().any(|byte| !matches!(byte, b'*' | b'/'));
        names_something.then_some(Self { depth, parts })
    }

    fn fate(&self, path: &[&OsStr]) -> Fate {
        match self.depth {
            Depth::Fixed => self.fate_from(path),
            Depth::Any => {
                let is_kept = (0..path.len()).any(|at| self.fate_from(&path[at..]) == Fate::Kept);
                if is_kept { Fate::Kept } else { Fate::Above }
            }
        }
    }

    fn fate_from(&self, path: &[&OsStr]) -> Fate {
        let agree =
            self.parts.iter().zip(path).all(|(part, name)| matches(part.as_bytes(), name.as_encoded_bytes()));
        match agree {
            true if self.parts.len() <= path.len() => Fate::Kept,
            true => Fate::Above,
            false => Fate::Dropped,
        }
    }
}

/// Whether a name is what a part of a pattern says: `*` stands for any characters.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        Some((first, rest)) => {
            name.split_first().is_some_and(|(byte, name)| byte == first && matches(rest, name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prefix: &str, patterns: &[&str], path: &str, expected: Fate) {
        let keep = Keep::new(Path::new(prefix), patterns.iter().copied());
        assert_eq!(keep.fate(Path::new(path)), expected, "{path} by {patterns:?} in {prefix:?}");
    }

    #[test]
    fn what_is_named_survives() {
        check("", &["target"], "target", Fate::Kept);
        check("", &["target"], "target/debug/x", Fate::Kept);
        check("", &["./target/"], "target", Fate::Kept);
        check("", &["target"], "targets", Fate::Dropped);
        check("", &["target"], "crates/a/target", Fate::Dropped);
        check("", &["a/cache"], "a", Fate::Above);
        check("", &["a/cache"], "a/other", Fate::Dropped);
        check("", &["a/cache", "a/other"], "a/other", Fate::Kept);
        check("", &["*.egg-info"], "one.egg-info/PKG", Fate::Kept);
        check("", &["cmake-*-x"], "cmake-build-x", Fate::Kept);
        check("", &["cmake-*-x"], "cmake-build", Fate::Dropped);
        check("", &[], "x", Fate::Dropped);
    }

    #[test]
    fn at_any_depth() {
        check("", &["**/node_modules"], "node_modules/a", Fate::Kept);
        check("", &["**/node_modules"], "packages/a/node_modules/b", Fate::Kept);
        check("", &["**/node_modules"], "packages", Fate::Above);
        check("sub", &["**/node_modules"], "other/node_modules", Fate::Kept);
        check("", &["**/a/b"], "x/a/b", Fate::Kept);
        check("", &["**/a/b"], "x/a/c", Fate::Above);
    }

    #[test]
    fn a_project_in_a_folder_names_its_own() {
        check("sub/project", &["target"], "sub/project/target", Fate::Kept);
        check("sub/project", &["target"], "target", Fate::Dropped);
        check("sub/project", &["target"], "sub", Fate::Above);
    }

    #[test]
    fn nothing_outside_and_not_everything() {
        for pattern in
            ["", "/", ".", "..", "../x", "a/../..", "/etc", "*", "**/", "**/*", ".git", ".g*", "**/hooks"]
        {
            if pattern != "**/hooks" {
                check("", &[pattern], "x", Fate::Dropped);
            }
            check("", &[pattern], ".git/config", Fate::Dropped);
            check("", &[pattern], "module/.git/hooks", Fate::Dropped);
            check("", &[pattern], ".git/hooks/x", Fate::Dropped);
        }
        check("", &[], ".git/ralph-cache/go-build/x", Fate::Kept);
        check("sub", &[], ".git/ralph-cache", Fate::Kept);
        check("", &[], ".git", Fate::Above);
    }
}
