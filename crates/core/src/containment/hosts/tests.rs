//! Names of hosts: those that are meant, and those that look like it.

use super::*;

fn list(entries: &[&str]) -> Vec<Host> {
    entries.iter().map(|entry| Host::parse(entry).expect("an entry")).collect()
}

#[track_caller]
fn check(entries: &[&str], host: &str, port: u16, expected: Option<HostVerdict>) {
    let verdict = judge(&list(entries), host, port);
    match expected {
        Some(expected) => assert_eq!(verdict, expected, "{host}:{port}"),
        None => assert!(matches!(verdict, HostVerdict::Refused(_)), "{host}:{port}: {verdict:?}"),
    }
}

#[test]
fn a_url_names_its_server() {
    let of = |url: &str| Host::of_url(url).map(String::from);
    for (url, server) in [
        ("http://127.0.0.1:4000", "127.0.0.1:4000"),
        ("http://localhost:4000/v1?x=1", "localhost:4000"),
        ("http://localhost", "localhost:80"),
        ("HTTPS://127.0.0.1/v1", "127.0.0.1:443"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("https://user:key@models.example.com/v1", "models.example.com"),
        ("https://models.example.com:8443/v1", "models.example.com:8443"),
    ] {
        assert_eq!(of(url).as_deref(), Some(server), "{url}");
    }
    for url in ["", "127.0.0.1:4000", "unix:///run/x", "http://", "http://a b", "ftp://example.com"] {
        assert_eq!(of(url), None, "{url}");
    }
}

#[test]
fn servers_are_found_in_settings_of_every_kind() {
    let of = |text: &str| servers_in(text).into_iter().map(String::from).collect::<Vec<_>>();
    assert_eq!(of("base_url = \"http://localhost:11434/v1\"\n"), ["localhost:11434"]);
    assert_eq!(
        of(r#"{"baseURL":"http://127.0.0.1:1","x":'https://a.example.com'}"#),
        ["127.0.0.1:1", "a.example.com"]
    );
    assert!(of("http, https:// and \u{fc}http://\u{fc}").is_empty());
}

#[test]
fn names_open_the_ports_of_the_web() {
    let entries = ["api.example.com", "*.pages.example.com", "git.example.com:22"];
    for (host, port) in [
        ("api.example.com", 443),
        ("API.Example.com.", 80),
        ("a.pages.example.com", 443),
        ("a.b.pages.example.com", 443),
    ] {
        check(&entries, host, port, Some(HostVerdict::Named));
    }
    check(&entries, "git.example.com", 22, Some(HostVerdict::Explicit));
    for (host, port) in [
        ("example.com", 443),
        ("evil-api.example.com", 443),
        ("api.example.com.evil.org", 443),
        ("pages.example.com", 443),
        ("evilpages.example.com", 443),
        ("api.example.com", 22),
        ("git.example.com", 443),
        ("", 443),
    ] {
        check(&entries, host, port, None);
    }
}

#[test]
fn addresses_need_their_port() {
    check(&["example.com"], "93.184.216.34", 443, None);
    check(&["example.com"], "127.0.0.1", 443, None);
    check(&["example.com"], "localhost", 443, None);
    check(&["example.com"], "[::1]", 443, None);
    check(&["example.com"], "169.254.169.254", 80, None);
    check(&["127.0.0.1:8080"], "127.0.0.1", 8080, Some(HostVerdict::Explicit));
    check(&["127.0.0.1:8080"], "127.0.0.1", 8081, None);
    check(&["127.0.0.1:8080"], "127.1", 8080, None);
    check(&["[::1]:8080"], "[::1]", 8080, Some(HostVerdict::Explicit));
    for bad in ["127.0.0.1", "::1", "localhost", "", "*", "*example.com", "a b", "http://a", "a:b", "a:99999"]
    {
        Host::parse(bad).expect_err(bad);
    }
}

#[test]
fn entries_are_written_as_they_were_read() {
    for text in ["example.com", "*.example.com", "example.com:8443", "127.0.0.1:80", "[::1]:80"] {
        assert_eq!(String::from(Host::parse(text).expect("an entry")), text);
    }
    assert_eq!(list(&["localhost:1"])[0].loopback_port(), Some(1));
    assert_eq!(list(&["example.com:1"])[0].loopback_port(), None);
}

#[test]
fn names_must_not_lead_inside() {
    let inner = [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "100.100.100.200",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "ff02::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
    ];
    for address in inner {
        assert!(!is_public(address.parse().expect("an address")), "{address}");
    }
    for address in ["93.184.216.34", "10.0.0.7", "2606:2800:220:1::1", "::ffff:93.184.216.34"] {
        assert!(is_public(address.parse().expect("an address")), "{address}");
    }
}

#[test]
fn lists_that_come_with_ralph_can_be_read() {
    let agents = ["claude", "codex", "amp", "gemini", "qwen", "opencode", "copilot", "pi"];
    for entry in agents.into_iter().flat_map(of_agent).chain(&REGISTRIES) {
        assert!(!Host::parse(entry).expect("an entry").is_explicit(), "{entry}");
    }
    assert!(agents.into_iter().all(|agent| !of_agent(agent).is_empty()));
    assert!(of_agent("somebody").is_empty());
}

#[test]
fn only_a_part_of_one_network_is_shared() {
    for (address, expected) in
        [("100.63.0.1", true), ("100.64.0.1", false), ("100.127.0.1", false), ("8.100.0.1", true)]
    {
        assert_eq!(is_public(address.parse().expect("an address")), expected, "{address}");
    }
}

#[test]
fn hosts_and_ports_are_told_apart() {
    for (text, expected) in [
        ("example.com", Some(("example.com", None))),
        ("Example.com:80", Some(("example.com", Some(80)))),
        ("::1", Some(("::1", None))),
        ("[::1]", Some(("::1", None))),
        ("[::1]:80", Some(("::1", Some(80)))),
        ("[example.com]:80", None),
        ("example.com:http", None),
        (":80", None),
        ("", None),
    ] {
        let expected = expected.map(|(host, port): (&str, _)| (host.to_owned(), port));
        assert_eq!(split(text), expected, "{text}");
    }
}

#[test]
fn every_agent_has_variables_that_name_another_server() {
    for (agent, expected) in [
        ("claude", "ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL"),
        ("codex", "OPENAI_BASE_URL"),
        ("qwen", "OPENAI_BASE_URL"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL GOOGLE_VERTEX_BASE_URL"),
        ("opencode", "ANTHROPIC_BASE_URL OPENAI_BASE_URL"),
        ("pi", "ANTHROPIC_BASE_URL OPENAI_BASE_URL"),
        ("copilot", "COPILOT_PROVIDER_BASE_URL"),
        ("amp", "AMP_URL"),
        ("somebody", ""),
    ] {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(variables_of_server(agent), expected, "{agent}");
    }
}
