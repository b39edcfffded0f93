//! The screens as text, at three sizes and without colour.

use ralph_agents::{AgentEvent, Excerpt, Usage};
use ralph_core::{
    engine::{
        entry::Entry,
        event::{Event, GateEnded, Turn, TurnEnd, TurnEnded},
        outcome::Outcome,
        plan::Plan,
    },
    fleet::{FleetItem, FleetPlan, FleetStarted, FleetState, Item, ItemPhase, Lease},
    gate_failure::GateFailure,
    verify::finding::Finding,
    view::{Outside, ShownFleet, ShownRun, ShownTask, StreamTail, TaskState, Watched, overview},
};
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
};

use super::*;
use crate::{
    live::Overview,
    report::human::tests::{START, gate, plan, started},
    watch::app::{Effect, RunAct},
};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn at(seconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(START + seconds * 1000).expect("a time")
}

fn rules() -> Plan {
    let mut plan = plan();
    plan.gates = vec![gate("cargo test"), gate("cargo clippy --all-targets -- -D warnings")];
    plan.limits.max_cost = Some(5.0);
    plan
}

fn turn(iteration: u32) -> Event {
    Event::TurnStarted(Turn { iteration, attempt: 1, head: Some("0123abcd".to_owned()), ..Turn::default() })
}

fn ended(claimed: bool) -> Event {
    let usage =
        Usage { cost_usd: Some(0.42), input: 90_000, cached: 60_000, output: 4_000, estimated: false };
    let ended = TurnEnded { claimed, ms: 61_000, usage, tools: 12, ..TurnEnded::new(TurnEnd::Finished) };
    Event::TurnEnded(Box::new(ended))
}

fn checked(gate: usize, passed: bool) -> Event {
    let failure = (!passed).then(|| GateFailure::of_message("1 test failed".to_owned(), Some(101)));
    Event::GateEnded(GateEnded::own(gate, failure, String::new()))
}

fn iteration(number: u32, passed: bool) -> Vec<Event> {
    vec![turn(number), ended(passed), checked(0, passed), checked(1, true)]
}

fn stream() -> StreamTail {
    let mut tail = StreamTail::new(2000);
    let text = |text: &str| AgentEvent::Text { text: text.to_owned(), joins: false };
    let tool = |id: &str, name: &str, summary: &str| {
        let [id, name, summary] = [id, name, summary].map(str::to_owned);
        AgentEvent::ToolStart { id, name, summary, parent: None }
    };
    tail.turn("iteration 2");
    tail.agent(&text("The parser handles calendar dates, but not ISO weeks. I will add a branch for the letter W, and a table of tests for the first and the last week of a year."));
    tail.agent(&tool("1", "Read", "src/parser.rs"));
    tail.agent(&tool("2", "Bash", "cargo test \u{1b}[31mweeks\u{1b}[0m"));
    tail.agent(&AgentEvent::ToolEnd {
        id: "2".to_owned(),
        ok: false,
        output: Excerpt::of("error[E0308]: mismatched types"),
    });
    tail.turn("iteration 3");
    tail.agent(&text("Two tests fail at the turn of the year.\nI fix the off-by-one in `week_of`."));
    tail.agent(&tool("3", "Edit", "src/parser.rs"));
    tail
}

fn shown(id: &str, events: Vec<Event>, is_running: bool) -> ShownRun {
    let mut watched = Watched::default();
    let first = Event::RunStarted(Box::new(started(&rules())));
    for (second, event) in (0..).zip(std::iter::once(first).chain(events)) {
        watched.apply(&Entry { at: at(second * 20), event });
    }
    let outside = Outside {
        id: id.to_owned(),
        is_running,
        asked: Some("Make the date parser accept ISO weeks".to_owned()),
        doing: Some("Edit(src/parser.rs)".to_owned()),
        stream: stream().lines().iter().cloned().collect(),
        ..Outside::default()
    };
    watched.shown(&outside).expect("a run")
}

fn running() -> ShownRun {
    let events = [iteration(1, false), iteration(2, false), vec![turn(3)]].concat();
    shown("20261118-101500-1f00aa", events, true)
}

fn with_findings() -> ShownRun {
    let found = Event::Found { findings: vec![Finding::JudgeDisagrees { command: "cargo test".to_owned() }] };
    let warned = Event::warned("the agent is not sandboxed".to_owned());
    let end = Event::RunEnded { outcome: Outcome::Done, exit_code: 7 };
    let mut run = shown(
        "20261118-090000-aa00bb",
        [vec![warned], iteration(1, false), iteration(2, true), vec![found, end]].concat(),
        false,
    );
    run.outcome = Some("Done as far as the checks go, with 1 finding: a person must look".to_owned());
    run
}

fn app(run: Option<ShownRun>) -> App {
    let mut app = App { now: at(300), is_list: run.is_none(), ..App::default() };
    if let Some(run) = run {
        app.show(run);
    }
    app
}

fn fleet() -> ShownFleet {
    let item = |id: &str, title: &str, after: &[&str]| FleetItem {
        id: id.to_owned(),
        title: title.to_owned(),
        after: after.iter().map(|it| (*it).to_owned()).collect(),
        ..FleetItem::default()
    };
    let items = vec![
        item("US-001", "Parse ISO weeks", &[]),
        item("US-002", "Print ISO weeks", &["US-001"]),
        item("US-003", "Document them", &[]),
    ];
    let plan = FleetPlan { items, lanes: 2, ..FleetPlan::default() };
    let started = FleetStarted { plan, target: "refs/heads/main".to_owned(), ..FleetStarted::default() };
    let mut state = FleetState { started: Box::new(started), ..FleetState::default() };
    let held = ItemPhase::Held(Lease { sequence: 1, worker: "lane-1".to_owned() });
    state.items.insert("US-001".to_owned(), Item { phase: held, ..Item::default() });
    let merged = ItemPhase::Merged { commit: "0123456789abcdef".to_owned() };
    state.items.insert("US-003".to_owned(), Item { phase: merged, ..Item::default() });
    ShownFleet::of("20261118-100000-000000", &state, true)
}

fn all() -> Overview {
    let mut runs =
        vec![running(), with_findings(), shown("20261117-180000-000001", iteration(1, true), false)];
    for (run, project) in runs.iter_mut().zip(["/home/ada/parser", "/home/ada/site", "/s/lanes/lane-1/tree"])
    {
        run.project = project.to_owned();
    }
    let mut fleets = vec![fleet()];
    overview(&mut runs, &mut fleets);
    Overview { runs, fleets }
}

fn draw_at(app: &mut App, (columns, rows): (u16, u16), look: &Look) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
    terminal.draw(|frame| draw(frame, app, look)).expect("it is drawn");
    let text = terminal.backend().to_string();
    // Each row stands between quotes.
    text.lines().map(|row| row.trim_matches('"').trim_end().to_owned() + "\n").collect()
}

fn drawn(app: &mut App, size: (u16, u16)) -> String {
    draw_at(app, size, &Look::new(false, true))
}

/// One snapshot for each size.
#[track_caller]
fn check(name: &str, mut app: App) {
    for size in SIZES {
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), drawn(&mut app, size));
    }
}

fn press(app: &mut App, keys: &str) -> Option<Effect> {
    let code = |c| match c {
        '\n' => KeyCode::Enter,
        '\u{1b}' => KeyCode::Esc,
        '\t' => KeyCode::Tab,
        c => KeyCode::Char(c),
    };
    keys.chars().map(|c| app.key(KeyEvent::new(code(c), KeyModifiers::NONE))).last().flatten()
}

#[test]
fn a_run_at_work() {
    check("now", app(Some(running())));
}

#[test]
fn guardrails_over_time() {
    let mut run = running();
    run.turns[0].problem = Some("the agent said nothing for 10m".to_owned());
    let mut app = app(Some(run));
    press(&mut app, "2");
    check("gates", app);
}

#[test]
fn stories_with_their_state() {
    let task = |id: &str, title: &str, state, is_current| ShownTask {
        id: Some(id.to_owned()),
        title: title.to_owned(),
        state,
        is_current,
        reviews: 2,
    };
    let mut run = running();
    run.tasks = vec![
        task("US-001", "Parse ISO weeks", TaskState::Done, false),
        task("US-002", "Print ISO weeks", TaskState::SentBack, true),
        task("US-003", "Order a certificate", TaskState::ForPerson, false),
    ];
    let mut app = app(Some(run));
    press(&mut app, "3");
    check("stories", app);
}

#[test]
fn what_it_costs() {
    let mut app = app(Some(running()));
    press(&mut app, "5");
    check("spend", app);
}

#[test]
fn findings_come_first() {
    let mut app = app(Some(with_findings()));
    press(&mut app, "6");
    check("findings", app);
}

#[test]
fn runs_lanes_and_a_fleet() {
    let mut app = app(None);
    app.list(all());
    check("list", app);
}

#[test]
fn a_list_beside_a_run_where_there_is_room() {
    let mut app = app(Some(running()));
    app.list(all());
    check("sidebar", app);
}

#[test]
fn the_keys() {
    let mut app = app(Some(running()));
    press(&mut app, "?");
    check("help", app);
}

#[test]
fn a_difference_is_shown_line_by_line() {
    let mut app = app(Some(running()));
    press(&mut app, "4");
    app.diff = Diff::Lines(["diff --git a/x b/x", "@@ -1 +1 @@", "-old", "+new"].map(str::to_owned).into());
    insta::assert_snapshot!("diff_80x24", drawn(&mut app, (80, 24)));
}

#[test]
fn ascii_is_enough() {
    let mut app = app(Some(with_findings()));
    let text = draw_at(&mut app, (80, 24), &Look::new(false, false));
    assert!(text.contains("! needs you: 1 finding"), "{text}");
    assert!(!text.contains(['●', '▲', '─', '·']), "{text}");
}

#[test]
fn no_size_is_too_small() {
    for size in (1..30).flat_map(|columns| (1..12).map(move |rows| (columns, rows))) {
        for keys in ["1", "2", "3", "4", "5", "6", "l", "?", "/x"] {
            let mut app = app(Some(with_findings()));
            app.list(all());
            press(&mut app, keys);
            drawn(&mut app, size);
        }
    }
    assert!(drawn(&mut app(Some(with_findings())), (40, 3)).contains("1 finding to accept"));
}

#[test]
fn nothing_that_an_agent_said_reaches_the_terminal_as_it_was() {
    let text = drawn(&mut app(Some(running())), (80, 24));
    assert!(text.contains("Bash(cargo test weeks)"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
fn what_costs_is_asked_about_and_what_does_not_fit_is_not_done() {
    let id = "20261118-101500-1f00aa";
    let call = |words: &[&str]| Some(Effect::Call(words.iter().map(|it| (*it).to_owned()).collect()));
    for (keys, expected) in [
        ("s", None),
        ("sn", None),
        ("sy", call(&["stop", id])),
        ("p", call(&["pause", id])),
        ("yhurry up\n", call(&["say", id, "hurry up"])),
        ("y\n", None),
        ("yhurry\u{1b}", None),
        ("r", None),
        ("ry", None),
        ("ay", None),
        ("xno\ny", None),
        ("q", Some(Effect::Quit)),
        ("c", Some(Effect::Plain)),
        ("m", Some(Effect::Mouse(true))),
    ] {
        assert_eq!(press(&mut app(Some(running())), keys), expected, "{keys:?}");
    }
    let id = "20261118-090000-aa00bb";
    for (keys, expected) in [
        ("a", None),
        ("ay", call(&["accept", id])),
        ("xtoo clever\n", None),
        ("xtoo clever\ny", call(&["reject", id, "too clever"])),
        ("sy", None),
        ("r", None),
    ] {
        assert_eq!(press(&mut app(Some(with_findings())), keys), expected, "{keys:?}");
    }
    let killed = shown("k", vec![turn(1)], false);
    assert_eq!(press(&mut app(Some(killed)), "ry"), Some(Effect::Start(RunAct::Resume.args("k"))));
}

#[test]
fn a_run_of_its_own_is_not_left_by_accident() {
    let mut own = app(Some(running()));
    own.is_own = true;
    assert_eq!(press(&mut own, "q"), None);
    assert_eq!(own.mode, InputMode::Leaving);
    assert_eq!(press(&mut own, "\u{1b}"), None);
    assert_eq!(own.mode, InputMode::Keys);
    assert_eq!(press(&mut own, "qq"), Some(Effect::Quit));
    own.mode = InputMode::Keys;
    assert!(matches!(press(&mut own, "qsy"), Some(Effect::Call(_))));
    let mut over = app(Some(with_findings()));
    over.is_own = true;
    assert_eq!(press(&mut over, "q"), Some(Effect::Quit));
}

#[test]
fn the_stream_is_searched_and_filtered() {
    let mut app = app(Some(running()));
    drawn(&mut app, (80, 24));
    press(&mut app, "/PARSER\n");
    let first = app.found.expect("a line");
    press(&mut app, "n");
    assert_eq!(app.message.as_ref().map(|it| &*it.0), Some("no more “PARSER”"));
    press(&mut app, "N");
    assert!(app.found < Some(first));
    press(&mut app, "n");
    assert_eq!(app.found, Some(first));
    press(&mut app, "fedit\n");
    let text = drawn(&mut app, (80, 24));
    assert!(text.contains("Edit(src/parser.rs)") && !text.contains("Read(src"), "{text}");
    press(&mut app, "\u{1b}");
    assert!(drawn(&mut app, (80, 24)).contains("Read(src"));
}

#[test]
fn who_scrolls_back_stays_there() {
    let mut app = app(Some(running()));
    press(&mut app, "k");
    drawn(&mut app, (80, 24));
    assert_eq!(app.scroll, 1);
    let mut later = running();
    let number = later.stream.last().expect("a line").number + 1;
    later.stream.push(ralph_core::view::ShownLine { number, ..later.stream[0].clone() });
    app.show(later);
    assert_eq!(app.scroll, 2);
    press(&mut app, "g");
    drawn(&mut app, (80, 24));
    assert_eq!(app.scroll, app.stream().len() - 1);
    press(&mut app, "G");
    assert_eq!(app.scroll, 0);
}

#[test]
fn the_selection_stays_with_its_run() {
    let mut app = app(None);
    app.list(all());
    press(&mut app, "j");
    let selected = app.selected.clone();
    let mut fewer = all();
    fewer.runs.remove(0);
    app.list(fewer);
    assert_eq!(app.selected, selected);
    assert_eq!(press(&mut app, "\n"), selected.map(Effect::Open));
    assert!(!app.is_list);
}
