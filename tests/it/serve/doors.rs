//! Who is let in: a browser that was shown the link, and no one else on the machine.

use std::fs;

use serde_json::json;

use super::{Served, ask, post, request, serve, serve_again, served};
use crate::env::{Env, done, meet, shell};

fn idle() -> (Env, Served) {
    let env = Env::new();
    let served = serve(&env, &["--allow"]);
    (env, served)
}

#[test]
fn the_link_becomes_a_cookie_and_a_key() {
    let (_env, served) = idle();
    let reply = served.begin(&served.token).is(200);
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(reply.head.contains(part), "{reply:?}");
    }
    let session = served.session();
    assert_eq!(session.get("/api/hello").is(200).json()["canAct"], json!(true));
    let cookie = [("Cookie", session.cookie.as_str())];
    let hello = ask(served.port, &request("GET", "/api/hello", served.port, &cookie, "")).is(200);
    assert_eq!(hello.json()["canAct"], json!(false), "without the key");
}

#[test]
fn every_answer_says_what_it_may_not_be_used_for() {
    let (_env, served) = idle();
    for path in ["/", "/page.js", "/page.css", "/api/hello", "/nothing"] {
        let reply = ask(served.port, &request("GET", path, served.port, &[], ""));
        for header in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
            "Cross-Origin-Resource-Policy: same-origin",
        ] {
            assert!(reply.head.contains(header), "{path}: {header}: {}", reply.head);
        }
        assert!(!reply.head.to_lowercase().contains("access-control"), "{}", reply.head);
        assert!(!reply.head.to_lowercase().contains("server:"), "{}", reply.head);
    }
}

/// An agent is a process of the same user, without the link.
#[test]
fn without_the_link_nothing_is_to_be_had() {
    let env = Env::new().turns(json!([meet("met"), [done()]]));
    let run = env.start(&["run", "-p", "Do it."]);
    env.await_file("met");
    let (served, id) = (serve(&env, &["--allow"]), env.run_id());
    for path in
        ["/api/hello", "/api/events", &format!("/api/diff?id={id}"), &format!("/api/turn?id={id}&turn=1.1")]
    {
        for cookie in [
            "",
            "ralph_0=1",
            &format!("ralph_{}=", served.port),
            &format!("ralph_{}={}", served.port, served.token),
        ] {
            let reply =
                ask(served.port, &request("GET", path, served.port, &[("Cookie", cookie)], "")).is(401);
            assert!(!reply.body.contains(&id), "{reply:?}");
        }
    }
    for act in ["stop", "stop_now", "pause", "say", "resume", "accept", "reject"] {
        let body = json!({"run": id, "act": act, "text": "words"}).to_string();
        post(served.port, "/api/act", &[("X-Ralph-Key", "guess")], &body).is(401);
    }
    assert!(env.events("stop_requested").is_empty());
    fs::write(env.path("met.go"), "").expect("a file");
    run.wait().exits(0);
}

/// What the machine keeps of a session lets no one act; what lets a page act is nowhere on the disk.
#[test]
fn no_file_and_no_table_has_the_secrets() {
    let (env, served) = idle();
    let session = served.session();
    let cookie = session.cookie.split_once('=').expect("a cookie").1;
    let pid = served.running.pid();
    let mut places = vec![format!("/proc/{pid}/cmdline").into(), format!("/proc/{pid}/environ").into()];
    let mut folders = vec![env.root().join("state"), env.root().join("home"), env.root().join("tmp")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { places.push(path) }
        }
    }
    assert!(places.iter().any(|path| path.ends_with("serve.json")), "{places:?}");
    for place in places {
        let text = String::from_utf8_lossy(&fs::read(&place).expect("a file")).into_owned();
        for secret in [&served.token, &session.key, cookie] {
            assert!(!text.contains(secret), "{}", place.display());
        }
    }
}

/// An agent that types it inside a run could show itself the code.
#[test]
fn an_agent_cannot_serve() {
    let serve = format!("{} serve --listen 0 --allow >out 2>&1; echo $? >code", crate::env::RALPH);
    let env = Env::new().turns(json!([[shell(&serve), done()]]));
    env.run(&[]).exits(7);
    assert_eq!(env.read("code").trim(), "2");
    assert!(env.read("out").contains("`ralph serve` is for a person"), "{}", env.read("out"));
}

#[test]
fn after_a_restart_a_page_looks_and_does_not_act() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&[]).exits(0);
    let first = serve(&env, &["--allow"]);
    let session = first.session();
    session.get("/api/hello").is(200);
    let port = first.port;
    first.running.kill_9();
    let second = serve_again(&env, port, &["--allow"]);
    assert_ne!(second.token, session.key);
    session.get("/api/hello").is(200);
    let refused = session.act(&json!({"run": env.run_id(), "act": "resume"})).is(403).json();
    assert_eq!(refused["refused"], "no_key");
    assert!(refused["text"].as_str().is_some_and(|text| text.contains("open the link")), "{refused}");
}

#[test]
fn without_allow_the_page_only_shows() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&[]).exits(0);
    let session = serve(&env, &[]).session();
    let refused = session.act(&json!({"run": env.run_id(), "act": "resume"})).is(403).json();
    assert_eq!(refused["refused"], "read_only");
    assert!(refused["text"].as_str().is_some_and(|text| text.contains("--allow")), "{refused}");
}

#[test]
fn on_a_network_it_warns_and_does_not_act() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&[]).exits(0);
    // All addresses of the machine; only the loopback one is used.
    let served = served(&env, &["--listen", "0.0.0.0:0"], &["--allow"]);
    served.running.await_saying("there is no TLS");
    served.running.await_saying("no actions");
    let session = served.session();
    let refused = session.act(&json!({"run": env.run_id(), "act": "resume"})).is(403).json();
    assert_eq!(refused["refused"], "read_only");
    let hello = session.get("/api/hello").is(200).json();
    assert!(hello["why"].as_str().is_some_and(|why| why.contains("TLS")), "{hello}");
}

#[test]
fn behind_a_proxy_the_cookie_is_for_tls_only() {
    let env = Env::new();
    let served = serve(&env, &["--proxied-as", "box.example"]);
    let body = json!({"token": served.token}).to_string();
    let text = |scheme: &str| {
        format!(
            "POST /session HTTP/1.1\r\nHost: box.example\r\nOrigin: {scheme}://box.example\r\nX-Ralph-Key: \r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let reply = ask(served.port, &text("https")).is(200);
    assert!(reply.head.contains("; Secure"), "{reply:?}");
    ask(served.port, &text("http")).is(403);
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let (env, served) = idle();
    env.ralph(&["serve", "--listen", &served.port.to_string()])
        .exits(2)
        .says("cannot listen on")
        .says("hint:");
    env.ralph(&["serve", "--listen", "somewhere"]).exits(2).says("an address and a port");
}
