//! A claim that the plan file does not bear out: how many tasks are open, and which.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GateExit, GateFailure};
use crate::plan_file::Task;

/// As many tasks are named, in the order of the plan.
const MAX_NAMED_TASKS: usize = 10;
/// As much of a title as tells it from the others.
const MAX_TITLE_CHARS: usize = 200;

/// The open tasks of a plan file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenTasks {
    /// The file, relative to the project.
    pub plan: String,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many of them are open.
    pub open: usize,
    /// The first of these, by their titles.
    pub named: Vec<String>,
}

impl OpenTasks {
    /// These tasks of a plan that has so many.
    pub fn of(plan: &str, open: &[&Task], tasks: usize) -> Self {
        let named = open.iter().take(MAX_NAMED_TASKS).map(|task| title(task)).collect();
        Self { plan: plan.to_owned(), tasks, open: open.len(), named }
    }

    /// How many are open, in words.
    pub fn count(&self) -> String {
        format!("{} of {} tasks open", self.open, self.tasks)
    }

    /// The same in a sentence without an end.
    pub fn sentence(&self) -> String {
        let verb = if self.open == 1 { "is" } else { "are" };
        let plural = if self.tasks == 1 { "" } else { "s" };
        format!("{} of {} task{plural} of {} {verb} open", self.open, self.tasks, self.plan)
    }

    /// What the agent is told before the names.
    pub(super) fn told(&self) -> String {
        format!(
            "You said that the work was complete, but {}. Finish what is open, mark what is done with [x] and what no one will \
             do with [-], and only then say so again:\n",
            self.sentence()
        )
    }
}

impl From<OpenTasks> for GateFailure {
    fn from(open: OpenTasks) -> Self {
        let more = open.open.saturating_sub(open.named.len());
        let more = (0 < more).then(|| format!("and {more} more"));
        let names = open.named.iter().map(|name| format!("- {name}"));
        let output: Vec<String> = names.chain(more).collect();
        Self::new(GateExit::OpenTasks(open), output.join("\n"))
    }
}

fn title(task: &Task) -> String {
    let title: String = task.title.chars().take(MAX_TITLE_CHARS).collect();
    if title.is_empty() { "(a task without a title)".to_owned() } else { title }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::gate_failure) fn task(title: &str) -> Task {
        Task { title: title.to_owned(), ..Task::default() }
    }

    #[test]
    fn the_first_ones_are_named_and_the_others_counted() {
        let tasks: Vec<Task> = (1..=12).map(|nth| task(&nth.to_string())).collect();
        let all: Vec<&Task> = tasks.iter().collect();
        let failure = GateFailure::from(OpenTasks::of("p.md", &all, 12));
        assert!(failure.output.starts_with("- 1\n- 2\n") && failure.output.ends_with("\n- 10\nand 2 more"));
        let failure = GateFailure::from(OpenTasks::of("p.md", &all[..10], 12));
        assert!(failure.output.ends_with("\n- 10"), "{}", failure.output);
        let odd = [&task(""), &task(&"é".repeat(300))];
        let named = OpenTasks::of("p.md", &odd, 2).named;
        assert_eq!((named[0].as_str(), named[1].len()), ("(a task without a title)", 400));
    }

    #[test]
    fn it_is_said_in_words() {
        let open = OpenTasks::of("p.md", &[&task("a")], 2);
        assert_eq!(open.sentence(), "1 of 2 tasks of p.md is open");
        assert_eq!(open.count(), "1 of 2 tasks open");
    }
}
