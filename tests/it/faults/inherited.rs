//! What a parent may leave to ralph: signals that are ignored, files that may not grow, closed streams, an odd mask.

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

#[test]
fn a_record_that_may_not_grow_is_said_and_ends_nothing() {
    let (env, output) = after("ulimit -f 4");
    output.exits(0).says("the record of the run cannot be written");
    assert_eq!(env.commits_made().len(), 2);
    env.nothing_left();
}
