//! What a failed guardrail printed, as it reaches people and agents: without escape sequences, with its end and its reason.

use std::fs;

use serde_json::json;

use crate::env::{Env, done, say};

/// Fails until the agent has written `work`, and prints this before.
fn fails_once(printing: &str) -> String {
    format!("{printing}; test -e work")
}

fn report(env: &Env) -> String {
    let page = env.ralph(&["report"]).exits(0).stdout;
    fs::read_to_string(page.trim()).expect("the report")
}

#[test]
fn escape_sequences_reach_no_one() {
    let printing = r"printf 'a \033[1;31mred\033[0m \033]0;title\007word \033(Bof\033[K \302\2331mit\n'";
    let env = Env::new().guardrails(&[&fails_once(printing)]).turns(json!([[say("Hm.")], [say("Hm.")]]));
    let output =
        env.run(&["-m", "2"]).exits(1).says("a red word of it").says_not("\u{fffd}").says_not("[31m");
    assert_eq!(output.stderr.matches('\u{1b}').count(), 0, "{}", output.stderr);
    let prompt = &env.prompts()[1];
    assert!(prompt.contains("Output:\na red word of it"), "{prompt}");
    let page = report(&env);
    assert!(page.contains("<pre>a red word of it</pre>") && !page.contains('\u{1b}'), "{page}");
    env.ralph(&["logs"]).exits(0).prints("a red word of it");
    // The log itself is what was printed.
    let log = fs::read_dir(env.path(".ralph"))
        .expect("logs")
        .flatten()
        .find(|it| it.file_name().to_string_lossy().contains("guardrail_002"));
    assert!(fs::read_to_string(log.expect("a log").path()).expect("a log").contains('\u{1b}'));
}

#[test]
fn what_an_agent_says_has_no_colour_either() {
    let env = Env::new().turns(json!([[say(
        "\u{1b}[32mgreen\u{1b}[0m \u{1b}]8;;http://x\u{1b}\\link <response>DONE</response>"
    )]]));
    env.run(&[]).exits(0).says("green link").says_not("\u{fffd}");
}

#[test]
fn guardrails_are_told_that_no_terminal_reads_them() {
    let guardrail = r#"echo "$NO_COLOR/$TERM" >seen"#;
    let env = Env::new().guardrails(&[guardrail]).variable("TERM", "xterm").turns(json!([[done()]]));
    env.run(&[]).exits(0);
    assert_eq!(env.read("seen"), "1/dumb\n");
    let env = env
        .settings(json!({"guardrailEnv": {"TERM": "xterm-256color", "NO_COLOR": ""}}))
        .turns(json!([[done()]]));
    env.run(&[]).exits(0);
    assert_eq!(env.read("seen"), "/xterm-256color\n");
    // The record has the names; values may be keys.
    assert_eq!(env.events("run_started")[0]["setup"]["guardrail_env"]["TERM"], "(not shown)");
}

#[test]
fn a_long_output_is_shown_by_its_end_and_its_reason() {
    let printing = "echo begin; echo 'error[E0308]: mismatched types'; seq 10000 13000; echo 'the very end'";
    let env = Env::new().guardrails(&[&fails_once(printing)]).turns(json!([[say("Hm.")], [say("Hm.")]]));
    let output = env.run(&["-m", "2", "--no-baseline"]).exits(1).says("error[E0308]: mismatched types");
    output.says("the very end").says("13000").says_not("begin\n").says_not("10001");
    let prompt = &env.prompts()[1];
    assert!(prompt.contains("\nOutput (truncated):\nbegin\nerror[E0308]"), "{prompt}");
    assert!(prompt.contains("... [truncated]\nLast lines:\n12982\n"), "{prompt}");
    assert!(prompt.trim_end().ends_with("\n13000\nthe very end"), "{prompt}");
    let page = report(&env);
    assert!(
        page.contains("the very end") && page.contains("error[E0308]") && !page.contains("10001"),
        "{page}"
    );
    let env = env.settings(json!({"prompt": {"tail": 1}, "outputTruncateChars": 7}));
    env.run(&["-m", "2", "--no-baseline"]).exits(1);
    let prompt = env.prompts().pop().expect("a prompt");
    assert!(
        prompt.contains("Output (truncated):\nbegin\ne... [truncated]\nLast lines:\nthe very end"),
        "{prompt}"
    );
    let setup = &env.events("run_started")[0]["setup"];
    assert_eq!((&setup["prompt_tail"], &setup["output_truncate_chars"]), (&json!(1), &json!(7)));
}

#[test]
fn a_short_output_is_not_called_truncated() {
    let env = Env::new().guardrails(&[&fails_once("echo short")]).turns(json!([[say("Hm.")], [say("Hm.")]]));
    env.run(&["-m", "2", "--no-baseline"]).exits(1);
    let prompt = &env.prompts()[1];
    assert!(
        prompt.contains("\nOutput:\nshort")
            && !prompt.contains("truncated")
            && !prompt.contains("Last lines"),
        "{prompt}"
    );
}

#[test]
fn hints_and_commands_reach_the_agent_as_they_were_written() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Hm.","num_turns":1}"#;
    let env = Env::new().agent("claude", &format!("cat >>prompts; echo '{result}'")).settings(json!({
        "guard": "off",
        "guardrails": [{"command": "echo mail @someone; false", "hint": "see @docs/style.md"}],
    }));
    env.run(&["-m", "2", "--no-baseline"]).exits(1);
    let prompts = env.read("prompts");
    assert!(prompts.contains("Guardrail \"echo mail @someone; false\" failed"), "{prompts}");
    assert!(prompts.contains("Hint: see @docs/style.md\n"), "{prompts}");
    assert!(prompts.contains("Output:\nmail @\u{2060}someone"), "{prompts}");
}
