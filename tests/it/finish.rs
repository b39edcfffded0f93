//! The obvious command: a prompt and nothing else, wherever it comes from, and an agent that is told how to finish.

use std::{fs::File, process::Stdio};

use serde_json::json;

use crate::{
    env::{Env, RALPH, done, say, shell},
    pty::Pty,
};

const PARAGRAPH: &str = "\n\n## How to finish\n\nWhen the whole task is done, write <response>DONE</response> as the last line \
                         of your last message, and not before: ralph checks the work itself. If you cannot continue honestly, because something is \
                         missing, contradictory or impossible, write <response>BLOCKED: reason</response> as the last line \
                         instead.";

/// A project with an agent that is done at once.
fn quick() -> Env {
    Env::new().turns(json!([[done()]]))
}

/// Runs ralph with this on its standard input.
#[track_caller]
fn piped(env: &Env, input: &str, args: &[&str]) -> crate::env::Output {
    env.write("input", input);
    let input = File::open(env.path("input")).expect("the input");
    env.start_command(env.command(RALPH).args(args).stdin(Stdio::from(input))).wait()
}

#[test]
fn a_prompt_is_enough() {
    let env = quick();
    env.ralph(&["run", "Make the tests pass"]).exits(0).says_not("the prompt");
    assert_eq!(env.whole_prompts(), [format!("Make the tests pass{PARAGRAPH}")]);
    env.ralph(&["-m", "2", "Make the tests pass"]).exits(0);
    assert_eq!(env.whole_prompts()[1], format!("Make the tests pass{PARAGRAPH}"));
}

#[test]
fn a_prompt_that_names_the_tag_reaches_the_agent_as_it_is() {
    let (env, prompt) = (quick(), "Do it.\nSay <response>DONE</response> when you have.\n");
    env.ralph(&["run", prompt]).exits(0);
    env.write("TASK.md", prompt);
    env.ralph(&["run", "-f", "TASK.md"]).exits(0);
    assert_eq!(env.whole_prompts(), [prompt, prompt]);
}

#[test]
fn the_paragraph_can_be_left_out() {
    let warning = "the prompt never asks for `<response>DONE</response>`; the run can only end at its limit";
    let env = quick();
    env.run(&["--contract", "off"]).exits(0).says(warning);
    let env = env.settings(json!({"contract": "off"}));
    env.run(&[]).exits(0).says(warning);
    env.ralph(&["run", "Say <response>done</response>."]).exits(0).says_not(warning);
    assert_eq!(env.whole_prompts(), ["Do it.", "Do it.", "Say <response>done</response>."]);
    env.run(&["--contract", "auto"]).exits(0).says_not(warning);
    assert_eq!(env.whole_prompts()[3], format!("Do it.{PARAGRAPH}"));
}

#[test]
fn the_paragraph_stays_when_feedback_replaces_the_prompt() {
    let env = Env::new()
        .turns(json!([[done()], [shell("touch fixed"), done()]]))
        .settings(json!({"guardrails": [{"command": "test -e fixed", "failAction": "REPLACE"}]}));
    env.run(&[]).exits(0);
    let prompts = env.whole_prompts();
    assert!(!prompts[1].contains("Do it.") && prompts[1].contains("test -e fixed"), "{}", prompts[1]);
    assert!(prompts[1].ends_with(PARAGRAPH), "{}", prompts[1]);
    assert_eq!(prompts[1].matches("## How to finish").count(), 1);
}

#[test]
fn a_template_of_the_users_own_is_completed_too() {
    let env = Env::new().with_git().turns(json!([[
        shell("sed -i 's/\\[ ]/[x]/' implementation_plan.md"),
        say("<promise>COMPLETE</promise>")
    ]]));
    env.write("specs/sums.md", "It adds numbers.\n");
    env.write("implementation_plan.md", "# Plan\n\n- [ ] Show <promise>COMPLETE</promise>\n");
    env.write(".ralph/prompts/build.md", "Do ${TASK_DESCRIPTION}.\n");
    env.ralph(&["build"]).exits(0);
    let prompt = &env.whole_prompts()[0];
    assert!(prompt.contains("When every task of the plan is finished"), "{prompt}");
    assert!(prompt.contains("write <promise>COMPLETE</promise> as the last line"), "{prompt}");
    // The template that ralph writes says it in its own words.
    env.ralph(&["plan"]).exits(0);
    assert!(!env.whole_prompts()[1].contains("## How to finish"), "{}", env.whole_prompts()[1]);
}

#[test]
fn a_program_that_repeats_the_paragraph_claims_nothing() {
    let env = Env::new().agent("parrot", "cat");
    env.ralph(&["run", "-m", "1", "Do it."]).exits(1);
}

#[test]
fn the_spelling_of_another_loop_counts_where_it_can_be_nothing_else() {
    let env = Env::new().turns(json!([[say("It works.\n\n<promise>COMPLETE</promise>\n")]]));
    env.run(&["-m", "1"]).exits(0);
    for said in [
        json!([say("It works. <promise>COMPLETE</promise>")]),
        json!([say("<promise>COMPLETE</promise>"), say("Not yet.")]),
    ] {
        let env = Env::new().turns(json!([said]));
        env.run(&["-m", "1"]).exits(1);
    }
}

#[test]
fn a_prompt_comes_by_standard_input() {
    let env = quick();
    for args in [&["run", "-p", "-"][..], &["run", "-"], &["run"]] {
        piped(&env, "Do it.\n", args).exits(0);
    }
    assert_eq!(env.prompts(), ["Do it.\n"; 3]);
    // Who gives a prompt is not asked for another.
    piped(&env, "Something else.", &["run", "Do it."]).exits(0);
    assert_eq!(env.prompts()[3], "Do it.");
    piped(&env, " \n", &["run"]).exits(2).says("there is no prompt");
    assert_eq!(env.prompts().len(), 4);
}

#[test]
fn a_prompt_is_written_in_an_editor() {
    let env = quick().variable("EDITOR", "false").variable("VISUAL", "write --here");
    env.program(
        "write",
        "test \"$1\" = --here && grep -q 'ralph: Write above' \"$2\" && sed -i '1s/^/# Do it.\\n/' \"$2\"",
    );
    let mut terminal = Pty::start(env.command(RALPH).arg("run"));
    terminal.exits(0);
    assert_eq!(env.prompts(), ["# Do it."]);

    for (editor, says) in [("true", "the prompt is empty"), ("false", "the editor `false` did not succeed")] {
        let env = quick().variable("EDITOR", editor);
        let mut terminal = Pty::start(env.command(RALPH).arg("run"));
        terminal.expect(says).exits(2);
        assert!(env.prompts().is_empty() && env.runs().is_empty());
    }
    let env = quick();
    let mut terminal = Pty::start(env.command(RALPH).arg("run"));
    terminal.expect("there is no prompt").exits(2);
}

#[test]
fn what_was_written_in_an_editor_is_kept_when_the_run_is_refused() {
    let env = Env::new().settings(json!({"agent": {"command": "no-such-agent"}}));
    let env = env.variable("EDITOR", "write");
    env.program("write", "echo 'A long prompt.' >\"$1\"");
    let mut terminal = Pty::start(env.command(RALPH).arg("run"));
    terminal.expect("your prompt is kept:").expect("ralph run -f ").exits(2);
    let kept = std::fs::read_dir(env.root().join("tmp")).expect("a folder").flatten();
    let kept: Vec<_> = kept.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
    assert_eq!(kept, ["A long prompt.\n"]);
}

#[test]
fn the_name_of_a_file_is_no_prompt() {
    let env = quick();
    env.write("TASK.md", "Do it.\n");
    env.ralph(&["run", "TASK.md"]).exits(2).says("`TASK.md` is a file").says("ralph run -f TASK.md");
    env.ralph(&["run", "-p", "TASK.md"]).exits(0);
    env.ralph(&["run", "Do", "it"]).exits(2);
    env.ralph(&["run", "Do it.", "-p", "Do it."]).exits(2);
}
