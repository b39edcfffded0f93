//! What people see, at two widths, as snapshots. Read every line of a difference: people will.

mod memory;
mod runs;
mod status_line;
mod streams;

use std::{cell::RefCell, io::Write, rc::Rc};

use jiff::{Timestamp, tz::TimeZone};
use ralph_agents::AgentEvent;
use ralph_core::{
    engine::{
        Run,
        entry::Entry,
        event::{Event, RunStarted},
        plan::{Check, CommitRule, Gate, Plan, When},
        presets,
    },
    setup::{PromptSource, Setup},
};

use super::Human;
use crate::{
    report::{
        Reporter,
        style::{Marks, ReportStyle},
    },
    term::{ColorWhen, Palette, Width},
};

/// Noon on some day.
pub(crate) const START: i64 = 1_763_208_000_000;

/// Bytes that can be looked at while another thread writes them.
#[derive(Clone, Default)]
struct Paper(Rc<RefCell<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A run that is shown on paper.
struct Shown {
    human: Human,
    run: Run,
    paper: Paper,
    /// Milliseconds since the start.
    now: i64,
}

impl Shown {
    fn new(columns: usize, change: impl FnOnce(&mut ReportStyle)) -> Self {
        let mut look = plain(columns);
        change(&mut look);
        let paper = Paper::default();
        let human = Human::new(look, Box::new(paper.clone()), Box::new(paper.clone()));
        Self { human, run: Run::new(started(&plan())), paper, now: 0 }
    }

    /// This much later.
    fn after(&mut self, ms: i64) -> &mut Self {
        self.now += ms;
        self.human.moment(at(self.now));
        self
    }

    fn event(&mut self, event: Event) -> &mut Self {
        let entry = Entry { at: at(self.now), event };
        self.run.apply(&entry);
        self.human.event(&self.run, &entry);
        self
    }

    fn agent(&mut self, events: impl IntoIterator<Item = AgentEvent>) -> &mut Self {
        for event in events {
            self.human.agent(&event);
        }
        self.human.flush();
        self
    }

    fn printed(&self) -> String {
        String::from_utf8(self.paper.0.borrow().clone()).expect("text")
    }
}

/// Emoji, no colour.
fn plain(columns: usize) -> ReportStyle {
    ReportStyle {
        palette: Palette::default(),
        marks: Marks::EMOJI,
        width: Width::Fixed(columns),
        stream: true,
        verbose: false,
        quiet: false,
        live: false,
        summary: true,
        timestamps: None,
        max_lines: 5,
        max_chars: 500,
    }
}

fn colored(look: &mut ReportStyle) {
    look.palette = Palette::of(ColorWhen::Always, &std::io::stderr());
}

fn stamped(look: &mut ReportStyle) {
    look.timestamps = Some(TimeZone::UTC);
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(START + ms).expect("a time")
}

pub(crate) fn gate(command: &str) -> Gate {
    Gate::new(Check::Command { command: command.to_owned() }, When::EveryTurn)
}

pub(crate) fn plan() -> Plan {
    presets::run("DONE", vec![gate("make lint"), gate("make test")])
}

pub(crate) fn started(plan: &Plan) -> RunStarted {
    let setup = serde_json::json!({
        "project": "/home/ada/parser",
        "agent": {"command": "/usr/bin/claude", "flags": [], "env": {}, "prompt_via": "stdin", "permissions": "agent"},
        "prompt": PromptSource::Text("Do it.".to_owned()),
        "include_iteration_count_in_prompt": false,
        "output_truncate_chars": 5000,
        "timeouts": {},
        "leftovers": "kill",
        "dirty": {},
        "settings": {},
    });
    let setup: Setup = serde_json::from_value(setup).expect("a setup");
    let (run, version) = ("20251115-120000-c879".to_owned(), "0.1.0".to_owned());
    RunStarted { run, version, pid: 1, plan: plan.clone(), setup }
}

/// The events of a recorded stream of Claude Code.
fn recorded(name: &str) -> Vec<AgentEvent> {
    let path = format!("{}/../agents/fixtures/claude/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
    let stream = std::fs::read(path).expect("a fixture");
    let (mut parser, mut events) = (ralph_agents::adapter("claude").parser(), Vec::new());
    parser.push(&stream, &mut |event| events.push(event));
    parser.finish(&mut |event| events.push(event));
    events
}

/// How a look differs from the plain one.
type Change = fn(&mut ReportStyle);

/// Shows the same at both widths and in all ways.
#[track_caller]
fn check(name: &str, show: impl Fn(&mut Shown)) {
    let mut told = String::new();
    let ways: [(&str, usize, Change); 5] = [
        ("60 columns", 60, |_| {}),
        ("120 columns", 120, |_| {}),
        ("120 columns, colour", 120, colored),
        ("60 columns, no emoji, time", 60, |look| {
            look.marks = Marks::PLAIN;
            stamped(look);
        }),
        ("60 columns, ASCII, quiet", 60, |look| {
            look.marks = Marks::ASCII;
            look.quiet = true;
        }),
    ];
    for (way, columns, change) in ways {
        let mut shown = Shown::new(columns, change);
        shown.after(0);
        show(&mut shown);
        let printed = shown.printed().replace('\u{1b}', "␛");
        told.extend(["== ", way, "\n", &printed, "\n"]);
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, told);
    });
}

/// No line is wider than the screen.
#[track_caller]
fn check_width(columns: usize, printed: &str) {
    for line in printed.lines() {
        assert!(crate::term::fit::columns(line) <= columns, "wider than {columns}: {line}");
    }
}
