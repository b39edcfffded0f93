//! The sandbox by the `bwrap` program, for machines where only that program may make namespaces. The last steps are
//! ralph's own, inside of what `bwrap` made.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, AsRawFd},
        unix::process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use ralph_core::containment::policy::{Access, Layer, Policy, ShownFolder, Source, is_partly_seen};
use ralph_sys::error::{Context, Result};
use rustix::process::Pid;

use super::{
    embedded::carry_out,
    inside::{Network, PROXY, listen},
    link::Link,
    mounts::During,
};

/// The hidden command for the last steps.
pub const COMMAND: &str = "sandbox-inside";

/// What is seen inside.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) layers: &'a [Layer],
    pub(super) views: &'a [ShownFolder],
    pub(super) links: &'a [(PathBuf, PathBuf)],
}

/// What `bwrap` is told, without the command: the whole machine, of which little can be written.
pub(super) fn arguments(
    Seen { layers, views, links }: Seen<'_>,
    dir: &Path,
    is_folder: impl Fn(&Path) -> bool,
) -> Vec<OsString> {
    let fixed = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
    ];
    // What root may write there rules the whole machine.
    let of_the_machine = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"];
    let kept = of_the_machine.iter().flat_map(|path| ["--ro-bind-try", path, path]);
    let mut all: Vec<OsString> = fixed.into_iter().chain(kept).map(OsString::from).collect();
    let depth = |path: &Path| path.components().count();
    let mut sorted: Vec<&ShownFolder> = views.iter().collect();
    sorted.sort_by_key(|view| depth(&view.at));
    let mut later = Vec::new();
    let mut rest = sorted.into_iter().peekable();
    for Layer { path, access } in layers {
        while let Some(view) = rest.next_if(|view| depth(&view.at) <= depth(path)) {
            all.extend(bound(view));
        }
        let path = path.as_os_str();
        let words: Vec<&OsStr> = match access {
            Access::Write => vec![OsStr::new("--bind"), path, path],
            Access::Read => vec![OsStr::new("--ro-bind"), path, path],
            // Until everything is in its place that is seen in there.
            Access::Hide if is_partly_seen(path.as_ref(), layers, views, links) => {
                later.extend([OsStr::new("--remount-ro"), path]);
                vec![OsStr::new("--perms"), OsStr::new("0755"), OsStr::new("--tmpfs"), path]
            }
            Access::Hide if is_folder(path.as_ref()) => {
                vec![OsStr::new("--tmpfs"), path, OsStr::new("--remount-ro"), path]
            }
            Access::Hide => vec![OsStr::new("--ro-bind"), OsStr::new("/dev/null"), path],
        };
        all.extend(words.into_iter().map(OsStr::to_owned));
    }
    all.extend(rest.flat_map(bound));
    for (link, target) in links {
        all.extend([OsString::from("--symlink"), target.into(), link.into()]);
    }
    all.extend(later.into_iter().map(OsStr::to_owned));
    all.extend([OsString::from("--chdir"), dir.into()]);
    all
}

/// A folder at the path of another. An overlay is refused before it comes to this.
fn bound(ShownFolder { at, source }: &ShownFolder) -> Vec<OsString> {
    match source {
        Source::Folder(folder) => vec!["--bind".into(), folder.into(), at.into()],
        Source::Overlay { .. } => Vec::new(),
    }
}

/// Starts the command inside.
pub(super) fn start(
    policy: &Policy,
    rules: &Path,
    command: &[OsString],
    theirs: Link,
) -> std::result::Result<Pid, String> {
    if policy.views.iter().any(|view| matches!(view.source, Source::Overlay { .. })) {
        return Err("bwrap makes no overlays".to_owned());
    }
    let dir = std::env::current_dir().during("the working directory")?;
    let ralph = std::env::current_exe().during("the program itself")?;
    let there: Vec<Layer> = policy.layers.iter().filter(|layer| layer.path.exists()).cloned().collect();
    let number = theirs.as_fd().as_raw_fd();
    let mut bwrap = Command::new("bwrap");
    let seen = Seen { layers: &there, views: &policy.views, links: &policy.links };
    bwrap.args(arguments(seen, &dir, Path::is_dir)).arg("--").arg(ralph).arg(COMMAND);
    // The first process inside keeps the environment that it begins with, for all to see.
    for name in PROXY {
        bwrap.env_remove(name);
    }
    bwrap.arg(number.to_string()).arg(rules).arg("--").args(command);
    // SAFETY: only async-signal-safe calls, on a descriptor that exists in the child.
    unsafe {
        bwrap.pre_exec(move || {
            libc::fcntl(number, libc::F_SETFD, 0);
            // Signals to the group are the command's business, which takes them as usual again.
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
                libc::signal(signal, libc::SIG_IGN);
            }
            Ok(())
        });
    }
    let child = bwrap.spawn().during("bwrap")?;
    drop(theirs);
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| "no process".to_owned())
}

/// What the hidden command does; it never returns if all is well.
pub fn inside(link: i32, rules: &PathBuf, command: &[OsString]) -> Result<u8> {
    let link = Link::inherited(link)?;
    let text = fs_err::read_to_string(rules)?;
    let policy: Policy = serde_json::from_str(&text).context("the sandbox has no rules")?;
    carry_out(
        listen(&policy, &link, Network::Own).during("cannot listen for the proxy"),
        &policy,
        command,
        &link,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_become_arguments_in_their_order() {
        let layer = |path: &str, access| Layer { path: path.into(), access };
        let layers = [
            layer("/p", Access::Write),
            layer("/p/.ralph", Access::Read),
            layer("/h/.ssh", Access::Hide),
            layer("/h/.netrc", Access::Hide),
        ];
        let seen = Seen { layers: &layers, views: &[], links: &[] };
        let words = arguments(seen, Path::new("/p"), |path| path.ends_with(".ssh"));
        let line = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        assert!(line.starts_with("--unshare-user "), "{line}");
        assert!(
            line.contains(
                "--cap-drop ALL --ro-bind / / --dev /dev --proc /proc --ro-bind-try /proc/sys /proc/sys "
            ),
            "{line}"
        );
        assert!(
            line.ends_with(
                "--ro-bind /p/.ralph /p/.ralph --tmpfs /h/.ssh --remount-ro /h/.ssh --ro-bind /dev/null /h/.netrc --chdir /p"
            ),
            "{line}"
        );
    }
    #[test]
    fn a_view_comes_before_what_lies_in_it() {
        let layer = |path: &str| Layer { path: path.into(), access: Access::Write };
        let views = [ShownFolder { at: "/a/p".into(), source: Source::Folder("/state/tree".into()) }];
        let layers = [layer("/a"), layer("/b/c"), layer("/a/p/x")];
        let seen = Seen { layers: &layers, views: &views, links: &[] };
        let words = arguments(seen, Path::new("/a/p"), |_| true);
        let line = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        assert!(
            line.ends_with(
                "--bind /a /a --bind /state/tree /a/p --bind /b/c /b/c --bind /a/p/x /a/p/x --chdir /a/p"
            ),
            "{line}"
        );
    }

    #[test]
    fn a_home_is_closed_when_what_is_seen_in_it_is_in_place() {
        let layer = |path: &str, access| Layer { path: path.into(), access };
        let layers =
            [layer("/h", Access::Hide), layer("/h/.cargo", Access::Read), layer("/h/p", Access::Write)];
        let links = [("/h/.gitconfig".into(), "/dot/gitconfig".into())];
        let seen = Seen { layers: &layers, views: &[], links: &links };
        let words = arguments(seen, Path::new("/h/p"), |_| true);
        let line = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        assert!(
            line.ends_with(
                "--perms 0755 --tmpfs /h --ro-bind /h/.cargo /h/.cargo --bind /h/p /h/p \
                 --symlink /dot/gitconfig /h/.gitconfig --remount-ro /h --chdir /h/p"
            ),
            "{line}"
        );
    }
}
