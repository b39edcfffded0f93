//! The loop inside one conversation: what the agent is told at the start and whenever it tries to stop, and what
//! the ends of such a loop are called.

pub mod slash_command;

use crate::{
    claim::{Claim, blocked},
    engine::{State, outcome::Outcome, plan::Plan},
    prompt::Feedback,
    setup::InSession,
};

/// The promise, unless the user names another.
pub const PROMISE: &str = "DONE";

/// As many tool calls as a promise needs, unless the user says otherwise.
pub const MIN_TOOL_CALLS: u32 = 1;

/// What the agent is told about a promise that no work stands behind.
pub const NO_WORK: &str = "Promise detected, but no tool calls/work were performed; you must actually complete \
                           the task before emitting the promise.";

/// What stands before every reminder of a loop that asks for full effort.
const ULTRAWORK: &str = "ULTRAWORK MODE: give this task everything you have. Use every tool and run independent \
                         pieces of work side by side, leave nothing half done, and prove each result before you \
                         rely on it.";

/// What the agent must say to be let go.
pub fn marker(plan: &Plan) -> String {
    plan.claims.iter().filter_map(Claim::marker).collect::<Vec<_>>().join(" or ")
}

/// What the agent is told at the start.
pub fn contract(plan: &Plan, task: &str) -> String {
    let (marker, turns) = (marker(plan), plan.limits.max_iterations);
    format!(
        "You are working in a ralph loop. Whenever you try to stop before the task is complete, you are given the \
         task again, in at most {turns} turns.\n\nTask:\n{task}\n\nSTRICT REQUIREMENTS, DO NOT VIOLATE:\n- Only \
         when the task is fully done, output this promise: {marker}\n- It must match exactly: the same letters in \
         the same case, no white space inside the tag, no variant of it.\n- If the task is not done, do not output \
         the promise, not even to get out of the loop. Work on instead.\n- If you cannot continue honestly, because \
         something is missing, contradictory or impossible, end with this line instead: {}\n",
        blocked::marker(&plan.claims)
    )
}

/// What the agent is told when it tried to stop and must go on. Without feedback it made no promise.
pub fn reminder(plan: &Plan, session: &InSession, task: &str, feedback: &[Feedback]) -> String {
    let marker = marker(plan);
    let why = if feedback.is_empty() {
        format!(
            "You attempted to end the loop, but you did not output the completion promise `{marker}`. Continue \
             working on the original task below. Only output the promise when the task is fully complete."
        )
    } else {
        let found: Vec<&str> = feedback.iter().map(|feedback| feedback.text.as_str()).collect();
        format!(
            "{}\n\nContinue working on the original task below. Only output the promise `{marker}` when the task is \
             fully complete.",
            found.join("\n\n")
        )
    };
    let effort = if session.ultrawork { format!("{ULTRAWORK}\n\n") } else { String::new() };
    format!("{effort}{why} Original task:\n\n{task}")
}

/// How a loop stands, in a word that scripts may rely on.
pub fn status(state: &State) -> &'static str {
    match state.outcome() {
        None => "ACTIVE",
        Some(Outcome::Done) if state.needs_person() => "PROMISE_ACCEPTED_WITH_FINDINGS",
        Some(Outcome::Done) => "PROMISE_ACCEPTED",
        Some(Outcome::Exhausted { .. }) => "MAX_ITERATIONS_REACHED",
        Some(Outcome::Interrupted) => "CANCELLED",
        Some(Outcome::Stopped(_) | Outcome::Unready { .. } | Outcome::GaveUp { .. }) => "STOPPED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{event::Event, outcome::Exhausted, presets},
        verify::finding::Finding,
    };

    const LOOP: InSession = InSession { id: None, ultrawork: false };

    #[test]
    fn the_contract_names_task_and_promise() {
        let plan = presets::session(PROMISE, 7, vec![]);
        let text = contract(&plan, "Fix it.\n---\nAll of it.");
        assert!(text.contains("Task:\nFix it.\n---\nAll of it.\n"), "{text}");
        assert!(text.contains("<promise>DONE</promise>") && text.contains("at most 7 turns"), "{text}");
    }

    #[test]
    fn reminders_say_what_was_missing() {
        let plan = presets::session("SHIPPED", 7, vec![]);
        let text = reminder(&plan, &LOOP, "Fix it.", &[]);
        assert_eq!(
            text,
            "You attempted to end the loop, but you did not output the completion promise \
             `<promise>SHIPPED</promise>`. Continue working on the original task below. Only output the promise when \
             the task is fully complete. Original task:\n\nFix it."
        );
        let feedback = Feedback::appended(NO_WORK.to_owned());
        let text = reminder(&plan, &InSession { ultrawork: true, ..LOOP }, "Fix it.", &[feedback]);
        assert!(text.starts_with("ULTRAWORK MODE") && text.contains(NO_WORK), "{text}");
        assert!(!text.contains("did not output"), "{text}");
    }

    #[test]
    fn the_state_of_a_loop_is_one_word() {
        let plan = presets::session(PROMISE, 7, vec![]);
        let limit = Exhausted::MaxIterations;
        let unready = Outcome::Unready { reason: String::new() };
        for (outcome, expected) in [
            (None, "ACTIVE"),
            (Some(Outcome::Done), "PROMISE_ACCEPTED"),
            (Some(Outcome::Exhausted { limit }), "MAX_ITERATIONS_REACHED"),
            (Some(Outcome::Interrupted), "CANCELLED"),
            (Some(unready), "STOPPED"),
        ] {
            let mut state = State::default();
            if let Some(outcome) = outcome {
                state.apply(&plan, &Event::RunEnded { outcome, exit_code: 0 });
            }
            assert_eq!(status(&state), expected);
        }
        let mut state = State::default();
        let finding = Finding::PersonsCommand { command: "accept".to_owned() };
        state.apply(&plan, &Event::Found { findings: vec![finding] });
        state.apply(&plan, &Event::RunEnded { outcome: Outcome::Done, exit_code: 7 });
        assert_eq!(status(&state), "PROMISE_ACCEPTED_WITH_FINDINGS");
    }
}
