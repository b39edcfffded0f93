//! Sudden death at every place there is: ralph is killed at each event of its journal, for each kind of loop,
//! and a resume reaches the end that the run would have reached by itself.

mod damaged_records;
mod decided;
mod git_states;
mod hangs;
mod in_session;
mod in_time;
mod inherited;
mod locks;
mod long_runs;
mod own_output;
mod power;
pub(crate) mod presets;
mod slept;
mod surroundings;
mod survivors;
mod unread;

use std::{collections::BTreeMap, fs, path::Path, thread};

use serde_json::Value;

use crate::{
    env::{Env, Output, RALPH},
    receipts::presets::check_noted,
    task::{messages, records},
};
use presets::{
    ASKED, ASKED_IN_PLACE, BLOCKED, BLOCKED_STORY, BUILD, CAPPED, CHEATS, COUNTED, Cut, HOPELESS, JOB,
    JUDGED, PLAN, PROMPT, Preset, RELAYED, RESTORED, REVIEW, REVIEWED, RUN, SAID, SESSION, STORIES, TAMPERED,
    TASK, TYPED, UNREADY,
};

/// How many places are tried at the same time.
const WORKERS: usize = 4;

/// Where ralph is told to die.
const KILL_AT: &str = "RALPH_TEST_KILL_AT";

/// What ralph calls its commit when it takes a submission back.
const TAKEN_BACK: &str = "ralph: take back what did not pass its checks";

/// How a prompt begins that an agent has worked on before.
const CONTINUE: &str = "Continue working on the following:\n\n";

/// All that a run leaves behind for its user.
#[derive(Debug, PartialEq)]
struct End {
    code: Option<i32>,
    /// Each with its tree.
    commits: Vec<String>,
    pushed: Vec<String>,
    /// Those of the project with their contents, the prompts among them; of ralph's other files only the names.
    files: BTreeMap<String, String>,
    /// What git sees that is not committed.
    uncommitted: String,
    facts: Value,
    /// What others who work on the same task are told about how it ended, each once.
    told: Vec<String>,
}

impl Preset {
    /// Runs it without a fault; returns the end and the number of events.
    #[track_caller]
    fn unharmed(&self, env: &Env) -> (End, usize) {
        let output = env.ralph(self.args);
        let end = end(env, &output, self.cut);
        assert_eq!(
            (end.code, end.facts["outcome"]["outcome"].as_str()),
            (Some(self.code), Some(self.outcome))
        );
        (end, env.journal().len())
    }

    /// Kills ralph at each event and resumes.
    #[track_caller]
    fn check(&self) {
        let fresh = self.env();
        let (expected, count) = self.unharmed(&fresh.twin());
        assert!(4 <= count, "{count} events");
        let places: Vec<String> =
            (1..=count).flat_map(|event| [event.to_string(), format!("{event}:torn")]).collect();
        in_parallel(&places, |at| self.check_at(&fresh, at, &expected, count));
    }

    /// The numbers of the events of this kind, in a run without a fault.
    fn unharmed_events(&self, fresh: &Env, kind: &str) -> Vec<usize> {
        let env = fresh.twin();
        env.ralph(self.args).exits(self.code);
        (1..).zip(env.journal()).filter(|(_, event)| event["event"] == kind).map(|(at, _)| at).collect()
    }

    fn check_at(&self, fresh: &Env, at: &str, expected: &End, count: usize) {
        let env = fresh.twin();
        killed(&env, self.args, at);
        let output = self.go_on(&env, at, count);
        assert_eq!(
            &end(&env, &output, self.cut),
            expected,
            "killed at {at} of {count}:\n{}",
            told(&env, &output)
        );
        check_record(&env);
        let has_receipt = env.newest_run().join("receipt.json").exists();
        assert!(has_receipt, "no receipt, killed at {at} of {count}:\n{}", told(&env, &output));
        let preset = env.journal()[0]["plan"]["preset"].as_str().expect("a preset").to_owned();
        check_noted(&env, &preset, self.outcome);
    }

    /// Does what a user would do after the kill.
    fn go_on(&self, env: &Env, at: &str, count: usize) -> Output {
        if at == "1:torn" {
            // Nothing was recorded, and nothing was done.
            env.ralph(&["resume", &env.run_id()]).exits(2).says("ended before it began");
            return env.ralph(self.args);
        }
        // By its name, because a part of a task is never meant without it.
        let output = env.ralph(&["resume", &env.run_id()]);
        if at == count.to_string() && self.outcome == "done" {
            return Output { code: Some(self.code), ..output.exits(2).says("is complete") };
        }
        if at == count.to_string() && self.outcome == "exhausted" {
            return Output { code: Some(self.code), ..output.exits(2).says("at its limit") };
        }
        output
    }
}

/// Checks several at a time: most of it is waiting for processes.
fn in_parallel<T: Sync>(all: &[T], check: impl Fn(&T) + Sync) {
    thread::scope(|scope| {
        for share in all.chunks(all.len().div_ceil(WORKERS)) {
            scope.spawn(|| share.iter().for_each(&check));
        }
    });
}

/// Starts ralph and has it killed at this event.
#[track_caller]
pub(crate) fn killed(env: &Env, args: &[&str], at: &str) {
    let output = env.start_command(env.command(RALPH).args(args).env(KILL_AT, at)).wait();
    assert_eq!(
        output.signal,
        Some(9),
        "not killed at {at}; this needs a build with debug assertions: {output:?}"
    );
    env.nothing_left();
}

fn end(env: &Env, output: &Output, cut: Cut) -> End {
    env.nothing_left();
    let log = |folder: &Path| env.git_in(folder, &["log", "--format=%T %s"]);
    let lines = |text: String| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let remote = env.project().with_file_name("remote");
    let mut files = BTreeMap::new();
    collect(env.project(), env.project(), &mut files);
    // The ids of runs and the place are their own; a run that ended before it began leaves a folder in its task.
    let (id, root) = (env.run_id(), env.root().display().to_string());
    files.retain(|name, _| !name.contains("/runs/") || name.contains(&id));
    let files = files.into_iter().map(|(name, text)| {
        // A turn of a task that was cut off is told so when it is repeated.
        let text = text.replace(&id, "ID").replace(&root, "ROOT").replace(CONTINUE, "");
        (name.replace(&id, "ID"), text)
    });
    let mut files: BTreeMap<String, String> = files.collect();
    if cut == Cut::Counts {
        files.retain(|name, _| !name.starts_with(".ralph/"));
    }
    let status: Value =
        serde_json::from_str(env.ralph(&["status", "--json"]).exits(0).stdout.lines().next().expect("a run"))
            .expect("JSON");
    let mut facts = vec!["outcome", "exitCode", "standing", "commits", "next"];
    facts.extend((cut == Cut::IsRepeated).then_some("iteration"));
    let facts = facts.into_iter().map(|key| {
        let value: Value = status[key].to_string().replace(&id, "ID").parse().expect("JSON");
        (key.to_owned(), value)
    });
    End {
        code: output.code,
        commits: without_repeats(lines(log(env.project()))),
        pushed: if remote.exists() { lines(log(&remote)) } else { Vec::new() },
        files,
        uncommitted: env.git(&["status", "--porcelain"]),
        facts: facts.collect(),
        told: if env.path(".ralph/tasks/t").exists() { told_others(env) } else { Vec::new() },
    }
}

/// The same without what ralph took back of a turn that was cut off, where the next turn made the same again.
fn without_repeats(commits: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for commit in commits {
        let is_again = matches!(&*kept, [.., again, back] if *again == commit && back.contains(TAKEN_BACK));
        kept.truncate(kept.len() - if is_again { 2 } else { 0 });
        kept.push(commit);
    }
    kept
}

/// What the record of the run says, and what is said of ends on the buses.
fn told_others(env: &Env) -> Vec<String> {
    let id = env.run_id();
    let record = records(env).into_iter().find(|record| record["run"] == id.as_str()).expect("a record");
    let record = format!("{} {}", record["status"], record["exitCode"]);
    let posted = [messages(env, &["--task", "t"]), messages(env, &["--project"])].concat();
    let ends = posted.into_iter().filter(|message| message.contains("complete"));
    std::iter::once(record).chain(ends.map(|message| message.replace(&id, "ID"))).collect()
}

fn collect(project: &Path, folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = path.strip_prefix(project).expect("inside").display().to_string();
        if path.is_dir() {
            // A run that was resumed has one log for each of its processes.
            if name != ".git" && name != ".ralph/logs" {
                collect(project, &path, into);
            }
            continue;
        }
        let is_own = name.starts_with(".ralph/") && !name.contains("prompt");
        let contents = if is_own { Ok(String::new()) } else { fs::read_to_string(&path) };
        into.insert(name, contents.expect("a text"));
    }
}

/// The record is whole: every line, one end, no commit twice, no turn that no one knows the end of.
#[track_caller]
fn check_record(env: &Env) {
    let journal = env.journal();
    let count = |kind: &str| journal.iter().filter(|event| event["event"] == kind).count();
    assert_eq!(count("turn_started"), count("turn_ended"), "{journal:#?}");
    let ends = count("run_ended");
    assert!(ends == 1 || ends == 2 && count("run_resumed") == 1, "{journal:#?}");
    assert_eq!(journal.last().expect("an event")["event"], "run_ended");
}

fn told(env: &Env, output: &Output) -> String {
    let events: Vec<String> = env.journal().iter().map(|event| event["event"].to_string()).collect();
    format!("{}\n{}{}", events.join(" "), output.stdout, output.stderr)
}

#[test]
fn a_resumed_run_survives_a_kill_at_every_event() {
    let fresh = RUN.env();
    let (expected, _) = RUN.unharmed(&fresh.twin());
    // In the second turn, so that both what is repeated and what follows is in the part that is killed again.
    let first = RUN.unharmed_events(&fresh, "turn_started")[1];
    let resumed = fresh.twin();
    killed(&resumed, RUN.args, &first.to_string());
    resumed.ralph(&["resume"]).exits(RUN.code);
    let count = resumed.journal().len() - first;
    assert!(8 <= count, "{count} events");
    in_parallel(&(1..=count).collect::<Vec<_>>(), |at| {
        let env = fresh.twin();
        killed(&env, RUN.args, &first.to_string());
        killed(&env, &["resume"], &at.to_string());
        let mut output = env.ralph(&["resume"]);
        if *at == count {
            output = Output { code: Some(RUN.code), ..output.exits(2).says("is complete") };
        }
        assert_eq!(end(&env, &output, RUN.cut), expected, "killed again at {at}:\n{}", told(&env, &output));
    });
}

#[test]
fn run_survives_a_kill_at_every_event() {
    RUN.check();
}

#[test]
fn an_agent_that_stands_in_survives_a_kill_at_every_event() {
    RELAYED.check();
}

#[test]
fn no_kill_makes_a_claim_count_that_no_reviewer_approved() {
    assert_eq!(REVIEWED.unharmed_events(&REVIEWED.env(), "opinion_ended").len(), 3);
    REVIEWED.check();
}

#[test]
fn no_kill_loses_a_finding() {
    CAPPED.check();
}

#[test]
fn no_kill_makes_the_agents_settings_apply() {
    let env = TAMPERED.env();
    assert_eq!(TAMPERED.unharmed_events(&env, "files_changed").len(), 1);
    TAMPERED.check();
}

#[test]
fn no_kill_makes_a_claim_count_that_the_judge_refuted() {
    let env = JUDGED.env();
    assert_eq!(JUDGED.unharmed_events(&env, "judge_gate_ended").len(), 3);
    JUDGED.check();
    // Nothing is pushed before the judge has agreed.
    assert_eq!(JUDGED.unharmed_events(&JUDGED.env(), "delivered").len(), 1);
}

#[test]
fn no_kill_makes_ralph_forget_that_a_check_was_weakened() {
    assert_eq!(ASKED.unharmed_events(&ASKED.env(), "examined").len(), 2);
    ASKED.check();
    assert_eq!(RESTORED.unharmed_events(&RESTORED.env(), "put_back").len(), 1);
    RESTORED.check();
    assert_eq!(ASKED_IN_PLACE.unharmed_events(&ASKED_IN_PLACE.env(), "examined").len(), 2);
    ASKED_IN_PLACE.check();
}

#[test]
fn no_kill_loses_a_note_or_has_it_told_twice() {
    let fresh = SAID.env();
    let count = SAID.unharmed(&fresh.twin()).1;
    let places: Vec<String> =
        (1..=count).flat_map(|event| [event.to_string(), format!("{event}:torn")]).collect();
    in_parallel(&places, |at| {
        let env = fresh.twin();
        killed(&env, SAID.args, at);
        let output = env.ralph(&["resume"]);
        // Of a run whose first line is torn nothing is known.
        if at == "1:torn" {
            return drop(output.exits(2));
        }
        let is_over = *at == count.to_string();
        assert_eq!(
            output.code,
            Some(if is_over { 2 } else { 0 }),
            "killed at {at}:\n{}",
            told(&env, &output)
        );
        let (mut turns, mut notes) = (Vec::new(), Value::Null);
        for event in env.journal() {
            match event["event"].as_str() {
                Some("turn_started") => notes = event["notes"].clone(),
                Some("turn_ended") if event["end"]["how"] == "finished" => turns.push(notes.clone()),
                _ => {}
            }
        }
        let has = |turn: &Value, note: u32| turn.as_array().is_some_and(|notes| notes.contains(&note.into()));
        let times = |note: u32| turns.iter().filter(|turn| has(turn, note)).count();
        assert_eq!((times(1), times(3)), (1, 0), "killed at {at}: {turns:?}");
        let first = turns.iter().position(|turn| has(turn, 2)).expect("it is told");
        assert!(turns[first..].iter().all(|turn| has(turn, 2)), "killed at {at}: {turns:?}");
    });
}

#[test]
fn plan_survives_a_kill_at_every_event() {
    PLAN.check();
}

#[test]
fn build_survives_a_kill_at_every_event() {
    BUILD.check();
}

#[test]
fn prompt_survives_a_kill_at_every_event() {
    PROMPT.check();
}

#[test]
fn review_survives_a_kill_at_every_event() {
    REVIEW.check();
}

#[test]
fn task_survives_a_kill_at_every_event() {
    TASK.check();
}

#[test]
fn job_survives_a_kill_at_every_event() {
    JOB.check();
}

#[test]
fn session_survives_a_kill_at_every_event() {
    SESSION.check();
}

#[test]
fn stories_survive_a_kill_at_every_event() {
    STORIES.check();
}

#[test]
fn stories_that_were_not_ready_survive_a_kill_at_every_event() {
    UNREADY.check();
}

#[test]
fn stories_of_a_cheat_survive_a_kill_at_every_event() {
    CHEATS.check();
}

#[test]
fn a_run_that_gives_up_survives_a_kill_at_every_event() {
    HOPELESS.check();
}

#[test]
fn a_blocked_run_survives_a_kill_at_every_event() {
    BLOCKED.check();
}

#[test]
fn a_story_for_a_person_survives_a_kill_at_every_event() {
    BLOCKED_STORY.check();
}

#[test]
fn a_claim_that_the_plan_refuses_survives_a_kill_at_every_event() {
    let env = COUNTED.env();
    let twin = env.twin();
    COUNTED.unharmed(&twin);
    assert_eq!(twin.read("told"), "told\n");
    assert!(twin.journal().iter().any(|event| !event["failure"]["exit"]["open_tasks"].is_null()));
    COUNTED.check();
}

#[test]
fn a_command_for_a_person_survives_a_kill_at_every_event() {
    let env = TYPED.env();
    assert_eq!(TYPED.unharmed_events(&env, "found").len(), 1);
    TYPED.check();
}
