//! The session log of the plan, build and prompt modes: a header and a footer for each iteration, what the
//! agent did in between, and a summary at the end.

use std::{fmt::Write as _, fs::File, io::Write, path::Path, time::Duration};

use jiff::{Timestamp, Zoned, tz::TimeZone};
use ralph_agents::{AgentEvent, Usage};
use ralph_core::{
    duration::format_duration,
    engine::{
        Run, State,
        entry::Entry,
        event::{Event, Turn, TurnEnded},
        outcome::Outcome,
        plan::Plan,
    },
};
use ralph_sys::files::Root;

use super::{Reporter, human::Human, screen::between, style::ReportStyle, summary};

const THICK: &str = "================================================================================";
const THIN: &str = "--------------------------------------------------------------------------------";

/// Writes `.ralph/logs/session-YYYYMMDD-HHMMSS.log`.
pub(crate) struct SessionLog {
    file: File,
    /// Writes what the agent does in between.
    human: Human,
    iterations: Iterations,
    current: Option<Iteration>,
}

#[derive(Default)]
struct Iterations {
    total: u32,
    successful: u32,
}

/// What the footer of an iteration says.
struct Iteration {
    number: u32,
    started: Timestamp,
    retries: u32,
    /// Iterations of the run that had passed before.
    passed_before: u32,
    requests: u64,
    messages: u64,
    model: Option<String>,
    usage: Usage,
}

impl SessionLog {
    /// Begins a log in this folder of the project, in this look.
    pub(crate) fn begin(project: &Path, folder: &Path, look: ReportStyle) -> std::io::Result<Self> {
        let file = create(&Root::new(project), folder)?;
        let human = Human::new(look, Box::new(file.try_clone()?), Box::new(std::io::sink()));
        Ok(Self { file, human, iterations: Iterations::default(), current: None })
    }

    fn write(&mut self, text: &str) {
        self.human.flush();
        // A disk that is full loses the log, not the run.
        let _ = self.file.write_all(text.as_bytes());
    }

    fn header(&mut self, plan: &Plan, state: &State, turn: &Turn, at: Timestamp) {
        let number = turn.iteration;
        self.current = Some(Iteration {
            number,
            started: at,
            retries: turn.attempt.saturating_sub(1),
            passed_before: state.spent().passed,
            requests: 0,
            messages: 0,
            model: None,
            usage: Usage::default(),
        });
        self.write(&format!(
            "{THICK}\nITERATION {number}\n{THICK}\nMode: {}\nTask: {}\nSpec: {}\nStart Time: {}\n{THIN}\n",
            plan.preset,
            turn.task.as_deref().unwrap_or("-"),
            turn.spec.as_deref().unwrap_or("-"),
            local(at),
        ));
    }

    fn footer(&mut self, state: &State, at: Timestamp, otherwise: &str) {
        let Some(iteration) = self.current.take() else { return };
        let is_success = iteration.passed_before < state.spent().passed;
        let status = if is_success { "SUCCESS" } else { otherwise };
        self.iterations.total += 1;
        self.iterations.successful += u32::from(is_success);
        let took = Duration::try_from(at.duration_since(iteration.started)).unwrap_or_default();
        let mut text = format!(
            "{THIN}\nITERATION {} COMPLETE\nEnd Time: {}\nDuration: {}\n",
            iteration.number,
            local(at),
            format_duration(took)
        );
        let mut optional = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{name}: {value}");
            }
        };
        let number = |number: u64| (0 < number).then(|| number.to_string());
        let Usage { input, cached, output, .. } = iteration.usage;
        optional("API Requests", number(iteration.requests));
        optional("Model", iteration.model);
        optional("Messages", number(iteration.messages));
        optional("Tokens", (0 < input || 0 < output).then(|| summary::tokens(input, cached, output)));
        optional("Cost", summary::cost(&iteration.usage));
        optional("Retries", Some(iteration.retries.to_string()));
        optional("Status", Some(status.to_owned()));
        self.write(&format!("{text}{THICK}\n\n"));
    }

    fn summary(&mut self, reason: &str, took: Duration, exit_code: u8) {
        let Iterations { total, successful } = self.iterations;
        let text = format!(
            "{THICK}\nSESSION SUMMARY\n{THICK}\nTotal Iterations: {total}\nSuccessful: {successful}\nFailed: {}\n\
             Total Duration: {}\nExit Reason: {reason}\nExit Code: {exit_code}\n{THICK}\n",
            total - successful,
            format_duration(took),
        );
        self.write(&text);
    }

    fn turn_ended(&mut self, turn: &TurnEnded) {
        if let Some(iteration) = &mut self.current {
            iteration.usage.add(turn.usage);
        }
    }
}

impl Reporter for SessionLog {
    fn event(&mut self, run: &Run, entry: &Entry) {
        let Run { plan, state, memory, .. } = run;
        match &entry.event {
            Event::TurnStarted(turn) => match &mut self.current {
                Some(iteration) if iteration.number == turn.iteration => {
                    iteration.retries = turn.attempt.saturating_sub(1);
                    self.write(&format!("\nAttempt {}\n", turn.attempt));
                }
                _ => self.header(plan, state, turn, entry.at),
            },
            Event::TurnEnded(turn) => self.turn_ended(turn),
            Event::RunEnded { outcome, exit_code } => {
                let was_cut_off = *outcome == Outcome::Interrupted;
                self.footer(state, entry.at, if was_cut_off { "INTERRUPTED" } else { "FAILED" });
                let took = between(memory.began, entry.at);
                self.summary(&summary::outcome(outcome, plan, state), took, *exit_code);
                return;
            }
            _ => {}
        }
        // What ralph itself says of turns, gates and commits; the frame of the iteration is the log's own.
        if !matches!(entry.event, Event::TurnStarted(_) | Event::RunStarted(_)) {
            self.human.event(run, entry);
        }
        let settled = self.current.as_ref().is_some_and(|iteration| iteration.number < state.position().0);
        if settled {
            self.footer(state, entry.at, "FAILED");
        }
    }

    fn agent(&mut self, event: &AgentEvent) {
        if let Some(iteration) = &mut self.current {
            match event {
                AgentEvent::Started { model: Some(model), .. } => iteration.model = Some(model.clone()),
                AgentEvent::Text { joins: false, .. } => iteration.messages += 1,
                AgentEvent::Result(result) => iteration.requests += result.requests.unwrap_or(0),
                _ => {}
            }
        }
        self.human.agent(event);
    }

    fn flush(&mut self) {
        self.human.flush();
    }
}

/// Makes a log that is named after the second; the second one of a second gets a number.
fn create(project: &Root, folder: &Path) -> std::io::Result<File> {
    let now = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let names = (1..1000).map(|number| match number {
        1 => format!("session-{now}.log"),
        _ => format!("session-{now}-{number}.log"),
    });
    let mut taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
    for name in names {
        match project.create(folder.join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => taken = error,
            other => return other,
        }
    }
    Err(taken)
}

fn local(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}
