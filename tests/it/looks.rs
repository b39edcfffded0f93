//! How often ralph looks at the files for a commit, and that it sees what it must where it looks less often.

use serde_json::{Value, json};

use crate::env::{Env, done, say, shell, write};

/// Commits with messages that the agent words, which takes a look of its own.
fn committing(turns: &Value) -> Env {
    let script = json!({"turns": turns, "text": [[say("Work")]]});
    Env::new().with_git().commits().script(script)
}

/// A git that notes each call.
fn noting(env: &Env) {
    let path = std::env::var_os("PATH").expect("a path");
    let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|it| it.is_file()).expect("git");
    let log = env.root().join("calls");
    env.program("git", &format!("echo \"$*\" >>{}\nexec {} \"$@\"", log.display(), git.display()));
}

/// So many files that the index is long.
fn enlarge(env: &Env) {
    env.sh("for n in $(seq 1200); do echo $n >$(printf '%0200d' $n); done");
    env.commit_all();
}

fn calls(env: &Env, word: &str) -> usize {
    let calls = std::fs::read_to_string(env.root().join("calls")).expect("the calls");
    calls.lines().filter(|line| line.split(' ').any(|it| it == word)).count()
}

/// How often ralph looks in each further iteration.
fn looks_each(prepare: &dyn Fn(&Env)) -> usize {
    let turns = |count: usize| {
        let works = (1..count).map(|nth| vec![write("a", &nth.to_string()), say("Hm.")]);
        json!(works.chain([vec![write("a", "end"), done()]]).collect::<Vec<_>>())
    };
    let looks = [2, 6].map(|count| {
        let env = committing(&turns(count));
        prepare(&env);
        noting(&env);
        env.run(&[]).exits(0);
        assert_eq!(env.commits_made().iter().filter(|subject| *subject == "Work").count(), count);
        calls(&env, "status")
    });
    (looks[1] - looks[0]) / 4
}

#[test]
fn one_look_serves_a_turn_and_its_commit() {
    // One before the turn, one after it, and one after the agent was asked for a message.
    assert_eq!(looks_each(&|_| {}), 3);
}

#[test]
fn in_a_large_repository_one_look_serves_the_next_turn_too() {
    assert_eq!(looks_each(&enlarge), 2);
    for hook in ["post-commit", "post-index-change", "reference-transaction", "pre-commit"] {
        let with_hook = |env: &Env| {
            enlarge(env);
            env.sh(&format!("mkdir -p .git/hooks; cp /bin/true .git/hooks/{hook}"));
        };
        assert_eq!(looks_each(&with_hook), 3, "{hook}");
    }
}

#[test]
fn what_a_guardrail_writes_is_committed_with_the_turn() {
    let env = committing(&json!([[write("new.txt", "x"), say("Hm.")], [write("new.txt", "y"), done()]]));
    env.run(&["--guardrail", "cp new.txt formatted.txt"]).exits(0);
    assert_eq!(env.commits_made().len(), 3);
    assert_eq!(env.committed(), ["formatted.txt", "new.txt"]);
    assert_eq!(env.git(&["show", "HEAD:formatted.txt"]), "y");
}

#[test]
fn what_others_have_staged_is_left_alone() {
    let env = committing(&json!([[write("new.txt", "x"), say("Hm.")], [write("new.txt", "y"), done()]]));
    env.write("mine.txt", "mine\n");
    env.git(&["add", "mine.txt"]);
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made().len(), 3);
    assert_eq!(env.committed(), ["new.txt"]);
    assert_eq!(env.git(&["status", "--porcelain", "--", "*.txt"]), "A  mine.txt\n");
}

#[test]
fn the_index_of_a_large_repository_is_committed_where_nothing_else_can_be_in_it() {
    for (prepare, calls_with_only) in [
        ("", 0),
        // Others can stage something while it runs.
        ("printf '#!/bin/sh\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", 1),
        ("git config core.hooksPath hooks; mkdir hooks; cp /bin/true hooks/commit-msg", 1),
        ("git config hook.lint.event pre-commit; git config hook.lint.command true", 1),
        ("echo mine >mine.txt; git add mine.txt", 1),
    ] {
        let env = committing(&json!([[write("new.txt", "x"), done()]]));
        env.sh("mkdir -p .git/hooks");
        enlarge(&env);
        env.sh(prepare);
        noting(&env);
        env.run(&[]).exits(0);
        assert_eq!(env.committed(), ["new.txt"], "{prepare}");
        assert_eq!(calls(&env, "--only"), calls_with_only, "{prepare}");
    }
}

#[test]
fn what_others_stage_while_a_hook_runs_is_not_committed() {
    for is_large in [false, true] {
        let env = committing(&json!([[write("new.txt", "x"), done()]]));
        if is_large {
            enlarge(&env);
        }
        env.write("user.txt", "unfinished\n");
        // Another terminal, where git's own variables are not set.
        env.sh("mkdir -p .git/hooks; printf '#!/bin/sh\nenv -u GIT_INDEX_FILE git add user.txt\nexit 0\n' >.git/hooks/pre-commit");
        env.sh("chmod +x .git/hooks/pre-commit");
        env.run(&[]).exits(0);
        assert_eq!(env.committed(), ["new.txt"], "{is_large}");
    }
}

#[test]
fn what_is_left_of_a_commit_in_a_large_repository_is_as_another_look_finds_it() {
    let env = committing(&json!([
        [write("new.txt", "x"), shell("rm README.md; mkdir -p in; echo y >in/it"), say("Hm.")],
        [write("new.txt", "y"), say("Hm.")],
        [say("Hm.")],
        [done()]
    ]));
    enlarge(&env);
    // The user's, which no commit takes.
    env.write("mine.txt", "mine\n");
    env.run(&[]).exits(0);
    let tree = |event: &Value| event["tree"].clone();
    let (before, after) = (env.events("turn_started"), env.events("turn_ended"));
    let ended = before.iter().skip(3).zip(after.iter().skip(2));
    for (before, after) in ended {
        assert!(tree(before).is_object(), "{before}");
        assert_eq!(tree(before), tree(after));
    }
    // The third turn looked by what the second commit left, and the fourth after a turn that changed nothing.
    assert_eq!(tree(&before[2]), tree(&after[2]));
}

#[test]
fn what_a_hook_stages_and_leaves_is_seen_by_the_next_turn() {
    let env = committing(&json!([[write("new.txt", "x"), say("Hm.")], [say("Hm.")], [done()]]));
    let hook = env.path(".git/hooks/post-commit");
    std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    std::fs::write(&hook, "#!/bin/sh\ntest -e by-hook || echo x >by-hook\n").expect("a hook");
    env.sh("chmod +x .git/hooks/post-commit");
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made().len(), 3);
    assert_eq!(env.committed(), ["by-hook"]);
}

#[test]
fn what_a_hook_writes_after_each_commit_is_no_progress_of_the_agent() {
    let idle = [say("Hm.")];
    let env = committing(&json!([[write("new.txt", "x"), say("Hm.")], idle, idle, idle]));
    let hook = env.path(".git/hooks/post-commit");
    std::fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    std::fs::write(&hook, "#!/bin/sh\ngit rev-parse HEAD >by-hook\n").expect("a hook");
    env.sh("chmod +x .git/hooks/post-commit");
    env.run(&["--max-iterations", "4"]).exits(1);
    let tree = |event: &Value| event["tree"].clone();
    let (before, after) = (env.events("turn_started"), env.events("turn_ended"));
    for (before, after) in before.iter().zip(&after).skip(1) {
        assert!(tree(before).is_object(), "{before}");
        assert_eq!(tree(before), tree(after));
    }
}

#[test]
fn files_and_folders_that_take_each_others_place_are_committed() {
    let ends = ["", "; git add -A -- ':!.ralph'", "; git rm -q --cached README.md"];
    for (end, is_large) in ends.into_iter().flat_map(|end| [(end, false), (end, true)]) {
        let work = "rm -r folder; echo x >folder; rm plain; mkdir plain; echo y >plain/inner; rm README.md";
        let env = committing(&json!([[shell(&format!("{work}{end}")), done()]]));
        for name in ["folder/one", "folder/two", "plain"] {
            env.write(name, "text\n");
        }
        env.commit_all();
        if is_large {
            enlarge(&env);
        }
        env.run(&[]).exits(0);
        let mut committed = env.committed();
        committed.sort();
        assert_eq!(
            committed,
            ["README.md", "folder", "folder/one", "folder/two", "plain", "plain/inner"],
            "{end}"
        );
        assert_eq!(env.git(&["status", "--porcelain", "--", ":!.ralph"]), "", "{end}");
    }
}
