//! A control group for one turn, where the system lets its user have one (cgroup v2, delegated): the kernel itself then keeps
//! the limits of memory and processes, for all that come of the turn and also for the superuser's.
//!
//! Elsewhere there is none, and [`keeper`](super::keeper) and the limits of each process are all there is.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ralph_core::containment::policy::Policy;

/// What the folders are called that groups of turns are.
const PREFIX: &str = "ralph-turn-";
/// What the group of those is called that are in no turn.
const LEAF: &str = "ralph-main";
/// How long the kernel may take to end what is left in a group.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// A group that this process is in.
pub(super) struct Group {
    path: PathBuf,
    /// The one that it was in before.
    before: PathBuf,
    /// Whether the number of processes is kept as well.
    pub(super) bounds_processes: bool,
}

impl Group {
    /// Goes into a new group with the limits of a turn; nothing where this user may make none.
    pub(super) fn join(policy: &Policy) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let before = own_group(&mounts, &own)?;
        if is_marked(&before) {
            let leaf = make_room(&before).ok()?;
            return Self::make(&before, leaf, policy).ok();
        }
        // Another turn has made room already, or no one else keeps the groups of this machine.
        let parent = before.parent()?.to_owned();
        let is_free = is_marked(&parent) || !Path::new("/run/systemd/system").exists();
        if is_free { Self::make(&parent, before, policy).ok() } else { None }
    }

    fn make(parent: &Path, before: PathBuf, policy: &Policy) -> io::Result<Self> {
        let controllers = fs::read_to_string(parent.join("cgroup.subtree_control"))?;
        let passes = |name: &str| controllers.split_whitespace().any(|it| it == name);
        if !passes("memory") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        remove_abandoned(parent);
        let path = parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Self { path, before, bounds_processes: passes("pids") };
        let entered =
            group.limit(policy).and_then(|()| group.write("cgroup.procs", &std::process::id().to_string()));
        if let Err(error) = entered {
            let _ = fs::remove_dir(&group.path);
            return Err(error);
        }
        Ok(group)
    }

    fn limit(&self, policy: &Policy) -> io::Result<()> {
        if let Some(memory) = policy.limits.memory {
            self.write("memory.max", &memory.to_string())?;
            // A machine without swap has no such file.
            let _ = self.write("memory.swap.max", "0");
        }
        if self.bounds_processes {
            self.write("pids.max", &policy.processes.to_string())?;
        }
        Ok(())
    }

    fn write(&self, name: &str, value: &str) -> io::Result<()> {
        fs::write(self.path.join(name), value)
    }

    /// The file in which the kernel counts whom it had to end.
    pub(super) fn events(&self) -> PathBuf {
        self.path.join("memory.events")
    }

    /// Goes back to where this process was, ends what is left, and removes the group.
    pub(super) fn leave(self) {
        let _ = fs::write(self.before.join("cgroup.procs"), std::process::id().to_string());
        let _ = self.write("cgroup.kill", "1");
        let begun = Instant::now();
        while fs::remove_dir(&self.path).is_err() && begun.elapsed() < END_TIMEOUT {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether systemd has left a group to who is in it (`Delegate=yes`). It keeps all others itself.
fn is_marked(group: &Path) -> bool {
    let mut value = [0; 8];
    ["user.delegate", "trusted.delegate"].into_iter().any(|name| {
        let read = rustix::fs::getxattr(group, name, &mut value);
        read.is_ok_and(|len| value[..len] == *b"1")
    })
}

/// Moves the processes of a group into one below it, and has it pass its controllers on: the kernel lets only a group without
/// processes do that. Returns the group where they are now; if it cannot be, they are where they were.
fn make_room(group: &Path) -> io::Result<PathBuf> {
    let leaf = group.join(LEAF);
    if let Err(error) = fs::create_dir(&leaf)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    move_all(group, &leaf)?;
    if let Err(error) = fs::write(group.join("cgroup.subtree_control"), "+memory +pids") {
        move_all(&leaf, group)?;
        let _ = fs::remove_dir(&leaf);
        return Err(error);
    }
    Ok(leaf)
}

fn move_all(from: &Path, to: &Path) -> io::Result<()> {
    for process in fs::read_to_string(from.join("cgroup.procs"))?.lines() {
        match fs::write(to.join("cgroup.procs"), process) {
            // It has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            other => other?,
        }
    }
    Ok(())
}

/// Removes groups whose turn was killed; the kernel keeps those that a process is in.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The folder of the group that this process is in, by what the kernel says of mounts and of the process.
fn own_group(mounts: &str, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (first, last) = line.split_once(" - ")?;
        let mut fields = first.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        (last.split(' ').next()? == "cgroup2").then(|| Path::new(mount).join(below))
    })
}

/// Whether the kernel has ended a process because there was no more memory for it.
pub(super) fn has_ended_some(events: &str) -> bool {
    let killed = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
    killed.is_some_and(|count| count.trim() != "0")
}

#[cfg(test)]
mod tests {
    use ralph_core::containment::limits::SandboxLimits;

    use super::*;

    #[test]
    fn the_group_is_found_below_its_mount() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n\
                      31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let found = |mounts: &str, own: &str| own_group(mounts, own);
        let own = "4:memory:/x\n0::/user.slice/app.slice/a.scope\n";
        let expected = "/sys/fs/cgroup/unified/user.slice/app.slice/a.scope";
        assert_eq!(found(mounts, own), Some(expected.into()));
        // What is mounted is a part: a container.
        let part = "30 23 0:26 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found(part, own), Some("/sys/fs/cgroup/app.slice/a.scope".into()));
        assert_eq!(found(part, "0::/system.slice\n"), None);
        assert_eq!(found("31 23 0:27 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n", own), None);
        assert_eq!(found(mounts, "4:memory:/x\n"), None);
    }

    #[test]
    fn a_group_has_the_limits_of_the_turn() {
        let parent = tempfile::tempdir().expect("a folder");
        let limits = SandboxLimits { memory: Some(1_000), ..SandboxLimits::default() };
        let policy = Policy { processes: 7, limits, ..Policy::default() };
        let make = |passed: &str| {
            fs::write(parent.path().join("cgroup.subtree_control"), passed).expect("a file");
            Group::make(parent.path(), parent.path().join("before"), &policy)
        };
        assert!(make("").is_err() && make("cpu pids").is_err(), "nothing is delegated");
        fs::create_dir(parent.path().join("ralph-turn-0")).expect("a folder");
        let group = make("cpu memory pids\n").expect("a group");
        assert!(!parent.path().join("ralph-turn-0").exists(), "an abandoned group stays");
        let read = |name: &str| fs::read_to_string(group.path.join(name)).expect("a file");
        assert_eq!((read("memory.max"), read("pids.max")), ("1000".to_owned(), "7".to_owned()));
        assert_eq!(read("cgroup.procs"), std::process::id().to_string());
        assert!(group.bounds_processes);
    }

    #[test]
    fn room_is_made_for_groups_below() {
        let group = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(group.path().join(name), text).expect("a file");
        write("cgroup.procs", "12\n");
        write("cgroup.subtree_control", "");
        let leaf = make_room(group.path()).expect("room");
        let read = |path: PathBuf| fs::read_to_string(path).expect("a file");
        assert_eq!(read(leaf.join("cgroup.procs")), "12");
        assert_eq!(read(group.path().join("cgroup.subtree_control")), "+memory +pids");
        assert!(!is_marked(group.path()), "no one has left it to us");
    }

    /// On a real one that has no controllers to pass on: everything is as it was before.
    #[test]
    fn where_no_room_can_be_made_all_stay_where_they_were() {
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        let own = fs::read_to_string("/proc/self/cgroup").expect("groups");
        let Some(before) = own_group(&mounts, &own) else { return };
        let group = before.join(format!("ralph-test-{}", std::process::id()));
        // Who is not the superuser may make none.
        if fs::create_dir(&group).is_err() {
            return;
        }
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let entered = fs::write(group.join("cgroup.procs"), child.id().to_string());
        let made = entered.is_ok().then(|| make_room(&group));
        let members = fs::read_to_string(
            group.join(if matches!(made, Some(Ok(_))) { LEAF } else { "" }).join("cgroup.procs"),
        );
        child.kill().and_then(|()| child.wait()).expect("it ends");
        let _ = fs::remove_dir(group.join(LEAF));
        fs::remove_dir(&group).expect("an empty group");
        if entered.is_ok() {
            assert_eq!(members.expect("a list").trim(), child.id().to_string());
        }
    }

    #[test]
    fn whom_the_kernel_ended_is_counted() {
        assert!(has_ended_some("low 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n"));
        assert!(!has_ended_some("low 0\nmax 12\noom 1\noom_kill 0\n") && !has_ended_some(""));
    }
}
