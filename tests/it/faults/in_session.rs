//! A loop inside a conversation: each hook is a ralph of its own, and each is killed at each of its events.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use super::{KILL_AT, in_parallel};
use crate::{
    env::{Env, Output, RALPH},
    hook::recorded,
    session::{PROMISE, held, loops},
};

/// What the agent's program asks ralph, one after the other.
const CALLS: [Call; 5] =
    [Call::Start, Call::Stop("Hm."), Call::Stop("Well."), Call::Tool, Call::Stop(PROMISE)];

#[derive(Clone, Copy)]
enum Call {
    /// The user begins the loop.
    Start,
    /// The agent has used a tool.
    Tool,
    /// The agent says something and tries to stop.
    Stop(&'static str),
}

impl Call {
    fn make(self, env: &Env, kill_at: Option<&str>) -> Output {
        let mut command = env.command(RALPH);
        command.envs(kill_at.map(|at| (KILL_AT, at)));
        let hook = |event: &str, name: &str, says: Option<&str>| {
            let mut input = recorded(name, "a");
            input["last_assistant_message"] = says.map_or(Value::Null, |says| json!(says));
            let path = env.root().join("hook-input");
            fs::write(&path, input.to_string()).expect("an input");
            let input = Stdio::from(fs::File::open(path).expect("an input"));
            (input, ["hook".to_owned(), event.to_owned(), "--in-loop-only".to_owned()])
        };
        let (input, args) = match self {
            Self::Start => {
                command.args(["session", "start", "--session-id", "a", "-m", "9", "Fix it."]);
                return env.start_command(&mut command).wait();
            }
            Self::Tool => hook("post-tool-use", "claude-post-tool-use", None),
            Self::Stop(says) => hook("stop", "claude-stop", Some(says)),
        };
        env.start_command(command.args(args).stdin(input)).wait()
    }
}

/// The whole conversation. Where a call is killed, it comes again: the agent's program goes on without an answer,
/// the user notices and says so. Returns whether it was killed.
fn converse(env: &Env, victim: usize, at: &str) -> bool {
    let mut was_killed = false;
    for (index, call) in CALLS.iter().enumerate() {
        if index == victim {
            let output = call.make(env, Some(at));
            was_killed = output.signal == Some(9);
            if !was_killed {
                return false;
            }
            env.nothing_left();
        }
        let output = call.make(env, None).exits(0);
        let answer = serde_json::from_str(&output.stdout).unwrap_or_default();
        let is_held = held(&answer).is_some();
        assert_eq!(is_held, matches!(call, Call::Stop("Hm." | "Well.")), "call {index} after a kill at {at}");
    }
    was_killed
}

#[test]
fn a_loop_inside_a_conversation_survives_a_kill_at_every_event() {
    survives(Env::new);
}

#[test]
fn a_promise_in_a_clean_clone_survives_a_kill_at_every_event() {
    survives(|| Env::new().with_git().guardrails(&["test -n \"$PATH\""]));
}

fn survives(world: impl Fn() -> Env + Sync) {
    let victims: Vec<usize> = (0..CALLS.len()).collect();
    in_parallel(&victims, |victim| {
        let mut places = 0;
        for at in (1..).flat_map(|event| [format!("{event}:torn"), event.to_string()]) {
            let env = world();
            if !converse(&env, *victim, &at) {
                break;
            }
            places += 1;
            let newest = &loops(&env)[0];
            assert_eq!(newest["status"], "PROMISE_ACCEPTED", "{victim} killed at {at}: {newest}");
            let count = |kind: &str| env.events(kind).len();
            assert_eq!(count("turn_started"), count("turn_ended"), "{victim} killed at {at}");
            assert_eq!((count("run_started"), count("run_ended")), (1, 1), "{victim} killed at {at}");
            // What was noted counts, though the agent was not told; then it talks once more.
            let turns = if at == "1:torn" || *victim == 0 { 3..=3 } else { 3..=4 };
            assert!(turns.contains(&count("turn_ended")), "{victim} killed at {at}");
        }
        assert!(2 <= places || matches!(CALLS[*victim], Call::Tool), "{places} places in call {victim}");
    });
}
