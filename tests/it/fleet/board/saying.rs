//! What a person says to a run of a worker, and what its agent prints there.

use std::{fs, path::Path};

use ralph_board::{Board, Key, Login};
use ralph_core::fleet::{ItemStep, Stored};

use super::{
    Field,
    following::{far_run, id_of},
    go, record,
};
use crate::{
    env::poll,
    fleet::{
        limits::{priced, priced_agent},
        status,
    },
    stories::story,
};

#[test]
fn a_note_reaches_the_next_turn_on_another_machine_and_only_a_signed_one() {
    // Two turns: what is said in the first is read in the second.
    let work = "printf '%s\\n<end>\\n' \"$prompt\" >>\"$FLEET_RECORD.prompts\"\n\
                if test -e half.txt; then echo 2 >>half.txt; else echo $$ >\"$FLEET_RECORD.A.$WHO\"\n\
                until test -e \"$FLEET_RECORD.A.go\"; do sleep 0.02; done\nlater=1; echo 1 >half.txt; fi\n";
    let env = priced(&[(story("A"), work)], "0.1");
    let Some(field) = Field::of(env, "sh check.sh", 1, ("claude", &priced_agent("0.1"))) else { return };
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    poll("the agent", || record(&field.env, "A.w1").exists().then_some(()));
    let env = &field.env;
    let (run, id) = (id_of(&far_run(env, "w1")), status(env)["fleet"].as_str().expect("an id").to_owned());
    // Words that the lander's key has not signed.
    let login = Login::anonymous("test".parse().expect("a name"));
    let board = Board::connect(&field.url().parse().expect("an address"), &login).expect("a board");
    for logs in [board.ledger(&id), board.ledger(&id).signing(std::sync::Arc::new(Key::generate()))] {
        let said = ItemStep::Said { text: "Forged words.".to_owned(), keep: false, now: false };
        let last = logs.item("A").expect("a log").last;
        let stored = logs.append_with("A", "lander", &said, None, last).expect("an answer");
        assert!(matches!(stored, Stored::At(_)), "{stored:?}");
    }
    worker
        .await_saying("does not pass on a note for A: the lander that this worker trusts has not signed it");
    env.ralph(&["say", &run, "Use tabs."])
        .exits(0)
        .prints(&format!("note 1 for run {run} on w1: the next turn reads it"));
    worker.await_saying("passes a note on to the run of A");
    env.ralph(&["say", "w1", "--keep", "And spaces."])
        .exits(0)
        .prints("note 2 for run")
        .prints("every turn from the next on");
    env.ralph(&["say", &id, "All of you."]).exits(0).prints("note 3 for run");
    // A key goes no further than this machine.
    let key = format!("ghp_{}", "a1B2c3".repeat(6));
    env.ralph(&["say", &run, &format!("Try {key}.")]).exits(0).prints("note 4 for run");
    assert_eq!(files_with(field.server.dir.path(), &key), [""; 0]);
    env.ralph(&["say", &run, "--list"])
        .exits(0)
        .prints("Use tabs.")
        .prints("And spaces.")
        .prints_not("Forged");
    env.ralph(&["say", &run, "--withdraw", "1"]).exits(2).says("is on the machine of worker w1");
    go(env, "A");
    field.finishes(fleet, 1);
    let prompts = fs::read_to_string(record(env, "prompts")).expect("prompts");
    let prompts: Vec<&str> = prompts.split("<end>").collect();
    for text in ["Use tabs.", "And spaces.", "All of you."] {
        assert!(!prompts[0].contains(text) && prompts[1].contains(text), "{text} {prompts:?}");
    }
    assert!(!prompts.concat().contains("Forged"), "{prompts:?}");
    env.ralph(&["say", &id, "Too late."]).exits(2).says("no lane of fleet");
    // Its record may have arrived to its end, or not.
    let refused = env.ralph(&["say", &run, "Too late."]).exits(2).stderr;
    assert!(
        refused.contains("no worker is at A") || refused.contains(&format!("run {run} is over")),
        "{refused}"
    );
    field.ends(1, worker);
    env.nothing_left();
}

/// The files below a folder that have this text in them.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_with(&path, text)),
            Ok(kind) if kind.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_key_that_an_agent_prints_stands_nowhere_in_plain() {
    // Put together when it is printed, so that no file of the project has it.
    let key = format!("ghp_{}", "a1B2c3".repeat(6));
    let part = "$(printf 'a1B2c3%.0s' 1 2 3 4 5 6)";
    let work = format!(
        "echo A >A.txt\necho $$ >\"$FLEET_RECORD.A.$WHO\"\n\
         if test -e half.txt; then answer=\"The key is gh\"\"p_{part}\"; echo \"answer $answer\" >&2\n\
         else later=1; echo 1 >half.txt; answer=\"I found gh\"\"p_{part}\"; fi\n"
    );
    let env = priced(&[(story("A"), &work)], "0.1");
    let Some(field) = Field::of(env, "sh check.sh", 1, ("claude", &priced_agent("0.1"))) else { return };
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    field.finishes(fleet, 1);
    let env = &field.env;
    let run = id_of(&far_run(env, "w1"));
    // The agent did print it, and where it was printed its stream is kept.
    let raw = field.machine(1).ralph(&["logs", &run, "--raw"]).exits(0).stdout;
    assert!(raw.contains("ghp_***") && !raw.contains(&key), "{raw}");
    env.ralph(&["logs", &run, "--raw"])
        .exits(2)
        .says(&format!("run {run} is on the machine of worker w1"))
        .says(&format!("type it there: ralph logs {run} --raw"));
    let shown =
        env.ralph(&["logs", &run]).exits(0).says("what its agent prints is on the machine of worker w1");
    assert!(!shown.stdout.contains(&key), "{}", shown.stdout);
    field.ends(1, worker);
    assert_eq!(files_with(field.server.dir.path(), &key), [""; 0]);
    assert_eq!(files_with(env.root(), &key), [""; 0]);
    assert_eq!(files_with(&field.machine(1).root().join("state"), &key), [""; 0]);
}
