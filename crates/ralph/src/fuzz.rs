//! What reads bytes that no one vouches for: one function each, for those who throw anything at it.
//!
//! Invariant: each comes back, whatever the bytes are. `tests/fuzz` drives them with spoiled recordings in CI,
//! `fuzz/` with a fuzzer where there is one.

use std::{io, time::Duration};

use jiff::{Timestamp, tz::TimeZone};
use ralph_agents::{
    self, AgentEvent,
    context::last_reading,
    transcript::{last_message, queue},
    turn::{Exit, Tally, conclude},
};
use ralph_core::{
    agents_md,
    claim::{Scanner, echo::Echo},
    duration::parse_duration,
    engine::{Action, decide, entry::Entry, event::Event, presets},
    imports::{self, Grouping, NewList, SourceKind, SpecDocument},
    message, plan_file,
    prompt::{message::commit_message, slug, truncate},
    review,
    stories::{self, Budget, Mode, Review, Rules, Statistics, StoryTurn, TaskFile},
    template,
    view::Standing,
};
use ralph_guard::{Decision, ToolCall};

use crate::{
    journal::{self, Folded},
    report::{
        Reporter,
        html::Page,
        human::Human,
        listing::{Listed, Style},
        style::{Marks, ReportStyle},
    },
    serve, settings,
    term::{Palette, Width},
};

/// The agents whose streams are read, and one that no one knows.
pub const AGENTS: [&str; 10] =
    ["amp", "claude", "codex", "copilot", "gemini", "opencode", "pi", "qwen", "ralph", "unknown"];

/// A function that takes bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 10] = [
    ("stream", |bytes| {
        for agent in AGENTS {
            stream(agent, bytes);
        }
    }),
    ("journal", journal),
    ("settings", settings),
    ("tasks", tasks),
    ("imports", imports),
    ("bus", bus),
    ("transcript", transcript),
    ("guard", guard),
    ("text", text),
    ("request", request),
];

/// Reads the stream of an agent as a turn does, and shows it. How it is cut into pieces makes no difference.
pub fn stream(agent: &str, bytes: &[u8]) {
    let adapter = ralph_agents::adapter(agent);
    let whole = events(agent, [bytes]);
    if adapter.is_structured() {
        let size = bytes.first().map_or(1, |first| usize::from(*first) + 1);
        assert_eq!(whole, events(agent, bytes.chunks(size)), "in pieces of {size} bytes");
    }
    let plan = presets::run("DONE", Vec::new());
    let (mut tally, mut scanner) = (Tally::default(), Scanner::new(&plan.claims));
    let mut echo = Echo::of(&String::from_utf8_lossy(&bytes[..bytes.len() / 2]));
    let mut human = Human::new(narrow(), Box::new(io::sink()), Box::new(io::sink()));
    for event in &whole {
        tally.take(event);
        if let AgentEvent::Text { text, joins } = event {
            scanner.push(text, *joins);
            scanner.push(&echo.strip(text), true);
        }
        human.agent(event);
    }
    human.flush();
    let _ = (scanner.claimed(), conclude(adapter.is_structured(), Exit::Code(1), &tally));
}

fn events<'a>(agent: &str, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<AgentEvent> {
    let mut parser = ralph_agents::adapter(agent).parser();
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece, &mut |event| events.push(event));
    }
    parser.finish(&mut |event| events.push(event));
    events
}

/// Reads a journal as `status`, `logs`, `report` and `resume` do.
pub fn journal(bytes: &[u8]) {
    let mut entries = Vec::new();
    let whole = journal::read_lines(&mut &bytes[..], 0, &mut |entry: Entry| entries.push(entry));
    assert!(whole.is_ok_and(|whole| whole <= bytes.len() as u64), "bytes can be read");
    for line in bytes.split(|byte| *byte == b'\n') {
        // There is a short way and a long way.
        assert_eq!(Entry::of_line(line), Entry::of_any_line(line), "{}", line.escape_ascii());
    }
    for entry in &entries {
        // What was read can be written and read again.
        let line = [entry.to_line(), b"\n".to_vec()].concat();
        let mut again = 0;
        let _ = journal::read_lines(&mut &line[..], 0, &mut |_| again += 1);
        assert!(again == 1 || matches!(entry.event, Event::Unknown), "{entry:?}");
    }
    let Ok(folded) = journal::fold_entries("a journal", entries) else { return };
    show(&folded);
    let Folded { mut run, entries, .. } = folded;
    let resumed = Event::RunResumed { pid: 1, limits: run.plan.limits };
    run.apply(&Entry { at: Timestamp::UNIX_EPOCH, event: resumed });
    if let Action::RunGate(gate) = decide(&run.plan, &run.state) {
        assert!(gate < run.plan.gates.len(), "there is no gate {gate}");
    }
    let mut human = Human::new(narrow(), Box::new(io::sink()), Box::new(io::sink()));
    for entry in &entries {
        human.event(&run, entry);
    }
}

fn show(folded: &Folded) {
    let standing = Standing::of(false, &folded.run.state);
    let now = Timestamp::UNIX_EPOCH;
    let style = Style {
        palette: Palette::default(),
        marks: Marks::EMOJI,
        columns: narrow().width.columns(),
        with_project: true,
    };
    let listed = Listed { id: "20260101-000000-0000", folded, standing, asked: None, doing: None, now };
    let _ = listed.text(&style);
    let page = Page {
        id: listed.id,
        folded,
        standing,
        asked: None,
        checks_diff: None,
        commits: Vec::new(),
        files: Vec::new(),
        range: None,
        zone: TimeZone::UTC,
        receipt: None,
    };
    let html = page.render();
    assert!(!html.contains("<script"), "{html}");
}

/// Reads settings.
pub fn settings(bytes: &[u8]) {
    let _ = settings::of_bytes(bytes);
}

/// Reads a task list, and judges it by itself and by a list that is in order.
pub fn tasks(bytes: &[u8]) {
    const BEFORE: &str = r#"{"project": "p", "verifyCommands": ["make"], "userStories": [
        {"id": "US-1", "title": "t", "description": "", "acceptanceCriteria": ["it works"], "priority": 1, "passes": false,
         "reviewStatus": "needs_review", "reviewCount": 1, "reviewFeedback": "", "notes": "", "dependsOn": []}]}"#;
    let (file, good) = (TaskFile::new(String::from_utf8_lossy(bytes)), TaskFile::new(BEFORE));
    let list = file.list();
    for review in [Review::Required, Review::Skipped] {
        let _ = (file.problems(review), stories::select(list, review));
        let _ = Budget::of(list, review).needed();
        for mode in [Mode::Implement, Mode::Review, Mode::Fix] {
            let rules = Rules { review, cap: 2, verify_commands: &list.verify_commands };
            let turn = StoryTurn { mode, story: Some("US-1"), finished: true, touched: &[] };
            for (before, after) in [(&good, &file), (&file, &good), (&file, &file)] {
                let judged = stories::judge(before, Some(after), turn, rules);
                let right = judged.text.map_or_else(|| after.clone(), TaskFile::new);
                // What is put right by a list that is in order is a list.
                let is_list = !right.list().user_stories.is_empty();
                assert!(*before != good || is_list, "{}\n{}", after.text(), right.text());
            }
        }
    }
    let _ = Statistics::of(list, 3).lines();
}

/// Reads task lists of other tools. What is read becomes a list that ralph reads without a problem, ticking ticks only boxes that
/// are there, and changes nothing a second time.
pub fn imports(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = SourceKind::of("tasks.md", &["proposal.md"], &text);
    let _ = imports::requirements(SpecDocument { file: "spec.md", text: &text });
    for (_, kind) in SourceKind::NAMES {
        for grouping in [Grouping::Task, Grouping::Section] {
            let Ok(imported) = imports::read(kind, &text, grouping) else { continue };
            let new = NewList { project: "p", branch: "b", verify_commands: &[], file: "tasks.md" };
            let list = imports::compose(&imported, &new);
            assert_eq!(stories::read(&list).problems, [], "{list}");
            let again = imports::add(&list, &imported, "tasks.md");
            assert!(again.ids.is_empty() && again.text == list, "{list}");
            let tasks: Vec<String> = imported.stories.into_iter().flat_map(|story| story.tasks).collect();
            let ticked = imports::tick(kind, &text, &tasks).expect("it was read");
            assert_eq!(ticked.missing, [""; 0], "{text}");
            let again = imports::tick(kind, &ticked.text, &tasks).expect("it was read");
            assert_eq!((again.text, again.ticked.len()), (ticked.text, 0), "{text}");
        }
    }
}

/// Reads a message bus. What is found in it can be posted again.
pub fn bus(bytes: &[u8]) {
    let parsed = message::parse(bytes);
    assert!(parsed.end <= bytes.len());
    for message in parsed.messages {
        let again = message::parse(message.format().as_bytes()).messages;
        assert_eq!(again.len(), 1, "{message:?}");
    }
}

/// Reads the end of a transcript as a hook does. What comes after a line that is not the agent's takes nothing back.
pub fn transcript(bytes: &[u8]) {
    let since = Timestamp::UNIX_EPOCH;
    let (message, _) = last_message(bytes, since);
    let (waiting, _) = queue::waiting(bytes, since);
    let _ = last_reading(bytes);
    let odd = [bytes, b"\nno JSON\n"].concat();
    assert_eq!((last_message(&odd, since).0, queue::waiting(&odd, since).0), (message, waiting));
}

/// Judges what an agent asks for: a command line, and what a hook may be given. What is forbidden stays forbidden,
/// whatever follows it.
pub fn guard(bytes: &[u8]) {
    const FORBIDDEN: &str = "rm -rf ~";
    let ctx = ralph_guard::Context::new("/home/dev/project", "/home/dev");
    let text = String::from_utf8_lossy(bytes).into_owned();
    let forbidden = format!("{FORBIDDEN}\n{text}");
    for (command_line, is_forbidden) in [(text.clone(), false), (forbidden, true)] {
        let verdict = ralph_guard::judge(&ToolCall::Shell { command_line }, &ctx);
        assert!(!is_forbidden || verdict.decision == Decision::Block, "{FORBIDDEN} passes before {text:?}");
        assert_eq!(verdict.message().is_some(), verdict.decision != Decision::Allow, "{text:?}");
    }
    let words = text.split(' ').map(str::to_owned).collect();
    let _ = ralph_guard::judge(&ToolCall::Arguments { words }, &ctx);
    for paths in [ToolCall::Write { paths: vec![text.clone()] }, ToolCall::Read { paths: vec![text.clone()] }]
    {
        let _ = ralph_guard::judge(&paths, &ctx);
    }
    let _ = (ralph_guard::UserRules::parse(&text), ralph_guard::corpus::parse(&text));
    let Ok(input) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    let [name, tool_input] = ["tool_name", "tool_input"].map(|key| &input[key]);
    let _ = ralph_guard::judge(&ToolCall::from_hook(name.as_str().unwrap_or("Bash"), tool_input), &ctx);
    let _ = ralph_guard::judge(&ToolCall::from_hook("Edit", &input), &ctx);
}

/// Reads the documents of a project and the answers of a model.
pub fn text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (
        plan_file::tasks(&text, "specs"),
        plan_file::next_task(&text, "specs"),
        agents_md::test_command(&text),
    );
    let filled = template::fill(&text, &[("MODE", "x".to_owned()), ("ITERATION", "${MODE}".to_owned())]);
    let _ =
        (commit_message(&text), slug(&text), filled, review::verdict(&text, &text), review::look(&text, ""));
    let limit = bytes.len() / 2;
    assert!(truncate(&text, limit).chars().count() <= limit + "... [truncated]".len() + 1);
    if let Ok(duration) = parse_duration(&text) {
        assert!(duration <= Duration::MAX);
    }
}

/// As narrow as it gets.
fn narrow() -> ReportStyle {
    ReportStyle { width: Width::Fixed(20), live: true, verbose: true, ..ReportStyle::of_a_file() }
}

/// Reads the head of a request to the page, and decides about it. How it arrives makes no difference.
pub fn request(bytes: &[u8]) {
    let whole = serve::read_head(bytes);
    if let Some(length) = whole {
        assert_eq!(
            serve::read_head(&bytes[..length]),
            Some(length),
            "what follows the head is no part of it"
        );
    }
}
