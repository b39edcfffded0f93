//! Who is refused: strangers, servers that are too old, postings that the lander did not sign, streams of others.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use ralph_board::{Board, Certificates, Key, Login, LoginDir, Setup};
use ralph_core::fleet::{ItemPhase, ItemStep};
use serde_json::json;

use crate::{
    roles::Secured,
    server::{FLEET, Server, at, connect},
};

#[track_caller]
fn refused(address: &str, login: &Login) -> String {
    match Board::connect(&address.parse().expect("an address"), login) {
        Ok(_) => panic!("let in: {login:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn strangers_stay_outside() {
    let Some(secured) = Secured::start() else { return };
    let LoginDir { board, login, .. } = secured.login("w1");
    let address = board.to_string();
    let port = secured.server.port;
    refused(&address, &Login { seed: None, ..login.clone() });

    let stranger = secured.server.file("stranger");
    let given = ("", &Key::generate().public());
    LoginDir::write(&stranger, &board, (&login.name, &Key::generate(), None), given).expect("written");
    let said = refused(&address, &Login { seed: Some(stranger.join("seed")), ..login.clone() });
    assert!(said.contains("authorization violation"), "{said}");

    // Another authority: another's server.
    let other = Certificates::make(&["localhost".into()], SystemTime::now()).expect("certificates");
    let path = secured.server.file("other.pem");
    fs::write(&path, other.ca).expect("written");
    refused(&address, &Login { ca: Some(path), ..login.clone() });
    // A name that the certificate is not for.
    refused(&format!("tls://127.0.0.1:{port}"), &login);
    // In the clear.
    refused(&format!("nats://localhost:{port}"), &Login { ca: None, ..login.clone() });
    // And this is what was wrong with all of them.
    Board::connect(&board, &login).expect("let in");
}

#[test]
fn what_does_not_exist_is_told_at_once() {
    let Some(secured) = Secured::start() else { return };
    let worker = secured.connect("w1");
    let start = Instant::now();
    let error =
        worker.ledger(FLEET).append_with("a", "w2", &ItemStep::Claimed, None, 0).expect_err("refused");
    assert!(error.to_string().contains("no stream found"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

/// Says its version, as servers do, and then what every client waits for.
fn old_server(version: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("nats://{}", listener.local_addr().expect("an address"));
    let info = json!({ "server_id": "x", "server_name": "x", "version": version, "proto": 1, "headers": true,
        "max_payload": 1_048_576, "jetstream": true, "host": "127.0.0.1", "port": 1 });
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.write_all(format!("INFO {info}\r\n").as_bytes());
            let mut said = [0; 4096];
            while let Ok(count @ 1..) = client.read(&mut said) {
                if said[..count].windows(4).any(|word| word == b"PING") {
                    let _ = client.write_all(b"PONG\r\n");
                }
            }
        }
    });
    address
}

#[test]
fn a_server_that_is_too_old_is_refused() {
    let login = Login::anonymous("w1".parse().expect("a name"));
    for version in ["2.9.10", "2.10.26"] {
        let said = refused(&old_server(version), &login);
        assert_eq!(said, format!("nats-server {version} is too old: 2.11 is the oldest that works"));
    }
    Board::connect(&old_server("2.11.0").parse().expect("an address"), &login).expect("let in");
}

#[test]
fn no_one_there_is_told() {
    let login = Login::anonymous("w1".parse().expect("a name"));
    let port = crate::server::free_port();
    let said = refused(&format!("nats://127.0.0.1:{port}"), &login);
    assert!(said.starts_with(&format!("cannot connect to the board at nats://127.0.0.1:{port}: ")), "{said}");
}

#[test]
fn a_posting_that_the_lander_did_not_sign_is_none() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let board = server.connect("lander");
    let (key, other) = (Arc::new(Key::generate()), Arc::new(Key::generate()));
    let trusting = connect(&server.url(), "w1").ledger(FLEET).trusting(key.public());
    let load = json!({ "base": "b" });
    let post = |item: &str, key: Option<&Arc<Key>>| {
        let ledger = board.ledger(FLEET);
        let ledger = key.map_or_else(|| ledger.clone(), |key| ledger.clone().signing(key.clone()));
        at(ledger.append_with(item, "lander", &ItemStep::Posted, Some(&load), 0).expect("an answer"))
    };
    for (item, signer) in [("unsigned", None), ("forged", Some(&other))] {
        let posted = post(item, signer);
        assert!(trusting.posting(item, posted).expect("the log").is_none(), "{item}");
        let state = trusting.item(item).expect("the log");
        assert_eq!((state.phase, state.last), (ItemPhase::Unknown, posted), "{item}");
        assert_eq!(board.ledger(FLEET).item(item).expect("the log").phase, ItemPhase::Waiting);
    }
    let posted = post("signed", Some(&key));
    let posting = trusting.posting("signed", posted).expect("the log").expect("a posting");
    assert_eq!(posting.load, Some(load));
    assert_eq!(trusting.item("signed").expect("the log").phase, ItemPhase::Waiting);
}

#[test]
fn streams_with_other_settings_are_refused() {
    let Some(server) = Server::start() else { return };
    let board = server.connect("lander");
    board.set_up(&Setup::default()).expect("the streams");
    board.set_up(&Setup::default()).expect("everything is there");
    // Ages and sizes are the owner's business.
    board.set_up(&Setup { event_bytes: 1 << 20, ..Setup::default() }).expect("everything is there");

    let Some(server) = Server::start() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = async_nats::connect(server.url()).await.expect("a connection");
        let config = async_nats::jetstream::stream::Config {
            name: "RALPH_ITEMS".into(),
            subjects: vec!["ralph.item.*.*.*.*".into()],
            allow_direct: true,
            ..Default::default()
        };
        async_nats::jetstream::new(client).create_stream(config).await.expect("a stream");
    });
    let error = server.connect("lander").set_up(&Setup::default()).expect_err("refused").to_string();
    assert_eq!(error, "the stream RALPH_ITEMS of this board has other settings: deny_delete");
}
