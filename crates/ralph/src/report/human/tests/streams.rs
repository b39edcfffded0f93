//! What the agent says and does.

use ralph_agents::{Excerpt, Failure, FailureKind, Limit, TodoItem, TodoState, TurnResult, Usage};

use super::*;

fn start(id: &str, name: &str, summary: &str, parent: Option<&str>) -> AgentEvent {
    AgentEvent::ToolStart {
        id: id.to_owned(),
        name: name.to_owned(),
        summary: summary.to_owned(),
        parent: parent.map(str::to_owned),
    }
}

fn end(id: &str, ok: bool, output: &str) -> AgentEvent {
    AgentEvent::ToolEnd { id: id.to_owned(), ok, output: Excerpt::of(output) }
}

fn say(text: &str, joins: bool) -> AgentEvent {
    AgentEvent::Text { text: text.to_owned(), joins }
}

fn result(cost_usd: Option<f64>, failure: Option<Failure>) -> AgentEvent {
    let usage = Usage { cost_usd, input: 1_200_000, cached: 850_000, output: 45_000, estimated: false };
    AgentEvent::Result(TurnResult { failure, usage, ..TurnResult::default() })
}

#[test]
fn tools() {
    check("tools", |shown| {
        shown.agent([
            AgentEvent::Started { session: None, model: Some("opus".to_owned()), version: None },
            say("I will look at ", false),
            say("the parser.\nThen I mend it.", true),
            start("1", "Read", "/home/ada/parser/src/main.rs", None),
            end("1", true, "package main\n\tx := 1\n\n\nfunc main() {\n}\nmore\n"),
            start("2", "Bash", "make test 2>&1 | tail -n 20", None),
            end("2", false, "not ok"),
            start("3", "Write", "empty.txt", None),
            end("3", true, ""),
            end("unheard-of", true, "whose?"),
            say("It works. <response>DONE</response>", false),
        ]);
        shown.after(367_000).agent([result(Some(5.76), None)]);
    });
}

#[test]
fn parallel_tools_name_themselves() {
    check("parallel_tools", |shown| {
        shown.agent([
            start("a", "Bash", "make lint", None),
            start("b", "Bash", "make test", None),
            start(
                "c",
                "Grep",
                "a very long pattern that goes on and on, so that nobody reads it to its end",
                None,
            ),
            end("b", false, "3 failed"),
            end("a", true, "clean"),
            end("c", true, "one\ntwo"),
        ]);
    });
}

#[test]
fn subagents_are_indented() {
    check("subagents", |shown| {
        shown.agent([
            start("t", "Task", "review the change", None),
            AgentEvent::Subagent { text: "I look at the difference.".to_owned() },
            start("s", "Read", "src/lib.rs", Some("t")),
            end("s", true, "one\ntwo\nthree\nfour\nfive\nsix\nseven"),
            start("n", "Task", "ask a third", Some("t")),
            start("m", "Bash", "git diff", Some("n")),
            end("m", true, "+1"),
            end("n", true, "fine"),
            end("t", true, "No objections."),
        ]);
    });
}

#[test]
fn todo_lists_show_progress() {
    let item = |text: &str, state| TodoItem { text: text.to_owned(), state };
    check("todo", |shown| {
        shown.agent([
            AgentEvent::Todo {
                items: vec![
                    item("Read the file", TodoState::Done),
                    item(
                        "Edit the code, which takes quite some time and has a long name too",
                        TodoState::Active,
                    ),
                    item("Run tests", TodoState::Pending),
                ],
            },
            AgentEvent::Todo { items: Vec::new() },
        ]);
    });
}

#[test]
fn odd_text_is_shown_with_care() {
    check("odd_text", |shown| {
        let wide = "日本語のとても長い説明です。".repeat(5);
        shown.agent([
            start("1", "evil\u{1b}[2Jname", "\u{1b}]0;title\u{7} and\nmore", None),
            end("1", true, &format!("{wide}\na\u{1b}[31mred\r\nlong {}", "x".repeat(300))),
            start("2", "Bash", &wide, None),
            say("evil \u{1b}[1A words ⏸️ 👩‍💻\r\n", false),
            AgentEvent::Progress { text: format!("thinking about {wide}") },
            AgentEvent::Started { session: None, model: Some("model\u{1b}[2J".to_owned()), version: None },
            AgentEvent::Limit(Limit { refused: true, resets_at: None, window: None, windows: Vec::new() }),
        ]);
        let failure = Failure { kind: FailureKind::Transient, message: "no".to_owned() };
        shown.after(900).agent([result(None, Some(failure))]);
    });
}

#[test]
fn nothing_is_wider_than_the_screen() {
    for columns in [50, 60, 120] {
        let mut shown = Shown::new(columns, |_| {});
        for name in ["tool", "tool_fail", "todo_real", "subagent", "tasks"] {
            let quiet = recorded(name).into_iter().filter(|event| !matches!(event, AgentEvent::Text { .. }));
            shown.agent(quiet);
        }
        check_width(columns, &shown.printed());
    }
}

#[test]
fn recorded_streams_are_shown() {
    for name in ["tool", "todo_real", "subagent", "tasks"] {
        check(&format!("recorded_{name}"), |shown| {
            shown.after(2_500).agent(recorded(name));
        });
    }
}
