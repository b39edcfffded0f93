//! What a reviewer is shown, and what a review is worth.

use serde_json::json;

use super::{approved, commit, leaves, list, project, sent_back, story, submitted};
use crate::env::{Env, say, shell, write};

fn head(env: &Env, revision: &str) -> String {
    env.git(&["rev-parse", revision]).trim().to_owned()
}

#[test]
fn commits_from_before_the_last_archive_are_not_shown() {
    let env = project(&list(&[story("US-1")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[approved("US-1", 1)])),
    ]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
    let old = head(&env, "HEAD~1");
    env.ralph(&["stories", "archive"]).exits(0);
    // Other work, and its first story has the name that the first story of the old work had.
    env.write("ralph/tasks.json", &list(&[story("US-1")]));
    env.write("ralph/prd.md", "# Something else\n");
    env.git(&["commit", "--quiet", "-am", "Plan"]);
    let planned = head(&env, "HEAD");
    env.ralph(&["stories"]).exits(0);
    let prompt = &env.prompts()[2];
    assert!(prompt.contains(&format!("git diff {planned} {}", head(&env, "HEAD~1"))), "{prompt}");
    assert!(!prompt.contains(&old), "{prompt}");
}

#[test]
fn only_commits_that_are_in_the_history_are_shown() {
    // The fix makes one commit of its own work and of what the review has seen.
    let amended = json!([
        write("ralph/tasks.json", &list(&[submitted("US-1", 1)])),
        shell(
            "git rev-parse HEAD~1 >../replaced && git reset --quiet --soft HEAD~2 && git add -A && git commit --quiet -m all"
        ),
        say("In one."),
    ]);
    let env = project(&list(&[story("US-1")])).turns(json!([
        [
            write("work.txt", "work"),
            write("ralph/tasks.json", &list(&[submitted("US-1", 0)])),
            commit(),
            say("Done.")
        ],
        leaves(&list(&[sent_back("US-1", 1, "Week 53 is missing.")])),
        amended,
        leaves(&list(&[approved("US-1", 2)])),
    ]));
    let start = head(&env, "HEAD");
    env.ralph(&["stories"]).exits(0);
    let replaced = std::fs::read_to_string(env.root().join("replaced")).expect("a commit");
    let prompt = &env.prompts()[3];
    assert!(prompt.contains(&format!("git diff {start} {}", head(&env, "HEAD~1"))), "{prompt}");
    assert!(!prompt.contains(replaced.trim()), "{prompt}");
    assert!(prompt.contains("are not in the history of HEAD"), "{prompt}");
}
