//! More rights than the agent was given.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "become-root",
        category: Category::Privileges,
        finds: "runs something as another user",
        instead: "Work with the rights you have; say what the user must install or change.",
        patterns: Patterns::new(&[
            "sudo|sudoedit|su|doas|pkexec|runuser|gosu|su-exec|sudo-rs|please|dzdo|calife|super|kdesu|gksudo|run0",
            "machinectl ~shell|login",
        ]),
        spares_dry_runs: false,
        matches: &[
            "sudo apt-get install x",
            "su - root -c id",
            "doas id",
            "pkexec id",
            "runuser -u postgres -- psql",
            "echo x | sudo -S id",
        ],
        passes: &["which sudo", "grep -rn sudo README.md", "man sudo", "psql -U postgres -c 'select 1'"],
        ..RULE
    },
    Rule {
        id: "set-user-bit",
        category: Category::Privileges,
        finds: "makes a program run with the rights of its owner",
        instead: "Give plain modes such as 755.",
        check: Check::Command(set_user_bit),
        matches: &[
            "chmod u+s x",
            "chmod 4755 x",
            "chmod +s x",
            "install -m 4755 a b",
            "setcap cap_net_raw+ep x",
            "chmod 2775 d",
        ],
        passes: &["chmod +x x", "chmod 755 x", "chmod 0644 x", "install -m 755 a b"],
        ..RULE
    },
    Rule {
        id: "kernel-and-namespaces",
        category: Category::Privileges,
        finds: "enters another namespace, loads code into the kernel or traces other processes",
        instead: "Stay in the environment you were started in.",
        patterns: Patterns::new(&[
            "bwrap|firejail|proot|systemd-nspawn ~*",
            "newuidmap|newgidmap|setarch-root ~*",
            "perf trace|record -p|--pid",
            "py-spy|rbspy|jmap|jattach ~--pid|-p|dump",
            "nsenter|unshare|insmod|rmmod|modprobe|kexec|chroot|pivot_root|setpriv|capsh|dkms|depmod|reptyr|gcore ~*",
            "mount ?* ?*",
            "mount -a|--all|--bind|--rbind|--move",
            "mount ~*remount*",
            "gdb|strace|ltrace|lldb -p|--pid|--attach",
            "bpftool prog|map load|attach|update|pin",
            "bpftrace|sysdig|tcpdump|tshark|dumpcap|ettercap|bettercap|arpspoof",
            "setenforce|aa-disable|aa-complain|aa-teardown|setsebool|semanage|apparmor_parser",
        ]),
        spares_dry_runs: false,
        check: Check::Command(kernel_and_namespaces),
        matches: &[
            "nsenter -t 1 -m bash",
            "unshare -Ur bash",
            "insmod x.ko",
            "modprobe x",
            "chroot /mnt bash",
            "gdb -p 1",
            "mount --bind /a /b",
            "bpftool prog load x y",
        ],
        passes: &["lsmod", "modinfo ext4", "gdb -batch -ex bt ./a.out", "mount"],
        ..RULE
    },
    Rule {
        id: "accounts",
        category: Category::Privileges,
        finds: "changes users, groups, passwords or who may become another user",
        instead: "Leave accounts alone.",
        patterns: Patterns::new(&[
            "chpasswd|useradd|adduser|userdel|deluser|usermod|groupadd|groupmod|groupdel|gpasswd|vipw|vigr|chsh|chfn|newusers|pwconv|newgrp|sg|sysadminctl|addgroup|delgroup|faillock|pam-auth-update",
            "passwd|chage !-S|-l|--status|--list",
            "visudo !-c|--check",
            "dscl !~read|-read|list|-list",
        ]),
        spares_dry_runs: false,
        check: Check::Command(accounts),
        matches: &[
            "passwd -d root",
            "useradd x",
            "usermod -aG sudo x",
            "visudo",
            "chpasswd < x",
            "gpasswd -a x docker",
            "chsh -s /bin/sh x",
        ],
        passes: &["id", "whoami", "groups", "getent passwd"],
        ..RULE
    },
    Rule {
        id: "user-id-code",
        category: Category::Privileges,
        finds: "becomes another user in a one-liner",
        instead: "Work with the rights you have.",
        code: &[&[
            "setuid(",
            "setgid(",
            "seteuid(",
            "setresuid(",
            "setreuid(",
            "posix_setuid(",
            "Process::UID",
            "$< = 0",
            "$> = 0",
            "$<=0",
            "$>=0",
        ]],
        matches: &[
            "python3 -c 'import os; os.setuid(0)'",
            "perl -e 'use POSIX; POSIX::setuid(0); exec \"sh\"'",
        ],
        passes: &["python3 -c 'import os; print(os.getuid())'"],
        ..RULE
    },
];

fn set_user_bit(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let mode = match command.program.as_str() {
        "chmod" => command
            .args
            .iter()
            .find(|arg| !arg.starts_with('-') || arg.contains('s') && arg.len() < 4)
            .map(String::as_str),
        "install" | "mkdir" => command.values("m", &["mode"]).first().copied(),
        "setcap" => return input.found_if(!command.asks_for_help() && !command.has("rv", &[])),
        _ => None,
    }?;
    let digits = mode.trim_start_matches('0');
    let octal = digits.len() == 4
        && digits.chars().all(|next| next.is_digit(8))
        && matches!(digits.as_bytes()[0], b'2' | b'4' | b'6' | b'3' | b'5' | b'7');
    let symbolic = mode.split(',').any(|part| {
        part.split_once(['+', '='])
            .is_some_and(|(who, what)| what.contains('s') && who.chars().all(|next| "ugoa".contains(next)))
    });
    input.found_if(octal || symbolic)
}

/// A shell that keeps the rights of its owner.
fn kernel_and_namespaces(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let keeps = command.args.first().is_some_and(|arg| arg == "-p");
    input.found_if(keeps && command.is(&["bash", "sh", "dash", "zsh"]))
}

fn accounts(input: &RuleInput<'_>) -> Option<String> {
    let is_rights = |path: &str| path.starts_with("/etc/sudoers") || path.starts_with("/etc/doas");
    input.found_file_if(|file| file.access.changes() && is_rights(&file.path))
}
