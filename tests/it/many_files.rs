//! Commits of very many files, which git is told of in another way than few.

use std::fs;

use serde_json::json;

use crate::env::{Env, done, shell};

/// A project with files that the agent changes, removes and adds, three hundred each.
fn project() -> Env {
    let work = "for i in $(seq 300); do echo new >\"new $i.txt\"; echo more >>\"kept $i.txt\"; rm \"gone $i.txt\"; done
        printf 'odd' >':(top)*.txt'";
    let env = Env::new().with_git().commits().turns(json!([[shell(work), done()]]));
    for number in 1..=300 {
        fs::write(env.path(&format!("kept {number}.txt")), "1\n").expect("written");
        fs::write(env.path(&format!("gone {number}.txt")), "1\n").expect("written");
    }
    env.git(&["add", "--all", "--", ":!.ralph"]);
    env.git(&["commit", "-q", "-m", "begin"]);
    env
}

fn count(env: &Env, filter: &str) -> usize {
    env.git(&["show", "--name-only", "--no-renames", "--format=", filter]).lines().count()
}

#[test]
fn all_of_them_are_committed() {
    let env = project();
    env.run(&[]).exits(0);
    let counts = ["--diff-filter=A", "--diff-filter=M", "--diff-filter=D"].map(|filter| count(&env, filter));
    assert_eq!(counts, [301, 300, 300]);
    assert!(!env.git(&["status", "--porcelain"]).contains(".txt"));
}

#[test]
fn what_others_have_staged_stays_staged() {
    let env = project();
    fs::write(env.path("mine.txt"), "mine\n").expect("written");
    env.git(&["add", "mine.txt"]);
    env.run(&[]).exits(0);
    assert_eq!(count(&env, "--diff-filter=A"), 301);
    assert_eq!(env.git(&["diff", "--cached", "--name-only"]).trim(), "mine.txt");
}
