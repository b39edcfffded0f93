//! What counts as progress, as runs of iterations in a few words each.

use ralph_agents::Usage;

use super::*;
use crate::engine::plan::{Check, Gate, When};
use crate::{
    engine::{event::TurnEnd, presets, stop::Stop},
    gate_failure::{GateExit, GateFailure},
    stories::Mode,
};

fn plan(patience: Option<u32>) -> Plan {
    let gate = |command: &str| Gate::new(Check::Command { command: command.to_owned() }, When::EveryTurn);
    Plan { stuck_after: patience, ..presets::run("DONE", vec![gate("lint"), gate("make test")]) }
}

fn tree(word: &str) -> Option<Tree> {
    let (head, changes) = word.split_once('+')?;
    Some(Tree { head: Some(head.to_owned()), changes: changes.to_owned() })
}

/// Plays iterations. Each is `before>after` with trees such as `a+1` (commit and files), then words: `!x` is the
/// second gate failing with the output `x`, `ok` the gates passing, `made` a commit by ralph, `claim`, `done` a file
/// that is there. What becomes of it is a letter per iteration: `.`, `T` told, `S` stopped.
#[track_caller]
fn check(patience: Option<u32>, iterations: &[&str], expected: &str) -> String {
    let plan = plan(patience);
    let mut progress = Progress::default();
    let (mut seen, mut said) = (String::new(), String::new());
    for (iteration, line) in (1..).zip(iterations) {
        let mut words = line.split(' ');
        let (before, after) = words.next().and_then(|trees| trees.split_once('>')).unwrap_or(("", ""));
        let turn = Turn { iteration, attempt: 1, mode: Mode::Work, tree: tree(before), ..Turn::default() };
        progress.turn_started(&turn);
        let files = if line.contains("done") { vec!["DONE".to_owned()] } else { vec![] };
        progress.turn_ended(&TurnEnded {
            review: None,
            undone: Vec::new(),
            untold: Vec::new(),
            blocked: None,
            reason: None,
            end: TurnEnd::Finished,
            claimed: line.contains("claim"),
            view: Some(View { files, ..View::default() }),
            code: None,
            ms: 0,
            usage: Usage::default(),
            tools: 0,
            tool_errors: 0,
            leftovers: vec![],
            model: None,
            quota: Vec::new(),
            last_lines: Vec::new(),
            denials: vec![],
            session: None,
            hooks: None,
            tree: tree(after),
            branch: None,
        });
        for word in words {
            let failure =
                word.strip_prefix('!').map(|output| GateFailure::new(GateExit::Code(1), output.to_owned()));
            if failure.is_some() || word == "ok" {
                let log = format!("log_{iteration}");
                progress.gate_ended(&GateEnded {
                    gate: 1,
                    failure,
                    ms: 1,
                    log,
                    signature: None,
                    tests: None,
                    output_sha256: None,
                });
            } else if word == "made" {
                progress.committed();
            }
        }
        seen.push(match progress.settle(&plan, iteration) {
            ProgressVerdict::GoOn => '.',
            ProgressVerdict::Tell(text) => {
                said = text;
                'T'
            }
            ProgressVerdict::Stop(standstill) => {
                said = Stop::Stuck(standstill).reason();
                'S'
            }
        });
    }
    assert_eq!(seen, expected);
    said
}

#[test]
fn nothing_changes() {
    check(Some(3), &["a+1>a+1"; 4], "..TS");
    check(Some(1), &["a+1>a+1"; 2], "TS");
    check(None, &["a+1>a+1"; 6], "......");
    check(Some(3), &["a+1>a+1 ok"; 4], "..TS");
    let said = check(Some(2), &["a+1>a+2 ok", "a+2>a+2 ok", "a+2>a+2 ok", "a+2>a+2 ok"], "..TS");
    assert_eq!(
        said,
        "no progress since iteration 2: the files, the guardrails and the task are as they were before, even after \
             ralph told the agent"
    );
    // What the gates do to the files is not the agent's work.
    check(Some(3), &["a+1>a+1 ok", "a+2>a+2 ok", "a+3>a+3 ok", "a+4>a+4 ok"], "..TS");
}

#[test]
fn any_change_is_progress() {
    check(Some(2), &["a+1>a+1", "a+1>a+2", "a+2>a+2", "a+2>a+3"], "....");
    check(Some(2), &["a+1>a+1", "a+1>b+1", "b+1>b+1", "b+1>c+1"], "....");
    check(Some(2), &["a+1>a+1 !x", "a+1>a+1 !y", "a+1>a+1 !x", "a+1>a+1 !y"], "....");
    check(Some(2), &["a+1>a+1", "a+1>a+1 done", "a+1>a+1", "a+1>a+1 done"], "....");
    check(Some(2), &["a+1>a+1", "a+1>a+1 claim", "a+1>a+1", "a+1>a+1 claim"], "....");
    // It was told and did something: it is told again before the run ends.
    check(Some(2), &["a+1>a+1", "a+1>a+1", "a+1>a+2", "a+2>a+2", "a+2>a+2", "a+2>a+2"], ".T..TS");
}

#[test]
fn the_same_failure_again_is_none() {
    // Who changes files is told so and may go on.
    let said = check(Some(3), &["a+1>a+2 !boom", "a+2>a+3 !boom", "a+3>a+4 !boom", "a+4>a+5 !boom"], "..TT");
    assert!(said.contains("no progress for 4 iterations") && !said.contains("the run ends"), "{said}");
    let stands = ["a+1>a+2 !boom", "a+2>a+2 !boom", "a+2>a+2 !boom", "a+2>a+2 !boom", "a+2>a+2 !boom"];
    let said = check(Some(3), &stands[..4], "..TT");
    assert!(said.contains("the run ends"), "{said}");
    check(Some(3), &stands, "..TTS");
    let said = check(Some(3), &["a+1>a+1 !boom"; 4], "..TS");
    assert_eq!(
        said,
        "no progress since iteration 1: `make test` fails in the same way each time, even after \
             ralph told the agent; the end of what it printed (log_4):\n   boom"
    );
    // Also where no one sees the files.
    check(Some(3), &["> !boom"; 4], "..TS");
    check(Some(3), &["> !boom", "> !boom", "> !bang", "> !boom", "> !boom"], ".....");
    check(Some(3), &["> !boom", "> !boom", "> ok", "> !boom", "> !boom"], ".....");
}

#[test]
fn green_and_silent_is_told_how_to_finish() {
    let said = check(Some(2), &["a+1>a+1 ok"; 2], ".T");
    assert!(said.contains("write <response>DONE</response> as the last line"), "{said}");
    assert!(
        said.contains("<response>BLOCKED: reason</response>") && !said.contains("something else"),
        "{said}"
    );
}

#[test]
fn others_at_work_are_progress() {
    let plan = plan(Some(1));
    let mut progress = Progress::default();
    for at_work in [vec!["r".to_owned()], vec![]] {
        let is_alone = at_work.is_empty();
        progress.turn_started(&Turn { tree: tree("a+1"), ..Turn::default() });
        progress.current.after = tree("a+1");
        progress.current.view = Some(View { at_work, ..View::default() });
        assert_eq!(progress.settle(&plan, 1), ProgressVerdict::GoOn, "{is_alone}");
    }
}

#[test]
fn commits_are_progress() {
    check(Some(2), &["a+1>b+1 !boom", "b+1>c+1 !boom", "c+1>d+1 !boom", "d+1>e+1 !boom"], "....");
    check(Some(2), &["> ok made"; 5], ".....");
    check(Some(2), &["a+1>a+2 ok made"; 5], ".....");
    // Ralph commits what the turn before left, too.
    check(Some(2), &["a+1>a+1 ok made"; 5], ".....");
}

#[test]
fn what_cannot_be_seen_is_not_held_against_anyone() {
    check(Some(2), &[">"; 6], "......");
    check(Some(2), &["> ok"; 6], "......");
    check(Some(2), &["a+1>"; 6], "......");
}

#[test]
fn a_turn_that_was_cut_off_counts() {
    let plan = plan(Some(1));
    let mut progress = Progress::default();
    let turn = |files: &str| Turn {
        iteration: 1,
        attempt: 1,
        mode: Mode::Work,
        tree: tree(files),
        ..Turn::default()
    };
    progress.turn_started(&turn("a+1"));
    progress.turn_started(&turn("a+2"));
    progress.current.after = tree("a+2");
    assert_eq!(progress.settle(&plan, 1), ProgressVerdict::GoOn);
}

#[test]
fn the_agent_is_told_what_repeats() {
    let said = check(Some(2), &["> !boom"; 2], ".T");
    assert!(
        said.starts_with("There has been no progress for 2 iterations: `make test` fails in the same way"),
        "{said}"
    );
}

#[test]
fn what_repeats_is_remembered_only_while_it_repeats() {
    let mut progress = Progress::default();
    let mut told = Vec::new();
    for output in ["boom", "boom", "bang", "bang"] {
        let failure = Some(GateFailure::new(GateExit::Code(1), output.to_owned()));
        let log = String::new();
        progress.gate_ended(&GateEnded {
            gate: 1,
            failure,
            ms: 1,
            log,
            signature: None,
            tests: None,
            output_sha256: None,
        });
        progress.settle(&plan(Some(2)), 1);
        told.push(progress.told().map(str::to_owned));
    }
    let same = Some("`make test` fails in the same way each time".to_owned());
    assert_eq!(told, [None, same.clone(), None, same]);
}
