//! The sandbox without namespaces: the kernel refuses this process, and all that come of it, to write outside, to
//! read secrets, to signal others, and to connect to any port but the proxy's.
//!
//! Rights that are given for a folder hold for all of it. So what is protected inside the project is not
//! protected here, and what is hidden is left out by giving the rights for everything beside it.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use ralph_core::containment::{
    hosts::Host,
    policy::{Access, Policy},
};
use rustix::process::{Pid, Signal};

use super::{
    embedded::leave,
    inside::{Network, become_command, listen, not_started},
    link::{Link, Message},
    mounts::During,
    seccomp::Sockets,
};

/// What is asked for; an older kernel gives what it has.
const WANTED: ABI = ABI::V6;
/// Devices that programs write to.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Starts the command inside.
pub(super) fn start(policy: &Policy, command: &[OsString], theirs: Link) -> Result<Pid, String> {
    // SAFETY: there are no other threads; the child becomes the command or ends by `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(format!("cannot start a process: {}", io::Error::last_os_error())),
        0 => {
            let failed = match enter(policy, &theirs).map_err(Message::Failed) {
                Ok(proxy) => {
                    super::own_process::restore_signals();
                    let error = become_command(policy, command, proxy, Sockets::Connections);
                    Message::NotStarted(not_started(command, &error))
                }
                Err(error) => error,
            };
            let _ = theirs.send(&failed, &[]);
            leave()
        }
        pid => {
            drop(theirs);
            Pid::from_raw(pid).ok_or_else(|| "no process".to_owned())
        }
    }
}

fn enter(policy: &Policy, link: &Link) -> Result<u16, String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).during("cannot follow ralph")?;
    let proxy = listen(policy, link, Network::Shared).during("cannot listen for the proxy")?;
    let status = restrict(policy, proxy).during("Landlock refuses")?;
    if status == RulesetStatus::NotEnforced {
        return Err("the kernel has no Landlock".to_owned());
    }
    Ok(proxy)
}

fn restrict(policy: &Policy, proxy: u16) -> Result<RulesetStatus, RulesetError> {
    let of = |access| policy.layers.iter().filter(move |layer| layer.access == access).map(|it| &it.path);
    let hidden: Vec<PathBuf> = of(Access::Hide).cloned().collect();
    let mut readable = Vec::new();
    beside(Path::new("/"), &hidden, &mut readable);
    // What is shown in a hidden folder, without what is hidden in that.
    for shown in of(Access::Read).filter(|shown| hidden.iter().any(|path| shown.starts_with(path))) {
        let deeper: Vec<PathBuf> = hidden.iter().filter(|path| path.starts_with(shown)).cloned().collect();
        beside(shown, &deeper, &mut readable);
    }
    let contents: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let ports = policy.hosts.iter().filter_map(Host::loopback_port).chain([proxy]);
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .handle_access(AccessNet::ConnectTcp)?
        .scope(Scope::from_all(WANTED))?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(readable, contents))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(of(Access::Write), AccessFs::from_all(WANTED)))?
        .add_rules(ports.map(|port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp))))?
        .restrict_self()?;
    Ok(restricted.ruleset)
}

/// The largest folders below `dir`, and single files, that have nothing hidden in them.
fn beside(dir: &Path, hidden: &[PathBuf], into: &mut Vec<PathBuf>) {
    if hidden.iter().any(|path| path == dir) {
        return;
    }
    if !hidden.iter().any(|path| path.starts_with(dir)) {
        return into.push(dir.to_owned());
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        // Where a link leads has its own place in the tree.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            beside(&entry.path(), hidden, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_beside_the_hidden_can_be_read() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        for folder in ["home/.ssh", "home/src", "etc"] {
            std::fs::create_dir_all(path(folder)).expect("a folder");
        }
        for file in ["home/.netrc", "home/notes"] {
            std::fs::write(path(file), "").expect("a file");
        }
        std::os::unix::fs::symlink(path("home/.ssh"), path("home/link")).expect("a link");
        let mut found = Vec::new();
        beside(root.path(), &[path("home/.ssh"), path("home/.netrc"), path("gone/x")], &mut found);
        found.sort();
        assert_eq!(found, [path("etc"), path("home/notes"), path("home/src")]);
    }
}
