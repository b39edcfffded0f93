//! Sandboxes: attacks from inside, each of which works outside; and loops that work inside.

mod attacker;
mod home;
mod levels;
mod limits;
mod loops;
mod parts;
mod rules;
mod swaps;
mod tools;

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixListener},
            process::CommandExt,
        },
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use serde_json::json;

use crate::{
    contained::{As, NOBODY, as_user, can_be, is_root, levels, programs, works},
    env::{Env, Output, RALPH},
};
use attacker::ATTACK;

/// A world with something to attack.
struct Ground {
    env: Env,
    user: As,
    victim: Child,
    port: u16,
    udp_port: u16,
    programs: PathBuf,
    _sockets: [UnixListener; 2],
}

impl Ground {
    fn new(user: As) -> Self {
        let env = Env::new().with_git();
        let root = env.root().to_owned();
        fs::create_dir(root.join("outside")).expect("a folder");
        fs::write(root.join("outside/file"), "before").expect("a file");
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = server.local_addr().expect("an address").port();
        thread::spawn(move || {
            for stream in server.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
            }
        });
        let name = SocketAddr::from_abstract_name(format!("ralph-it-{port}")).expect("a name");
        let abstract_socket = UnixListener::bind_addr(&name).expect("a socket");
        let answering = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let udp_port = answering.local_addr().expect("an address").port();
        thread::spawn(move || {
            let mut bytes = [0; 64];
            while let Ok((length, from)) = answering.recv_from(&mut bytes) {
                let _ = answering.send_to(&bytes[..length], from);
            }
        });
        let socket = UnixListener::bind(root.join("socket")).expect("a socket");
        let programs = programs();
        let mut victim = env.command("sleep");
        if user == As::Nobody {
            victim.uid(NOBODY).gid(NOBODY);
        }
        let victim = victim.arg("600").stdout(Stdio::null()).spawn().expect("a process");
        Self { env, user, victim, port, udp_port, programs, _sockets: [socket, abstract_socket] }
    }

    /// Runs an attack of this name, inside if a level is named.
    #[track_caller]
    fn attack(&self, level: Option<&str>, attack: &str) -> Output {
        self.hand_over();
        self.attack_as_it_is(level, attack)
    }

    /// An attack on a world that has been handed over already.
    #[track_caller]
    fn attack_as_it_is(&self, level: Option<&str>, attack: &str) -> Output {
        let (attacker, ralph) = (self.programs.join("attacker"), self.programs.join("ralph"));
        let mut command = self.env.command(if level.is_some() { &ralph } else { &attacker });
        if let Some(level) = level {
            command.args(["sandbox", "exec", "--level", level, "--"]).arg(&attacker);
        }
        command.args(["--exact", "sandbox::attacker::attack", "--nocapture", "--test-threads=1"]);
        command.env(ATTACK, attack).env("RALPH_ATTACK_ROOT", self.env.root());
        command
            .env("RALPH_ATTACK_UDP", self.udp_port.to_string())
            .env("RALPH_ATTACK_PORT", self.port.to_string())
            .env("RALPH_ATTACK_PID", self.victim.id().to_string());
        let mut command = as_user(command, self.user);
        self.env.start_command(&mut command).wait()
    }

    /// Lets the attacker own the world.
    fn hand_over(&self) {
        if self.user == As::Nobody {
            let mut chown = Command::new("chown");
            let status = chown.args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(self.env.root()).status();
            assert!(status.expect("chown").success());
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// An attack that works outside and does not work inside.
#[track_caller]
fn refused(level: &str, user: As, attack: &str, prepare: impl Fn(&Env)) {
    for place in [None, Some(level)] {
        let ground = Ground::new(user);
        prepare(&ground.env);
        let output = ground.attack(place, attack);
        let what = format!("{attack} as {user:?}, {place:?}: {output:?}");
        assert!(output.stdout.contains("running 1 test"), "the attacker did not start: {what}");
        assert_eq!(output.code == Some(0), place.is_none(), "{what}");
        if place.is_some() {
            assert!(output.stdout.contains("FAILED"), "it was not the attack that failed: {what}");
            assert_eq!(fs::read_to_string(ground.env.root().join("outside/file")).expect("a file"), "before");
        }
    }
}

fn nothing(_: &Env) {}

/// Runs the attacks of a level, as each user.
#[track_caller]
fn attacks(level: &str, names: &[&str]) {
    if !works(level) {
        return;
    }
    for user in [As::Me, As::Nobody].into_iter().filter(|user| can_be(*user)) {
        for name in names {
            refused(level, user, name, nothing);
        }
    }
}

const OUTSIDE: [&str; 7] = [
    "write-outside",
    "remove-outside",
    "link-swap",
    "folder-swap",
    "hard-link",
    "through-own-root",
    "open-again",
];
const PROCESSES: [&str; 3] = ["ptrace", "signal", "through-process"];
const NETWORK: [&str; 6] = ["unix-socket", "abstract-socket", "tcp", "udp", "dns-udp", "dns-tcp"];
const KERNEL: [&str; 3] = ["netlink", "unshare", "mount"];
/// What protects the loop and the agent, existing or not.
const PROTECTED: [&str; 14] = [
    ".ralph/settings.json",
    ".ralph/settings.local.json",
    ".ralph-active",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/x",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".opencode/x",
    ".github/hooks/x",
    ".mcp.json",
    ".git/commondir",
    ".git/hooks/pre-commit",
];

#[test]
fn nothing_outside_is_changed() {
    for level in ["embedded", "bwrap", "landlock"] {
        attacks(level, &OUTSIDE);
    }
    // Landlock does not know of modes, and says so.
    for level in ["embedded", "bwrap"] {
        attacks(level, &["chmod-outside", "move-project"]);
    }
}

#[test]
fn other_processes_are_out_of_reach() {
    for level in ["embedded", "bwrap"] {
        attacks(level, &PROCESSES);
        attacks(level, &["read-environment"]);
    }
    attacks("landlock", &PROCESSES);
}

#[test]
fn the_network_is_out_of_reach() {
    for level in ["embedded", "bwrap", "landlock"] {
        attacks(level, &NETWORK);
    }
}

#[test]
fn the_kernel_makes_no_exceptions() {
    for level in ["embedded", "bwrap", "landlock"] {
        attacks(level, &KERNEL);
    }
}

#[test]
fn privileges_are_gone() {
    if !works("embedded") || !can_be(As::Nobody) {
        return;
    }
    for level in ["embedded", "bwrap", "landlock"] {
        if works(level) {
            refused(level, As::Me, "chown", nothing);
            for setting in ["kernel/domainname", "vm/drop_caches"] {
                refused(level, As::Me, &format!("kernel /proc/sys/{setting}"), nothing);
            }
            refused(level, As::Me, "device", nothing);
            refused(level, As::Me, "become-another", nothing);
        }
    }
    // Set after the world was handed over, which would take the bit away.
    let ground = Ground::new(As::Nobody);
    ground.hand_over();
    let program = ground.env.root().join("setuid-id");
    let id = ground.env.sh("command -v id").stdout;
    for place in [None, Some("embedded"), Some("landlock")] {
        ground.hand_over();
        fs::copy(id.trim(), &program).expect("a copy");
        // The owner is the superuser again, and the bit is set.
        std::os::unix::fs::chown(&program, Some(0), Some(0)).expect("it is ours");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).expect("it is ours");
        let output = ground.attack_as_it_is(place, "setuid");
        assert_eq!(output.code == Some(0), place.is_none(), "{place:?}: {output:?}");
    }
}

#[test]
fn protected_paths_stay_as_they_are() {
    for level in ["embedded", "bwrap"] {
        if !works(level) {
            continue;
        }
        let few = if level == "bwrap" { 3 } else { PROTECTED.len() };
        for path in &PROTECTED[PROTECTED.len() - few..] {
            refused(level, As::Me, &format!("write {path}"), nothing);
        }
        let there = [".claude/settings.json", ".mcp.json", ".git/config", ".github/hooks/x"];
        for path in there.into_iter().take(if level == "bwrap" { 1 } else { there.len() }) {
            let there = |env: &Env| {
                if path != ".git/config" {
                    env.write(path, "before");
                }
            };
            refused(level, As::Me, &format!("write {path}"), there);
            refused(level, As::Me, &format!("move-over {path}"), there);
            if path != ".mcp.json" {
                refused(level, As::Me, &format!("move-away {path}"), there);
            }
        }
    }
    if works("embedded") && can_be(As::Nobody) {
        for path in PROTECTED {
            refused("embedded", As::Nobody, &format!("write {path}"), nothing);
        }
        let there = |env: &Env| env.write(".claude/settings.json", "before");
        for attack in ["write", "move-over", "move-away"] {
            refused("embedded", As::Nobody, &format!("{attack} .claude/settings.json"), there);
        }
    }
}

#[test]
fn nothing_that_is_open_is_inherited() {
    for level in ["embedded", "bwrap", "landlock"].into_iter().filter(|level| works(level)) {
        let env = Env::new();
        // A folder outside, open for the process that comes next.
        let write = "echo x >/proc/self/fd/9/written";
        let outside = env.root().join("outside");
        fs::create_dir(&outside).expect("a folder");
        let open = format!("exec 9<'{}'", outside.display());
        env.sh(&format!("{open}; {write}")).exits(0);
        fs::remove_file(outside.join("written")).expect("it works outside");
        let inside = format!("'{RALPH}' sandbox exec --level {level} -- sh -c 'ls /proc/self/fd; {write}'");
        let output = env.sh(&format!("{open}; {inside}"));
        assert_ne!(output.code, Some(0), "{output:?}");
        assert!(output.stdout.starts_with("0\n1\n2\n3\n"), "{output:?}");
        assert!(!output.stdout.contains('9') && !outside.join("written").exists(), "{output:?}");
    }
}

#[test]
fn the_work_itself_can_be_done() {
    for level in ["embedded", "bwrap", "landlock"] {
        if !works(level) {
            continue;
        }
        let ground = Ground::new(As::Me);
        for path in
            ["src/new", ".claude/rules/x.md", ".ralph/tasks/x", ".github/workflows/x", ".git/objects/x"]
        {
            ground.attack(Some(level), &format!("write {path}")).exits(0);
        }
        let output = ground.env.ralph(&[
            "sandbox",
            "exec",
            "--level",
            level,
            "--",
            "git",
            "commit",
            "-qm",
            "x",
            "--allow-empty",
        ]);
        output.exits(0);
        assert!(!ground.env.path(".mcp.json").exists() && !ground.env.path(".codex").exists());
    }
}

#[test]
fn secrets_are_not_seen() {
    let secrets = |env: &Env| {
        let home = env.root().join("home");
        fs::create_dir_all(home.join(".ssh")).expect("a folder");
        fs::write(home.join(".ssh/id"), "secret").expect("a file");
        fs::write(home.join(".netrc"), "secret").expect("a file");
        env.write(".env", "secret");
        env.write("app/.env.local", "secret");
    };
    for (level, names) in [
        ("embedded", &["../home/.ssh/id", "../home/.netrc", ".env", "app/.env.local"][..]),
        ("bwrap", &["../home/.ssh/id", "../home/.netrc", ".env"]),
        ("landlock", &["../home/.ssh/id", "../home/.netrc"]),
    ] {
        if works(level) {
            for name in names {
                refused(level, As::Me, &format!("read {name}"), secrets);
            }
        }
    }
    if works("embedded") {
        // A tracked file that cannot be read would break commits.
        let ground = Ground::new(As::Me);
        ground.env.write(".env", "not secret");
        ground.env.git(&["add", "-f", ".env"]);
        ground.attack(Some("embedded"), "read .env").exits(0);
    }
}

#[test]
fn the_proxy_lets_no_one_through_but_those_on_the_list() {
    let users = || [As::Me, As::Nobody].into_iter().filter(|user| can_be(*user));
    let levels = ["embedded", "bwrap", "landlock"].into_iter().filter(|level| works(level));
    for (level, user) in levels.flat_map(|level| users().map(move |user| (level, user))) {
        let ground = Ground::new(user);
        let (server, other) = (ground.port, TcpListener::bind("127.0.0.1:0").expect("a port"));
        let other = other.local_addr().expect("an address").port();
        let own = json!({"sandbox": {"hosts": [format!("127.0.0.1:{server}")]}});
        ground.env.write(".ralph/settings.local.json", &own.to_string());
        ground.attack(Some(level), &format!("proxy 127.0.0.1:{server}")).exits(0);
        // What is listed can be reached without the proxy, too.
        ground.attack(Some(level), "tcp").exits(0);
        for target in [
            "evil.example.org:443".to_owned(),
            format!("127.0.0.1:{other}"),
            format!("localhost:{server}"),
            format!("[::1]:{server}"),
            "93.184.216.34:443".to_owned(),
            "169.254.169.254:80".to_owned(),
            "metadata.google.internal:80".to_owned(),
        ] {
            let output = ground.attack(Some(level), &format!("proxy {target}"));
            assert_ne!(output.code, Some(0), "{target}: {output:?}");
            assert!(output.stdout.contains("403") || output.stderr.contains("403"), "{target}: {output:?}");
            output.says("the sandbox refused a connection to");
        }
    }
}

#[test]
fn the_number_of_processes_is_bounded() {
    if !works("embedded") {
        return;
    }
    let bound = |env: &Env| {
        env.write(".ralph/settings.local.json", r#"{"sandbox": {"maxProcesses": 350}}"#);
    };
    for user in [As::Me, As::Nobody].into_iter().filter(|user| can_be(*user)) {
        refused("embedded", user, "processes 400", bound);
    }
}

#[test]
fn whatever_is_left_behind_ends() {
    for level in ["embedded", "bwrap"] {
        if !works(level) {
            continue;
        }
        let env = Env::new();
        let script = "setsid sleep 341 >/dev/null 2>&1 & (sleep 342 & ) >/dev/null 2>&1; true";
        env.sh(script).exits(0);
        // Between fork and exec a process is still called as the shell is.
        let sleeps = |line: &str| line.contains("sleep\x00341") || line.contains("sleep\x00342");
        crate::env::poll("both", || {
            (env.alive().iter().filter(|(_, line)| sleeps(line)).count() == 2).then_some(())
        });
        for (pid, _) in env.alive() {
            crate::env::kill(pid, rustix::process::Signal::KILL);
        }
        env.nothing_left();
        env.ralph(&["sandbox", "exec", "--level", level, "--", "sh", "-c", script]).exits(0);
        env.nothing_left();
    }
}
