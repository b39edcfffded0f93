//! The configuration of the system, its logs, and permissions.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{
    paths::{Place, is_disk},
    secrets,
    uses::Use,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "write-system",
        category: Category::System,
        tier: Tier::Block,
        finds: "writes into a folder of the system",
        instead: "Write into the project; say what must be changed on the system.",
        check: Check::Scene(write),
        matches: &[
            "echo x >> /etc/hosts",
            "cp a /usr/local/bin/a",
            "tee /etc/x.conf < a",
            "ln -sf a /usr/bin/git",
            "mkdir -p /opt/x",
            "tar xf a.tar -C /",
        ],
        passes: &["cat /etc/hosts", "cp /etc/hosts hosts.txt", "echo x > /tmp/y", "echo x 2>/dev/null"],
    },
    Rule {
        id: "wipe-logs",
        category: Category::System,
        tier: Tier::Block,
        finds: "removes logs or the history of commands",
        instead: "Leave logs and histories as they are; logs of the project may be emptied.",
        check: Check::Scene(logs),
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
    },
    Rule {
        id: "open-permissions",
        category: Category::System,
        tier: Tier::Block,
        finds: "lets everybody write, takes all rights away, or changes rights outside the project",
        instead: "Give the mode that is needed to the file that needs it, such as `chmod +x FILE`.",
        check: Check::Scene(permissions),
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
        ],
        passes: &[
            "chmod +x a.sh",
            "chmod 644 src/a",
            "chmod -R u+rwX build",
            "chmod 600 ~/.ssh/id_rsa",
            "umask",
            "umask 022",
            "chown $USER a",
        ],
    },
    Rule {
        id: "system-packages",
        category: Category::System,
        tier: Tier::Block,
        finds: "installs or removes packages of the system",
        instead: "Use what is installed, or packages of the project; say what is missing.",
        check: Check::Scene(packages),
        matches: &[
            "apt-get install -y x",
            "dnf remove x",
            "pacman -Syu",
            "apk del x",
            "brew uninstall x",
            "snap install x",
            "dpkg -i x.deb",
        ],
        passes: &["apt list", "apt-cache search x", "brew list", "dpkg -l", "pacman -Q"],
    },
    Rule {
        id: "system-settings",
        category: Category::System,
        tier: Tier::Block,
        finds: "changes settings of the system, its network or its firewall",
        instead: "Leave the system as it is and say what would have to change.",
        check: Check::Scene(settings),
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
    },
];

fn write(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| {
        let is_network = one.path.starts_with("/dev/tcp/") || one.path.starts_with("/dev/udp/");
        matches!(one.kind, Use::Write | Use::Append)
            && !is_disk(&one.path)
            && !is_network
            && matches!(scene.place(&one.path), Place::Root | Place::System)
            && !scene.one.is(&["git"])
    })
}

fn logs(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let found = match one.program.as_str() {
        "history" => one.has("cdw", &[]),
        "unset" => one.args.iter().any(|name| name.starts_with("HIST")),
        "set" => matches!(&one.args[..], [sign, name] if sign == "+o" && name == "history"),
        "shopt" => one.has("u", &[]) && one.has_word(&["histappend", "cmdhist"]),
        "journalctl" => one.has("", &["vacuum-time", "vacuum-size", "vacuum-files", "rotate", "flush"]),
        "auditctl" => one.has("De", &[]),
        "dmesg" => one.has("Cc", &["clear", "read-clear"]),
        "wevtutil" => one.has_word(&["cl", "clear-log"]),
        "Clear-EventLog" | "logrotate" => !one.is_rehearsal() && !one.has("d", &["debug"]),
        "fc" => one.has("p", &[]),
        "log" => one.has_word(&["erase"]),
        _ => false,
    };
    let sets = |(name, value): &(String, String)| match name.as_str() {
        "HISTFILE" => value == "/dev/null" || value.is_empty(),
        "HISTSIZE" | "HISTFILESIZE" => value == "0",
        "HISTCONTROL" | "HISTIGNORE" => value == "*" || value.contains("ignoreboth:*"),
        _ => false,
    };
    let exported = one.is(&["export", "declare", "typeset"])
        && one
            .args
            .iter()
            .filter_map(|arg| arg.split_once('='))
            .any(|(name, value)| sets(&(name.to_owned(), value.to_owned())));
    if found || exported || one.env.iter().any(sets) {
        return scene.found_if(true);
    }
    scene.file(|one| {
        let is_history =
            one.path.rsplit('/').next().is_some_and(|name| {
                name.ends_with("_history") || name == "fish_history" || name == ".lesshst"
            });
        one.kind.changes() && (is_history || one.path.starts_with("/var/log"))
    })
}

fn permissions(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is(&["umask"]) {
        return scene.found_if(
            one.args
                .iter()
                .any(|mask| mask.trim_start_matches('0').is_empty() && !mask.is_empty() || mask == "a=rwx"),
        );
    }
    if !one.is(&["chmod", "chown", "chgrp", "setfacl", "chattr", "chflags", "icacls", "takeown"])
        && one.code.is_none()
    {
        return None;
    }
    let mode = one.args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str);
    let is_wide = one.is(&["chmod"]) && is_wide(mode)
        || one.is(&["setfacl"])
            && one.args.iter().any(|arg| arg.contains("o::rw") || arg.contains("other:rw"));
    let is_tree = one.has("R", &["recursive"]);
    let tightens = [
        "600", "400", "700", "0600", "0400", "0700", "500", "go-rwx", "og-rwx", "go=", "u=rw,go=", "u+rw",
        "u+r",
    ]
    .contains(&mode);
    let is_search = one.wrappers.iter().any(|wrapper| wrapper == "find" || wrapper == "xargs");
    scene.file(|file| {
        if file.kind != Use::Permissions {
            return false;
        }
        match scene.place(&file.path) {
            Place::Root | Place::System | Place::Outside | Place::HomeRoot => true,
            Place::Home(_) => is_tree || is_wide || (secrets::is_secret(&file.path, scene.ctx) && !tightens),
            Place::ProjectRoot => is_wide,
            Place::Project(_) => is_wide && (is_tree || is_search),
            Place::Unknown => is_wide || is_tree,
            Place::Temporary | Place::Harmless => false,
        }
    })
}

/// Everybody may write, or nobody may do anything.
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

fn packages(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_rehearsal()
        || one.is_elsewhere
        || one.has("s", &["simulate", "just-print", "download-only"]) && one.is(&["apt-get", "apt"])
    {
        return None;
    }
    let found = one.runs(&[
        "apt|apt-get|aptitude|nala install|remove|purge|autoremove|upgrade|dist-upgrade|full-upgrade|reinstall",
        "dnf|yum|microdnf|zypper install|remove|erase|upgrade|update|in|rm|up|autoremove|downgrade",
        "apk add|del|upgrade",
        "brew uninstall|remove|rm|services|untap|upgrade|install|reinstall|tap",
        "snap install|remove|refresh",
        "flatpak install|uninstall",
        "port install|uninstall",
        "pkg install|delete|remove",
        "emerge *",
        "nix-env *",
        "choco|winget|scoop install|uninstall",
    ]);
    let letters = one.is(&["pacman", "yay", "paru"])
        && one.args.iter().any(|arg| {
            arg.starts_with("-S") && !arg.contains(['s', 'i', 'l', 'g'])
                || arg.starts_with("-R")
                || arg.starts_with("-U")
        });
    let files = one.is(&["dpkg", "rpm"])
        && one.has("irPUeF", &["install", "remove", "purge", "erase", "upgrade"])
        && !one.has("qlsLS", &["query", "list"]);
    scene.found_if(found && !one.runs(&["brew services list"]) || letters || files)
}

/// Commands that change settings of the system.
const SETTINGS: &[&str] = &[
    "ufw enable|disable|reset|allow|deny|delete|default|reject|limit",
    "ip link|l set|add|delete|del",
    "ip addr|address|a|route|r|rule|netns|neigh add|del|delete|flush|replace|change",
    "hostnamectl set-*|hostname",
    "timedatectl set-*",
    "localectl set-*",
    "loginctl terminate-*|kill-*|enable-linger",
    "nmcli con*|c|radio|networking|dev*|d down|delete|modify|off|disconnect|add",
    "networksetup *",
    "defaults write|delete|import",
    "update-alternatives *",
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
];

fn settings(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_question() || one.is_elsewhere {
        return None;
    }
    let found = one.runs(SETTINGS) && !one.runs(&["nmcli con*|dev* show|status"]);
    let tables = one.is(&[
        "iptables",
        "ip6tables",
        "nft",
        "ebtables",
        "arptables",
        "ipset",
        "pfctl",
        "iptables-restore",
    ]) && !one.has("LSnv", &["list", "list-rules"])
        && !one.has_word(&["list", "show"])
        && !one.args.is_empty()
        || one.is(&["iptables", "ip6tables"])
            && one.has("FXPADIZ", &["flush", "delete-chain", "policy", "append", "delete", "insert"]);
    let kernel = one.is(&["sysctl"])
        && (one.has("wp", &["write", "load", "system"])
            || one.args.iter().any(|arg| arg.contains('=') && !arg.starts_with("--")));
    let clock = one.is(&["date"]) && one.has("s", &["set"])
        || one.is(&["hwclock", "ntpdate"]) && one.has("ws", &["systohc", "hctosys", "set"]);
    let down = one.is(&["ifconfig"]) && one.has_word(&["down", "up", "delete", "add"])
        || one.is(&["ifdown", "ifup", "wg-quick"])
        || one.is(&["route"]) && one.has_word(&["add", "del", "delete", "flush"]);
    let name = one.is(&["hostname"]) && one.operands(&[]).len() == 1;
    let alternatives = one.is(&["update-alternatives"]) && one.has("", &["list", "display", "query"]);
    scene.found_if((found && !alternatives) || tables || kernel || clock || down || name)
}
