//! Runs as `ralph status` shows them, at two widths.

use ralph_agents::Usage;
use ralph_core::engine::{
    commit::CommitEnd,
    event::{Turn, TurnEnd, TurnEnded},
    outcome::{Exhausted, Outcome},
    stop::Stop,
};
use ralph_core::gate_failure::GateFailure;

use super::*;
use crate::{
    report::human::tests::{START, gate, plan, started},
    term::ColorWhen,
};

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millisecond(START + minutes * 60_000).expect("a time")
}

/// A run with these events, a minute apart.
pub(crate) fn folded(events: Vec<Event>) -> Folded {
    let mut plan = plan();
    plan.gates.push(gate("./mvnw clean install -T 2C -Dstyle.color=always --batch-mode"));
    let first = Event::RunStarted(Box::new(started(&plan)));
    let entries: Vec<Entry> = (0..)
        .zip(std::iter::once(first).chain(events))
        .map(|(minute, event)| Entry { at: at(minute), event })
        .collect();
    Folded { run: Run::fold(&entries).expect("a start"), entries, unchained: 0 }
}

pub(crate) fn turn(iteration: u32) -> Event {
    Event::TurnStarted(Turn { iteration, attempt: 1, ..Turn::default() })
}

pub(crate) fn turn_ended(claimed: bool) -> Event {
    let usage = Usage { cost_usd: Some(0.6), input: 12_000, cached: 9_000, output: 800, estimated: false };
    let (leftovers, denials, end) = (Vec::new(), Vec::new(), TurnEnd::Finished);
    let (ms, tools, tool_errors) = (61_000, 3, 1);
    let view = None;
    Event::TurnEnded(Box::new(TurnEnded {
        review: None,
        untold: Vec::new(),
        undone: Vec::new(),
        blocked: None,
        reason: None,
        code: None,
        end,
        claimed,
        view,
        ms,
        usage,
        tools,
        tool_errors,
        leftovers,
        model: None,
        quota: Vec::new(),
        last_lines: Vec::new(),
        denials,
        session: None,
        hooks: None,
        tree: None,
        branch: None,
    }))
}

pub(crate) fn checked(gate: usize, code: Option<i32>) -> Event {
    let exit = code.map_or(GateExit::Signal(9), GateExit::Code);
    let failure = GateFailure::new(exit, "It failed.".to_owned());
    let failure = (code != Some(0)).then_some(failure);
    Event::GateEnded(GateEnded { ms: 1_000, ..GateEnded::own(gate, failure, "log".to_owned()) })
}

pub(crate) fn ended(outcome: Outcome) -> Event {
    Event::RunEnded { outcome, exit_code: 0 }
}

#[test]
fn runs_are_listed() {
    let failing =
        || vec![turn(1), turn_ended(false), checked(0, Some(0)), checked(1, Some(2)), checked(2, None)];
    let with = |mut events: Vec<Event>, more: Vec<Event>| {
        events.extend(more);
        folded(events)
    };
    let passing = vec![checked(0, Some(0)), checked(1, Some(0)), checked(2, Some(0))];
    let made = CommitEnd::Made { commit: "c0ffee1".to_owned(), subject: "Work".to_owned(), beyond: vec![] };
    let mut complete = vec![turn(1), turn_ended(true)];
    complete.extend(passing);
    complete.extend([Event::CommitEnded(made), ended(Outcome::Done)]);
    let cause = ralph_core::engine::plan::Cause::Agent;
    let runs = vec![
        (
            true,
            Some(
                "Bash(make test 2>&1 | tail -n 20 # and so on, for longer than the screen is wide, which happens)",
            ),
            with(failing(), vec![turn(2)]),
        ),
        (false, None, with(failing(), vec![turn(2)])),
        (false, None, folded(complete)),
        (false, None, with(failing(), vec![ended(Outcome::Exhausted { limit: Exhausted::MaxIterations })])),
        (false, None, folded(vec![turn(1), ended(Outcome::Interrupted)])),
        (false, None, folded(vec![ended(Outcome::GaveUp { cause, reason: "no\nkey".to_owned() })])),
        (false, None, folded(vec![ended(Outcome::Unready { reason: "there is no plan".to_owned() })])),
        (false, None, folded(vec![ended(Outcome::Stopped(Stop::AgentWaits { reason: None, file: None }))])),
    ];
    let mut told = String::new();
    for (columns, marks, color) in [
        (60, Marks::EMOJI, ColorWhen::Never),
        (120, Marks::EMOJI, ColorWhen::Never),
        (60, Marks::ASCII, ColorWhen::Always),
    ] {
        let palette = Palette::of(color, &std::io::stdout());
        let style = Style { palette, marks, columns, with_project: columns == 120 };
        writeln!(told, "== {columns} columns").expect("text");
        for (number, (is_running, doing, folded)) in (0..).zip(&runs) {
            let standing = Standing::of(*is_running, &folded.run.state);
            let now = at(20 * if *is_running { 1 } else { 10_i64.pow(number.min(4)) });
            let doing = doing.map(str::to_owned);
            let asked = "Make the tests of the parser pass, and leave those of the printer as they are, whatever they say";
            let asked = (number != 1).then(|| asked.to_owned());
            let listed = Listed { id: "20251115-120000-c879", folded, standing, asked, doing, now };
            told.push_str(&listed.text(&style));
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("status", told.replace('\u{1b}', "␛"));
    });
}
