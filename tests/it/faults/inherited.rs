//! What a parent may leave to ralph: signals that are ignored, files that may not grow, closed streams, an odd mask.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::env::{Env, Output, RALPH, done, write};

/// Runs ralph in a shell that has done this before.
fn after(setup: &str) -> (Env, Output) {
    let env = Env::new().with_git().commits().guardrails(&["test -e work.txt"]);
    let env = env.turns(json!([[write("work.txt", "1"), done()]]));
    let line = format!("{setup}; exec '{RALPH}' run -p x");
    let output = env.start_command(env.command("bash").args(["-c", &line])).wait();
    (env, output)
}

#[test]
fn work_is_done_whatever_was_inherited() {
    for setup in [
        "trap '' CHLD",
        "umask 777",
        "exec <&-",
        "exec >&-",
        "exec 2>&-",
        "exec <&- >&- 2>&-",
        "trap '' CHLD PIPE USR1 XFSZ",
    ] {
        let (env, output) = after(setup);
        assert_eq!(output.code, Some(0), "{setup}: {}", output.stderr);
        assert_eq!(env.commits_made().len(), 2, "{setup}");
        env.ralph(&["status"]).exits(0).prints("complete");
        env.nothing_left();
    }
}

/// Files and folders below this one that their owner may not use; a superuser would not notice.
fn closed_to_owner(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| {
            let it = path.symlink_metadata().expect("a file");
            let wanted = if it.is_dir() { 0o700 } else { 0o400 };
            let below = if it.is_dir() { closed_to_owner(&path) } else { Vec::new() };
            let own = (it.mode() & wanted != wanted).then_some(path);
            own.into_iter().chain(below)
        })
        .collect()
}

#[test]
fn what_a_run_makes_is_open_to_its_owner_whatever_the_mask_says() {
    for mask in ["777", "700", "277"] {
        let (env, output) = after(&format!("umask {mask}"));
        output.exits(0);
        for folder in [env.root().join("state"), env.path(".ralph"), env.path(".git")] {
            assert_eq!(closed_to_owner(&folder), Vec::<PathBuf>::new(), "umask {mask}");
        }
        assert_eq!(env.read("work.txt"), "1");
    }
}

#[test]
fn a_record_that_may_not_grow_is_said_and_ends_nothing() {
    let (env, output) = after("ulimit -f 4");
    output.exits(0).says("the record of the run cannot be written");
    assert_eq!(env.commits_made().len(), 2);
    env.nothing_left();
}
