//! The line at the bottom: what it says, and that it never mixes with the rest.

use ralph_agents::{TurnResult, Usage};
use ralph_core::{
    engine::event::{Turn, TurnEnd, Why},
    stories::Mode,
};

use super::{runs::turn_ended, *};

const ERASE: &str = "\r\u{1b}[J";

fn live(columns: usize) -> Shown {
    let mut shown = Shown::new(columns, |look| look.live = true);
    shown.event(Event::RunStarted(Box::new(started(&shown.run.plan))));
    shown.event(Event::TurnStarted(Turn { iteration: 1, attempt: 1, mode: Mode::Work, ..Turn::default() }));
    shown
}

fn say(text: &str, joins: bool) -> [AgentEvent; 1] {
    [AgentEvent::Text { text: text.to_owned(), joins }]
}

fn tool(summary: &str) -> [AgentEvent; 1] {
    let (id, name, parent) = ("1".to_owned(), "Bash".to_owned(), None);
    [AgentEvent::ToolStart { id, name, summary: summary.to_owned(), parent }]
}

/// What the last flush wrote.
fn since(shown: &Shown, before: usize) -> String {
    shown.printed()[before..].to_owned()
}

#[test]
fn it_says_what_happens() {
    let mut shown = live(120);
    assert!(
        shown.printed().ends_with("● iteration 1 of 10 · 0s · starting the agent 0s"),
        "{}",
        shown.printed()
    );
    shown.after(64_000).agent(tool("make test"));
    assert!(
        shown.printed().ends_with("● iteration 1 of 10 · 1m4s · Bash(make test) 0s"),
        "{}",
        shown.printed()
    );
    shown.after(14_000).agent([]);
    assert!(shown.printed().ends_with("1m18s · Bash(make test) 14s"), "{}", shown.printed());
    shown.event(Event::StopRequested);
    assert!(shown.printed().ends_with("ends it · Bash(make test) 14s"), "{}", shown.printed());
    let until_ms = START + shown.now + 65_000;
    shown.event(Event::WaitStarted { until_ms, why: Why::UsageLimit });
    assert!(shown.printed().ends_with("waiting for the usage limit, 1m5s left"), "{}", shown.printed());
}

#[test]
fn it_adds_up_what_the_turns_cost() {
    let mut shown = live(120);
    let result = |cost_usd| {
        let usage = Usage { cost_usd, ..Usage::default() };
        [AgentEvent::Result(TurnResult { usage, ..TurnResult::default() })]
    };
    let check = |shown: &Shown, expected: &str| {
        let printed = shown.printed();
        let line = printed.rsplit(['\n', 'J']).next().expect("a line");
        assert_eq!(line, expected);
    };
    // An agent that does not say what it costs is not free.
    shown.after(1000).agent(result(None));
    check(&shown, "● iteration 1 of 10 · 1s");
    // A turn may have several results.
    shown.after(1000).agent(result(Some(0.25)));
    check(&shown, "● iteration 1 of 10 · 2s · $0.25");
    shown.after(1000).agent(result(Some(0.5)));
    check(&shown, "● iteration 1 of 10 · 3s · $0.75");
    // When the turn has ended, it counts once.
    shown.after(1000).event(Event::TurnEnded(Box::new(turn_ended(TurnEnd::Finished, false))));
    check(&shown, "● iteration 1 of 10 · 4s · $1.20");
    shown.after(1000).event(Event::TurnStarted(Turn {
        iteration: 2,
        attempt: 1,
        mode: Mode::Work,
        ..Turn::default()
    }));
    check(&shown, "● iteration 2 of 10 · 5s · $1.20 · starting the agent 0s");
    shown.after(1000).agent(result(Some(1.25)));
    check(&shown, "● iteration 2 of 10 · 6s · $2.45");
}

#[test]
fn it_is_erased_before_anything_is_printed() {
    let mut shown = live(120);
    let before = shown.printed().len();
    shown.after(1000).agent(say("Words.\n", false));
    let told = since(&shown, before);
    assert_eq!(told, format!("{ERASE}Words.\n● iteration 1 of 10 · 1s · writing 0s"));
}

#[test]
fn it_waits_for_the_end_of_a_line() {
    let mut shown = live(120);
    let before = shown.printed().len();
    shown.after(1000).agent(say("Half a", false)).after(100).agent(say(" line", true));
    assert_eq!(since(&shown, before), format!("{ERASE}Half a line"));
    // After a silence the line is ended, since no one knows whether more will come.
    let before = shown.printed().len();
    shown.after(1000).agent([]);
    assert_eq!(since(&shown, before), "");
    shown.after(1000).agent([]);
    assert_eq!(since(&shown, before), "\n● iteration 1 of 10 · 3s · writing 2s");
    let before = shown.printed().len();
    shown.after(1000).agent(say(" goes on\n", true));
    assert!(since(&shown, before).starts_with(&format!("{ERASE} goes on\n●")), "{}", since(&shown, before));
}

#[test]
fn it_is_not_drawn_too_often_or_for_nothing() {
    let mut shown = live(120);
    shown.after(1000).agent(tool("x"));
    let before = shown.printed().len();
    shown.after(200).agent([]);
    assert_eq!(since(&shown, before), "", "nothing has changed");
    shown.after(850).agent([]);
    assert_ne!(since(&shown, before), "", "a second has passed");
}

#[test]
fn it_fits_and_goes() {
    let mut shown = live(40);
    shown.after(1000).agent(tool("日本語のとても長い説明です。日本語のとても長い説明です。"));
    let printed = shown.printed();
    let status = printed.rsplit('\n').next().expect("a line");
    assert!(crate::term::fit::columns(status) <= 37 && status.ends_with('…'), "{status:?}");
    let paper = shown.paper.clone();
    drop(shown);
    assert!(String::from_utf8_lossy(&paper.0.borrow()).ends_with(ERASE));
}

#[test]
fn it_goes_before_the_summary() {
    let mut shown = live(120);
    let before = shown.printed().len();
    shown.event(Event::RunEnded { outcome: ralph_core::engine::outcome::Outcome::Done, exit_code: 0 });
    let told = since(&shown, before);
    assert!(told.starts_with(&format!("{ERASE}\n✅ Complete")), "{told:?}");
    let before = shown.printed().len();
    shown.after(5000).agent([]);
    assert_eq!(since(&shown, before), "");
}

#[test]
fn a_line_that_the_terminal_broke_is_erased_whole() {
    let mut shown = live(120);
    shown.after(1000).agent(tool("make test"));
    let before = shown.printed().len();
    shown.human.screen.resize(20);
    shown.after(1000).agent(say("Words.\n", false));
    assert!(
        since(&shown, before).starts_with("\r\u{1b}[A\u{1b}[A\u{1b}[JWords.\n"),
        "{:?}",
        since(&shown, before)
    );
}
