//! More rights than the agent was given.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::paths::Place;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "become-root",
        category: Category::Privileges,
        tier: Tier::Block,
        finds: "runs something as another user",
        instead: "Work with the rights you have; say what must be installed or changed by the user.",
        check: Check::Command(become_root),
        matches: &[
            "sudo apt-get install x",
            "su - root -c id",
            "doas id",
            "pkexec id",
            "runuser -u postgres -- psql",
            "echo x | sudo -S id",
        ],
        passes: &["which sudo", "grep -rn sudo README.md", "man sudo", "psql -U postgres -c 'select 1'"],
    },
    Rule {
        id: "set-user-bit",
        category: Category::Privileges,
        tier: Tier::Block,
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
    },
    Rule {
        id: "kernel-and-namespaces",
        category: Category::Privileges,
        tier: Tier::Block,
        finds: "enters another namespace, loads into the kernel or traces other processes",
        instead: "Stay in the environment you were started in.",
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
        passes: &["lsmod", "modinfo ext4", "gdb ./a.out", "mount"],
    },
    Rule {
        id: "accounts",
        category: Category::Privileges,
        tier: Tier::Block,
        finds: "changes users, groups, passwords or who may become whom",
        instead: "Leave accounts alone.",
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
    },
    Rule {
        id: "user-id-code",
        category: Category::Privileges,
        tier: Tier::Block,
        finds: "becomes another user in a one-liner",
        instead: "Work with the rights you have.",
        check: Check::Command(|input| {
            let code = input.command.code.as_deref()?;
            let calls = [
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
            ];
            input.found_if(calls.iter().any(|call| code.contains(call)))
        }),
        matches: &[
            "python3 -c 'import os; os.setuid(0)'",
            "perl -e 'use POSIX; POSIX::setuid(0); exec \"sh\"'",
        ],
        passes: &["python3 -c 'import os; print(os.getuid())'"],
    },
];

fn become_root(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_asked = command.asks_for_help() && !command.is(&["su"]);
    input.found_if(
        command.is(&[
            "sudo",
            "sudoedit",
            "su",
            "doas",
            "pkexec",
            "runuser",
            "gosu",
            "su-exec",
            "sudo-rs",
            "please",
            "dzdo",
            "calife",
            "super",
            "kdesu",
            "gksudo",
            "run0",
            "machinectl",
        ]) && !is_asked
            && (command.program != "machinectl" || command.has_word(&["shell", "login"])),
    )
}

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

fn kernel_and_namespaces(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.asks_for_help() {
        return None;
    }
    let always = command.is(&[
        "nsenter",
        "unshare",
        "insmod",
        "rmmod",
        "modprobe",
        "kexec",
        "chroot",
        "pivot_root",
        "setpriv",
        "capsh",
        "dkms",
        "depmod",
        "reptyr",
        "ld_preload",
    ]) && !command.args.is_empty();
    let mounts = command.is(&["mount"])
        && (command.operands(&["-t", "-o", "-L", "-U"]).len() > 1
            || command.has("a", &["all", "bind", "rbind", "move"])
            || command.args.iter().any(|arg| arg.contains("remount")));
    let traces = command.is(&["gdb", "strace", "ltrace", "gcore", "lldb"])
        && command.has("p", &["pid", "attach"])
        && !command.is(&["gcore"])
        || command.is(&["gcore"]) && !command.args.is_empty();
    let programs = command.runs(&["bpftool prog|map load|attach|update|pin", "bpftrace", "sysdig"])
        && !command.asks_for_help();
    let keeps =
        command.is(&["bash", "sh", "dash", "zsh"]) && command.args.first().is_some_and(|arg| arg == "-p");
    let sniffs = command.is(&["tcpdump", "tshark", "dumpcap", "ettercap", "bettercap", "arpspoof"])
        && !command.asks_for_help();
    let polkit =
        command.runs(&["setenforce", "aa-disable|aa-complain|aa-teardown", "semanage", "apparmor_parser"])
            || command.is(&["setenforce", "aa-disable", "aa-complain", "aa-teardown", "setsebool"]);
    input.found_if(always || mounts || traces || programs || polkit || keeps || sniffs)
}

fn accounts(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.asks_for_help() {
        return None;
    }
    let changes = command.is(&[
        "passwd",
        "chpasswd",
        "useradd",
        "adduser",
        "userdel",
        "deluser",
        "usermod",
        "groupadd",
        "groupmod",
        "groupdel",
        "gpasswd",
        "visudo",
        "vipw",
        "vigr",
        "chsh",
        "chfn",
        "newusers",
        "pwconv",
        "chage",
        "newgrp",
        "sg",
        "dscl",
        "sysadminctl",
        "addgroup",
        "delgroup",
        "faillock",
        "pam-auth-update",
    ]) && !(command.is(&["passwd", "chage"]) && command.has("Sl", &["status", "list"]))
        && !(command.is(&["visudo"]) && command.has("c", &["check"]))
        && !(command.is(&["dscl"]) && command.has_word(&["read", "-read", "list", "-list"]));
    let files = input.files.iter().any(|file| {
        file.access.changes()
            && input.place_of(&file.path) == Place::System
            && (file.path.starts_with("/etc/sudoers") || file.path.starts_with("/etc/doas"))
    });
    input.found_if(changes || files)
}
