//! Every rule with what it lets pass and what it refuses.

use super::*;

fn loopback() -> WebPlace {
    WebPlace { is_loopback: true, names: vec!["box.example".to_owned()], actions: Actions::Allowed }
}

fn network() -> WebPlace {
    WebPlace { is_loopback: false, names: Vec::new(), actions: Actions::NoTls }
}

/// The page itself asks, with everything it has.
fn page() -> Head<'static> {
    Head {
        host: Some("127.0.0.1:7337"),
        origin: Some("http://127.0.0.1:7337"),
        fetch_site: Some("same-origin"),
        has_session: true,
        has_key: true,
        has_header: true,
    }
}

const ALL: [Want; 4] = [Want::File, Want::Begin, Want::Look, Want::Act];

#[track_caller]
fn check(place: &WebPlace, head: &Head<'_>, expected: [Option<WebRefusal>; 4]) {
    let found = ALL.map(|want| judge(place, want, head).err());
    assert_eq!(found, expected, "{head:?}");
}

#[test]
fn the_page_gets_everything() {
    check(&loopback(), &page(), [None; 4]);
    // A browser that says nothing about sites.
    check(&loopback(), &Head { fetch_site: None, ..page() }, [None; 4]);
}

#[test]
fn other_names_are_refused() {
    let all = [Some(WebRefusal::Host); 4];
    for host in [
        "evil.example",
        "evil.example:7337",
        "127.0.0.1.evil.example:7337",
        "localhost.evil.example",
        "192.0.2.7:7337",
        "[2001:db8::1]:7337",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:99999",
        ":7337",
        "",
        "[::1",
        "127.0.0.1:1:2",
        "0x7f.1",
        "127.1",
        "user@127.0.0.1",
    ] {
        // An empty port is none at all, which is allowed by the standard; the origin then differs.
        let found = judge(&loopback(), Want::Look, &Head { host: Some(host), ..page() });
        assert!(found.is_err(), "{host}");
        if host != "127.0.0.1:" {
            check(&loopback(), &Head { host: Some(host), ..page() }, all);
        }
    }
    check(&loopback(), &Head { host: None, ..page() }, all);
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.8.8.8:80", "[::1]:7337"] {
        let origin = format!("http://{host}");
        check(&loopback(), &Head { host: Some(host), origin: Some(&origin), ..page() }, [None; 4]);
    }
}

#[test]
fn on_a_network_numbers_are_names_and_nothing_acts() {
    let head = Head { host: Some("192.0.2.7:7337"), origin: Some("http://192.0.2.7:7337"), ..page() };
    check(&network(), &head, [None, None, None, Some(WebRefusal::ReadOnly(Actions::NoTls))]);
    let named = Head { host: Some("localhost:7337"), origin: Some("http://localhost:7337"), ..page() };
    check(&network(), &named, [Some(WebRefusal::Host); 4]);
    assert_eq!(Actions::of(true, false), Actions::NoTls);
    assert_eq!(Actions::of(false, false), Actions::NotAllowed);
}

#[test]
fn behind_a_name_there_is_tls() {
    let head = Head { host: Some("box.example"), origin: Some("https://box.example"), ..page() };
    check(&loopback(), &head, [None; 4]);
    check(&loopback(), &Head { origin: Some("http://box.example"), ..head }, [Some(WebRefusal::Origin); 4]);
    assert!(has_tls(&loopback(), "Box.example:443") && !has_tls(&loopback(), "127.0.0.1:7337"));
}

#[test]
fn other_sites_are_refused() {
    for origin in [
        "http://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:7338",
        "https://127.0.0.1:7337",
        "http://localhost:7337",
        "null",
        "",
    ] {
        check(&loopback(), &Head { origin: Some(origin), ..page() }, [Some(WebRefusal::Origin); 4]);
    }
    let mut expected = [Some(WebRefusal::Origin); 4];
    expected[0] = None;
    for site in ["cross-site", "same-site", "anything"] {
        check(&loopback(), &Head { fetch_site: Some(site), ..page() }, expected);
    }
    // No origin: looking is told by the cookie, what changes something is refused.
    check(
        &loopback(),
        &Head { origin: None, ..page() },
        [None, Some(WebRefusal::Origin), None, Some(WebRefusal::Origin)],
    );
}

#[test]
fn session_header_and_key_are_each_needed() {
    check(
        &loopback(),
        &Head { has_session: false, ..page() },
        [None, None, Some(WebRefusal::Session), Some(WebRefusal::Session)],
    );
    check(
        &loopback(),
        &Head { has_header: false, ..page() },
        [None, Some(WebRefusal::Header), None, Some(WebRefusal::Header)],
    );
    check(&loopback(), &Head { has_key: false, ..page() }, [None, None, None, Some(WebRefusal::Key)]);
    let shown = WebPlace { actions: Actions::of(false, true), ..loopback() };
    check(&shown, &page(), [None, None, None, Some(WebRefusal::ReadOnly(Actions::NotAllowed))]);
}

#[test]
fn every_refusal_has_its_status_and_words() {
    let all = [
        (WebRefusal::Host, 421),
        (WebRefusal::Origin, 403),
        (WebRefusal::Header, 403),
        (WebRefusal::Session, 401),
        (WebRefusal::Key, 403),
        (WebRefusal::ReadOnly(Actions::NotAllowed), 403),
        (WebRefusal::ReadOnly(Actions::NoTls), 403),
    ];
    for (refusal, status) in all {
        assert_eq!(refusal.status(), status);
        assert!(!refusal.text().is_empty() && !refusal.word().contains(' '));
    }
    assert!(WebRefusal::ReadOnly(Actions::NoTls).text().contains("TLS"));
    assert!(WebRefusal::ReadOnly(Actions::NotAllowed).text().contains("--allow"));
}

#[test]
fn refusals_have_a_word_each() {
    let refusals =
        [WebRefusal::Host, WebRefusal::Origin, WebRefusal::Header, WebRefusal::Session, WebRefusal::Key];
    assert_eq!(refusals.map(WebRefusal::word), ["host", "origin", "no_header", "no_session", "no_key"]);
}

#[test]
fn a_port_is_digits_behind_a_name() {
    for (host, expected) in [
        ("a", Some(("a", None))),
        ("a:80", Some(("a", Some(80)))),
        ("[::1]", Some(("[::1]", None))),
        ("[::1]:80", Some(("[::1]", Some(80)))),
        ("a:+80", None),
        ("a:x", None),
        ("a:99999", None),
        (":80", None),
    ] {
        assert_eq!(split(host), expected, "{host}");
    }
}
