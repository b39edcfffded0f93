//! The sandbox that ralph makes itself, of namespaces: own users, files, processes, network.
//!
//! Three processes: the one outside, which is ralph and runs the proxy; the first inside, which arranges everything,
//! waits, and takes all others along when it ends; and the command.

use std::{ffi::OsString, io, net::UdpSocket, os::fd::AsRawFd, path::Path};

use ralph_core::containment::policy::Policy;
use rustix::process::{Pid, Signal, getegid, geteuid};

use super::{
    inside::{self, Network, become_command, listen},
    link::{Link, Message},
    mounts::{self, During},
    seccomp::Sockets,
};

/// Everything that is not shared with the machine.
const APART: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// Starts the command inside. Returns the first process inside.
pub(super) fn start(policy: &Policy, command: &[OsString], theirs: Link) -> Result<Pid, String> {
    let user = (geteuid().as_raw(), getegid().as_raw());
    let dir = std::env::current_dir().during("the working directory")?;
    // SAFETY: like `fork`, in a process that has no other threads; the child ends by `_exit`.
    let pid = unsafe { libc::syscall(libc::SYS_clone, APART | libc::SIGCHLD, 0, 0, 0, 0) };
    match pid {
        -1 => Err(format!("cannot make namespaces: {}", io::Error::last_os_error())),
        0 => first_process(policy, command, &theirs, user, &dir),
        pid => {
            drop(theirs);
            i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| "no process".to_owned())
        }
    }
}

/// What the first process inside does; it never returns.
fn first_process(policy: &Policy, command: &[OsString], link: &Link, user: (u32, u32), dir: &Path) -> ! {
    carry_out(arrange(policy, link, user, dir), policy, command, link)
}

/// Starts the command in what was arranged and waits for it, or says what failed; it never returns.
pub(super) fn carry_out(
    arranged: Result<u16, String>,
    policy: &Policy,
    command: &[OsString],
    link: &Link,
) -> ! {
    match arranged.and_then(|proxy| start_command(policy, command, link, proxy)) {
        Ok(command) => attend(command, link),
        Err(error) => drop(link.send(&Message::Failed(error), &[])),
    }
    leave()
}

fn arrange(policy: &Policy, link: &Link, (user, group): (u32, u32), dir: &Path) -> Result<u16, String> {
    // When the process outside is killed, so is everything here.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).during("cannot follow ralph")?;
    // Without this a user may not say which groups there are.
    let _ = std::fs::write("/proc/self/setgroups", "deny");
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).during("cannot keep the user")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).during("cannot keep the group")?;
    bring_up_loopback().during("cannot make a network")?;
    let proxy = listen(policy, link, Network::Own).during("cannot listen for the proxy")?;
    mounts::arrange(policy)?;
    // The directory that was inherited is the one below all mounts.
    rustix::process::chdir(dir).during(dir.display())?;
    Ok(proxy)
}

/// The machine itself is the only other end of the network inside.
fn bring_up_loopback() -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all zeros are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        // Characters of C have a sign on some processors, and ASCII fits into both.
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    // SAFETY: the request outlives the call, and names an interface with its flags.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn start_command(policy: &Policy, command: &[OsString], link: &Link, proxy: u16) -> Result<i32, String> {
    // SAFETY: a call without pointers. No process inside may look into this process, not even while the command begins.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
    // SAFETY: there are no other threads; the child becomes the command or ends by `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(format!("cannot start a process: {}", io::Error::last_os_error())),
        0 => {
            super::own_process::restore_signals();
            let error = become_command(policy, command, proxy, Sockets::Internet);
            let _ = link.send(&Message::NotStarted(inside::not_started(command, &error)), &[]);
            leave()
        }
        pid => Ok(pid),
    }
}

/// Waits for the command, and for whatever is orphaned meanwhile. No process inside outlives this one.
fn attend(command: i32, link: &Link) {
    // The pipes of the command must close when the command closes them.
    super::own_process::let_go_of_output();
    inside::drop_capabilities();
    loop {
        let mut status = 0;
        // SAFETY: the status outlives the call.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if ended == command {
            return drop(link.send(&Message::Ended(status), &[]));
        }
        if ended == -1 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// Ends this process and, as it is the first one inside, all others.
pub(super) fn leave() -> ! {
    // SAFETY: ends the process without running anything that belongs to the process it was copied from.
    unsafe { libc::_exit(0) }
}
