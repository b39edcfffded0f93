//! What a turn is told: the base prompt, what the gates found, and how far the run is.

pub mod draft;
pub mod finish;
pub mod message;
pub mod notes;

use serde::{Deserialize, Serialize};

use crate::{claim::blocked, fail_action::FailAction};

/// What a failed gate puts into the next prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// Where it stands.
    pub action: FailAction,
    /// What it says.
    pub text: String,
    /// How many bytes of that are ralph's own words and those of the settings; what follows no one vouches for.
    pub own: usize,
}

impl Feedback {
    /// Something that the agent is told after its prompt.
    pub fn appended(text: String) -> Self {
        Self { action: FailAction::Append, text, own: 0 }
    }

    /// The same, with what no one vouches for made harmless.
    #[must_use]
    pub fn harmless(&self, harmless: impl Fn(&str) -> String) -> Self {
        let (own, rest) = self.text.split_at(self.own);
        Self { action: self.action, own: self.own, text: format!("{own}{}", harmless(rest)) }
    }
}

/// How far the run is, for prompts that say so.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// The iteration, from 1.
    pub iteration: u32,
    /// How many there may be.
    pub of: u32,
}

/// Composes a prompt. Feedback is applied in its order, so that a replacement drops what stood before it
/// and keeps what comes after; the count stands before everything else.
pub fn compose(base: &str, feedback: &[Feedback], count: Option<Count>) -> String {
    let mut prompt = base.to_owned();
    for Feedback { action, text, .. } in feedback {
        prompt = match action {
            FailAction::Append => format!("{prompt}\n\n{text}"),
            FailAction::Prepend => format!("{text}\n\n{prompt}"),
            FailAction::Replace => text.clone(),
        };
    }
    match count {
        Some(Count { iteration, of }) => {
            let remaining = of.saturating_sub(iteration);
            format!("Iteration {iteration} of {of}, {remaining} remaining.\n\n{prompt}")
        }
        None => prompt,
    }
}

/// What stands before everything when an agent was at work before.
const CONTINUE: &str = "Continue working on the following:";

/// Where an agent is that works on a task with others.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The task's name.
    pub task: &'a str,
    /// Where the task is.
    pub task_folder: &'a str,
    /// Where the run may keep what it wants.
    pub run_folder: &'a str,
    /// Where everybody talks.
    pub bus: &'a str,
    /// How ralph is called.
    pub ralph: &'a str,
}

impl Surroundings<'_> {
    /// For the agent that is started until the task is done.
    pub fn of_root(&self) -> String {
        let Self { task, ralph, .. } = self;
        format!(
            "You work on the task \"{task}\". You are started again, with fresh context, until it is done.\n{}\
             - To have a part done by another agent: {ralph} job -p \"...\" waits for it; with --detach it continues beside you. {ralph} task list --tree shows who is at work.\n\
             - When the whole task is done, write what was done into the file DONE in the task folder: \
             echo \"...\" > \"$TASK_FOLDER/DONE\". Nothing else ends it, neither your words nor your exit code.\n\
             - If you must wait for a person or for something outside, say for what, and end: \
             {ralph} bus post --type wait_without_restart --body \"...\"\n\
             - If you cannot continue honestly, because something is missing, contradictory or impossible, write {} as \
             the last line of your last message.",
            self.places(),
            blocked::marker(&[])
        )
    }

    /// For an agent that does a part of it.
    pub fn of_child(&self) -> String {
        let Self { task, .. } = self;
        format!(
            "You do a part of the task \"{task}\" for another agent that works on it.\n{}\
             - You are done when you end. Leave what others need in your run folder or on the bus. Do not write \
             the file DONE: the task is more than your part.",
            self.places()
        )
    }

    fn places(&self) -> String {
        let Self { task_folder, run_folder, bus, ralph, .. } = self;
        format!(
            "- Task folder ($TASK_FOLDER): {task_folder}\n\
             - Your run folder ($RUN_FOLDER), for notes and results: {run_folder}\n\
             - Message bus ($MESSAGE_BUS): {bus}. Read it with {ralph} bus read --tail 20; tell there what others \
             and the next run must know: {ralph} bus post --type INFO --body \"...\"\n"
        )
    }
}

/// The prompt of a turn that works on a task.
pub fn prompt_of_task(is_continued: bool, preamble: &str, task: &str) -> String {
    let begin = if is_continued { format!("{CONTINUE}\n\n") } else { String::new() };
    format!("{begin}{preamble}\n\nThe task:\n\n{task}")
}

/// Keeps the first `limit` characters of `text` and says so if there were more.
pub fn truncate(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}... [truncated]", &text[..end]),
        None => text.to_owned(),
    }
}

/// A name for a file from a command: letters and digits, everything else one `_`, at most 50 characters.
pub fn slug(command: &str) -> String {
    let mut slug = String::new();
    for character in command.chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.truncate(50);
    slug.truncate(slug.trim_end_matches('_').len());
    if slug.is_empty() { "gate".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(action: FailAction, text: &str) -> Feedback {
        Feedback { action, text: text.to_owned(), own: 0 }
    }

    #[test]
    fn feedback_is_applied_in_order() {
        use FailAction::{Append, Prepend, Replace};
        #[track_caller]
        fn check(feedback: &[(FailAction, &str)], expected: &str) {
            let feedback: Vec<_> =
                feedback.iter().map(|(action, text)| self::feedback(*action, text)).collect();
            assert_eq!(compose("base", &feedback, None), expected);
        }
        check(&[], "base");
        check(&[(Append, "a")], "base\n\na");
        check(&[(Prepend, "a")], "a\n\nbase");
        check(&[(Replace, "a")], "a");
        check(&[(Append, "a"), (Append, "b")], "base\n\na\n\nb");
        check(&[(Prepend, "a"), (Prepend, "b")], "b\n\na\n\nbase");
        check(&[(Append, "a"), (Replace, "b")], "b");
        check(&[(Replace, "a"), (Append, "b")], "a\n\nb");
    }

    #[test]
    fn count_stands_before_everything() {
        let prompt =
            compose("base", &[feedback(FailAction::Prepend, "a")], Some(Count { iteration: 3, of: 10 }));
        assert_eq!(prompt, "Iteration 3 of 10, 7 remaining.\n\na\n\nbase");
    }

    const PLACES: Surroundings<'static> = Surroundings {
        task: "greeter",
        task_folder: "/t/greeter",
        run_folder: "/t/greeter/runs/1",
        bus: "/t/greeter/BUS.md",
        ralph: "/bin/ralph",
    };

    #[test]
    fn agents_of_a_task_are_told_where_they_are() {
        for text in [PLACES.of_root(), PLACES.of_child()] {
            for place in [
                "the task \"greeter\"",
                "($TASK_FOLDER): /t/greeter\n",
                "($RUN_FOLDER), for notes and results: /t/greeter/runs/1\n",
                "($MESSAGE_BUS): /t/greeter/BUS.md.",
                "/bin/ralph bus post",
            ] {
                assert!(text.contains(place), "{place}: {text}");
            }
        }
    }

    #[test]
    fn only_the_root_of_a_task_may_end_it() {
        let (root, child) = (PLACES.of_root(), PLACES.of_child());
        assert!(root.contains("> \"$TASK_FOLDER/DONE\"") && root.contains("wait_without_restart"), "{root}");
        assert!(root.contains("<response>BLOCKED: reason</response>"), "{root}");
        assert!(child.contains("Do not write the file DONE"), "{child}");
    }

    #[test]
    fn a_task_stands_behind_its_surroundings() {
        assert_eq!(prompt_of_task(false, "Here.", "Fix it."), "Here.\n\nThe task:\n\nFix it.");
        assert_eq!(
            prompt_of_task(true, "Here.", "Fix it."),
            "Continue working on the following:\n\nHere.\n\nThe task:\n\nFix it."
        );
    }

    #[test]
    fn truncation_counts_characters() {
        #[track_caller]
        fn check(text: &str, limit: usize, expected: &str) {
            assert_eq!(truncate(text, limit), expected);
        }
        check(
            "this is a longer output that needs to be truncated",
            20,
            "this is a longer out... [truncated]",
        );
        check("exact", 5, "exact");
        check("", 0, "");
        check("äöü", 2, "äö... [truncated]");
        check("äöü", 3, "äöü");
        check("a", 0, "... [truncated]");
    }

    #[test]
    fn slugs_are_file_names() {
        #[track_caller]
        fn check(command: &str, expected: &str) {
            assert_eq!(slug(command), expected);
        }
        check("make test", "make_test");
        check("./mvnw clean install -T 2C", "mvnw_clean_install_T_2C");
        check("../../etc/passwd", "etc_passwd");
        check("!!!", "gate");
        check(&"x".repeat(80), &"x".repeat(50));
        check(&format!("{} yy", "x".repeat(49)), &"x".repeat(49));
        check("über prüfen", "ber_pr_fen");
    }
}
