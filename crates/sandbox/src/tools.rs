//! Gives package managers and version managers folders that they can write inside, with what the user has linked into
//! them.
//!
//! What is inside such a folder was written by an agent: nothing is followed there, and what it has put in the place of
//! a link stays.

use std::{
    collections::BTreeMap,
    env,
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ralph_core::containment::{
    level::Level,
    policy::{ShownFolder, Source},
    tools::{Made, TOOLS, ToolFolder, fits, go_flags, go_proxy, go_setting},
    wanted::Wanted,
};
use ralph_sys::files::{self, Root};

use super::survey::home;

/// The most that is copied for one tool.
const MAX_COPIED_LEN: u64 = 256 * 1024 * 1024;

/// The variables of the environment by their names.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;
/// Variables to set.
type Variables = BTreeMap<String, Option<String>>;

/// The folders of the tools of one sandbox.
pub(super) struct Tools {
    /// What all sandboxes of the project share, and the agent writes.
    shared: PathBuf,
    /// What a judge's command writes, made anew for each: what one left there must not answer for the next.
    fresh: PathBuf,
    /// Where a judge's command sees that, in every run: results that are kept have its path in them.
    seat: PathBuf,
    /// What the user adds to the environment.
    env: BTreeMap<String, String>,
}

impl Tools {
    /// The folders of a sandbox whose packages are open; `folder` is its own, and `cache` the project's.
    pub(super) fn of(
        wanted: &Wanted,
        folder: &Path,
        cache: &Path,
        env: &BTreeMap<String, String>,
    ) -> Option<Self> {
        let fresh = folder.join("judge-tools");
        let seat = match wanted.level() {
            Level::Embedded | Level::Bwrap => cache.with_file_name("judge-tools"),
            Level::Landlock | Level::Seatbelt => fresh.clone(),
            // They have a home of their own.
            Level::Docker | Level::Sbx | Level::None => return None,
        };
        let shared = cache.join("tools");
        wanted.packages.then(|| Self { shared, fresh, seat, env: env.clone() })
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned().or_else(|| env::var(name).ok())
    }

    /// What the agent's own commands find.
    pub(super) fn for_agent(&self) -> io::Result<Variables> {
        // A link in its place would lead out.
        Root::new(self.shared.parent().unwrap_or(&self.shared)).make_folder(&self.shared)?;
        Ok(prepare(&self.shared, &self.shared, &|name| self.variable(name)))
    }

    /// What a judge's command finds, and where it finds it.
    pub(super) fn for_judge(&self) -> io::Result<(Variables, ShownFolder)> {
        self.finish();
        for folder in [&self.fresh, &self.seat] {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let (fresh, seat) = (std::fs::canonicalize(&self.fresh)?, std::fs::canonicalize(&self.seat)?);
        let env = prepare(&fresh, &seat, &|name| self.variable(name));
        Ok((env, ShownFolder { at: seat, source: Source::Folder(fresh) }))
    }

    /// Removes what a judge's command left.
    pub(super) fn finish(&self) {
        let _ = std::fs::remove_dir_all(&self.fresh);
    }
}

/// Fills `folder`, and returns the variables for tools that see it at `seat`. A tool whose folder cannot be filled does
/// without: an agent may have spoilt it for itself.
fn prepare(folder: &Path, seat: &Path, variable: Variable<'_>) -> Variables {
    let mut env = BTreeMap::new();
    let mut programs = Vec::new();
    let root = Root::new(folder);
    for tool in &TOOLS {
        let Some(theirs) = theirs(tool, variable) else { continue };
        if root.make_folder(tool.name).and_then(|()| fill(&root, tool, &theirs)).is_err() {
            continue;
        }
        let own = seat.join(tool.name);
        programs.extend(tool.programs.map(|name| if name.is_empty() { own.clone() } else { own.join(name) }));
        env.insert(tool.variable.to_owned(), Some(own.display().to_string()));
    }
    go(&mut env, variable);
    let path = variable("PATH").unwrap_or_default();
    let all = programs.into_iter().map(|it| it.display().to_string()).chain([path]);
    env.insert("PATH".to_owned(), Some(all.collect::<Vec<_>>().join(":")));
    env
}

/// The user's folder, if the tool is to have one.
fn theirs(tool: &ToolFolder, variable: Variable<'_>) -> Option<PathBuf> {
    let set = variable(tool.variable).filter(|value| !value.is_empty());
    // Of a list the first is written to.
    let set = set.map(|list| PathBuf::from(list.split(':').next().unwrap_or_default()));
    let folder = set.or_else(|| home().map(|home| home.join(tool.usual)))?;
    (tool.made == Made::Always || folder.is_dir()).then_some(folder)
}

/// Links and copies what the user has.
fn fill(root: &Root, tool: &ToolFolder, theirs: &Path) -> io::Result<()> {
    let own = Path::new(tool.name);
    for pattern in tool.linked {
        for name in matches(theirs, pattern) {
            root.link(own.join(&name), &theirs.join(&name))?;
        }
    }
    let mut left = MAX_COPIED_LEN;
    for name in tool.copied {
        copy(root, &theirs.join(name), &own.join(name), &mut left)?;
    }
    Ok(())
}

/// What there is below a folder, by a pattern for each name of a path.
fn matches(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.split('/') {
        let step = |above: PathBuf| -> Vec<PathBuf> {
            if !part.contains('*') {
                return vec![above.join(part)];
            }
            let entries = std::fs::read_dir(folder.join(&above)).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            names.filter(|name| fits(name, part)).map(|name| above.join(name)).collect()
        };
        found = found.into_iter().flat_map(step).collect();
    }
    found.retain(|name| folder.join(name).exists());
    found
}

/// Copies a file or a folder, unless there is one.
fn copy(root: &Root, from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    if from.is_dir() {
        for entry in std::fs::read_dir(from)?.flatten() {
            copy(root, &entry.path(), &to.join(entry.file_name()), left)?;
        }
        return Ok(());
    }
    let Ok(bytes) = files::read(from, *left) else { return Ok(()) };
    *left -= bytes.len() as u64;
    match root.create(to) {
        Ok(mut file) => {
            io::Write::write_all(&mut file, &bytes)?;
            file.set_permissions(std::fs::metadata(from)?.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Go has no folder of modules that another can be put over: it takes what the user has for a proxy.
fn go(env: &mut Variables, variable: Variable<'_>) {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let config =
        set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| home().map(|home| home.join(".config")));
    let written = config.and_then(|dir| files::read_text(&dir.join("go/env")).ok()).unwrap_or_default();
    let setting = |name: &str| set(name).or_else(|| go_setting(&written, name).map(str::to_owned));
    let go_path = setting("GOPATH").map(PathBuf::from).or_else(|| home().map(|home| home.join("go")));
    let modules = setting("GOMODCACHE").map(PathBuf::from).or_else(|| go_path.map(|dir| dir.join("pkg/mod")));
    if let Some(modules) = modules.map(|dir| dir.join("cache/download")).filter(|dir| dir.is_dir()) {
        let proxy = go_proxy(&modules.display().to_string(), setting("GOPROXY").as_deref());
        env.insert("GOPROXY".to_owned(), Some(proxy));
    }
    env.insert("GOFLAGS".to_owned(), Some(go_flags(setting("GOFLAGS").as_deref())));
    if let Some(Some(own)) = env.get("GOPATH") {
        let own = format!("{own}/pkg/mod");
        env.insert("GOMODCACHE".to_owned(), Some(own));
    }
}
