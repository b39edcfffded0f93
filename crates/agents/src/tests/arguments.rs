//! How each agent is called.

use super::super::{FirstSignal, Output, Permissions, Request, adapter};

/// One call of an agent; by default it streams and keeps its own rules.
struct Call<'a> {
    command: &'a str,
    flags: &'a str,
    output: Output<'a>,
    permissions: Permissions,
    prompt: Option<&'a str>,
    budget_usd: Option<f64>,
}

fn call(command: &str) -> Call<'_> {
    let (output, permissions) = (Output::Stream, Permissions::Agent);
    Call { command, flags: "", output, permissions, prompt: None, budget_usd: None }
}

impl<'a> Call<'a> {
    fn text(self) -> Self {
        Self { output: Output::Text { answer: "ANSWER" }, ..self }
    }

    fn skip(self) -> Self {
        Self { permissions: Permissions::Skip, ..self }
    }

    fn flags(self, flags: &'a str) -> Self {
        Self { flags, ..self }
    }

    fn budget(self, usd: f64) -> Self {
        Self { budget_usd: Some(usd), ..self }
    }

    fn prompt(self, prompt: &'a str) -> Self {
        Self { prompt: Some(prompt), ..self }
    }

    #[track_caller]
    fn gives(self, expected: &str) {
        let Self { command, flags, output, permissions, prompt, budget_usd } = self;
        let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        let request = Request {
            flags: &flags,
            output,
            permissions,
            prompt,
            hooks: None,
            resume: None,
            streams_input: false,
            budget_usd,
        };
        assert_eq!(adapter(command).arguments(&request).join(" "), expected);
    }
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
    check_name("/opt/bin/qwen", "qwen");
    check_name("copilot.exe", "copilot");
    check_name("pi", "pi");
    check_name("pip", "text");
    check_name("claude-wrapper", "text");
    check_name("my-agent.sh", "text");
    check_name("", "text");
}

#[test]
fn claude() {
    let stream = "-p --output-format stream-json --verbose";
    let skip = "--dangerously-skip-permissions";
    call("claude").budget(0.5).gives("-p --output-format stream-json --verbose --max-budget-usd 0.5000");
    call("claude")
        .budget(0.5)
        .flags("--max-budget-usd=2")
        .gives("-p --output-format stream-json --verbose --max-budget-usd=2");
    call("claude").budget(0.5).text().gives("-p --output-format text");
    call("codex").budget(0.5).gives("exec --json --skip-git-repo-check -s workspace-write -");
    call("claude").gives(stream);
    call("claude").skip().flags("--model opus").gives(&format!("{stream} {skip} --model opus"));
    call("claude").skip().flags(skip).gives(&format!("{stream} {skip}"));
    call("claude").skip().flags("--permission-mode plan").gives(&format!("{stream} --permission-mode plan"));
    call("claude").skip().flags("--permission-mode=plan").gives(&format!("{stream} --permission-mode=plan"));
    call("claude").flags("-x").prompt("-v go").gives(&format!("{stream} -x -- -v go"));
    call("claude").text().skip().gives(&format!("-p --output-format text {skip}"));
}

#[test]
fn codex() {
    let stream = "exec --json --skip-git-repo-check";
    let skip = "--dangerously-bypass-approvals-and-sandbox";
    call("codex").gives(&format!("{stream} -s workspace-write -"));
    call("codex").skip().flags("-m gpt-5.5").gives(&format!("{stream} {skip} -m gpt-5.5 -"));
    call("codex").skip().flags("-s read-only").gives(&format!("{stream} -s read-only -"));
    call("codex").flags("--sandbox=read-only").gives(&format!("{stream} --sandbox=read-only -"));
    call("codex").flags(skip).gives(&format!("{stream} {skip} -"));
    call("codex").flags("-c sandbox_mode=x").gives(&format!("{stream} -c sandbox_mode=x -"));
    let hooks = "--dangerously-bypass-hook-trust";
    call("codex").skip().flags(hooks).gives(&format!("{stream} {skip} {hooks} -"));
    call("codex").skip().prompt("-v go").gives(&format!("{stream} {skip} -- -v go"));
    call("codex").text().skip().gives(&format!("exec -o ANSWER --skip-git-repo-check {skip} -"));
}

#[test]
fn amp() {
    call("amp").gives("--stream-json -x");
    call("amp").skip().flags("-m smart").gives("--stream-json --dangerously-allow-all -m smart -x");
    call("amp").skip().flags("--dangerously-allow-all").gives("--stream-json --dangerously-allow-all -x");
    call("amp").prompt("go").gives("--stream-json -x go");
    call("amp").text().skip().gives("--dangerously-allow-all -x");
}

#[test]
fn gemini() {
    call("gemini").gives("-o stream-json");
    call("gemini").skip().flags("-m x").gives("-o stream-json --yolo --skip-trust -m x");
    call("gemini")
        .skip()
        .flags("--approval-mode=auto_edit")
        .gives("-o stream-json --skip-trust --approval-mode=auto_edit");
    call("gemini").prompt("-v go").gives("-o stream-json --prompt=-v go");
    call("gemini").text().gives("-o text");
}

#[test]
fn opencode() {
    call("opencode").gives("run --format json");
    call("opencode").skip().flags("-m a/b").gives("run --format json --auto -m a/b");
    call("opencode").prompt("-v go").gives("run --format json -- -v go");
    call("opencode").text().skip().flags("--auto").gives("run --auto");
}

#[test]
fn qwen() {
    call("qwen").gives("-o stream-json");
    call("qwen").skip().flags("-m x").gives("-o stream-json --yolo -m x");
    call("qwen").skip().flags("-y").gives("-o stream-json -y");
    call("qwen").skip().flags("--approval-mode=plan").gives("-o stream-json --approval-mode=plan");
    call("qwen").prompt("-v go").gives("-o stream-json --prompt=-v go");
    call("qwen").text().skip().gives("-o text --yolo");
}

#[test]
fn copilot() {
    let stream = "--output-format json";
    let skip = "--allow-all-tools --allow-all-paths";
    call("copilot").gives(stream);
    call("copilot").skip().flags("--model x").gives(&format!("{stream} {skip} --model x"));
    call("copilot").skip().flags("--yolo").gives(&format!("{stream} --yolo"));
    call("copilot").skip().flags("--allow-all").gives(&format!("{stream} --allow-all"));
    call("copilot").skip().flags(skip).gives(&format!("{stream} {skip}"));
    call("copilot")
        .skip()
        .flags("--allow-tool=write")
        .gives(&format!("{stream} --allow-all-paths --allow-tool=write"));
    let deny = "--deny-tool=shell(git)";
    call("copilot").skip().flags(deny).gives(&format!("{stream} {skip} {deny}"));
    call("copilot").prompt("-v go").gives(&format!("{stream} --prompt=-v go"));
    call("copilot").text().skip().gives(&format!("-s {skip}"));
}

#[test]
fn pi() {
    call("pi").gives("--mode json -p");
    call("pi").skip().flags("--model a/b").gives("--mode json -p --model a/b");
    call("pi").prompt("go").gives("--mode json -p go");
    call("pi").prompt("-v go").gives("--mode json -p  -v go");
    call("pi").prompt("@a go").gives("--mode json -p  @a go");
    call("pi").text().gives("--mode text -p");
}

#[test]
fn others() {
    call("my-agent").skip().flags("--fast").gives("--fast");
    call("my-agent").text().prompt("go").gives("go");
}

#[test]
fn codex_cleans_up_on_interrupt() {
    assert_eq!(adapter("codex").first_signal(), FirstSignal::Int);
    for agent in ["amp", "claude", "copilot", "gemini", "opencode", "pi", "qwen", "other"] {
        assert_eq!(adapter(agent).first_signal(), FirstSignal::Term);
    }
}

#[track_caller]
fn check_harmless(text: &str, expected: &str) {
    for agent in ["claude", "qwen"] {
        assert_eq!(adapter(agent).harmless(text).replace('\u{2060}', "^"), expected);
    }
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
    for agent in ["claude", "qwen"] {
        assert_eq!(adapter(agent).deliverable(prompt.to_owned()), expected);
    }
    assert_eq!(adapter("codex").deliverable(prompt.to_owned()), prompt);
}

#[test]
fn prompts_are_no_commands() {
    check_deliverable("Fix it", "Fix it");
    check_deliverable("Fix\n/help", "Fix\n/help");
    check_deliverable("/help", "Do the following:\n\n/help");
    check_deliverable("\n  /etc is full", "Do the following:\n\n\n  /etc is full");
}
