//! The last steps of a process on its way into a sandbox, no matter which program built it: the sockets of the proxy,
//! the environment, the loss of all privileges, and the command.

use std::{
    ffi::OsString,
    io,
    net::{Ipv4Addr, TcpListener},
    os::{fd::AsFd, unix::process::CommandExt},
    process::Command,
};

use ralph_core::containment::{hosts::Host, policy::Policy};
use rustix::{
    process::{Resource, Rlimit, setrlimit},
    thread::{CapabilitySet, CapabilitySets},
};

use super::{
    environment::USELESS,
    link::{Link, MAX_SOCKETS, Message},
    seccomp::{self, Sockets},
};

/// All variables that programs find their proxy by.
pub(super) const PROXY: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/// What is not asked of the proxy.
const DIRECT: &str = "localhost,127.0.0.1,::1";

/// Whose network it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// One that has nothing in it yet.
    Own,
    /// The machine's.
    Shared,
}

/// Listens where programs inside look for the proxy and for the open ports of the machine, and hands the sockets
/// out. Returns the proxy's port.
pub(super) fn listen(policy: &Policy, link: &Link, network: Network) -> io::Result<u16> {
    let mut sockets = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?];
    let ports = policy.hosts.iter().filter_map(Host::loopback_port).filter(|_| network == Network::Own);
    for port in ports.take(MAX_SOCKETS - 1) {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(socket) => sockets.push(socket),
            // Listed twice, by two names.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    let ports =
        sockets.iter().map(|socket| Ok(socket.local_addr()?.port())).collect::<io::Result<Vec<u16>>>()?;
    let proxy = ports.first().copied().unwrap_or_default();
    let sockets: Vec<_> = sockets.iter().map(AsFd::as_fd).collect();
    link.send(&Message::Listening(ports), &sockets)?;
    Ok(proxy)
}

/// Becomes the command; returns only if that fails.
pub(super) fn become_command(
    policy: &Policy,
    command: &[OsString],
    proxy: u16,
    sockets: Sockets,
) -> io::Error {
    let Some((program, args)) = command.split_first() else { return io::ErrorKind::InvalidInput.into() };
    let mut next = Command::new(program);
    next.args(args);
    let address = format!("http://127.0.0.1:{proxy}");
    next.envs(PROXY.map(|name| (name, &address)));
    next.envs(["NO_PROXY", "no_proxy"].map(|name| (name, DIRECT)));
    next.env("NODE_USE_ENV_PROXY", "1");
    next.envs(["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"].map(|name| (name, &policy.tmp)));
    for name in USELESS {
        next.env_remove(name);
    }
    for (name, value) in &policy.env {
        match value {
            Some(value) => next.env(name, value),
            None => next.env_remove(name),
        };
    }
    keep_nothing_open();
    match give_up_privileges(policy).and_then(|()| seccomp::restrict(sockets)) {
        Ok(()) => next.exec(),
        Err(error) => error,
    }
}

/// Ralph may have been started with a folder or a socket open, which would lead out. They go with the next image.
fn keep_nothing_open() {
    // SAFETY: a call without pointers; the three usual descriptors stay.
    // A kernel before 5.11 does not know it.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Why there is no command.
pub(super) fn not_started(command: &[OsString], error: &io::Error) -> String {
    let program = command.first().map(|program| program.display().to_string()).unwrap_or_default();
    format!("`{program}` inside the sandbox: {error}")
}

/// Keeps nothing that could be more than the user's own rights.
fn give_up_privileges(policy: &Policy) -> io::Result<()> {
    let most = Rlimit { current: Some(policy.processes.into()), maximum: Some(policy.processes.into()) };
    setrlimit(Resource::Nproc, most)?;
    if let Some(most) = policy.limits.file_size {
        setrlimit(Resource::Fsize, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    drop_capabilities();
    rustix::thread::set_no_new_privs(true)?;
    Ok(())
}

/// Drops every capability, also for programs that would get some.
pub(super) fn drop_capabilities() {
    for capability in CapabilitySet::all() {
        // Some kernels do not know the newest; without namespaces only the superuser may, and needs it.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let _ = rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    );
}
