//! How each agent is called.

use super::super::{FirstSignal, Output, Permissions, Request, adapter};

const TEXT: Output<'_> = Output::Text { answer: "ANSWER" };

#[track_caller]
fn check(
    command: &str,
    output: Output<'_>,
    permissions: Permissions,
    flags: &str,
    prompt: Option<&str>,
    expected: &str,
) {
    let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
    let request = Request { flags: &flags, output, permissions, prompt };
    assert_eq!(adapter(command).arguments(&request).join(" "), expected);
}

#[track_caller]
fn check_name(command: &str, expected: &str) {
    assert_eq!(adapter(command).name(), expected);
}

#[test]
fn commands_have_names() {
    check_name("claude", "claude");
    check_name("claude.exe", "claude");
    check_name("CLAUDE.EXE", "claude");
    check_name("/usr/local/bin/claude", "claude");
    check_name(r"C:\Tools\Codex.exe", "codex");
    check_name("./amp", "amp");
    check_name("gemini", "gemini");
    check_name("opencode", "opencode");
    check_name("claude-wrapper", "text");
    check_name("my-agent.sh", "text");
    check_name("", "text");
}

#[test]
fn claude() {
    use Permissions::{Agent, Skip};
    let stream = "-p --output-format stream-json --verbose";
    let skip = "--dangerously-skip-permissions";
    check("claude", Output::Stream, Agent, "", None, stream);
    check("claude", Output::Stream, Skip, "--model opus", None, &format!("{stream} {skip} --model opus"));
    check("claude", Output::Stream, Skip, skip, None, &format!("{stream} {skip}"));
    check(
        "claude",
        Output::Stream,
        Skip,
        "--permission-mode plan",
        None,
        &format!("{stream} --permission-mode plan"),
    );
    check(
        "claude",
        Output::Stream,
        Skip,
        "--permission-mode=plan",
        None,
        &format!("{stream} --permission-mode=plan"),
    );
    check("claude", Output::Stream, Agent, "-x", Some("-v go"), &format!("{stream} -x -- -v go"));
    check("claude", TEXT, Skip, "", None, &format!("-p --output-format text {skip}"));
}

#[test]
fn codex() {
    use Permissions::{Agent, Skip};
    let stream = "exec --json --skip-git-repo-check";
    let skip = "--dangerously-bypass-approvals-and-sandbox";
    check("codex", Output::Stream, Agent, "", None, &format!("{stream} -s workspace-write -"));
    check("codex", Output::Stream, Skip, "-m gpt-5.5", None, &format!("{stream} {skip} -m gpt-5.5 -"));
    check("codex", Output::Stream, Skip, "-s read-only", None, &format!("{stream} -s read-only -"));
    check(
        "codex",
        Output::Stream,
        Agent,
        "--sandbox=read-only",
        None,
        &format!("{stream} --sandbox=read-only -"),
    );
    check("codex", Output::Stream, Agent, skip, None, &format!("{stream} {skip} -"));
    check(
        "codex",
        Output::Stream,
        Agent,
        "-c sandbox_mode=x",
        None,
        &format!("{stream} -c sandbox_mode=x -"),
    );
    let hooks = "--dangerously-bypass-hook-trust";
    check("codex", Output::Stream, Skip, hooks, None, &format!("{stream} {skip} {hooks} -"));
    check("codex", Output::Stream, Skip, "", Some("-v go"), &format!("{stream} {skip} -- -v go"));
    check("codex", TEXT, Skip, "", None, &format!("exec -o ANSWER --skip-git-repo-check {skip} -"));
}

#[test]
fn amp() {
    use Permissions::{Agent, Skip};
    check("amp", Output::Stream, Agent, "", None, "--stream-json -x");
    check("amp", Output::Stream, Skip, "-m smart", None, "--stream-json --dangerously-allow-all -m smart -x");
    check(
        "amp",
        Output::Stream,
        Skip,
        "--dangerously-allow-all",
        None,
        "--stream-json --dangerously-allow-all -x",
    );
    check("amp", Output::Stream, Agent, "", Some("go"), "--stream-json -x go");
    check("amp", TEXT, Skip, "", None, "--dangerously-allow-all -x");
}

#[test]
fn gemini() {
    use Permissions::{Agent, Skip};
    check("gemini", Output::Stream, Agent, "", None, "-o stream-json");
    check("gemini", Output::Stream, Skip, "-m x", None, "-o stream-json --yolo --skip-trust -m x");
    check(
        "gemini",
        Output::Stream,
        Skip,
        "--approval-mode=auto_edit",
        None,
        "-o stream-json --skip-trust --approval-mode=auto_edit",
    );
    check("gemini", Output::Stream, Agent, "", Some("-v go"), "-o stream-json --prompt=-v go");
    check("gemini", TEXT, Agent, "", None, "-o text");
}

#[test]
fn opencode() {
    use Permissions::{Agent, Skip};
    check("opencode", Output::Stream, Agent, "", None, "run --format json");
    check("opencode", Output::Stream, Skip, "-m a/b", None, "run --format json --auto -m a/b");
    check("opencode", Output::Stream, Agent, "", Some("-v go"), "run --format json -- -v go");
    check("opencode", TEXT, Skip, "--auto", None, "run --auto");
}

#[test]
fn others() {
    check("my-agent", Output::Stream, Permissions::Skip, "--fast", None, "--fast");
    check("my-agent", TEXT, Permissions::Agent, "", Some("go"), "go");
}

#[test]
fn codex_cleans_up_on_interrupt() {
    assert_eq!(adapter("codex").first_signal(), FirstSignal::Int);
    for agent in ["amp", "claude", "gemini", "opencode", "other"] {
        assert_eq!(adapter(agent).first_signal(), FirstSignal::Term);
    }
}

#[track_caller]
fn check_harmless(text: &str, expected: &str) {
    assert_eq!(adapter("claude").harmless(text).replace('\u{2060}', "^"), expected);
    assert_eq!(adapter("codex").harmless(text), text);
}

#[test]
fn added_text_mentions_no_files() {
    check_harmless("", "");
    check_harmless("@notes.txt", "@^notes.txt");
    check_harmless("see @a and (@b), `@c` \"@d\"", "see @^a and (@^b), `@^c` \"@^d\"");
    check_harmless("line\n@Test", "line\n@^Test");
    check_harmless("me@example.org, a @ b, @", "me@example.org, a @ b, @");
    check_harmless("@@x", "@^@^x");
    let once = adapter("claude").harmless("@a");
    assert_eq!(adapter("claude").harmless(&once), once);
}

#[track_caller]
fn check_deliverable(prompt: &str, expected: &str) {
    assert_eq!(adapter("claude").deliverable(prompt.to_owned()), expected);
    assert_eq!(adapter("codex").deliverable(prompt.to_owned()), prompt);
}

#[test]
fn prompts_are_no_commands() {
    check_deliverable("Fix it", "Fix it");
    check_deliverable("Fix\n/help", "Fix\n/help");
    check_deliverable("/help", "Do the following:\n\n/help");
    check_deliverable("\n  /etc is full", "Do the following:\n\n\n  /etc is full");
}
