//! The demo: what a visitor sees first.

use std::fs;

use crate::env::Env;

#[test]
fn the_demo_shows_the_whole_loop() {
    let env = Env::new();
    let output = env
        .ralph(&["demo"])
        .exits(0)
        .says("Guardrail failed: sh test.sh")
        .says("Guardrail passed: sh test.sh")
        .says("Committed")
        .prints("Complete")
        .prints("Greet the world when no name is given");
    let failed = output.stderr.find("Guardrail failed").expect("a failure");
    assert!(failed < output.stderr.find("Guardrail passed").expect("a success"));
    env.nothing_left();
    let left: Vec<_> = fs::read_dir(env.root().join("tmp")).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(env.runs().is_empty(), "the record of the demo is not the user's");
}

#[test]
fn the_demo_can_be_kept() {
    let env = Env::new();
    let output = env.ralph(&["demo", "--keep"]).exits(0).prints("Kept in ");
    let kept = output.stdout.split_once("Kept in ").expect("a folder").1.lines().next().expect("a folder");
    assert!(fs::metadata(kept).is_ok_and(|folder| folder.is_dir()), "{kept}");
    assert!(kept.starts_with(&env.root().display().to_string()), "{kept}");
}
