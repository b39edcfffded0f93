//! What an agent puts in the place of files that ralph reads and writes: links out of the project, pipes, devices.
//!
//! Nothing outside of the project changes, nothing waits, and nothing fills the memory.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use serde_json::json;

use crate::{
    env::{Env, done, say, shell},
    hook::{ask, recorded},
    stories::{approved, list, project, story, submitted},
};

/// A file and a folder outside of the project, which no one may touch.
struct Outside {
    file: PathBuf,
    folder: PathBuf,
}

impl Outside {
    fn of(env: &Env) -> Self {
        let (file, folder) = (env.root().join("home/.profile"), env.root().join("outside"));
        fs::write(&file, "export MINE=1\n").expect("a file");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("tasks.json"), list(&[approved("US-1", 1)])).expect("a file");
        Self { file, folder }
    }

    #[track_caller]
    fn is_untouched(&self) {
        assert_eq!(fs::read_to_string(&self.file).expect("the file"), "export MINE=1\n");
        let inside: Vec<_> = fs::read_dir(&self.folder).expect("the folder").flatten().collect();
        assert_eq!(inside.len(), 1, "{inside:?}");
        let list_in_it = fs::read_to_string(self.folder.join("tasks.json")).expect("the list");
        assert_eq!(list_in_it, list(&[approved("US-1", 1)]));
    }
}

#[test]
fn copies_of_prompts_and_logs_are_not_written_through_links() {
    let env = Env::new().guardrails(&["cat passes"]);
    let outside = Outside::of(&env);
    let link = format!(
        "for name in guardrail_001_cat_passes.log prompt_002.txt; do ln -s '{}' .ralph/$name; done",
        outside.file.display()
    );
    let env = env.turns(json!([[shell(&link), done()], [shell("echo yes >passes"), done()]]));
    env.run(&[]).exits(0);
    outside.is_untouched();
    assert!(
        env.read(".ralph/guardrail_001_cat_passes.log").contains("passes"),
        "the copy took the link's place"
    );
    assert!(env.read(".ralph/prompt_002.txt").contains("cat passes"));
}

#[test]
fn nothing_is_written_into_a_folder_that_became_a_link() {
    let env = Env::new().guardrails(&["cat passes"]);
    let outside = Outside::of(&env);
    let link = format!("mv .ralph kept; ln -s '{}' .ralph", outside.folder.display());
    let env = env.turns(json!([[shell(&link), done()], [shell("echo yes >passes"), done()]]));
    env.run(&[]).exits(0);
    outside.is_untouched();
}

#[test]
fn a_run_begins_where_the_folder_is_a_link_and_writes_nothing_through_it() {
    let env = Env::new().guardrails(&["true"]).turns(json!([[done()]]));
    let outside = Outside::of(&env);
    fs::rename(env.path(".ralph/settings.json"), env.root().join("settings.json")).expect("the settings");
    fs::remove_dir_all(env.path(".ralph")).expect("the folder");
    symlink(&outside.folder, env.path(".ralph")).expect("a link");
    let settings = env.root().join("settings.json").display().to_string();
    env.run(&["--config", &settings]).exits(0).says("ralph's files cannot be kept in .ralph");
    outside.is_untouched();
}

#[test]
fn the_list_of_what_git_ignores_is_not_written_through_links() {
    let env = Env::new().with_git().turns(json!([[done()]]));
    let outside = Outside::of(&env);
    fs::remove_file(env.path(".git/info/exclude")).expect("the list");
    symlink(&outside.file, env.path(".git/info/exclude")).expect("a link");
    env.run(&[]).exits(0);
    outside.is_untouched();
}

#[test]
fn a_session_log_is_not_written_through_links() {
    let env = Env::new().with_git().turns(json!([[say("Well.")]]));
    let outside = Outside::of(&env);
    symlink(&outside.folder, env.path(".ralph/logs")).expect("a link");
    env.write("prompt.md", "Do it.\n");
    env.ralph(&["prompt", "prompt.md"]).exits(0).says("there is no session log");
    outside.is_untouched();
}

#[test]
fn pipes_and_devices_in_the_place_of_settings_are_refused() {
    for odd in ["mkfifo .ralph/settings.json", "ln -s /dev/zero .ralph/settings.json"] {
        let env = Env::new();
        env.sh(&format!("rm .ralph/settings.json; {odd}")).exits(0);
        env.run(&[]).exits(2).says(".ralph/settings.json`: it is not a plain file");
        env.ralph(&["doctor"]);
    }
}

#[test]
fn pipes_and_devices_in_the_place_of_prompts_are_refused() {
    let env = Env::new();
    env.sh("mkfifo pipe; ln -s /dev/zero zeros").exits(0);
    for name in ["pipe", "zeros"] {
        env.ralph(&["run", "-f", name]).exits(2).says("it is not a plain file");
    }
}

#[test]
fn a_judge_waits_for_no_pipe() {
    for odd in [
        "mkfifo .worktreeinclude",
        "ln -s /dev/zero .worktreeinclude",
        "rm -f .git/info/exclude; ln -s /dev/zero .git/info/exclude",
    ] {
        let env = Env::new().with_git();
        env.write("a", "committed\n");
        env.commit_all();
        env.sh(odd).exits(0);
        env.ralph(&["judge", "--judge-only", "--guardrail", "cat a"]).exits(0);
    }
}

#[test]
fn a_stories_loop_puts_back_what_was_replaced() {
    for odd in [
        "rm ralph/tasks.json; mkfifo ralph/tasks.json",
        "rm ralph/tasks.json; ln -s /dev/zero ralph/tasks.json",
        "rm ralph/tasks.json; ln -s \"$OUTSIDE/tasks.json\" ralph/tasks.json",
        "rm ralph/prd.md; mkfifo ralph/prd.md",
        "rm ralph/prompt.md; ln -s /dev/zero ralph/prompt.md",
        "rm .ralph-active; mkfifo .ralph-active",
        "rm .ralph-active; ln -s \"$OUTSIDE/tasks.json\" .ralph-active",
        "rm -r ralph; ln -s \"$OUTSIDE\" ralph",
    ] {
        let env = project(&list(&[story("US-1")]));
        let outside = Outside::of(&env);
        let odd = format!("OUTSIDE='{}'; {odd}", outside.folder.display());
        let env = env.turns(json!([[shell(&odd), say("Well.")], [say("Well.")]]));
        env.ralph(&["stories", "-n", "1"]).exits(1);
        outside.is_untouched();
        for name in ["tasks.json", "prd.md", "prompt.md"] {
            let path = env.path("ralph").join(name);
            assert!(fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()), "{odd}: {name}");
        }
        assert!(!env.path("ralph").is_symlink(), "{odd}");
        assert!(env.read("ralph/tasks.json").contains("\"passes\": false"), "{odd}");
    }
}

#[test]
fn commands_for_stories_wait_for_no_pipe_and_follow_no_link() {
    let env = project(&list(&[submitted("US-1", 0)]));
    let outside = Outside::of(&env);
    env.sh("rm ralph/tasks.json; mkfifo ralph/tasks.json").exits(0);
    for command in ["list", "check", "archive"] {
        env.ralph(&["stories", command])
            .exits(2)
            .says("cannot read ralph/tasks.json: it is not a plain file");
    }
    fs::remove_dir_all(env.path("ralph")).expect("the folder");
    symlink(&outside.folder, env.path("ralph")).expect("a link");
    env.ralph(&["stories", "list"]).exits(2).says("cannot read ralph/tasks.json: a link is in its place");
    env.ralph(&["stories", "init", "--force"]).exits(2).says("cannot write ralph/");
    outside.is_untouched();

    let env = Env::new();
    env.sh("mkfifo .gitignore").exits(0);
    env.ralph(&["stories", "init"]).exits(2).says(".gitignore");
}

#[test]
fn hooks_wait_for_no_pipe() {
    let env = Env::new();
    env.sh("mkfifo .ralph-active transcript").exits(0);
    let mut input = recorded("claude-stop", "a");
    input["cwd"] = json!(env.project());
    input["transcript_path"] = json!(env.path("transcript"));
    for event in ["stop", "post-tool-use", "pre-tool-use"] {
        ask(&env, &[event, "--in-loop-only"], &input);
    }
    let mut input = recorded("claude-post-tool-use", "a");
    input["cwd"] = json!(env.project());
    input["transcript_path"] = json!(env.path("transcript"));
    ask(&env, &["post-tool-use"], &input);
    env.ralph(&["session", "start", "--session-id", "a", "--max-iterations", "3", "Work."]).exits(0);
    let mut input = recorded("claude-stop", "a");
    input["transcript_path"] = json!(env.path("transcript"));
    ask(&env, &["stop", "--in-loop-only"], &input);
}

#[test]
fn files_of_tasks_that_are_pipes_hold_no_one() {
    let env = Env::new();
    env.write(".ralph/tasks/t/TASK.md", "Do it.\n");
    env.sh("mkfifo .ralph/tasks/t/depends-on.json; mkdir -p .ralph/tasks/t/runs/x; mkfifo .ralph/tasks/t/runs/x/run.json")
        .exits(0);
    env.ralph(&["task", "list"]).exits(0).prints("t");
    env.sh("cd .ralph/tasks/t; rm -r runs; mkfifo runs").exits(0);
    env.ralph(&["task", "run", "--task", "t"]).exits(2).says("cannot register the run");
    env.sh("cd .ralph/tasks/t; rm runs TASK.md; mkfifo TASK.md").exits(0);
    env.ralph(&["task", "list"]).exits(0);
    env.ralph(&["task", "run", "--task", "t"]).exits(2).says("it is not a plain file");
}

#[test]
fn records_of_tasks_are_not_written_through_links() {
    let env = Env::new().turns(json!([[shell("touch \"$TASK_FOLDER/DONE\""), say("Well.")]]));
    let outside = Outside::of(&env);
    env.write(".ralph/tasks/t/TASK.md", "Do it.\n");
    symlink(&outside.folder, env.path(".ralph/tasks/t/runs")).expect("a link");
    env.ralph(&["task", "run", "--task", "t"]).exits(2).says("cannot register the run");
    outside.is_untouched();
    fs::remove_dir_all(env.path(".ralph/tasks")).expect("the tasks");
    symlink(&outside.folder, env.path(".ralph/tasks")).expect("a link");
    env.ralph(&["task", "run", "--task", "t", "-p", "Do it."]).exits(2).says("a link");
    env.ralph(&["bus", "post", "--body", "hello"]).exits(2).says("a link");
    outside.is_untouched();
}
