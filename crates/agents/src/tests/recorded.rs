//! Streams recorded from the real agents, as events. The folders are `fixtures/<agent>`.

use std::fmt::Write;
use std::path::PathBuf;

use proptest::prelude::*;

use super::events;

const AGENTS: [&str; 8] = ["amp", "claude", "codex", "copilot", "gemini", "opencode", "pi", "qwen"];

/// Returns the names and contents of an agent's recorded streams.
#[expect(clippy::disallowed_methods, reason = "the recordings are files")]
fn fixtures(agent: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
    let mut paths: Vec<_> =
        folder.read_dir().expect("fixtures").map(|entry| entry.expect("fixture").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("name").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("fixture"))
    };
    paths.into_iter().map(read).collect()
}

#[track_caller]
fn check(agent: &str) {
    let mut told = String::new();
    for (name, stream) in fixtures(agent) {
        writeln!(told, "== {name}").expect("text");
        for event in events(agent, [stream.as_slice()]) {
            writeln!(told, "{}", serde_json::to_string(&event).expect("event")).expect("text");
        }
    }
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(agent, told);
    });
}

#[test]
fn amp() {
    check("amp");
}

#[test]
fn claude() {
    check("claude");
}

#[test]
fn codex() {
    check("codex");
}

#[test]
fn copilot() {
    check("copilot");
}

#[test]
fn gemini() {
    check("gemini");
}

#[test]
fn opencode() {
    check("opencode");
}

#[test]
fn pi() {
    check("pi");
}

#[test]
fn qwen() {
    check("qwen");
}

#[test]
fn every_byte_may_arrive_alone() {
    for agent in AGENTS {
        for (name, stream) in fixtures(agent) {
            assert_eq!(events(agent, stream.chunks(1)), events(agent, [stream.as_slice()]), "{agent}/{name}");
        }
    }
}

/// Cuts a stream where the numbers say.
fn cut<'a>(stream: &'a [u8], at: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = at.iter().map(|index| index.index(stream.len() + 1)).collect();
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        agent in prop::sample::select(&AGENTS),
        which in any::<prop::sample::Index>(),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let fixtures = fixtures(agent);
        let (_, stream) = which.get(&fixtures);
        prop_assert_eq!(events(agent, cut(stream, &at)), events(agent, [stream.as_slice()]));
    }

    #[test]
    fn nothing_panics(
        agent in prop::sample::select([&AGENTS[..], &["other"]].concat()),
        bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        prop_assert_eq!(events(agent, cut(&bytes, &at)), events(agent, [bytes.as_slice()]));
    }

    /// Damaged events: recorded streams in which some bytes are replaced.
    #[test]
    fn damage_never_panics(
        agent in prop::sample::select(&AGENTS),
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"\"\\{}[]:,0nu\n\0\xff"[..])), 1..40),
    ) {
        let fixtures = fixtures(agent);
        let (_, stream) = which.get(&fixtures);
        let mut stream = stream.clone();
        for (at, byte) in damage {
            let at = at.index(stream.len());
            stream[at] = byte;
        }
        let whole = events(agent, [stream.as_slice()]);
        prop_assert_eq!(events(agent, stream.chunks(100)), whole);
    }
}
