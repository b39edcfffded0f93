//! Hand-made attacks on the server, from this machine.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::Instant,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{Served, ask, connect, post, reply, request, serve};
use crate::env::Env;

fn idle() -> (Env, Served) {
    let env = Env::new();
    let served = serve(&env, &["--allow"]);
    (env, served)
}

/// The server still answers as it should.
#[track_caller]
fn is_well(served: &Served) {
    ask(served.port, &request("GET", "/", served.port, &[], "")).is(200);
    served.session().get("/api/hello").is(200);
}

#[test]
fn slow_heads_are_ended_and_hold_no_one_up() {
    let (_env, served) = idle();
    let mut slow: Vec<TcpStream> = (0..20).map(|_| connect(served.port)).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nX: ").expect("a beginning");
    }
    let since = Instant::now();
    is_well(&served);
    for mut stream in slow {
        assert_eq!(reply(&mut stream).status, 408);
    }
    assert!(5 <= since.elapsed().as_secs(), "it was not waited for at all");
}

#[test]
fn a_slow_body_is_ended() {
    let (_env, served) = idle();
    let mut stream = connect(served.port);
    let head = format!(
        "POST /session HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 1000\r\n\r\n{{",
        served.port
    );
    stream.write_all(head.as_bytes()).expect("a beginning");
    assert_eq!(reply(&mut stream).status, 408);
    is_well(&served);
}

#[test]
fn huge_heads_and_bodies_are_refused() {
    let (_env, served) = idle();
    let port = served.port;
    let long = "x".repeat(100_000);
    ask(port, &request("GET", "/", port, &[("X", &long)], "")).is(431);
    ask(port, &request("GET", &format!("/{long}"), port, &[], "")).is(431);
    let many: Vec<(String, String)> = (0..200).map(|n| (format!("X-{n}"), "1".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (&**name, &**value)).collect();
    ask(port, &request("GET", "/", port, &many, "")).is(431);
    post(port, "/session", &[("X-Ralph-Key", "")], &long).is(413);
    let claimed = format!(
        "POST /session HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 99999999999999999999\r\n\r\n"
    );
    ask(port, &claimed).is(413);
    is_well(&served);
}

#[test]
fn odd_requests_are_refused() {
    let (_env, served) = idle();
    let port = served.port;
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    for (text, status) in [
        (format!("POST /session HTTP/1.1\r\n{host}\r\n"), 411),
        (format!("POST /session HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 501),
        (format!("GET / HTTP/1.1\r\n{host}{host}\r\n"), 400),
        (format!("GET / HTTP/1.1\r\n{host}X : y\r\n\r\n"), 400),
        (format!("GET / HTTP/1.1\r\n{host}X: a\u{0}b\r\n\r\n"), 400),
        (format!("GET / HTTP/2.0\r\n{host}\r\n"), 400),
        ("\u{16}\u{3}\u{1}\u{0}\r\n".to_owned(), 400),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), 421),
        (format!("HEAD / HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("OPTIONS /api/act HTTP/1.1\r\n{host}Origin: http://evil.example\r\n\r\n"), 403),
        (format!("DELETE /api/act HTTP/1.1\r\n{host}\r\n"), 403),
        (format!("TRACE / HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("GET /session HTTP/1.1\r\n{host}\r\n"), 403),
    ] {
        ask(port, &text).is(status);
    }
    // Two requests in one: the second is not read as anything.
    let smuggled = request("GET", "/", port, &[], "") + &request("GET", "/page.js", port, &[], "");
    assert_eq!(ask(port, &smuggled).is(200).body.matches("HTTP/1.1").count(), 0);
    is_well(&served);
}

#[test]
fn no_path_leads_out() {
    let (env, served) = idle();
    env.write("secret", "the secret");
    let session = served.session();
    let secret = env.path("secret").display().to_string();
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/page.js/../secret",
        "/.git/config",
        "/page/index.html",
        "\\..\\secret",
        "http://evil.example/",
        "*",
        &secret,
        &format!("/api/diff?id=../../{secret}"),
        "/api/diff?id=..",
        "/api/diff",
        "/api/turn?id=.&turn=1.1",
        "/api/turn?turn=../../1",
    ] {
        let found = session.get(path);
        assert!([400, 404].contains(&found.status), "{path}: {found:?}");
        assert!(!found.body.contains("the secret") && !found.body.contains("root:"), "{path}: {found:?}");
    }
}

#[test]
fn other_names_of_the_machine_are_refused() {
    let (_env, served) = idle();
    let session = served.session();
    for host in
        ["evil.example", "127.0.0.1.evil.example", &format!("evil.example:{}", served.port), "192.0.2.1", ""]
    {
        for path in ["/", "/page.js", "/api/hello"] {
            let text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\n\r\n", session.cookie);
            let reply = ask(served.port, &text).is(421);
            assert!(!reply.body.contains("script"), "{reply:?}");
        }
    }
}

#[test]
fn other_sites_and_missing_headers_are_refused() {
    let (_env, served) = idle();
    let (session, port) = (served.session(), served.port);
    let cookie = ("Cookie", session.cookie.as_str());
    let key = ("X-Ralph-Key", session.key.as_str());
    let body = json!({"run": "x", "act": "stop"}).to_string();
    let refused = |headers: &[(&str, &str)]| {
        let reply = ask(port, &request("POST", "/api/act", port, headers, &body)).is(403);
        reply.json()["refused"].as_str().map(str::to_owned).unwrap_or_default()
    };
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(refused(&[cookie, key, ("Origin", "http://evil.example")]), "origin");
    assert_eq!(refused(&[cookie, key, ("Origin", "null")]), "origin");
    assert_eq!(refused(&[cookie, key]), "origin");
    assert_eq!(refused(&[cookie, key, ("Origin", &own), ("Sec-Fetch-Site", "cross-site")]), "origin");
    assert_eq!(refused(&[cookie, key, ("Origin", &own), ("Sec-Fetch-Site", "same-site")]), "origin");
    assert_eq!(refused(&[cookie, ("Origin", &own)]), "no_header");
    assert_eq!(refused(&[cookie, ("X-Ralph-Key", "guess"), ("Origin", &own)]), "no_key");
    // With everything, the run is looked for.
    ask(port, &request("POST", "/api/act", port, &[cookie, key, ("Origin", &own)], &body)).is(404);
    let foreign = [cookie, ("Sec-Fetch-Site", "cross-site")];
    ask(port, &request("GET", "/api/events", port, &foreign, "")).is(403);
}

#[test]
fn bodies_that_are_not_what_the_page_sends_do_nothing() {
    let (_env, served) = idle();
    let session = served.session();
    for body in [
        json!(null),
        json!([]),
        json!({"run": "x"}),
        json!({"run": "x", "act": "rm"}),
        json!({"run": "x", "act": "stop", "more": 1}),
        json!({"run": 1, "act": "stop"}),
        json!({"run": "x", "act": "say", "text": "a\u{0}b"}),
        json!({"run": "x", "act": "say", "text": "x".repeat(5000)}),
        json!({"run": "x", "act": "say", "text": "  "}),
    ] {
        session.act(&body).is(400);
    }
    for run in ["", "x", "..", "/", "--help", "-C/"] {
        session.act(&json!({"run": run, "act": "stop"})).is(404);
    }
}

#[test]
fn guessing_tokens_gives_nothing_and_locks_no_one_out() {
    let (_env, served) = idle();
    let near = format!("{}0", &served.token[..served.token.len() - 1]);
    let guesses = ["", "0", "null", &served.token[1..], &near].map(str::to_owned);
    let more = (0..300).map(|number| format!("{number:048x}"));
    for guess in guesses.into_iter().filter(|guess| *guess != served.token).chain(more) {
        let reply = served.begin(&guess).is(401);
        assert!(!reply.head.contains("Set-Cookie"), "{reply:?}");
    }
    for body in ["", "{}", "[]", "\"x\"", "{\"token\": 1}", "{\"token\": null}", "not json"] {
        post(served.port, "/session", &[("X-Ralph-Key", "")], body).is(401);
    }
    is_well(&served);
}

/// As many threads as the server has.
fn threads(served: &Served) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", served.running.pid())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"));
    line.and_then(|number| number.trim().parse().ok()).expect("a number")
}

#[test]
fn a_thousand_connections_cost_little_and_keep_no_one_out() {
    // This process holds the other ends.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let (_env, served) = idle();
    let session = served.session();
    let mut held: Vec<TcpStream> = Vec::new();
    for number in 0..1000 {
        let mut stream = connect(served.port);
        if number % 2 == 0 {
            // A server that has sent it away does not take it.
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
        }
        held.push(stream);
        if number % 100 == 0 {
            session.get("/api/hello").is(200);
        }
    }
    assert!(threads(&served) < 300, "{}", threads(&served));
    session.get("/api/hello").is(200);
    is_well(&served);
    // The oldest were sent away long ago.
    let mut byte = [0];
    assert!(matches!(held[0].read(&mut byte), Ok(0) | Err(_)));
}
