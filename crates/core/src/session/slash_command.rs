//! What a user typed to start or to cancel a loop: `/ralph-loop "TASK" --max-iterations 10`.
//!
//! Invariant: the text is data. Nothing in it is expanded, and what is no option at the beginning or the end (of the
//! whole, or of the first line) belongs to the task, line breaks included.

mod unknown_option;

use unknown_option::UnknownOption;

use crate::engine::plan::NoWork;

/// What was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    /// Start a loop with these words.
    Start {
        /// Task and options.
        words: &'a str,
        /// Whether it was the command that asks for full effort.
        ultrawork: bool,
    },
    /// Cancel it.
    Cancel,
}

/// A loop to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// What is to be done.
    pub task: String,
    /// The most turns.
    pub max_iterations: Option<u32>,
    /// What the agent promises.
    pub promise: Option<String>,
    /// How many tool calls a promise needs.
    pub min_tool_calls: Option<u32>,
    /// What happens to a promise without them.
    pub no_work: Option<NoWork>,
    /// Whether there must be guardrails that check the promise.
    pub guardrails: bool,
    /// Commands that check it instead of those of the settings.
    pub guardrail: Vec<String>,
    /// Whether every reminder calls for full effort.
    pub ultrawork: bool,
}

/// How the command is typed.
pub const USAGE: &str = "/ralph-loop \"TASK\" --max-iterations N [--completion-promise TEXT] [--min-tool-calls N] \
                         [--on-promise-no-work reject|accept|warn] [--guardrail COMMAND] [--guardrails]";

const OPTIONS: [&str; 7] = [
    "--max-iterations",
    "--completion-promise",
    "--min-tool-calls",
    "--on-promise-no-work",
    "--guardrail",
    "--guardrails",
    "--ultrawork",
];

/// Returns what a prompt asks of ralph, if it asks anything.
pub fn typed(prompt: &str) -> Option<Typed<'_>> {
    let prompt = prompt.trim_start();
    // Codex calls skills with a dollar sign.
    let command = prompt.strip_prefix(['/', '$'])?;
    let command = command.strip_prefix("ralph:").unwrap_or(command);
    let (name, words) = command.split_at(command.find(char::is_whitespace).unwrap_or(command.len()));
    match name {
        "ralph-loop" => Some(Typed::Start { words, ultrawork: false }),
        "ulw-loop" => Some(Typed::Start { words, ultrawork: true }),
        "cancel-ralph" => Some(Typed::Cancel),
        _ => None,
    }
}

/// Tells the options from the task.
pub fn ask(words: &str, ultrawork: bool) -> Result<Ask, String> {
    let mut ask = Ask { ultrawork, ..Ask::default() };
    let mut text = words.trim();
    while let Some(rest) = ask.option(text)? {
        text = rest.trim_start();
    }
    if let Some((unknown, _)) = UnknownOption::at_the_start_of(text) {
        return Err(unknown.complaint());
    }
    let (first, others) = text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)));
    let task = match others {
        Some(others) => format!("{}\n{others}", ask.options_at_the_end(first)?),
        None => text.to_owned(),
    };
    unquoted(ask.options_at_the_end(&task)?.trim()).trim().clone_into(&mut ask.task);
    if ask.task.is_empty() {
        return Err("there is no task".to_owned());
    }
    Ok(ask)
}

impl Ask {
    /// Takes the options that a text ends with, and returns what stands before them.
    fn options_at_the_end<'a>(&mut self, text: &'a str) -> Result<&'a str, String> {
        let starts = text.match_indices("--").map(|(at, _)| at);
        let starts = starts.filter(|at| text[..*at].chars().next_back().is_none_or(char::is_whitespace));
        let mut problem = None;
        for at in starts {
            let (before, end) = text.split_at(at);
            let mut with = self.clone();
            match with.options_to_the_end(before.trim_end(), end.trim()) {
                End::Options => {
                    *self = with;
                    return Ok(before.trim_end());
                }
                End::Slip(error) => return Err(error),
                End::WrongValue(error) => problem = Some(error),
                End::Task => {}
            }
        }
        problem.map_or(Ok(text), Err)
    }

    /// Takes options until nothing is left, if these are options.
    fn options_to_the_end(&mut self, before: &str, end: &str) -> End {
        let is_one_line = !end.contains('\n');
        let can_slip = is_one_line && !is_inside_quotes(before);
        let (mut rest, mut is_any_known, mut unknown) = (end, false, None);
        while !rest.is_empty() {
            rest = match self.option(rest) {
                Ok(Some(after)) => {
                    is_any_known = true;
                    after.trim_start()
                }
                // On the last line a known option with a wrong value is a slip, not a part of the task.
                Err(error) if !rest.contains('\n') => return End::WrongValue(error),
                Err(_) => return End::Task,
                Ok(None) => match UnknownOption::at_the_start_of(rest).filter(|_| can_slip) {
                    Some((found, after)) => {
                        unknown.get_or_insert(found);
                        after.trim_start()
                    }
                    None => return End::Task,
                },
            };
        }
        match unknown {
            None => End::Options,
            // Alone at the end it may be what the task is about, unless that stands in quotation marks.
            Some(unknown) if is_any_known || unknown.nearest().is_some() || unquoted(before) != before => {
                End::Slip(unknown.complaint())
            }
            Some(_) => End::Task,
        }
    }

    /// Takes the option that a text begins with, and returns what stands after it.
    fn option<'a>(&mut self, text: &'a str) -> Result<Option<&'a str>, String> {
        let end = text.find(|char: char| char.is_whitespace() || char == '=').unwrap_or(text.len());
        let Some(name) = OPTIONS.into_iter().find(|name| *name == &text[..end]) else { return Ok(None) };
        let after = &text[end..];
        if let "--guardrails" | "--ultrawork" = name {
            let flag = if name == "--guardrails" { &mut self.guardrails } else { &mut self.ultrawork };
            *flag = true;
            return Ok(Some(after));
        }
        let after = after.strip_prefix('=').unwrap_or(after).trim_start();
        let (value, after) = value(after).ok_or_else(|| format!("{name} needs a value"))?;
        let number = |least: u32| {
            let number = value.parse().ok().filter(|number| least <= *number);
            number.ok_or_else(|| format!("{name}: expected a number from {least} on, found `{value}`"))
        };
        match name {
            "--max-iterations" => self.max_iterations = Some(number(1)?),
            "--min-tool-calls" => self.min_tool_calls = Some(number(0)?),
            "--completion-promise" => self.promise = Some(promise(value)?),
            "--guardrail" if value.trim().is_empty() => return Err(format!("{name} needs a value")),
            "--guardrail" => self.guardrail.push(value.to_owned()),
            _ => {
                let known = NoWork::NAMES.into_iter().find(|(name, _)| *name == value);
                let wrong = || format!("{name}: expected reject, accept or warn, found `{value}`");
                self.no_work = Some(known.ok_or_else(wrong)?.1);
            }
        }
        Ok(Some(after))
    }
}

/// What the end of a text is.
enum End {
    /// Known options, all of them.
    Options,
    /// Options, one of which does not exist.
    Slip(String),
    /// An option whose value is wrong.
    WrongValue(String),
    /// A part of the task.
    Task,
}

/// A promise that can stand in a tag.
pub fn promise(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() || text.contains(['<', '>', '\n']) {
        return Err(format!("the completion promise must be one line without `<` and `>`, found `{text}`"));
    }
    Ok(text.to_owned())
}

/// A word or what stands in quotation marks, and what comes after.
fn value(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    if let '"' | '\'' = first {
        return text[1..].split_once(first);
    }
    Some(text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())))
}

/// Whether a text that begins with a quotation mark has not come to the other one.
fn is_inside_quotes(text: &str) -> bool {
    let mark = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    mark.is_some_and(|mark| text.matches(mark).count() % 2 == 1)
}

/// A text without the quotation marks around it.
fn unquoted(text: &str) -> &str {
    let inside = ['"', '\''].into_iter().find_map(|mark| {
        let inside = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inside.contains(mark)).then_some(inside)
    });
    inside.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(words: &str, task: &str, max_iterations: Option<u32>) -> Ask {
        let ask = ask(words, false).expect("a loop");
        assert_eq!((ask.task.as_str(), ask.max_iterations), (task, max_iterations));
        ask
    }

    #[test]
    fn commands_are_known_with_and_without_prefix() {
        let start = |words, ultrawork| Some(Typed::Start { words, ultrawork });
        assert_eq!(typed("/ralph-loop fix it"), start(" fix it", false));
        assert_eq!(typed("/ralph:ralph-loop\nfix it"), start("\nfix it", false));
        assert_eq!(typed("$ulw-loop x"), start(" x", true));
        assert_eq!(typed(" /cancel-ralph"), Some(Typed::Cancel));
        for other in ["/ralph-looper x", "ralph-loop x", "/help", "", "see /ralph-loop x", "/ralph"] {
            assert_eq!(typed(other), None, "{other}");
        }
    }

    #[test]
    fn options_stand_at_either_end() {
        check("\"fix the bug\" --max-iterations 5", "fix the bug", Some(5));
        check("--max-iterations=5 fix the bug", "fix the bug", Some(5));
        check("fix the bug --max-iterations 5 --guardrails", "fix the bug", Some(5));
        check("'it is' all", "'it is' all", None);
        check("\"a\" and \"b\"", "\"a\" and \"b\"", None);
        let ask = check(
            "fix --completion-promise \"ALL GREEN\" --max-iterations 9 --min-tool-calls 0 --on-promise-no-work warn",
            "fix",
            Some(9),
        );
        assert_eq!(ask.promise.as_deref(), Some("ALL GREEN"));
        assert_eq!((ask.min_tool_calls, ask.no_work), (Some(0), Some(NoWork::Warn)));
    }

    #[test]
    fn each_flag_is_its_own() {
        for (words, ultrawork, expected) in [
            ("fix it", false, (false, false)),
            ("fix it --guardrails", false, (true, false)),
            ("fix it --ultrawork", false, (false, true)),
            ("fix it", true, (false, true)),
        ] {
            let ask = ask(words, ultrawork).expect("a loop");
            assert_eq!((ask.guardrails, ask.ultrawork), expected, "{words}");
        }
        let ask = check("fix it --guardrail 'make test' --guardrail=lint", "fix it", None);
        assert_eq!(ask.guardrail, ["make test", "lint"]);
    }

    #[test]
    fn lines_and_rulers_survive() {
        let task = "first `line` $(touch x)\n---\nname: y\n---\n\n-- two\n";
        check(&format!("{task}--max-iterations 3"), task.trim(), Some(3));
        check("first --max-iterations 3\nsecond\n---", "first\nsecond\n---", Some(3));
        check("explain the --max-iterations 3 option", "explain the --max-iterations 3 option", None);
        check("use --foo 3", "use --foo 3", None);
        check("--max-iterations 3 make cargo test --release pass", "make cargo test --release pass", Some(3));
        check("--max-iterations 3 use --foo", "use --foo", Some(3));
        check(
            "\"make npm test -- --coverage pass\" --max-iterations 3",
            "make npm test -- --coverage pass",
            Some(3),
        );
        check(
            "use --foo, not --bar, and that soon --max-iterations 3",
            "use --foo, not --bar, and that soon",
            Some(3),
        );
        check("first\n--foo\n--max-iterations 3", "first\n--foo", Some(3));
        let wrong = "explain\n--max-iterations many\nto me";
        check(wrong, wrong, None);
        for task in ["--1 is no option", "--foo, says the help, is missing"] {
            check(task, task, None);
        }
        check(
            "\"explain --max-iterations to me\" --max-iterations 3",
            "explain --max-iterations to me",
            Some(3),
        );
    }

    #[test]
    fn wrong_values_are_refused() {
        for words in [
            "",
            "--max-iterations 3",
            "fix --max-iterations 0",
            "fix --max-iterations many",
            "fix --max-iterations",
            "fix --on-promise-no-work maybe",
            "fix --completion-promise \"\"",
            "fix --completion-promise <x>",
            "fix --guardrail ' '",
        ] {
            assert!(ask(words, false).is_err(), "{words}");
        }
    }

    #[test]
    fn unknown_options_are_named_with_the_nearest() {
        for (words, said) in [
            ("fix it --max-iteration 5", "`--max-iteration`; did you mean `--max-iterations`?"),
            ("fix it --max-iterations 5 --guardrials", "`--guardrials`; did you mean `--guardrails`?"),
            ("--max-iterations 5 fix it --Guardrails", "`--Guardrails`; did you mean `--guardrails`?"),
            (
                "--min-tool-call 2 fix it --max-iterations 5",
                "`--min-tool-call`; did you mean `--min-tool-calls`?",
            ),
            (
                "--min_tool_calls=2 --max-iterations 5 fix it",
                "`--min_tool_calls`; did you mean `--min-tool-calls`?",
            ),
            (
                "\"fix it\" --promise \"ALL GREEN\" --max-iterations 5",
                "`--promise`; did you mean `--completion-promise`?",
            ),
            ("fix it --iterations 5", "`--iterations`; did you mean `--max-iterations`?"),
            ("fix it --on-no-work=warn --max-iterations 5\nand more", "did you mean `--on-promise-no-work`?"),
            ("\"fix it\" --model opus", "unknown option `--model`; if it belongs to the task"),
            ("fix it --model opus --max-iterations 5", "unknown option `--model`; if it belongs to the task"),
        ] {
            let error = ask(words, false).expect_err(words);
            assert!(error.contains("unknown option") && error.contains(said), "{words}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_quoted_task_comes_back(task in "[a-z$`\\n ]*[a-z]", turns in 1_u32..1000) {
            let ask = ask(&format!("\"{task}\" --max-iterations {turns}"), false).expect("a loop");
            prop_assert_eq!(ask.task, task.trim());
            prop_assert_eq!(ask.max_iterations, Some(turns));
        }

        #[test]
        fn nothing_typed_is_too_odd(words in ".{0,200}") {
            let _ = ask(&words, false);
        }
    }
}
