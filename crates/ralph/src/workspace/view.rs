//! A workspace as the project's commands see it: everything is there, and what they write is kept apart until it is known
//! whether it may stay.
//!
//! Where the kernel can, a view is an overlay, which costs nothing; else it is a copy. Where it can be put at the
//! project's own path, it is: scripts of virtual environments, editable installs and other absolute paths then lead
//! into the view.

use std::{
    ffi::OsString,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ralph_core::{
    containment::{
        level::Level,
        policy::{self, Source},
    },
    verify::rules::SeenAt,
};
use ralph_sandbox::{
    Sandbox,
    moved::{self, Maker},
};
use ralph_sys::{
    calls,
    process::{Spec, Supervisor},
};

use super::{checkout::remove, copy};

/// How what is written is kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layering {
    Overlay,
    Copy,
}

/// A way to show the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    layering: Layering,
    mount: Mount,
}

/// Who puts it in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mount {
    /// A namespace of its own, made by this program.
    By(Maker),
    /// The sandbox, which has namespaces anyway.
    BySandbox,
    /// No one: it is where it is.
    None,
}

/// A workspace that commands can run in.
#[derive(Debug)]
pub(crate) struct View {
    way: Way,
    /// What was checked out.
    tree: PathBuf,
    /// The folder of this view, in which everything is thrown away.
    folder: PathBuf,
    /// Where the top of the tree is seen.
    seat: PathBuf,
    /// Temporary files of the commands.
    tmp: tempfile::TempDir,
}

/// The places that a view is made of.
pub(super) struct Places<'a> {
    /// What is checked out; it is not changed.
    pub(super) tree: &'a Path,
    /// The folder of the workspace.
    pub(super) workspace: &'a Path,
    /// The top of the user's working tree.
    pub(super) top: &'a Path,
}

/// Why the workspace is not at the project's path.
pub(crate) type WhyElsewhere = String;

/// What was found to work in this process: it is not tried a second time.
#[derive(Clone, Debug)]
pub(super) struct KnownWay {
    level: Level,
    seat: PathBuf,
    way: Way,
    why: Option<WhyElsewhere>,
}

impl View {
    /// Makes a view, in the best way that works here. Says why it is not at the project's path if it is not.
    pub(super) fn open(
        supervisor: &mut Supervisor,
        places: &Places<'_>,
        at: SeenAt,
        mut sandbox: Option<&mut Sandbox>,
        known: &mut Option<KnownWay>,
    ) -> io::Result<(Self, Option<WhyElsewhere>)> {
        let level = sandbox.as_ref().map_or(Level::None, |sandbox| sandbox.level());
        if let Some(known) = known.as_ref().filter(|known| known.level == level) {
            return Ok((Self::make(places, known.way, known.seat.clone())?, known.why.clone()));
        }
        let mut obstacle = None;
        let covered = covered_by(places);
        let at_path = match at {
            SeenAt::Path => covered.is_none(),
            SeenAt::Folder => false,
        };
        for (seat, way) in ways(level, places, at_path) {
            let view = match Self::make(places, way, seat) {
                Ok(view) => view,
                Err(error) => {
                    obstacle = Some(error.to_string());
                    continue;
                }
            };
            let is_at_path = view.seat == places.top;
            match view.works(supervisor, sandbox.as_deref_mut()) {
                Ok(()) => {
                    let chosen =
                        (at == SeenAt::Folder).then(|| "the settings say so (`verify.at`)".to_owned());
                    let why = (!is_at_path).then(|| chosen.or(covered).or(obstacle).unwrap_or_default());
                    *known = Some(KnownWay { level, seat: view.seat.clone(), way, why: why.clone() });
                    return Ok((view, why));
                }
                Err(why) => obstacle = Some(why),
            }
        }
        Err(io::Error::other(obstacle.unwrap_or_else(|| format!("not in the sandbox `{}`", level.name()))))
    }

    fn make(places: &Places<'_>, way: Way, seat: PathBuf) -> io::Result<Self> {
        let folder = places.workspace.join("view");
        remove(&folder)?;
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        if seat != places.top {
            remove(&seat)?;
        }
        let tmp = tempfile::Builder::new().prefix("ralph-judge-").tempdir()?;
        let view = Self { way, tree: places.tree.to_owned(), folder, seat, tmp };
        match way {
            Way { layering: Layering::Overlay, .. } => {
                for name in ["upper", "work"] {
                    std::fs::create_dir(view.folder.join(name))?;
                }
                // The top of the tree has the permissions of the upper folder.
                let permissions = view.tree.metadata()?.permissions();
                std::fs::set_permissions(view.folder.join("upper"), permissions)?;
                if view.seat != places.top {
                    std::fs::create_dir(&view.seat)?;
                }
            }
            Way { layering: Layering::Copy, mount: Mount::None } => copy::whole(&view.tree, &view.seat)?,
            Way { layering: Layering::Copy, .. } => {
                copy::whole(&view.tree, &view.folder.join("copy"))?;
                if view.seat != places.top {
                    std::fs::create_dir(&view.seat)?;
                }
            }
        }
        Ok(view)
    }

    /// Tries it.
    fn works(&self, supervisor: &mut Supervisor, sandbox: Option<&mut Sandbox>) -> Result<(), String> {
        let spec = calls::unattended("true".into(), &self.seat, Vec::new());
        let captured = self.wrap(spec, sandbox).and_then(|spec| supervisor.capture(spec, 16 * 1024));
        match captured {
            Ok(captured) if calls::succeeded(&captured) => Ok(()),
            Ok(captured) => Err(calls::refusal(&captured)
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Makes a process one that sees the view. Its folder must be in the view.
    pub(crate) fn wrap(&self, mut spec: Spec, sandbox: Option<&mut Sandbox>) -> io::Result<Spec> {
        let set = |name: &str, value: &Path| (OsString::from(name), Some(value.as_os_str().to_owned()));
        spec.env.extend(["TMPDIR", "TMP", "TEMP"].map(|name| set(name, self.tmp.path())));
        let views = self.views();
        match (self.way.mount, sandbox) {
            (Mount::By(maker), _) => moved::wrap(maker, &views, spec),
            (Mount::BySandbox | Mount::None, Some(sandbox)) => sandbox.wrap_viewing(spec, views),
            (Mount::None | Mount::BySandbox, None) => Ok(spec),
        }
    }

    fn views(&self) -> Vec<policy::ShownFolder> {
        let source = match self.way {
            Way { layering: Layering::Overlay, .. } => Source::Overlay {
                lower: self.tree.clone(),
                upper: self.folder.join("upper"),
                work: self.folder.join("work"),
            },
            Way { layering: Layering::Copy, mount: Mount::None } => Source::Folder(self.seat.clone()),
            Way { layering: Layering::Copy, .. } => Source::Folder(self.folder.join("copy")),
        };
        vec![policy::ShownFolder { at: self.seat.clone(), source }]
    }

    /// Where the top of the tree is seen.
    pub(crate) fn seat(&self) -> &Path {
        &self.seat
    }

    /// What was checked out, without what commands wrote.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// How what is written is kept apart.
    pub(crate) fn layering(&self) -> Layering {
        self.way.layering
    }

    /// What was written, as the file system has it: the upper folder, or a whole copy.
    pub(crate) fn written(&self) -> PathBuf {
        match self.way {
            Way { layering: Layering::Overlay, .. } => self.folder.join("upper"),
            Way { layering: Layering::Copy, mount: Mount::None } => self.seat.clone(),
            Way { layering: Layering::Copy, .. } => self.folder.join("copy"),
        }
    }

    /// Throws away what was written: the commands may have written anything.
    pub(crate) fn close(self) -> io::Result<()> {
        remove(&self.folder)?;
        if self.way.mount == Mount::None { remove(&self.seat) } else { Ok(()) }
    }
}

/// The ways that may work, the best first.
fn ways(level: Level, places: &Places<'_>, at_path: bool) -> Vec<(PathBuf, Way)> {
    let way = |layering, mount| Way { layering, mount };
    let mounted = match level {
        Level::None => vec![
            way(Layering::Overlay, Mount::By(Maker::Own)),
            way(Layering::Copy, Mount::By(Maker::Own)),
            way(Layering::Copy, Mount::By(Maker::Bwrap)),
        ],
        Level::Embedded => {
            vec![way(Layering::Overlay, Mount::BySandbox), way(Layering::Copy, Mount::BySandbox)]
        }
        Level::Bwrap => vec![way(Layering::Copy, Mount::BySandbox)],
        Level::Landlock | Level::Docker | Level::Sbx | Level::Seatbelt => Vec::new(),
    };
    let own = places.workspace.join("seat");
    let plain = match level {
        Level::None | Level::Landlock => Some(way(Layering::Copy, Mount::None)),
        Level::Embedded | Level::Bwrap | Level::Docker | Level::Sbx | Level::Seatbelt => None,
    };
    let here = mounted.iter().filter(|_| at_path).map(|way| (places.top.to_owned(), *way));
    let elsewhere = mounted.iter().copied().chain(plain).map(|way| (own.clone(), way));
    here.chain(elsewhere).collect()
}

/// What would be hidden by a view at the project's path, and is needed.
fn covered_by(places: &Places<'_>) -> Option<String> {
    if places.workspace.starts_with(places.top) {
        return Some("ralph's own record is inside of the project".to_owned());
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| std::fs::canonicalize(home).ok());
    home.filter(|home| home.starts_with(places.top))
        .map(|_| "the home directory is inside of the project".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways_of(level: Level, at_path: bool) -> Vec<String> {
        let places =
            Places { tree: Path::new("/s/tree"), workspace: Path::new("/s"), top: Path::new("/project") };
        let show =
            |(seat, way): (PathBuf, Way)| format!("{} {:?} {:?}", seat.display(), way.layering, way.mount);
        ways(level, &places, at_path).into_iter().map(show).collect()
    }

    #[test]
    fn the_project_path_first_and_an_overlay_first() {
        assert_eq!(
            ways_of(Level::Embedded, true),
            [
                "/project Overlay BySandbox",
                "/project Copy BySandbox",
                "/s/seat Overlay BySandbox",
                "/s/seat Copy BySandbox"
            ]
        );
        assert_eq!(ways_of(Level::Bwrap, true), ["/project Copy BySandbox", "/s/seat Copy BySandbox"]);
        assert_eq!(ways_of(Level::Landlock, true), ["/s/seat Copy None"]);
        assert_eq!(ways_of(Level::Docker, true), [""; 0]);
        let none = ways_of(Level::None, true);
        assert_eq!(none.first().map(String::as_str), Some("/project Overlay By(Own)"));
        assert_eq!(none.last().map(String::as_str), Some("/s/seat Copy None"));
        assert!(ways_of(Level::None, false).iter().all(|way| way.starts_with("/s/seat ")));
    }

    #[test]
    fn what_is_needed_is_not_covered() {
        let places = |workspace: &'static str, top: &'static str| Places {
            tree: Path::new("/"),
            workspace: Path::new(workspace),
            top: Path::new(top),
        };
        assert_eq!(covered_by(&places("/state/judge", "/nowhere/project")), None);
        assert!(covered_by(&places("/srv/project/.state", "/srv/project")).is_some());
        assert!(covered_by(&places("/state/judge", "/")).is_some());
    }
}
