//! How an agent is told to finish: ralph knows what it waits for, so it says so.
//!
//! Invariant: a prompt whose author names the tag reaches the agent as it was written.

use crate::claim::{Claim, Matching, blocked};

/// The prompt with the [`paragraph`] at its end, unless the user's own words name the tag.
pub fn told_how_to_finish(prompt: String, own: &str, paragraph: Option<&str>, claims: &[Claim]) -> String {
    match paragraph.filter(|_| !names_tag(own, claims)) {
        Some(paragraph) => prompt + "\n\n" + paragraph,
        None => prompt,
    }
}

/// How an agent says that it is done, in a few words.
pub fn how(claims: &[Claim]) -> String {
    let ways = claims.iter().filter_map(|claim| match claim {
        Claim::Tag { .. } => Some(format!("write {} as the last line of your last message", claim.marker()?)),
        Claim::File { path } => Some(format!("write the file {path}")),
        Claim::PlanSettled => Some("mark every task of the plan as done".to_owned()),
        Claim::StoriesApproved | Claim::NothingLeft | Claim::TurnEnd => None,
    });
    let ways: Vec<String> = ways.collect();
    if ways.is_empty() { "end your turn".to_owned() } else { ways.join(", or ") }
}

/// Whether a text says how to finish.
pub fn names_tag(text: &str, claims: &[Claim]) -> bool {
    claims.iter().any(|claim| match claim {
        Claim::Tag { name, text: wanted, matching } => names(text, name, wanted, *matching),
        Claim::File { .. }
        | Claim::StoriesApproved
        | Claim::PlanSettled
        | Claim::NothingLeft
        | Claim::TurnEnd => false,
    })
}

/// The paragraph about the first tag that is waited for. It is the same for all turns of a run; where nothing is waited
/// for in words there is none.
pub fn paragraph(done_when: Option<&str>, claims: &[Claim]) -> Option<String> {
    let done = done_when?;
    let marker = claims.iter().find_map(Claim::marker)?;
    let blocked = blocked::marker(claims);
    // One line with other words in it: a program that repeats its prompt claims nothing.
    Some(format!(
        "## How to finish\n\nWhen {done}, write {marker} as the last line of your last message, and not before: \
         ralph checks the work itself. If you cannot continue honestly, because something is missing, contradictory \
         or impossible, write {blocked} as the last line instead."
    ))
}

/// Whether the text has this tag with the wanted words in it, or speaks of tag and words apart from each other.
fn names(text: &str, name: &str, wanted: &str, matching: Matching) -> bool {
    if !text.contains('<') {
        return false;
    }
    let (text, name, wanted) = match matching {
        Matching::Exact | Matching::ExactInLastMessage => {
            (text.to_owned(), name.to_owned(), wanted.to_owned())
        }
        Matching::FirstIgnoringCase => {
            (text.to_lowercase(), name.to_lowercase(), wanted.trim().to_lowercase())
        }
    };
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut tags = text.split(open.as_str()).skip(1).peekable();
    if tags.peek().is_none() {
        return false;
    }
    let mut contents = tags.filter_map(|rest| Some(rest.split_once(close.as_str())?.0)).peekable();
    if contents.peek().is_none() {
        return text.contains(&wanted);
    }
    contents.any(|content| match matching {
        Matching::Exact | Matching::ExactInLastMessage => content == wanted,
        Matching::FirstIgnoringCase => content.trim() == wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{plan::Plan, presets};

    fn told(prompt: &str, plan: &Plan) -> String {
        let paragraph = paragraph(plan.done_when.as_deref(), &plan.claims);
        told_how_to_finish(prompt.to_owned(), prompt, paragraph.as_deref(), &plan.claims)
    }

    #[track_caller]
    fn check(plan: &Plan, expected: &str) {
        let told = told("Fix it.", plan);
        assert_eq!(told, format!("Fix it.{expected}"), "{}", plan.preset);
        let words = told.trim_start_matches("Fix it.").split_whitespace().count();
        assert!(words <= 60, "{words} words");
    }

    #[test]
    fn every_loop_names_what_it_waits_for() {
        let (run, session) = (presets::run("DONE", vec![]), presets::session("DONE", 3, vec![]));
        let stories = presets::stories(&[], &[], crate::engine::plan::When::Claimed);
        check(
            &run,
            "\n\n## How to finish\n\nWhen the whole task is done, write <response>DONE</response> as the last line of \
             your last message, and not before: ralph checks the work itself. If you cannot continue honestly, \
             because something is missing, contradictory or impossible, write <response>BLOCKED: reason</response> \
             as the last line instead.",
        );
        check(
            &presets::plan(),
            "\n\n## How to finish\n\nWhen the plan covers every specification and nothing is left to add, write \
             <promise>COMPLETE</promise> as the last line of your last message, and not before: ralph checks the work \
             itself. If you cannot continue honestly, because something is missing, contradictory or impossible, \
             write <promise>BLOCKED: reason</promise> as the last line instead.",
        );
        check(
            &presets::build("plan.md", vec![]),
            "\n\n## How to finish\n\nWhen every task of the plan is finished and the tests pass, write \
             <promise>COMPLETE</promise> as the last line of your last message, and not before: ralph checks the work \
             itself. If you cannot continue honestly, because something is missing, contradictory or impossible, \
             write <promise>BLOCKED: reason</promise> as the last line instead.",
        );
        check(
            &stories,
            "\n\n## How to finish\n\nWhen every story of the list is done, write <promise>COMPLETE</promise> as the \
             last line of your last message, and not before: ralph checks the work itself. If you cannot continue honestly, \
             because something is missing, contradictory or impossible, write <promise>BLOCKED: reason</promise> \
             as the last line instead.",
        );
        // These wait for no words, or have a contract of their own.
        for plan in [presets::prompt(), presets::job(), presets::task("DONE", "WAIT", vec![]), session] {
            check(&plan, "");
        }
    }

    #[test]
    fn a_prompt_that_names_the_tag_stays_as_it_is() {
        #[track_caller]
        fn check(plan: &Plan, prompt: &str, expected: bool) {
            assert_eq!(told(prompt, plan) == prompt, expected, "{prompt:?}");
        }
        let (run, plan) = (presets::run("DONE", vec![]), presets::plan());
        check(&run, "Say <response>DONE</response> at the end.\n", true);
        check(&run, "say <RESPONSE> done </RESPONSE>", true);
        check(&run, "Answer in a <response> tag: DONE.", true);
        check(&run, "Answer in a <response> tag.", false);
        check(&run, "When done, say <response>YES</response>.", false);
        check(&run, "Say <response>no</response> or <response>DONE</response>.", true);
        check(&run, "Say <promise>COMPLETE</promise>.", false);
        check(&run, "Say DONE.", false);
        check(&plan, "<promise>COMPLETE</promise>", true);
        check(&plan, "<promise>complete</promise>", false);
        check(&plan, "<response>DONE</response>", false);
        check(&presets::run("FERTIG", vec![]), "<response>DONE</response>", false);
    }

    #[test]
    fn the_paragraph_stands_last_and_apart() {
        let plan = presets::run("DONE", vec![]);
        for prompt in ["Fix it.", "Fix it.\n"] {
            assert!(told(prompt, &plan).starts_with(&format!("{prompt}\n\n## How to finish\n\n")));
        }
        // What replaced the user's words is not the user's.
        let paragraph = paragraph(plan.done_when.as_deref(), &plan.claims);
        let replaced =
            told_how_to_finish("It failed.".to_owned(), "Fix it.", paragraph.as_deref(), &plan.claims);
        assert!(replaced.starts_with("It failed.\n\n## How to finish\n\n"), "{replaced}");
    }
}
