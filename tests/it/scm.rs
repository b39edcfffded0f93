//! What is committed, by which message, and what is left alone.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};

use crate::env::{Env, done, meet, poll, say, shell, touch, write};

/// A repository, commits, and an agent that writes a file and is asked for a message.
fn with_message(text: &Value) -> Env {
    Env::new()
        .with_git()
        .commits()
        .script(json!({"turns": [[write("new.txt", "new\n"), done()]], "text": text}))
}

#[track_caller]
fn check_message(answer: &str, expected: &str) {
    let env = with_message(&json!([[say(answer)]]));
    env.run(&[]).exits(0).says("Committed");
    assert_eq!(env.git(&["log", "-1", "--format=%B"]).trim_end(), expected);
    assert_eq!(env.committed(), ["new.txt"]);
    assert!(!env.path("x").exists(), "the message was run");
}

fn hook(env: &Env, name: &str, script: &str) {
    let path = env.path(".git/hooks").join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a hook");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a hook");
}

/// The text of the answer when the agent is asked for a message.
fn text(message: &str) -> Value {
    json!([[say(message)]])
}

#[test]
fn the_agent_words_the_message() {
    check_message("Add a file\n", "Add a file");
    check_message("\n\n  Add a file  \nand more\n", "Add a file");
    check_message("Here it is:\n<response>Add a file</response>\n", "Add a file");
    check_message("<RESPONSE>\nAdd a file\n\nBecause.\n</RESPONSE>", "Add a file\n\nBecause.");
    check_message(
        "Add $(touch x) `touch x` \"and\" 'more'; touch x\n",
        "Add $(touch x) `touch x` \"and\" 'more'; touch x",
    );
    check_message("--amend\n", "--amend");
}

#[test]
fn the_question_is_asked_word_for_word() {
    let env = with_message(&text("Add a file"));
    env.run(&[]).exits(0);
    let question =
        "Provide a short imperative commit message for the changes. Output only the message, no explanation.";
    assert_eq!(env.questions(), [question]);
    assert_eq!(env.prompts(), ["Do it."]);
}

#[test]
fn without_a_message_the_task_words_it() {
    let json_line = json!({"type": "assistant", "message": {"content": []}}).to_string();
    for answer in [
        json!([]),
        json!([{"print": "\n \n"}]),
        json!([{"print": json_line}]),
        json!([say("No."), {"exit": 1}]),
        json!([say("<response></response>")]),
        json!([say("```\nAdd a file\n```")]),
        json!([say("<response>```\nAdd a file\n```</response>")]),
        json!([say("\u{1b}[31mAdd a file\u{1b}[0m")]),
        json!([say("Add\0 a file")]),
        json!([{"result": {"is_error": true, "subtype": "error_during_execution", "result": "Broken"}}]),
    ] {
        let env = with_message(&json!([answer]));
        env.run(&[]).exits(0);
        assert_eq!(env.commits_made(), ["run: iteration 1 - Do it.", "first"], "{answer}");
        assert_eq!(env.questions().len(), 2, "{answer}");
    }
    let env = with_message(&json!([[], [say("Second thought")]]));
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made()[0], "Second thought");
}

#[test]
fn a_plain_program_words_the_message() {
    let script = "if grep -q 'commit message'; then echo; echo 'Add a file'; else echo x >new.txt; \
                  echo '<response>DONE</response>'; fi";
    let env = Env::new().with_git().commits().agent("plain", script);
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made()[0], "Add a file");
}

#[test]
fn the_turn_for_a_message_is_metered() {
    let used =
        json!({"result": {"total_cost_usd": 0.25, "usage": {"input_tokens": 300, "output_tokens": 40}}});
    let asked = json!([[say("Add a file"), used]]);
    let env = with_message(&asked);
    env.run(&[]).exits(0);
    assert_eq!(env.events("message_asked")[0]["usage"]["output"], 40);
    let status: Value = serde_json::from_str(&env.ralph(&["status", "--json"]).stdout).expect("JSON");
    assert!(status.to_string().contains("0.25"), "{status}");
    let page = env.path("report.html");
    env.ralph(&["report", "--file", &page.to_string_lossy()]).exits(0);
    assert!(env.read("report.html").matches("$0.25").count() >= 2, "the sum and the turn");

    // No one said that the work is done, and the message has used up the budget.
    let turns = json!([[shell("echo x >>new.txt"), say("Hm.")]]);
    for flags in [["--max-cost", "0.2"], ["--max-tokens", "340"]] {
        let env = Env::new().with_git().commits().script(json!({"turns": turns, "text": asked}));
        env.run(&flags).exits(1);
        assert_eq!((env.prompts().len(), env.questions().len()), (1, 1), "{flags:?}");
    }
    // A budget that the work has used up has nothing left for a question.
    let turns = json!([[shell("echo x >>new.txt"), say("Hm."), used]]);
    let env = Env::new().with_git().commits().script(json!({"turns": turns, "text": asked}));
    env.run(&["--max-cost", "0.25"]).exits(1);
    assert_eq!(env.commits_made()[0], "run: iteration 1 - Do it.");
    assert_eq!(env.questions().len(), 0);
}

#[test]
fn every_kind_of_change_is_committed() {
    let env = Env::new().with_git().commits();
    for name in ["deleted", "edited", "removed", "renamed", "made executable", "folder/file"] {
        env.write(name, "text\n");
    }
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "-m", "more"]);
    let work = r"rm deleted; echo more >>edited; git rm -q removed; git mv renamed moved
        chmod +x 'made executable'; rm -r folder; echo x >folder
        echo x >passing; git add passing; rm passing
        mkdir -p deep/er; echo x >deep/er/new; ln -s new deep/er/link";
    let env = env.script(json!({"turns": [[shell(work), done()]], "text": text("All")}));
    env.run(&[]).exits(0);
    let mut committed = env.committed();
    committed.sort();
    let expected = [
        "deep/er/link",
        "deep/er/new",
        "deleted",
        "edited",
        "folder",
        "folder/file",
        "made executable",
        "moved",
        "removed",
        "renamed",
    ];
    assert_eq!(committed, expected);
    assert_eq!(env.git(&["status", "--porcelain"]), "AD passing\n");
}

#[test]
fn names_are_taken_literally() {
    let env = Env::new().with_git().commits();
    let names: [&[u8]; 8] = [
        b"with space",
        b"new\nline",
        b"-dash",
        b"--",
        b"*",
        b":(top)magic",
        b"tab\t\"quote\"",
        b"raw\xff\xfe",
    ];
    let script: Vec<String> = names
        .iter()
        .map(|name| {
            let octal = name.iter().fold(String::new(), |octal, byte| octal + &format!("\\{byte:03o}"));
            // A final dot keeps a newline at the end of a name.
            format!("n=$(printf '{octal}.'); echo x >\"./${{n%.}}\"")
        })
        .collect();
    let env = env.script(json!({"turns": [[shell(&script.join("\n")), done()]], "text": text("Odd names")}));
    // Untracked before and not touched: must not match the pattern `*`.
    env.write("mine.txt", "mine\n");
    env.run(&[]).exits(0);
    let listed =
        env.command("git").args(["show", "--format=", "--name-only", "-z"]).output().expect("git").stdout;
    let mut committed: Vec<&[u8]> = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    committed.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(committed, expected);
    assert!(env.path("").join(OsStr::from_bytes(b"raw\xff\xfe")).exists());
    assert_eq!(env.git(&["status", "--porcelain"]), "?? .ralph/\n?? mine.txt\n");
}

#[test]
fn what_was_dirty_before_stays_out() {
    let env = Env::new().with_git().commits();
    for name in ["edited", "staged", "both"] {
        env.write(name, "old\n");
    }
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "-m", "more"]);
    for name in ["edited", "staged", "both", "untracked", "added"] {
        env.write(name, "by the user\n");
    }
    env.git(&["add", "staged", "added"]);
    let work = "echo new >new.txt; echo more >>both";
    let env = env.script(json!({"turns": [[shell(work), done()]], "text": text("Work")}));
    env.run(&[]).exits(0);
    assert_eq!(env.committed(), ["both", "new.txt"]);
    let status = env.git(&["status", "--porcelain"]);
    assert_eq!(status, "A  added\n M edited\nM  staged\n?? untracked\n");
    assert_eq!(env.read("edited"), "by the user\n");
}

#[test]
fn a_file_that_the_agent_took_further_is_committed() {
    let env = Env::new().with_git().commits();
    env.write("notes.txt", "by the user\n");
    let env = env
        .script(json!({"turns": [[shell("echo by the agent >>notes.txt"), done()]], "text": text("Notes")}));
    env.run(&[]).exits(0);
    assert_eq!(env.committed(), ["notes.txt"]);
}

#[test]
fn every_iteration_is_committed() {
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[write("a", "1"), say("Hm.")], [write("b", "1"), say("Hm.")], [write("a", "2"), done()]],
        "text": [[say("One")], [say("Two")], [say("Three")]],
    }));
    env.run(&[]).exits(0).prints("3 commits");
    assert_eq!(env.commits_made(), ["Three", "Two", "One", "first"]);
}

#[test]
fn failed_guardrails_commit_nothing() {
    let env = Env::new().with_git().commits().guardrails(&["test -e fixed"]).script(json!({
        "turns": [[write("a", "1"), done()], [write("fixed", "1"), done()]],
        "text": text("Both"),
    }));
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made(), ["Both", "first"]);
    assert_eq!(env.committed(), ["a", "fixed"]);
}

#[test]
fn an_agent_may_commit_itself() {
    let work = "echo x >own.txt; git add own.txt; git commit --quiet -m 'My own'";
    let env =
        Env::new().with_git().commits().script(json!({"turns": [[shell(work), done()]], "text": text("No")}));
    env.run(&[]).exits(0).says("had committed its work itself");
    assert_eq!(env.commits_made(), ["My own", "first"]);
    assert!(env.questions().is_empty());
    assert_eq!(env.events("commit_ended")[0]["result"], "already");
}

#[test]
fn nothing_changed_is_no_commit() {
    let env = Env::new().with_git().commits().script(json!({"turns": [[done()]], "text": text("No")}));
    env.run(&[]).exits(0).says("Nothing to commit");
    assert_eq!(env.commits_made(), ["first"]);
    assert!(env.questions().is_empty());
}

#[test]
fn a_refusing_hook_is_told_to_the_agent() {
    let env = with_message(&text("Add a file"));
    hook(&env, "pre-commit", "echo 'the hook says no' >&2; exit 1");
    env.run(&["--retries", "1"]).exits(5).says("The commit failed").prints("could not be committed");
    let prompts = env.prompts();
    assert_eq!(prompts.len(), 2);
    assert_eq!(
        prompts[1],
        "Do it.\n\nThe work passed its guardrails but could not be committed:\nthe hook says no"
    );
    assert_eq!(env.commits_made(), ["first"]);

    // Mended by the agent: committed.
    hook(&env, "pre-commit", "test -e .git/mended");
    let env = env.script(
        json!({"turns": [[done()], [done()], [shell("touch .git/mended"), done()]], "text": text("Mend")}),
    );
    env.write("work.txt", "by the user");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.commits_made(), ["Mend", "first"]);
}

#[test]
fn commits_are_pushed() {
    let env = with_message(&text("Add a file")).settings(json!({"scm": {"tasks": ["commit", "push"]}}));
    let remote = env.root().join("remote.git");
    env.git(&["init", "--quiet", "--bare", "--initial-branch=main", &remote.display().to_string()]);
    env.git(&["remote", "add", "origin", &remote.display().to_string()]);
    env.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    env.run(&[]).exits(0);
    assert_eq!(env.git_in(&remote, &["log", "--format=%s", "main"]), "Add a file\nfirst\n");
}

#[test]
fn a_failing_push_warns() {
    let env = with_message(&text("Add a file")).settings(json!({"scm": {"tasks": ["commit", "push"]}}));
    env.git(&["remote", "add", "origin", "/nowhere/at/all.git"]);
    env.git(&["config", "push.autoSetupRemote", "true"]);
    env.run(&[]).exits(0).says("warning: git push failed:");
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
}

#[test]
fn a_push_needs_a_commit() {
    let env = Env::new()
        .with_git()
        .settings(json!({"scm": {"command": "git", "tasks": ["commit", "push"]}}))
        .script(json!({"turns": [[done()]]}));
    env.run(&[]).exits(0).says_not("push failed");
}

#[test]
fn files_of_ralph_are_never_committed() {
    let careless = "rm -f .ralph/.gitignore; rm -rf .git/info; echo x >new.txt";
    let env = Env::new()
        .with_git()
        .commits()
        .guardrails(&["echo some output"])
        .script(json!({"turns": [[shell(careless), say("Hm.")], [shell("echo y >new.txt; rm -f .ralph/.gitignore"), done()]], "text": text("Work")}));
    env.run(&[]).exits(0);
    assert_eq!(env.git(&["ls-files"]), "README.md\nnew.txt\n");
    assert!(env.path(".ralph/guardrail_001_echo_some_output.log").exists());
}

#[test]
fn files_of_ralph_do_not_show_in_git() {
    let env = with_message(&text("Add a file")).guardrails(&["echo some output"]);
    env.run(&[]).exits(0);
    assert_eq!(env.git(&["status", "--porcelain", "-uall"]), "?? .ralph/settings.json\n");
}

#[test]
fn commits_need_a_repository() {
    let env = Env::new().commits().turns(json!([[done()]]));
    env.run(&[]).exits(2).says("is not in a git repository").says("git init");
    assert!(env.prompts().is_empty() && env.runs().is_empty());
}

#[test]
fn commits_need_a_name() {
    let env = Env::new().commits().turns(json!([[done()]]));
    env.git(&["init", "--quiet"]);
    env.git(&["config", "user.useConfigOnly", "true"]);
    env.run(&[]).exits(2).says("git does not know who you are").says("git config user.name");
    assert!(env.prompts().is_empty() && env.runs().is_empty());
}

#[test]
fn a_project_may_be_a_part_of_a_repository() {
    let env = Env::new().with_git().commits();
    let part = env.path("part/of it");
    let env = env.project_at(part);
    let work = "echo x >inside.txt; echo x >../outside.txt";
    let env = env.script(json!({"turns": [[shell(work), done()]], "text": text("Both")}));
    env.run(&[]).exits(0);
    assert_eq!(env.committed(), ["part/of it/inside.txt", "part/outside.txt"]);
    assert_eq!(
        env.git(&["ls-files", "--full-name", ":/"]),
        "README.md\npart/of it/inside.txt\npart/outside.txt\n"
    );
}

#[test]
fn a_worktree_is_a_tree_of_its_own() {
    let env = Env::new().with_git().commits();
    let second = env.root().join("second");
    env.git(&["worktree", "add", "--quiet", "-b", "side", &second.display().to_string()]);
    let main = env.project().to_owned();
    let env = env.project_at(second);
    let env = env.script(json!({"turns": [[write("new.txt", "x"), done()]], "text": text("On the side")}));
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made(), ["On the side", "first"]);
    assert_eq!(env.git_in(&main, &["log", "--format=%s", "main"]), "first\n");
    assert_eq!(env.git(&["status", "--porcelain", "-uall"]), "?? .ralph/settings.json\n");
}

#[test]
fn the_first_commit_of_a_repository() {
    let env = Env::new().with_empty_git().commits();
    env.write("mine.txt", "mine\n");
    let env = env.script(json!({"turns": [[write("new.txt", "x"), done()]], "text": text("Begin")}));
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made(), ["Begin"]);
    assert_eq!(env.committed(), ["new.txt"]);
}

#[test]
fn a_detached_head_is_committed_to() {
    let env = with_message(&text("Add a file"));
    env.git(&["checkout", "--quiet", "--detach"]);
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
    assert_eq!(env.git(&["log", "--format=%s", "main"]), "first\n");
}

/// Kills ralph while a hook of the commit runs, and resumes.
#[track_caller]
fn check_killed_in(name: &str) {
    let env = with_message(&text("Add a file"));
    hook(&env, name, "test -e .git/go || { touch .git/began; sleep 320; }");
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file(".git/began");
    ralph.kill_9();
    env.nothing_left();
    assert!(env.events("commit_ended").is_empty());
    touch(&env.path(".git/go"));
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
    assert_eq!(env.committed(), ["new.txt"]);
    assert_eq!(env.prompts().len(), 1, "the turn was repeated");
    let ends: Vec<Value> = env.events("commit_ended").iter().map(|event| event["result"].clone()).collect();
    assert_eq!(ends.last(), Some(&json!("made")), "{ends:?}");
}

#[test]
fn killed_before_the_commit_it_is_made_once() {
    check_killed_in("pre-commit");
}

#[test]
fn killed_after_the_commit_it_is_not_made_again() {
    check_killed_in("post-commit");
}

#[test]
fn a_stale_lock_of_git_is_a_failed_commit() {
    let env = with_message(&text("Add a file"));
    touch(&env.path(".git/index.lock"));
    env.run(&["--retries", "0"]).exits(5).says("index.lock");
    assert!(env.path(".git/index.lock").exists(), "someone else's lock was removed");
}

#[test]
fn another_scm_may_be_named() {
    let env = Env::new()
        .turns(json!([[done()]]))
        .settings(json!({"scm": {"command": "svnish", "tasks": ["update", "commit"]}}));
    env.program("svnish", "printf '%s|' \"$@\" >>calls; echo >>calls; test \"$1\" != status || echo M x");
    let env = env.script(json!({"turns": [[done()]], "text": text("It's \"done\"")}));
    env.run(&[]).exits(0);
    assert_eq!(env.read("calls"), "update|\nstatus|\ncommit|-m|It's \"done\"|\n");
}

#[test]
fn a_merge_is_committed_whole() {
    let env = Env::new().with_git().commits();
    env.write("README.md", "one\n");
    env.git(&["commit", "--quiet", "-am", "one"]);
    env.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    env.write("README.md", "two\n");
    env.git(&["commit", "--quiet", "-am", "two"]);
    let work = "git merge main || true; echo both >README.md; git add README.md";
    let env = env.script(json!({"turns": [[shell(work), done()]], "text": text("Merge it")}));
    env.run(&[]).exits(0);
    assert_eq!(env.git(&["log", "-1", "--format=%s %p"]).split_whitespace().count(), 4, "not a merge");
    assert!(!Path::new(&env.path(".git/MERGE_HEAD")).exists());
}

#[test]
fn a_removal_alone_is_committed() {
    for remove in ["rm README.md", "git rm -q README.md"] {
        let env = Env::new().with_git().commits();
        env.write("mine.txt", "mine\n");
        let env = env.script(json!({"turns": [[shell(remove), done()]], "text": text("Remove it")}));
        env.run(&[]).exits(0);
        assert_eq!(env.commits_made(), ["Remove it", "first"]);
        assert_eq!(env.committed(), ["README.md"]);
    }
}

#[test]
fn the_record_of_a_commit_comes_before_it() {
    let env = with_message(&text("Add a file"));
    hook(
        &env,
        "pre-commit",
        "test -e .git/go || { touch .git/began; while ! test -e .git/go; do sleep 0.01; done; }",
    );
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file(".git/began");
    let started = poll("the record", || env.events("commit_started").pop());
    assert_eq!(started["message"], "Add a file");
    assert_eq!(started["head"], env.git(&["rev-parse", "HEAD"]).trim());
    touch(&env.path(".git/go"));
    ralph.wait().exits(0);
}

#[test]
fn a_message_cannot_break_the_call_of_git() {
    let env = with_message(&json!([[{"bytes": b"Add\0 a \x1b[31mfile\x07\r\n"}]]));
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made(), ["run: iteration 1 - Do it.", "first"]);
}

#[test]
fn a_lost_record_loses_no_commit() {
    let careless = "rm -rf \"$RALPH_STATE_DIR\" .ralph; echo x >new.txt";
    let env = Env::new()
        .with_git()
        .commits()
        .guardrails(&["echo fine"])
        .script(json!({"turns": [[shell(careless), done()]], "text": text("Work")}));
    env.run(&[]).exits(0);
    assert_eq!(env.commits_made(), ["Work", "first"]);
    assert_eq!(env.committed(), ["new.txt"]);
    env.nothing_left();
}

#[test]
fn names_that_look_alike_are_told_apart() {
    let env = Env::new().with_git().commits();
    for (name, contents) in [(b"a\xff", "one"), (b"a\xfe", "two"), (b"a\xfd", "three")] {
        fs::write(env.project().join(OsStr::from_bytes(name)), contents).expect("a file");
    }
    let env = env.script(json!({"turns": [[write("new.txt", "x"), done()]], "text": text("Work")}));
    env.run(&[]).exits(0);
    assert_eq!(env.committed(), ["new.txt"]);
}

#[test]
fn removals_by_the_user_stay_out() {
    let env = Env::new().with_git().commits();
    for name in ["deleted", "removed", "cached"] {
        env.write(name, name);
    }
    env.git(&["add", "deleted", "removed", "cached"]);
    env.git(&["commit", "--quiet", "-m", "more"]);
    fs::remove_file(env.path("deleted")).expect("a file");
    env.git(&["rm", "--quiet", "removed"]);
    env.git(&["rm", "--quiet", "--cached", "cached"]);
    let before = env.git(&["status", "--porcelain", "-uall"]);
    let env = env.script(json!({"turns": [[write("new.txt", "x"), done()]], "text": text("Work")}));
    env.run(&[]).exits(0);
    assert_eq!(env.committed(), ["new.txt"]);
    assert_eq!(env.git(&["status", "--porcelain", "-uall"]), before);
}

#[test]
fn a_project_may_have_any_name() {
    let env = Env::new();
    let project = env.root().join("it's \"my\" *project* $HOME\nü");
    let env = env.project_at(project).with_git().commits();
    let env = env
        .guardrails(&["test -e new.txt"])
        .script(json!({"turns": [[write("new.txt", "x"), done()]], "text": text("Work")}));
    env.run(&[]).exits(0);
    assert_eq!(env.committed(), ["new.txt"]);
    env.ralph(&["status"]).exits(0).prints("complete");
}

#[test]
fn a_folder_of_the_tree_is_not_a_tree_of_its_own() {
    let env = Env::new().with_git().commits();
    let [here, go] = meet("here");
    let env = env.script(json!({"turns": [[here, go, done()]], "text": text("Nothing")}));
    let first = env.start(&["run", "-p", "x"]);
    env.await_file("here");
    let sub = env.path("sub");
    std::fs::create_dir_all(sub.join(".ralph")).expect("a folder");
    let settings = std::fs::read(env.path(".ralph/settings.json")).expect("settings");
    std::fs::write(sub.join(".ralph/settings.json"), settings).expect("settings");
    let refused = env.ralph(&["-C", &sub.display().to_string(), "run", "-p", "x"]).exits(2);
    refused.says("another loop is working in this tree").says(&first.pid().to_string());
    touch(&env.path("here.go"));
    first.wait().exits(0);
}

#[test]
fn a_worktree_hides_ralphs_files_too() {
    let env = Env::new().with_git().commits();
    let second = env.root().join("second");
    env.git(&["worktree", "add", "--quiet", "-b", "side", &second.display().to_string()]);
    let env = env.project_at(second);
    let env = env.script(json!({
        "turns": [[shell("rm .ralph/.gitignore"), write("new.txt", "x"), done()]], "text": text("On the side"),
    }));
    env.run(&[]).exits(0);
    assert_eq!(env.git(&["status", "--porcelain", "-uall"]), "?? .ralph/settings.json\n");
}

#[test]
fn what_is_committed_is_what_passed_the_gates() {
    let env = Env::new().with_git().commits().guardrails(&["grep -q good made.txt"]);
    // The agent uses the question for a message to change what was checked.
    let env = env.script(json!({
        "turns": [[write("made.txt", "good"), done()], [write("made.txt", "good again"), done()]],
        "text": [[write("made.txt", "BROKEN"), write("evil.txt", "evil"), say("Make the thing")]],
    }));
    let output = env.run(&[]).exits(0);
    output.says("files changed while the agent was asked for a commit message");
    assert_eq!(env.git(&["show", "HEAD:made.txt"]), "good again");
    assert_eq!(env.questions().len(), 1, "it is not asked again");
    let checked: Vec<bool> = env.events("gate_ended").iter().map(|gate| gate["failure"].is_null()).collect();
    assert_eq!(checked, [true, false, true]);
}

#[test]
fn a_commit_of_the_agents_own_while_it_is_asked_for_a_message_is_noticed() {
    let env = Env::new().with_git().commits().guardrails(&["test -e made.txt"]);
    // The files are the same as before, but the commit that they were checked against is not the last one any more.
    let sneaky = "git commit --quiet --allow-empty -m sneaky";
    let env = env.script(json!({
        "turns": [[write("made.txt", "x"), done()]],
        "text": [[shell(sneaky), say("Make the thing")]],
    }));
    let output = env.run(&[]).exits(0);
    output.says("files changed while the agent was asked for a commit message");
    assert_eq!(env.questions().len(), 1, "it is not asked again");
    assert_eq!(env.events("gate_ended").len(), 2, "the gates run again");
    assert_eq!(env.git(&["log", "--format=%s", "-2", "--skip=1"]), "sneaky\nfirst\n");
    assert_eq!(env.committed(), ["made.txt"]);
}

#[test]
fn mistakes_in_the_tasks_are_found_before_the_first_turn() {
    let env = Env::new().with_git().turns(json!([[done()]]));
    let env = env.settings(json!({"scm": {"command": "git", "tasks": ["comit"]}}));
    env.run(&[]).exits(2).says("git has no command `comit`").says("did you mean `commit`?");
    let env = env.settings(json!({"scm": {"command": "no-such-scm", "tasks": ["commit"]}}));
    env.run(&[]).exits(2).says("cannot find `no-such-scm`");
    assert!(env.runs().is_empty() && env.prompts().is_empty());
}

#[test]
fn what_changed_between_a_stop_and_a_resume_goes_through_every_gate() {
    let env = Env::new().with_git().commits();
    let slow = "touch ../began; while ! test -e ../go; do sleep 0.01; done";
    let env = env.guardrails(&["grep -q good made.txt", slow]);
    let turns = json!([[write("made.txt", "good"), done()], [write("made.txt", "good again"), done()]]);
    let env = env.script(json!({"turns": turns, "text": text("Make the thing")}));
    let ralph = env.start(&["run", "-p", "x", "--no-baseline"]);
    env.await_file("../began");
    env.ralph(&["stop"]).exits(0);
    ralph.await_saying("Received signal");
    touch(&env.path("../go"));
    ralph.wait().exits(130);
    // The first gate had passed; now it would not.
    env.write("made.txt", "BROKEN");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.git(&["show", "HEAD:made.txt"]), "good again");
    assert_eq!(env.prompts().len(), 2);
}

#[test]
fn what_the_user_excludes_stays_excluded() {
    let env = with_message(&text("Add a file"));
    let exclude = env.path(".git/info/exclude");
    fs::write(&exclude, b"caf\xe9\nsecret.env").expect("a file");
    env.write("secret.env", "KEY=1");
    env.run(&[]).exits(0);
    let now = fs::read(&exclude).expect("a file");
    assert!(now.starts_with(b"caf\xe9\nsecret.env\n"), "{}", String::from_utf8_lossy(&now));
    assert_eq!(env.committed(), ["new.txt"]);
}

#[test]
fn a_commit_that_was_cut_off_is_judged_again() {
    let env = Env::new().with_git().commits().guardrails(&["grep -q good made.txt"]);
    let turns = json!([[write("made.txt", "good"), done()], [write("made.txt", "good again"), done()]]);
    let env = env.script(json!({"turns": turns, "text": text("Make the thing")}));
    hook(&env, "pre-commit", "test -e .git/go || { touch .git/began; sleep 323; }");
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file(".git/began");
    ralph.kill_9();
    env.nothing_left();
    touch(&env.path(".git/go"));
    // The gate had passed; now it would not.
    env.write("made.txt", "BROKEN");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.git(&["show", "HEAD:made.txt"]), "good again");
}

#[test]
fn a_look_at_a_repository_runs_nothing_that_it_names() {
    let env =
        Env::new().with_git().turns(json!([[shell("echo more >>first.txt; touch second.txt"), done()]]));
    env.write("first.txt", "first\n");
    env.write("second.txt", "second\n");
    env.write(".gitattributes", "* diff=x\n");
    env.commit_all();
    let ran = env.root().join("ran");
    env.program("planted", &format!("echo \"$0 $*\" >>{}; cat", ran.display()));
    for name in ["post-index-change", "post-checkout", "reference-transaction"] {
        hook(&env, name, "planted hook </dev/null");
    }
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.askPass",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "gpg.program",
        "core.sshCommand",
        "credential.helper",
    ] {
        env.git(&["config", setting, "planted"]);
    }
    env.git(&["config", "log.showSignature", "true"]);
    // Git itself ran some of them in the calls above.
    let _ = fs::remove_file(&ran);
    let env = env.settings(json!({"limits": {"stuckAfter": 3}}));
    env.run(&[]).exits(0);
    env.ralph(&["report"]).exits(0);
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap_or_default());
}
