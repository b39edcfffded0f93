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

#[test]
fn the_demo_of_a_fleet_shows_four_lanes_a_conflict_and_what_fails_together() {
    let env = Env::new();
    let output = env
        .ralph(&["demo", "--fleet", "--keep"])
        .exits(0)
        .says("4 items in 4 lanes")
        .says("is sent back: it conflicts with what landed in title.txt")
        .says("is sent back: `sh test.sh` fails on the merged tree")
        .says("Complete: everything has landed");
    for lane in ["lane-1", "lane-2", "lane-3", "lane-4"] {
        assert!(output.stderr.contains(&format!("{lane} | works on ")), "{lane}: {}", output.stderr);
    }
    env.nothing_left();
    let kept = output.stdout.split_once("Kept in ").expect("a folder").1.lines().next().expect("a folder");
    let greeter = std::path::Path::new(kept).join("greeter");
    let commits = env.git_in(&greeter, &["rev-list", "--first-parent", "HEAD"]);
    assert_eq!(commits.lines().count(), 5);
    for commit in commits.lines() {
        env.git_in(&greeter, &["checkout", "--quiet", "--detach", commit]);
        env.sh(&format!("cd {} && sh test.sh", greeter.display())).exits(0);
    }
    assert!(env.runs().is_empty(), "the record of the demo is not the user's");
}
