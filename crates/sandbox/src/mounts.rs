//! The files as a process inside sees them: everything can be read, little can be written, secrets are empty.
//!
//! Called by the first process of fresh user, mount and pid namespaces. Trees are opened without following
//! links, before anything is covered, and put in place from the outermost to the innermost.

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::Path,
};

use ralph_core::containment::{
    policy::{Access, Layer, Policy, ShownFolder, Source, is_partly_seen},
    wanted::PROCESSES,
};
use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
        OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount,
        mount_change, move_mount, open_tree,
    },
};

/// The devices that programs need. None of them leads to a disk.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// An empty file, to lie over files that are not to be seen.
const NOTHING: &str = "/dev/.nothing";
/// Memory that processes share; some people keep whole projects there.
const SHARED: &str = "/dev/shm";
/// A kernel before this one has one limit of processes for the whole machine.
const OWN_PID_MAX: (u32, u32) = (6, 14);

/// Says what was being done when something failed.
pub(super) trait During<T> {
    fn during(self, what: impl std::fmt::Display) -> Result<T, String>;
}

impl<T, E: std::fmt::Display> During<T> for Result<T, E> {
    fn during(self, what: impl std::fmt::Display) -> Result<T, String> {
        self.map_err(|error| format!("{what}: {error}"))
    }
}

/// Puts everything in its place.
pub(super) fn arrange(policy: &Policy) -> Result<(), String> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during("cannot keep mounts to itself")?;
    let layers: Vec<(&Layer, Option<OwnedFd>)> =
        policy.layers.iter().filter_map(|layer| opened(layer).transpose()).collect::<Result<_, _>>()?;
    let mut views = opened_views(&policy.views)?;
    let devices: Vec<(&str, OwnedFd)> = DEVICES
        .into_iter()
        .filter_map(|name| Some((name, tree(Path::new("/dev").join(name).as_path()).ok()?)))
        .collect();

    let bare = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    restrict(CWD, c"/", bare).during("cannot make everything read-only")?;
    device_folder(devices).during("cannot make /dev")?;
    let mut unclosed = Vec::new();
    for (layer, tree) in layers {
        let is_below = |view: &ShownFolder| depth(&layer.path) < depth(&view.at);
        let (later, now) = views.into_iter().partition(|(view, _)| is_below(view));
        views = later;
        put_in_place(now)?;
        if layer.access == Access::Hide
            && is_partly_seen(&layer.path, &policy.layers, &policy.views, &policy.links)
        {
            unclosed.push(&layer.path);
            let place = open(&layer.path).during(layer.path.display())?;
            let empty = memory("755", MountAttrFlags::empty()).during("cannot hide a home")?;
            attach(&empty, &place).during(layer.path.display())?;
            continue;
        }
        cover(layer, tree).during(layer.path.display())?;
    }
    put_in_place(views)?;
    for (link, target) in &policy.links {
        link.parent().map_or(Ok(()), std::fs::create_dir_all).during(link.display())?;
        std::os::unix::fs::symlink(target, link).during(link.display())?;
    }
    for path in unclosed {
        let place = open(path).during(path.display())?;
        set(&place, c"", libc::MOUNT_ATTR_RDONLY, libc::AT_EMPTY_PATH).during(path.display())?;
    }
    processes(policy.processes).during("cannot make /proc")
}

/// Puts folders at the path of others, and leaves everything else as it is.
pub(super) fn show(views: &[ShownFolder]) -> Result<(), String> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during("cannot keep mounts to itself")?;
    put_in_place(opened_views(views)?)
}

fn depth(path: &Path) -> usize {
    path.components().count()
}

/// What the views show, as it is before anything is covered or read-only.
fn opened_views(views: &[ShownFolder]) -> Result<Vec<(&ShownFolder, OwnedFd)>, String> {
    let mut views: Vec<&ShownFolder> = views.iter().collect();
    views.sort_by_key(|view| depth(&view.at));
    let open = |view: &ShownFolder| match &view.source {
        Source::Folder(folder) => tree(folder).during(folder.display()),
        Source::Overlay { lower, upper, work } => {
            overlay(lower, upper, work).during(format!("an overlay of {}", lower.display()))
        }
    };
    views.into_iter().map(|view| Ok((view, open(view)?))).collect()
}

fn put_in_place(views: Vec<(&ShownFolder, OwnedFd)>) -> Result<(), String> {
    let place = |(view, tree): (&ShownFolder, OwnedFd)| -> io::Result<()> {
        restrict(&tree, c"", libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)?;
        if view.at.symlink_metadata().is_err() {
            // In a home of which little is seen.
            std::fs::create_dir_all(&view.at)?;
        }
        attach(&tree, &open(&view.at)?)
    };
    views.into_iter().try_for_each(|it| {
        let at = it.0.at.display();
        place(it).during(at)
    })
}

/// One folder over another. What marks removed files is kept where any user may set it.
fn overlay(lower: &Path, upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    let context = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // Several lower folders would be separated by colons.
    let escaped = lower.to_str().map(|path| path.replace('\\', "\\\\").replace(':', "\\:"));
    let lower = escaped.ok_or(io::ErrorKind::InvalidInput)?;
    fsconfig_set_string(context.as_fd(), c"lowerdir", lower)?;
    fsconfig_set_string(context.as_fd(), c"upperdir", upper)?;
    fsconfig_set_string(context.as_fd(), c"workdir", work)?;
    fsconfig_set_flag(context.as_fd(), c"userxattr")?;
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

/// The tree of a layer, as it was before anything was covered; nothing for a path that is gone and may be.
fn opened(layer: &Layer) -> Result<Option<(&Layer, Option<OwnedFd>)>, String> {
    match (layer.access, tree(&layer.path)) {
        (Access::Write | Access::Read, Ok(tree)) => Ok(Some((layer, Some(tree)))),
        (Access::Hide, Ok(_)) => Ok(Some((layer, None))),
        (Access::Write | Access::Hide, Err(Errno::NOENT)) => Ok(None),
        (_, Err(error)) => Err(format!("{}: {error}", layer.path.display())),
    }
}

/// A copy of what is at a path, with what is mounted below it.
fn tree(path: &Path) -> rustix::io::Result<OwnedFd> {
    let place = open(path)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(place, c"", flags)
}

/// A path that leads where it says: no one can have put a link in its way.
fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

fn cover(layer: &Layer, tree: Option<OwnedFd>) -> io::Result<()> {
    let safe = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    // In the shared memory, or in a folder that is hidden: both begin empty.
    if layer.path.symlink_metadata().is_err() {
        let Some(tree) = &tree else { return Ok(()) };
        make_way(&layer.path, tree)?;
    }
    let place = open(&layer.path)?;
    let tree = match (layer.access, tree) {
        (Access::Write, Some(tree)) => {
            restrict(&tree, c"", safe)?;
            tree
        }
        (Access::Read, Some(tree)) => {
            restrict(&tree, c"", safe | libc::MOUNT_ATTR_RDONLY)?;
            tree
        }
        (Access::Hide, _) | (_, None) => {
            if layer.path.is_dir() {
                memory("555", MountAttrFlags::MOUNT_ATTR_RDONLY)?
            } else {
                let nothing = self::tree(Path::new(NOTHING))?;
                restrict(&nothing, c"", safe | libc::MOUNT_ATTR_RDONLY)?;
                nothing
            }
        }
    };
    attach(&tree, &place)
}

/// Makes a path for something that is there outside, where it begins empty inside.
fn make_way(path: &Path, tree: &OwnedFd) -> io::Result<()> {
    if FileType::from_raw_mode(fstat(tree)?.st_mode).is_dir() {
        return std::fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, "")
}

/// A folder that is not on any disk.
fn memory(mode: &str, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), c"mode", mode)?;
    fsconfig_create(context.as_fd())?;
    let safe = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, safe | attributes)?)
}

fn attach(tree: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, c"", place, c"", flags)?)
}

/// Only harmless devices, terminals of its own, shared memory of its own.
fn device_folder(devices: Vec<(&str, OwnedFd)>) -> io::Result<()> {
    attach(&memory("755", MountAttrFlags::empty())?, &open(Path::new("/dev"))?)?;
    for (name, device) in devices {
        let place = Path::new("/dev").join(name);
        std::fs::write(&place, "")?;
        restrict(&device, c"", libc::MOUNT_ATTR_NOSUID)?;
        attach(&device, &open(&place)?)?;
    }
    std::fs::write(NOTHING, "")?;
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        std::os::unix::fs::symlink(target, Path::new("/dev").join(name))?;
    }
    std::fs::create_dir("/dev/pts")?;
    let quiet = MountFlags::NOSUID | MountFlags::NOEXEC;
    // Without terminals most programs work all the same.
    let _ = mount("devpts", "/dev/pts", "devpts", quiet, Some(c"ptmxmode=0666,mode=620"));
    std::fs::create_dir(SHARED)?;
    attach(&memory("1777", MountAttrFlags::empty())?, &open(Path::new(SHARED))?)?;
    let read_only = libc::MOUNT_ATTR_RDONLY;
    set(&open(Path::new("/dev"))?, c"", read_only, libc::AT_EMPTY_PATH)
}

/// The processes of this namespace, and no more of them than this. Read-only: a process of the superuser could
/// change the machine through it, without any capability.
fn processes(most: u32) -> io::Result<()> {
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", quiet, None::<&CStr>)?;
    if OWN_PID_MAX <= kernel() {
        let written = std::fs::write("/proc/sys/kernel/pid_max", most.to_string());
        // A kernel that refuses leaves the limit of the user, which binds all but the superuser.
        if written.is_err() && most != PROCESSES && rustix::process::geteuid().is_root() {
            let why = "`sandbox.maxProcesses`: the kernel limits root's processes only to 301 or more";
            return Err(io::Error::other(why));
        }
    }
    set(&open(Path::new("/proc"))?, c"", libc::MOUNT_ATTR_RDONLY, libc::AT_EMPTY_PATH)
}

/// The version of the kernel, as far as it is a number.
fn kernel() -> (u32, u32) {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Restricts a tree with everything mounted in it.
fn restrict(tree: impl AsFd, path: &CStr, attributes: u64) -> io::Result<()> {
    let empty = if path.is_empty() { libc::AT_EMPTY_PATH } else { 0 };
    set(tree, path, attributes, libc::AT_RECURSIVE | empty)
}

fn set(tree: impl AsFd, path: &CStr, attributes: u64, flags: i32) -> io::Result<()> {
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path ends with NUL, and the structure has the size that is given; both outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const change,
            size_of_val(&change),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
