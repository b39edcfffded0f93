//! The configuration of the system, its logs, and permissions.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    file_access::Access,
    paths::{Place, is_disk},
    secrets,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "write-system",
        category: Category::System,
        finds: "writes into a folder of the system",
        instead: "Write into the project; say what must be changed on the system.",
        check: Check::Command(write_system),
        matches: &[
            "echo x >> /etc/hosts",
            "cp a /usr/local/bin/a",
            "tee /etc/x.conf < a",
            "ln -sf a /usr/bin/git",
            "mkdir -p /opt/x",
            "tar xf a.tar -C /",
            "cd / && tar xzf /tmp/a.tgz",
            "(cd / && cpio -idmu < /tmp/rootfs.cpio)",
            "cd /usr/local && unzip -o /tmp/a.zip",
            "cd / && gzip -dc /tmp/a.tgz | tar xf -",
            "cd /opt && 7z x /tmp/a.7z",
            "find . | cpio -pdm /etc",
            "python3 -m zipfile -e a.zip /usr/local",
        ],
        passes: &[
            "cat /etc/hosts",
            "cp /etc/hosts hosts.txt",
            "echo x > /tmp/y",
            "echo x 2>/dev/null",
            "cd vendor && unzip -q ../a.zip",
            "cd /tmp/x && tar xzf ../a.tgz",
            "cd / && tar tzf /tmp/a.tgz",
            "cd / && cpio -it < /tmp/a.cpio",
            "cd /usr && tar xOf /tmp/a.tar b.txt",
            "cd /usr && tar xzf /tmp/a.tgz -C /tmp/out",
        ],
        ..RULE
    },
    Rule {
        id: "wipe-logs",
        category: Category::System,
        finds: "removes logs or the history of commands",
        instead: "Leave logs and histories as they are; logs of the project may be emptied.",
        patterns: Patterns::new(&[
            "Clear-History",
            "history clear|clear-session|delete",
            "history -c|-d|-w",
            "unset ~HIST*",
            "set ~+o ~history",
            "shopt -u ~histappend|cmdhist",
            "journalctl --vacuum-time|--vacuum-size|--vacuum-files|--rotate|--flush",
            "auditctl -D|-e",
            "dmesg -C|-c|--clear|--read-clear",
            "wevtutil ~cl|clear-log",
            "Clear-EventLog",
            "logrotate !-d|--debug",
            "fc -p",
            "log ~erase",
        ]),
        variables: &[
            "HISTFILE=/dev/null|",
            "HISTSIZE|HISTFILESIZE=0",
            "HISTCONTROL|HISTIGNORE=[*]|*ignoreboth:[*]*",
        ],
        check: Check::Command(wipe_logs),
        matches: &[
            "history -c",
            "unset HISTFILE",
            "journalctl --vacuum-time=1s",
            "set +o history",
            "export HISTSIZE=0",
            "auditctl -D",
            "dmesg -C",
            "wevtutil cl Security",
            "rm ~/.bash_history",
            "logrotate -f /etc/logrotate.conf",
        ],
        passes: &["history", "journalctl -u x -n 5", "dmesg | tail", ": > logs/dev.log", "rm logs/old.log"],
        ..RULE
    },
    Rule {
        id: "open-permissions",
        category: Category::System,
        finds: "lets everyone write, removes all rights, or changes rights outside the project",
        instead: "Give the mode that is needed to the file that needs it, such as `chmod +x FILE`.",
        patterns: Patterns::new(&["icacls ~/grant ~Everyone:*"]),
        check: Check::Command(open_permissions),
        matches: &[
            "chmod -R 777 .",
            "chmod 777 .",
            "chmod -R 000 ~",
            "chown -R x /home",
            "chmod a+rwx -R /etc",
            "chmod 644 ~/.ssh/id_rsa",
            "umask 000",
            "chmod -R o+w src",
            "setfacl -R -m o::rwx .",
            "perl -e 'chmod 0777, glob(\"/etc/*\")'",
            "ruby -e 'FileUtils.chmod_R(0777, \".\")'",
            "php -r 'chmod(\"/etc/passwd\", 0666);'",
            "node -e \"require('fs').chownSync('/usr/bin/git', 0, 0)\"",
            "python3 -c \"import os; os.chmod('/home/dev/notes', 0o777)\"",
            "python3 -c \"import os; [os.chmod(os.path.join(d, f), 0o777) for d, _, fs in os.walk('.') for f in fs]\"",
        ],
        passes: &[
            "chmod +x a.sh",
            "chmod 644 src/a",
            "chmod -R u+rwX build",
            "chmod 600 ~/.ssh/id_rsa",
            "umask",
            "umask 022",
            "chown $USER a",
            "perl -e 'chmod 0755, \"run.sh\"'",
            "node -e \"require('fs').chmodSync('dist/cli.js', '755')\"",
            "python3 -c \"import os; os.chmod(os.path.expanduser('~/.ssh/config'), 0o600)\"",
            "php -r 'chmod(\"storage/logs\", 0775);'",
        ],
        ..RULE
    },
    Rule {
        id: "system-packages",
        category: Category::System,
        finds: "installs or removes packages of the system",
        instead: "Use what is installed, or packages of the project; say what is missing.",
        patterns: Patterns::new(&[
            "apt|apt-get|aptitude|nala install|remove|purge|autoremove|upgrade|dist-upgrade|full-upgrade|reinstall",
            "dnf|yum|microdnf|zypper install|remove|erase|upgrade|update|in|rm|up|autoremove|downgrade",
            "apk add|del|upgrade",
            "brew uninstall|remove|rm|services|untap|upgrade|install|reinstall|tap",
            "snap install|remove|refresh",
            "flatpak install|uninstall",
            "port install|uninstall",
            "pipx uninstall-all",
            "pip uninstall ~*<(pip*",
            "npm|pnpm|yarn|bun uninstall|remove|rm|un|unlink -g|--global",
            "yarn global remove",
            "gem uninstall -a|--all",
            "uv|mise|asdf|volta|sdk|fnm ?* ~--all",
            "mise|rtx implode",
            "pkg install|delete|remove",
            "emerge *",
            "nix-env *",
            "nix-collect-garbage",
            "nix store delete|gc",
            "nix profile remove|wipe-history|rollback",
            "conda|mamba|micromamba env remove",
            "conda|mamba|micromamba remove -a|--all",
            "rustup self uninstall",
            "rustup toolchain uninstall|remove",
            "pyenv|rbenv|nodenv|goenv|jenv|asdf|mise|fnm|volta|nvm|sdk|ghcup uninstall|remove|rm",
            "opam switch remove",
            "choco|winget|scoop install|uninstall",
            "pacman|yay|paru ~-S*|-R*|-U*",
            "dpkg|rpm -i|-r|-P|-U|-e|-F|--install|--remove|--purge|--erase|--upgrade",
        ]),
        unless: Patterns::new(&[
            "apt|apt-get -s|--simulate|--just-print|--download-only",
            "brew services list",
            "pacman|yay|paru ~-S*[silg]*",
            "dpkg|rpm -q|-l|-s|-L|-S|--query|--list",
        ]),
        spares_remote: true,
        matches: &[
            "apt-get install -y x",
            "dnf remove x",
            "pacman -Syu",
            "apk del x",
            "brew uninstall x",
            "snap install x",
            "dpkg -i x.deb",
            "nix-collect-garbage -d",
        ],
        passes: &["nix build", "apt list", "apt-cache search x", "brew list", "dpkg -l", "pacman -Q"],
        ..RULE
    },
    Rule {
        id: "system-settings",
        category: Category::System,
        finds: "changes settings of the system, its network or its firewall",
        instead: "Leave the system as it is and say what would have to change.",
        patterns: Patterns::new(&[
            "ufw enable|disable|reset|allow|deny|delete|default|reject|limit",
            "ip link|l set|add|delete|del",
            "ldconfig ?*",
            "update-ca-certificates|update-ca-trust|update-grub|update-initramfs|update-rc.d|update-locale|dpkg-reconfigure|locale-gen|depmod|dracut|mkinitcpio",
            "systemctl daemon-reload|daemon-reexec|set-default|mask|unmask|edit|set-property|revert|link",
            "ip addr|address|a|route|r|rule|netns|neigh add|del|delete|flush|replace|change",
            "hostnamectl set-*|hostname",
            "timedatectl set-*",
            "localectl set-*",
            "loginctl terminate-*|kill-*|enable-linger",
            "nmcli con*|c|radio|networking|dev*|d down|delete|modify|off|disconnect|add",
            "networksetup *",
            "defaults write|delete|import",
            "systemsetup *",
            "spctl *",
            "csrutil *",
            "nvram *",
            "pmset *",
            "scutil *",
            "firewall-cmd *",
            "netplan apply|set",
            "rfkill block",
            "tc qdisc|class|filter add|del|replace|change",
            "resolvectl dns|domain|revert",
            "netsh *",
            "reg add|delete|import",
            "bcdedit *",
            "gsettings set|reset",
            "dconf write|reset|load",
            "tmutil delete|disable|deletelocalsnapshots",
            "update-alternatives !--list|--display|--query",
            "iptables|ip6tables|nft|ebtables|arptables|ipset|pfctl|iptables-restore ~* !-L|-S|-n|-v|--list|--list-rules !~list|show",
            "iptables|ip6tables -F|-X|-P|-A|-D|-I|-Z|--flush|--delete-chain|--policy|--append|--delete|--insert",
            "sysctl -w|-p|--write|--load|--system",
            "sysctl ~[!-]*=*",
            "date -s|--set",
            "hwclock|ntpdate -w|-s|--systohc|--hctosys|--set",
            "ifconfig ~down|up|delete|add",
            "ifdown|ifup|wg-quick",
            "route ~add|del|delete|flush",
            "hostname ?* !?*",
        ]),
        unless: Patterns::new(&["nmcli con*|dev* show|status"]),
        spares_remote: true,
        matches: &[
            "sysctl -w a=b",
            "iptables -F",
            "ufw disable",
            "ip link set eth0 down",
            "hostnamectl set-hostname x",
            "timedatectl set-time x",
            "date -s 2020-01-01",
            "nmcli con down x",
            "defaults write x y z",
            "update-alternatives --set x y",
        ],
        passes: &["sysctl -n a", "iptables -L", "ip addr", "hostname", "date", "ufw status", "nmcli device"],
        ..RULE
    },
];

fn write_system(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let is_network = file.path.starts_with("/dev/tcp/") || file.path.starts_with("/dev/udp/");
        matches!(file.access, Access::Write | Access::Append)
            && !is_disk(&file.path)
            && !is_network
            && matches!(input.place_of(&file.path), Place::Root | Place::System)
            && !input.command.is(&["git"])
    })
}

fn wipe_logs(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let is_history = name.ends_with("_history") || name == "fish_history" || name == ".lesshst";
        file.access.changes() && (is_history || file.path.starts_with("/var/log"))
    })
}

fn open_permissions(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.is(&["umask"]) {
        return input.found_if(
            command
                .args
                .iter()
                .any(|mask| mask.trim_start_matches('0').is_empty() && !mask.is_empty() || mask == "a=rwx"),
        );
    }
    if !command.is(&["chmod", "chown", "chgrp", "setfacl", "chattr", "chflags", "icacls", "takeown"])
        && command.code.is_none()
    {
        return None;
    }
    let mode = command.args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str);
    let is_wide = command.is(&["chmod"]) && is_wide(mode)
        || command.is(&["setfacl"])
            && command.args.iter().any(|arg| arg.contains("o::rw") || arg.contains("other:rw"));
    let code = command.code.as_deref().map(ModesInCode::new).unwrap_or_default();
    let is_wide = is_wide || code.are_wide;
    let is_tree = command.has("R", &["recursive"]) && command.code.is_none() || code.of_many;
    let tightens = code.tighten
        || [
            "600", "400", "700", "0600", "0400", "0700", "500", "go-rwx", "og-rwx", "go=", "u=rw,go=",
            "u+rw", "u+r",
        ]
        .contains(&mode);
    let is_search = command.wrappers.iter().any(|wrapper| wrapper == "find" || wrapper == "xargs");
    input.found_file_if(|file| {
        if file.access != Access::Permissions {
            return false;
        }
        match input.place_of(&file.path) {
            Place::Root | Place::System | Place::Outside | Place::HomeRoot => true,
            Place::Home(_) => is_tree || is_wide || (secrets::is_secret(&file.path, input.ctx) && !tightens),
            Place::ProjectRoot => is_wide,
            Place::Project(_) => is_wide && (is_tree || is_search),
            Place::Unknown => is_wide || is_tree,
            Place::Temporary | Place::Harmless => false,
        }
    })
}

/// What code gives to its calls that change permissions.
#[derive(Default)]
struct ModesInCode {
    /// Everyone may write.
    are_wide: bool,
    /// Only the owner may do anything.
    tighten: bool,
    /// Files are looked for, or folders gone through.
    of_many: bool,
}

impl ModesInCode {
    fn new(code: &str) -> Self {
        let words = code.split(|next: char| !next.is_ascii_alphanumeric());
        let octal = |word: &str| {
            let digits = word.strip_prefix("0o").or_else(|| word.strip_prefix('0'))?;
            let is_mode = matches!(digits.len(), 3 | 4) && digits.bytes().all(|digit| digit.is_ascii_digit());
            is_mode.then(|| u32::from_str_radix(digits, 8).ok())?
        };
        let modes: Vec<u32> = words.filter_map(octal).collect();
        let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
        let named =
            ["S_IWOTH", "S_IRWXO", "a+w", "o+w", "a+rw", "'777'", "\"777\"", "'666'", "\"666\"", "rwxrwxrwx"];
        Self {
            are_wide: modes.iter().any(|mode| mode & 0o2 != 0) || has(&named),
            tighten: !modes.is_empty() && modes.iter().all(|mode| mode.is_multiple_of(0o100)),
            of_many: has(&["_R", "walk", "glob", "Find.find", "recursive"]),
        }
    }
}

/// Everyone may write, or no one may do anything.
fn is_wide(mode: &str) -> bool {
    if mode.chars().all(|next| next.is_digit(8)) && !mode.is_empty() {
        let others = mode.chars().last().and_then(|digit| digit.to_digit(8)).unwrap_or_default();
        return others & 2 != 0 || mode.chars().all(|next| next == '0');
    }
    mode.split(',').any(|part| {
        let Some(at) = part.find(['+', '=']) else {
            return part == "a-rwx" || part == "-rwx" || part == "ugo-rwx";
        };
        let (who, what) = part.split_at(at);
        what.contains('w') && who.contains(['o', 'a'])
    })
}
