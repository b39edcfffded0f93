//! Made-up keys of every shape, and words that only look like them.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// A secret part of this length.
fn secret(length: usize) -> String {
    "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect()
}

fn upper(length: usize) -> String {
    secret(length).to_uppercase()
}

/// What is shown of a key, and the rest of it.
fn keys() -> Vec<(&'static str, String)> {
    let signed = format!("{}.eyJ{}.{}", secret(20), secret(30), secret(43));
    vec![
        ("sk-ant-", format!("api03-{}", secret(90))),
        ("sk-ant-", format!("oat01-{}", secret(90))),
        ("sk-", format!("proj-{}_{}", secret(40), secret(20))),
        ("sk-", "0123456789abcdef0123456789abcdef".to_owned()),
        ("xai-", secret(80)),
        ("gsk_", secret(52)),
        ("pplx-", secret(48)),
        ("hf_", secret(34)),
        ("r8_", secret(37)),
        ("AIza", secret(35)),
        ("ya29.", secret(60)),
        ("GOCSPX-", secret(28)),
        ("AKIA", upper(16)),
        ("ASIA", upper(16)),
        ("github_pat_", format!("{}_{}", secret(22), secret(59))),
        ("ghp_", secret(36)),
        ("gho_", secret(36)),
        ("ghu_", secret(36)),
        ("ghs_", secret(36)),
        ("ghr_", secret(76)),
        ("glpat-", secret(20)),
        ("gldt-", secret(20)),
        ("glrt-", secret(20)),
        ("glptt-", secret(40)),
        ("ATATT3", secret(180)),
        ("ATBB", secret(32)),
        ("npm_", secret(36)),
        ("pypi-AgE", secret(150)),
        ("rubygems_", secret(48)),
        ("dckr_pat_", secret(27)),
        ("xoxb-", format!("1234567890-1234567890-{}", secret(24))),
        ("xoxp-", format!("1234567890-{}", secret(24))),
        ("xoxa-", format!("2-1234567890-{}", secret(24))),
        ("xoxe-", format!("1-{}", secret(40))),
        ("xapp-", format!("1-A0-{}", secret(40))),
        ("hooks.slack.com/services/", format!("T{}/B{}/{}", upper(8), upper(8), secret(24))),
        ("SG.", format!("{}.{}", secret(22), secret(43))),
        ("sk_live_", secret(24)),
        ("rk_live_", secret(24)),
        ("shpat_", secret(32)),
        ("lin_api_", secret(40)),
        ("dop_v1_", secret(64)),
        ("sbp_", secret(40)),
        ("eyJ", signed),
        ("AGE-SECRET-KEY-1", upper(58)),
    ]
}

#[test]
fn every_shape_has_an_example() {
    let of_values = ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "-----BEGIN "];
    let keys = keys();
    for shape in &SHAPES {
        let begin = shape.begin;
        assert!(begin.len() <= MAX_BEGIN_LEN + 1, "{begin}");
        assert!(of_values.contains(&begin) || keys.iter().any(|(known, _)| *known == begin), "{begin}");
    }
}

#[test]
fn keys_are_masked_wherever_they_stand() {
    for (begin, rest) in keys() {
        for (before, after) in [
            ("", ""),
            ("key: ", "\n"),
            ("{\"text\":\"", "\"}"),
            ("{\"text\":\"one\\n", "\\ntwo\"}"),
            ("export KEY=", " && true"),
            ("https://user:", "@example.org/x"),
            ("\u{1b}[32m", "\u{1b}[0m"),
            ("\\u001b[1;32m", "\\u001b[0m"),
            ("a%3D", "&b"),
            ("x\\u003d", "\\u0026"),
            ("größe=", " §"),
        ] {
            let text = format!("{before}{begin}{rest}{after}");
            assert_eq!(masked(&text), format!("{before}{begin}***{after}"), "{text}");
        }
    }
}

#[test]
fn secrets_that_go_by_a_name_are_masked() {
    let value = secret(40);
    for (text, shown) in [
        (format!("aws_secret_access_key = {value}\n"), "aws_secret_access_key = ***\n"),
        (format!("AWS_SECRET_ACCESS_KEY={value}"), "AWS_SECRET_ACCESS_KEY=***"),
        (format!("\"SecretAccessKey\": \"{value}\","), "\"SecretAccessKey\": \"***\","),
        (format!("\\\"SecretAccessKey\\\": \\\"{value}\\\""), "\\\"SecretAccessKey\\\": \\\"***\\\""),
    ] {
        assert_eq!(masked(&text), shown);
    }
}

#[test]
fn private_keys_are_masked_and_public_ones_are_not() {
    let lines = vec![secret(64); 20].join("\n");
    for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let key = format!("a\n-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\nb");
        let shown = format!("a\n-----BEGIN {kind}-----***-----END {kind}-----\nb");
        assert_eq!(masked(&key), shown);
        let json = serde_json::to_string(&key).expect("JSON");
        let read: String = serde_json::from_str(&masked(&json)).expect("still JSON");
        assert_eq!(read, shown);
        // One that was cut is none the less one.
        assert_eq!(masked(&format!("-----BEGIN {kind}-----\n{lines}")), format!("-----BEGIN {kind}-----***"));
        assert_eq!(
            masked(&format!("{{\"x\":\"-----BEGIN {kind}-----\\n{}\",\"y\":1}}", secret(64))),
            format!("{{\"x\":\"-----BEGIN {kind}-----***\",\"y\":1}}")
        );
    }
    let public = format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n");
    assert_eq!(masked(&public), public);
}

#[test]
fn words_stay() {
    for text in [
        "",
        "a plain sentence",
        "task-0123456789abcdef0123456789abcdef",
        "disk-0123456789abcdefghij0123",
        "sk-loading-indicator-wrapper-element",
        "sk-12",
        "npm_config_cache=/x npm_lifecycle_event=test npm_package_version",
        "AKIA",
        "AKIAIOSFODNN7EXAMPLETOOLONG",
        "xoxo-12",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJIUzI1NiJ9.not-json-in-here-but-long-enough-1.x",
        "ghp_short",
        "aws_secret_access_key",
        "aws_secret_access_key = config.get('x')",
        "-----BEGIN",
        "-----BEGIN PRIVATE KEY-----",
        "grep -- '-----BEGIN RSA PRIVATE KEY-----' *.pem",
        "MSG.0123456789abcdefghij.0123456789abcdefghij0123456789abcdefghij0123456789",
        "sk-***",
        // A word goes on: what is before is no escape, although one of its letters could end one.
        "tsk-0123456789abcdef0123456789abcdef",
        "\\xsk-0123456789abcdef0123456789abcdef",
        "u1234sk-0123456789abcdef0123456789abcdef",
        "\\x1234sk-0123456789abcdef0123456789abcdef",
        "msk-0123456789abcdef0123456789abcdef",
        "[3sk-0123456789abcdef0123456789abcdef",
        // Nothing between a name and what would be its value.
        "SecretAccessKeya1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0",
        "-----BEGIN PRIVATE KEY-- a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0",
        // Too many letters, or no digit among them.
        "ghp_abcdefghijabcdefghijabcdefghijabcdefghij",
        // A part of a signed token is too short, or no JSON.
        "eyJhbc.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlYmFzZTY0MTIz",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdW.c2lnbmF0dXJlYmFzZTY0MTIzNDU2Nzg5",
        "eyJhbGciOiJIUzI1NiJ9.c3ViIjoiMTIzNDU2Nzg5.c2lnbmF0dXJlYmFzZTY0",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln",
    ] {
        assert!(matches!(masked(text), Cow::Borrowed(_)), "{text}: {}", masked(text));
    }
}

fn in_pieces(text: &[u8], sizes: &[usize]) -> Vec<u8> {
    let (mut mask, mut shown, mut at) = (KeyMask::default(), Vec::new(), 0);
    let mut sizes = sizes.iter().cycle();
    while at < text.len() {
        let end = (at + sizes.next().copied().unwrap_or(1).max(1)).min(text.len());
        shown.extend(mask.push(text[at..end].to_vec()));
        at = end;
    }
    shown.extend(mask.finish());
    shown
}

#[test]
fn a_key_in_two_pieces_is_one() {
    for (begin, rest) in keys() {
        let text = format!("{{\"a\":\"{begin}{rest}\"}}\n");
        for cut in 1..text.len() {
            let (mut mask, bytes) = (KeyMask::default(), text.as_bytes());
            let mut shown = mask.push(bytes[..cut].to_vec());
            shown.extend(mask.push(bytes[cut..].to_vec()));
            shown.extend(mask.finish());
            assert_eq!(String::from_utf8_lossy(&shown), format!("{{\"a\":\"{begin}***\"}}\n"), "at {cut}");
        }
    }
}

#[test]
fn whole_lines_do_not_wait() {
    let mut mask = KeyMask::default();
    for line in ["plain\n", "{\"type\":\"text\",\"text\":\"task\"}\n", "ends a sentence.", "..."] {
        assert_eq!(mask.push(line.as_bytes().to_vec()), line.as_bytes(), "{line}");
    }
    // A word that may begin a key waits for what comes next, and not for long.
    assert_eq!(mask.push(b"a sk".to_vec()), b"a ");
    assert_eq!(mask.push(b"y\n".to_vec()), b"sky\n");
    let endless = format!("eyJ{}", "z".repeat(2 * MAX_HELD_LEN));
    assert_eq!(mask.push(endless.clone().into_bytes()), endless.as_bytes());
}

fn pushed(mask: &mut KeyMask, piece: &str) -> String {
    String::from_utf8(mask.push(piece.as_bytes().to_vec())).expect("text")
}

#[test]
fn a_key_that_has_ended_does_not_wait() {
    for (begin, rest) in keys() {
        let mut mask = KeyMask::default();
        assert!(!mask.has_masked());
        assert_eq!(pushed(&mut mask, &format!("{begin}{rest} and more\n")), format!("{begin}*** and more\n"));
        assert!(mask.has_masked());
    }
    let mut mask = KeyMask::default();
    assert_eq!(pushed(&mut mask, "a word\n"), "a word\n");
    assert_eq!(mask.finish(), b"");
    assert!(!mask.has_masked());
    let (mut mask, key) = (KeyMask::default(), format!("AKIA{}", upper(16)));
    assert_eq!(pushed(&mut mask, &key), "", "one more letter, and it is none");
    assert_eq!(mask.finish(), b"AKIA***");
    assert!(mask.has_masked());
    // One that has too many letters already is none, whatever comes.
    let (mut mask, word) = (KeyMask::default(), format!("AKIA{}", upper(17)));
    assert_eq!(pushed(&mut mask, &word), word);
    let mut mask = KeyMask::default();
    assert_eq!(pushed(&mut mask, &key) + &pushed(&mut mask, "Z"), format!("{key}Z"));
}

#[test]
fn what_may_begin_a_key_waits_and_what_cannot_does_not() {
    for (piece, shown) in [("ahf", "ahf"), ("a hf", "a "), ("xgh", "x"), ("the eyJ", "the "), ("ya29", "")] {
        assert_eq!(pushed(&mut KeyMask::default(), piece), shown, "{piece}");
    }
    // A word that began in an earlier piece goes on.
    let mut mask = KeyMask::default();
    let rest = "-0123456789abcdef0123456789abcdef\n";
    assert_eq!(pushed(&mut mask, "tu") + &pushed(&mut mask, &format!("sk{rest}")), format!("tusk{rest}"));
}

#[test]
fn a_key_after_much_else_is_one_in_two_pieces_and_an_endless_one_is_not_kept() {
    let words = "some words ".repeat(MAX_HELD_LEN / 15);
    let mut mask = KeyMask::default();
    let shown = pushed(&mut mask, &format!("{words}ghp_{}", secret(20)));
    let shown = shown + &pushed(&mut mask, &format!("{}\n", secret(20)));
    assert_eq!(shown, format!("{words}ghp_***\n"));
    for words in ["", "a word, "] {
        let endless = format!("{words}ghp_{}", secret(2 * MAX_HELD_LEN));
        assert_eq!(pushed(&mut KeyMask::default(), &endless), format!("{words}ghp_***"));
        let named = format!("{words}aws_secret_access_key = {}", secret(2 * MAX_HELD_LEN));
        assert_eq!(pushed(&mut KeyMask::default(), &named), format!("{words}aws_secret_access_key = ***"));
        let lines = secret(2 * MAX_HELD_LEN);
        let armed = format!("{words}-----BEGIN PRIVATE KEY-----\n{lines}");
        let shown = pushed(&mut KeyMask::default(), &armed);
        assert!(shown.starts_with(&format!("{words}-----BEGIN PRIVATE KEY-----***")), "{}", &shown[..60]);
    }
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        parts in prop::collection::vec((0_usize..45, "[ a-z{}\":,\n\\\\]{0,12}"), 0..6),
        sizes in prop::collection::vec(1_usize..40, 1..5),
    ) {
        let keys = keys();
        let lines: Vec<String> =
            parts.iter().map(|(key, words)| format!("{words} {}{}\n", keys[*key].0, keys[*key].1)).collect();
        let text = lines.concat();
        let whole = masked(&text);
        let (again, pieces) = (masked(&whole).into_owned(), in_pieces(text.as_bytes(), &sizes));
        prop_assert_eq!(again.as_str(), whole.as_ref(), "once is enough");
        prop_assert_eq!(String::from_utf8_lossy(&pieces), whole.as_ref());
        for (key, _) in &parts {
            prop_assert!(!whole.contains(&keys[*key].1));
        }
    }

    #[test]
    fn any_bytes_come_through(text in "(\\PC|sk-|eyJ|ghp_|-----BEGIN |PRIVATE KEY-----|[A-Za-z0-9.]{1,9}){0,40}", sizes in prop::collection::vec(1_usize..9, 1..4)) {
        let shown = in_pieces(text.as_bytes(), &sizes);
        prop_assert_eq!(String::from_utf8_lossy(&shown), masked(&text));
    }
}
