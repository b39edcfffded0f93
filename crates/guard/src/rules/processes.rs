//! Processes of others, and the machine itself.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{flatten::OF_OTHERS, programs, text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "power-off",
        category: Category::Processes,
        finds: "stops or restarts the machine or the session",
        instead: "Leave the machine on.",
        patterns: Patterns::new(&[
            "rtcwake ~*",
            "shutdown|reboot|poweroff|halt|pm-suspend|pm-hibernate|systemd-halt|shutdown.exe|Stop-Computer|Restart-Computer|gnome-session-quit",
            "init|telinit 0|1|6|s",
            "systemctl poweroff|reboot|halt|suspend|hibernate|kexec|rescue|emergency|isolate|soft-reboot|default|hybrid-sleep",
            "loginctl terminate-*|kill-*|poweroff|reboot|suspend|lock-*",
            "osascript -e=*shut?down*|-e=*restart*|-e=*log?out*",
            "busctl|dbus-send|gdbus ~*PowerOff*|*Reboot*",
        ]),
        spares_dry_runs: false,
        matches: &[
            "shutdown -h now",
            "reboot",
            "systemctl poweroff",
            "init 0",
            "telinit 6",
            "halt -f",
            "pm-suspend",
            "loginctl terminate-user x",
        ],
        passes: &["cargo test shutdown", "last reboot", "systemctl status", "uptime"],
        ..RULE
    },
    Rule {
        id: "kill-many",
        category: Category::Processes,
        finds: "ends processes that it did not start",
        instead: "End the process you started, by its id: `kill $!` or `kill %1`.",
        patterns: Patterns::new(&[
            "killall|killall5 !-l|-V|--list|--version",
            "pkill|skill|slay|zkill -u|-U|-v|--user|--euid|--uid|--inverse",
            "xkill",
            // What listens where databases and brokers do was there before.
            "lsof ~*:5432*|*:3306*|*:6379*|*:27017*|*:9200*|*:5672*|*:9092*|*:11211*|*:22|*:2375* >*kill*",
        ]),
        check: Check::Command(kill_many),
        matches: &[
            "kill $(ps aux | grep '[r]alph run' | awk '{print $2}')",
            "kill -9 -1",
            "kill 1",
            "kill -9 $PPID",
            "pkill -9 -u $USER",
            "killall -u x",
            "kill -9 $(ps -eo pid=)",
            "pkill -f claude",
            "pkill .",
            "fuser -k /",
            "killall node",
            "killall -9 vite",
            "taskkill //F //IM node.exe",
            "pkill -f postgres",
            "fuser -k 3000/tcp",
            "kill $(pgrep -f ralph)",
            "ps aux | awk '{print $2}' | xargs kill",
            "lsof -ti:5432 | xargs kill -9",
            "for p in /proc/[0-9]*; do kill -9 \"${p##*/}\"; done",
            "ls /proc | grep -E '^[0-9]+$' | xargs kill -9",
            "kill $(lsof -t -i:5432)",
            "fuser 5432/tcp | xargs kill",
            "kill $(ss -ltnp | grep :6379 | sed 's/.*pid=//')",
            "lsof -t -u dev | xargs kill -9",
        ],
        passes: &[
            "kill 48213",
            "kill %1",
            "kill $!",
            "pkill -f vite",
            "kill $(lsof -t -i:3000)",
            "kill -0 123",
            "pgrep node",
            "fuser 3000/tcp",
            "pkill -f 'python server.py'",
            "kill $(ps aux | grep vite | awk '{print $2}')",
            "npm run dev & PID=$!; sleep 2; kill \"$PID\"",
            "pkill -f 'vite --port 5173'",
            "lsof -ti tcp:5173 | xargs kill",
            "for i in 1 2; do ./w & PIDS+=($!); done; kill \"${PIDS[@]}\"",
        ],
        ..RULE
    },
    Rule {
        id: "kill-many-code",
        category: Category::Processes,
        finds: "ends processes that it did not start, in a one-liner",
        instead: "End the process you started, by its id.",
        check: Check::Command(|input| {
            let code: String = input.command.code.as_deref()?.split_whitespace().collect();
            let kills = [
                "kill(-1",
                "kill(1,",
                "killpg(",
                "kill(0,",
                "kill9,-1",
                "kill'KILL',-1",
                "process.kill(process.ppid",
                "os.getppid()",
                "kill(\"KILL\",-1",
            ];
            let ends = ["kill(", ".terminate(", "kill9,", "kill'KILL',"];
            let ends = ends.iter().any(|end| code.contains(end));
            let lists = [
                "psutil.process_iter(",
                "psutil.pids(",
                "ps-list",
                "'/proc'",
                "\"/proc\"",
                "/proc/[0-9]",
                "/proc/*",
            ];
            let lists = lists.iter().any(|list| code.contains(list));
            let picks = [".name()", "info[", "cmdline"].iter().any(|pick| code.contains(pick));
            let is_any = kills.iter().any(|kill| code.contains(kill)) && code.contains("kill");
            input.found_if(is_any || ends && lists && !picks)
        }),
        matches: &[
            "python3 -c 'import psutil; [p.kill() for p in psutil.process_iter()]'",
            "python3 -c 'import os; os.kill(-1, 9)'",
            "node -e 'process.kill(process.ppid)'",
            "python3 -c \"import os; [os.kill(int(p), 9) for p in os.listdir('/proc') if p.isdigit()]\"",
        ],
        passes: &["python3 -c 'import os; os.kill(4321, 15)'", "python3 -c 'import os; print(os.getppid())'"],
        ..RULE
    },
    Rule {
        id: "services",
        category: Category::Processes,
        finds: "stops, starts or changes services of the system",
        instead: "Start what you need as a process of your own, and end it.",
        patterns: Patterns::new(&[
            "systemctl stop|disable|mask|restart|kill|edit|set-default|daemon-reexec|start|enable|reload|unmask|revert|set-property|link|preset*|reenable|try-restart|reset-failed",
            "service * stop|restart|start|reload|force-reload",
            "rc-service * stop|restart|start",
            "rc-update *",
            "launchctl unload|remove|bootout|stop|disable|kill|kickstart",
            "tmux kill-server",
            "tmux kill-session !-t",
            "tmux kill-session -t=*ralph*|-a",
            "sv stop|down|restart|exit *",
            "supervisorctl stop|restart|shutdown|reload",
            "initctl stop|restart",
            "sc stop|delete|config|create",
            "net stop|user|localgroup *",
            "pm2 kill|delete *",
            "update-rc.d *",
            "chkconfig *",
            "invoke-rc.d *",
            "crontab -r",
            "screen ~quit|-wipe",
        ]),
        unless: Patterns::new(&["pm2 delete !all"]),
        spares_remote: true,
        matches: &[
            "systemctl stop docker",
            "service nginx restart",
            "systemctl mask x",
            "launchctl unload x",
            "rc-service x stop",
            "tmux kill-server",
            "sc stop x",
            "crontab -r",
        ],
        passes: &[
            "tmux kill-session -t dev",
            "systemctl status x",
            "systemctl list-units",
            "service --status-all",
            "tmux ls",
            "journalctl -u x",
        ],
        ..RULE
    },
];

/// Programs that an agent must not end, beside agents.
const VITAL: &str = "systemd|init|sshd|launchd|dockerd|containerd|Xorg|dbus-daemon|gnome-shell|node|bun|kernel|login|bash|zsh|tmux|WindowServer|Finder|postgres|mysqld|mariadbd|mongod|redis-server|nginx|apache2|httpd|java|python|python3|ruby|php|docker";

fn is_vital(name: &str) -> bool {
    let name = name.trim_matches(['^', '$', '/']).rsplit('/').next().unwrap_or_default();
    let is_agent = |agent: &&str| {
        name == *agent || (agent.len() > 3 && name.split([' ', '.', '-']).next() == Some(agent))
    };
    VITAL.split('|').any(|vital| vital == name) || programs::AGENTS.iter().any(is_agent)
}

fn kill_many(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let found = match command.program.as_str() {
        "kill" => kills(input),
        "pkill" | "skill" | "slay" | "zkill" => {
            let valued = ["-u", "-U", "-g", "-G", "-P", "-s", "-t", "--signal", "--user", "-o", "-y"];
            let patterns = command.operands(&valued);
            let is_broad = |pattern: &&str| {
                let is_any = pattern.chars().all(|next| ".*^$?+".contains(next));
                is_any || is_vital(pattern) || !text::is_known(pattern)
            };
            patterns.iter().any(is_broad) || (command.has("tg", &[]) && patterns.is_empty())
        }
        "fuser" => {
            let is_temporary = |path: &&str| path.starts_with("/tmp/");
            command.has("kK", &["kill"]) && !command.operands(&["-n", "-s"]).iter().all(is_temporary)
        }
        "taskkill" | "Stop-Process" => {
            command.has_word(&["/IM", "/im", "//IM", "//im", "-Name", "-im", "-IM"])
                && command.args.iter().any(|arg| arg.contains('*') || is_vital(arg.trim_end_matches(".exe")))
        }
        _ => false,
    };
    input.found_if(found && !command.asks_for_help())
}

fn kills(input: &RuleInput<'_>) -> bool {
    let command = input.command;
    let asks = command.args.first().is_some_and(|arg| ["-0", "-l", "-L"].contains(&arg.as_str()));
    if asks {
        return false;
    }
    // The first argument that looks like an option names the signal; a negative number after it is a group.
    let mut targets: Vec<&str> = command.args.iter().map(String::as_str).filter(|arg| *arg != "--").collect();
    if targets.first().is_some_and(|first| first.starts_with('-') && targets.len() > 1) {
        let signal = targets.remove(0);
        if ["-s", "-n", "--signal"].contains(&signal) && !targets.is_empty() {
            targets.remove(0);
        }
    }
    targets.iter().any(|target| {
        let all = text::sources(target).any(|source| {
            let filtered = programs::programs_in(source)
                .any(|word| ["grep", "pgrep", "pidof", "lsof", "fuser", "jobs", "rg", "ss"].contains(&word));
            source == "$PPID"
                || programs::programs_in(source).any(|word| word == OF_OTHERS)
                || source == "$$"
                || (programs::programs_in(source).any(|word| ["ps", "ls", "pidof", "find"].contains(&word))
                    && !filtered)
        });
        // Names of folders in `/proc`.
        let is_pattern = !target.starts_with('%') && text::known_parts(target).contains(['*', '?', '[']);
        ["1", "-1", "0", "-0"].contains(target) || is_pattern || all
    })
}
