//! The system calls that nothing inside a sandbox needs: those that change what the sandbox is made of, look into
//! other processes, load code into the kernel, or talk to anything but the network.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// Refused whatever the arguments.
const REFUSED: [libc::c_long; 44] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
];

/// The flags of `clone` that make namespaces.
const NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    0x80, // CLONE_NEWTIME
];

/// What may be talked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Everything that the network of the sandbox leads to.
    Internet,
    /// Only connections: where the network is the machine's own, packets would go anywhere.
    Connections,
}

/// Refuses them from here on, for this process and all that come of it.
pub(super) fn restrict(sockets: Sockets) -> io::Result<()> {
    // Programs ask for `clone3` first and take `clone`, whose flags can be looked at, when there is none.
    let absent = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    install(absent, libc::ENOSYS)?;
    install(rules(sockets)?, libc::EPERM)
}

fn rules(sockets: Sockets) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.into_iter().map(|number| (number, vec![])).collect();
    let when = |argument, operator, value: i32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, u64::from(value.cast_unsigned()))
            .map_err(io::Error::other)
    };
    let rule = |conditions| SeccompRule::new(conditions).map_err(io::Error::other);
    let has_bits = |bits: i32| SeccompCmpOp::MaskedEq(u64::from(bits.cast_unsigned()));

    // Sockets of other kinds lead out of the sandbox: to the services of the machine and to the kernel.
    let not = |family| when(0, SeccompCmpOp::Ne, family);
    let mut socket = vec![rule(vec![not(libc::AF_INET)?, not(libc::AF_INET6)?])?];
    if sockets == Sockets::Connections {
        // The kind of a socket comes with flags in the same argument.
        const KIND: i32 = 0xf;
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET, libc::SOCK_DCCP] {
            socket.push(rule(vec![when(1, has_bits(KIND), kind)?])?);
        }
    }
    rules.insert(libc::SYS_socket, socket);
    rules.insert(libc::SYS_socketpair, vec![rule(vec![not(libc::AF_UNIX)?])?]);
    let clones = NAMESPACES.into_iter().map(|flag| rule(vec![when(0, has_bits(flag), flag)?]));
    rules.insert(libc::SYS_clone, clones.collect::<io::Result<_>>()?);
    // Typing into the terminal that ralph was started from.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX];
    let requests = typing.map(|request| {
        let request = i32::try_from(request).unwrap_or_default();
        rule(vec![when(1, SeccompCmpOp::Eq, request)?])
    });
    rules.insert(libc::SYS_ioctl, requests.into_iter().collect::<io::Result<_>>()?);
    Ok(rules)
}

fn install(rules: BTreeMap<i64, Vec<SeccompRule>>, refusal: i32) -> io::Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refuse = SeccompAction::Errno(refusal.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(io::Error::other)?;
    let mut program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    if cfg!(target_arch = "x86_64") {
        program.splice(0..0, no_second_numbering());
    }
    apply_filter(&program).map_err(io::Error::other)
}

/// The same system calls have other numbers for programs of the x32 kind, which no list here knows.
fn no_second_numbering() -> [sock_filter; 3] {
    const X32: u32 = 0x4000_0000;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    [
        // Load the number; if it is of the other kind go on, else skip the refusal.
        instruction(0x20, 0, 0, 0),
        instruction(0x35, 0, 1, X32),
        instruction(0x06, 0, 0, 0x0005_0000 | libc::EPERM.cast_unsigned()),
    ]
}
