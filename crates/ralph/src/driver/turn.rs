//! Runs the agent once: prompt in, events out, and what they amount to.

use std::{ffi::OsString, io, path::Path, time::Duration};

use jiff::{Timestamp, Zoned};
use ralph_agents::{Adapter, FirstSignal, Output, Request};
use ralph_core::setup::PROJECT_DIR;
use ralph_core::{
    engine::{
        Order,
        event::{Event, Turn},
    },
    plan_file::next_task,
    prompt::{Count, Feedback, compose},
    setup::{PlanFile, PromptSource, PromptVia, Setup, TaskFrom},
    template::fill,
};
use ralph_sandbox::spool::FOLDER;
use ralph_sys::{
    error::{Error, Result},
    files::{Readers, Root},
    process::{Control, Ended, Leftovers, ProcessEvent, Sink, Spec},
};
use rustix::process::Signal;

use super::{Driver, budget::keep_to_budget, ended::Noticed, listener::Listener};
use crate::{
    journal::run_dir::{AGENT_STREAM, record, record_into},
    report::Reporter,
    tasks::Task,
};

/// How the agent is to be called for one turn.
pub(super) struct Call<'a> {
    pub(super) prompt: &'a str,
    /// Whether more messages follow the prompt.
    pub(super) streams_input: bool,
    pub(super) output: Output<'a>,
    pub(super) iteration: u32,
    /// Where its hooks report to.
    pub(super) spool: &'a Path,
    pub(super) stdout: Sink,
    pub(super) stderr: Sink,
}

impl Driver {
    /// Runs one turn and records it.
    pub(super) fn run_turn(&mut self, order: Order) -> Result<()> {
        let turn = self.ordered(order)?;
        self.warn_of_standstill(&turn);
        let prompt = self.prompt(&turn)?;
        self.note_bus_length();
        let folder = self.run.turn(turn.iteration, turn.attempt);
        // Before the turn is on record: what stands in them from then on is this turn's.
        let (stdout, stderr) = (copied_to(&folder.join(AGENT_STREAM)), copied_to(&folder.join("stderr.log")));
        self.ledger.record(Event::TurnStarted(turn.clone()));
        self.record_prompt(&folder, turn.iteration, &prompt);
        let first = self.first_message(&prompt);
        let call = Call {
            prompt: first.as_deref().unwrap_or(&prompt),
            streams_input: first.is_some(),
            output: Output::Stream,
            iteration: turn.iteration,
            spool: &folder.join(FOLDER),
            // A conversation has several turns, each with a copy of its own.
            stdout: if first.is_some() { Sink::Pipe { copy: None } } else { stdout },
            stderr,
        };
        self.enter_sandbox(&folder);
        let mut spec = self.agent_spec(call);
        spec.limits.total = spec.limits.total.into_iter().chain(self.time_left()).min();
        self.ledger.reporters.detail(&format!("Agent command: {}", command_line(&spec)));
        self.ledger.reporters.detail(&format!("Prompt: {}", beginning(&prompt)));
        let mut listener = Listener::new(self.adapter(), &self.ledger.run().plan.claims, &prompt);
        let spec = self.contained(spec);
        let hooked = self.hooked(&folder);
        let ended = spec.and_then(|spec| match first {
            Some(_) => self.converse(spec, &mut listener, hooked.as_ref()),
            None => self.listen(spec, &mut listener),
        });
        let tampered = self.leave_sandbox();
        self.notice_open_hooks(listener.tally.version.as_deref());
        if self.ledger.run().state.is_in_turn() {
            let over = self.over(ended, listener);
            let noticed = Noticed {
                tampered,
                hooks: hooked.map(|hooked| hooked.settle(&over.tally)),
                view: self.ledger.run().plan.looks().then(|| self.observe()),
                tree: self.tree(),
            };
            let (calls, ended) = over.recorded(noticed);
            self.ledger.record_judgements(calls);
            self.ledger.record(Event::TurnEnded(Box::new(ended.clone())));
            self.warn_of_missing_figures(&ended);
        } else {
            self.warn_of_late_changes(tampered);
        }
        self.notice_changed_settings();
        Ok(())
    }

    /// The turn that is due, with what is found before it begins.
    fn ordered(&mut self, order: Order) -> Result<Turn> {
        let head = self.git.as_ref().and_then(|git| git.head(&mut self.supervisor).unwrap_or_default());
        let (task, spec) = match self.ledger.run().memory.turn.as_ref().map(|last| &last.turn) {
            // A retry is about the same task, whatever the plan says by now.
            Some(last) if last.iteration == order.iteration => (last.task.clone(), last.spec.clone()),
            _ => self.task(),
        };
        let turn = Turn { head, task, spec, ..order.into() };
        let tasks = self.before_story_turn(&turn)?;
        Ok(Turn { tasks, tree: self.tree(), ..turn })
    }

    /// Runs the agent to its end.
    fn listen(&mut self, spec: Spec, listener: &mut Listener) -> io::Result<Ended> {
        let Self { supervisor, ledger, setup, .. } = self;
        let mut attend = |happening: ProcessEvent<'_>| match happening {
            ProcessEvent::Output(stream, bytes) => {
                ledger.reporters.moment(Timestamp::now());
                let heard = listener.on_output(stream, bytes, &mut |event| ledger.reporters.agent(event));
                ledger.reporters.flush();
                keep_to_budget(ledger, setup, listener, heard)
            }
            ProcessEvent::StopRequested | ProcessEvent::Tick => {
                ledger.notice(&happening);
                Control::Something
            }
        };
        let ended = supervisor.run(spec, &mut attend);
        listener.finish(&mut |event| ledger.reporters.agent(event));
        ended
    }

    /// The adapter of this run's agent.
    pub(super) fn adapter(&self) -> &'static dyn Adapter {
        ralph_agents::adapter(&self.setup.agent.command)
    }

    /// The process of a turn.
    pub(super) fn agent_spec(&self, call: Call<'_>) -> Spec {
        let Setup { agent, timeouts, .. } = &self.setup;
        let adapter = self.adapter();
        let by_argument = agent.prompt_via == PromptVia::Argument;
        let request = Request {
            flags: &agent.flags,
            output: call.output,
            permissions: agent.permissions,
            prompt: by_argument.then_some(call.prompt),
            hooks: self.hooks.as_ref(),
            resume: self.ledger.run().memory.conversation.as_deref(),
            streams_input: call.streams_input,
            // A process of several turns is measured turn by turn.
            budget_usd: self.cost_left().filter(|_| !call.streams_input),
        };
        let spec = Spec::new(&self.program, &self.setup.project)
            .args(adapter.arguments(&request))
            .envs(self.environment(call.iteration, call.spool))
            .prints(call.stdout, call.stderr)
            .ended_by(match adapter.first_signal() {
                FirstSignal::Int => Signal::INT,
                FirstSignal::Term => Signal::TERM,
            })
            .within(timeouts.turn_ms.map(Duration::from_millis))
            .silent_for(timeouts.idle_ms.map(Duration::from_millis))
            .leftovers(Leftovers::kept_if(self.setup.keep_leftovers));
        if by_argument { spec } else { spec.input(call.prompt) }
    }

    fn environment(&self, iteration: u32, spool: &Path) -> Vec<(OsString, Option<OsString>)> {
        let plan = &self.ledger.run().plan;
        let set = |name: &str, value: String| (OsString::from(name), Some(OsString::from(value)));
        let mut env = vec![
            set("RALPH_ITERATION", iteration.to_string()),
            set("RALPH_MAX_ITERATIONS", plan.limits.iterations.to_string()),
            set("RALPH_MODE", plan.preset.clone()),
            // A Claude Code inside a Claude Code refuses to start.
            (OsString::from("CLAUDECODE"), None),
        ];
        env.extend(self.hook_environment(spool));
        env.extend(self.task_environment());
        env.extend(self.setup.agent.env.iter().map(|(name, value)| set(name, value.clone())));
        env
    }

    /// What the turn is told.
    fn prompt(&mut self, turn: &Turn) -> Result<String> {
        let adapter = self.adapter();
        if let Some(message) = self.session_message() {
            return Ok(message);
        }
        let base = self.base_prompt()?;
        let base = match self.setup.prompt {
            PromptSource::Template(_) => fill(&base, &self.variables(turn)),
            PromptSource::Text(_) | PromptSource::File(_) => base,
        };
        let base = match self.assignment(turn) {
            Some(assignment) => adapter.harmless(&assignment) + &base,
            None => base,
        };
        let base = match &self.setup.assignment {
            Some(assignment) => self.assigned(assignment, &base),
            None => base,
        };
        let harmless = |feedback: &Feedback| Feedback {
            action: feedback.action,
            text: adapter.harmless(&feedback.text),
        };
        let feedback: Vec<Feedback> = self.ledger.run().state.feedback().iter().map(harmless).collect();
        let (iteration, of) = (turn.iteration, self.ledger.run().plan.limits.iterations);
        let count = self.setup.count_in_prompt.then_some(Count { iteration, of });
        Ok(adapter.deliverable(compose(&base, &feedback, count)))
    }

    /// What the next turn is about, and the specification it belongs to; nothing where only the prompt knows.
    fn task(&self) -> (Option<String>, Option<String>) {
        match &self.setup.task {
            TaskFrom::Prompt => (None, None),
            TaskFrom::Fixed(task) => (Some(task.clone()), None),
            TaskFrom::PlanFile => {
                let next = self.setup.plan_file.as_ref().and_then(|PlanFile { path, specs }| {
                    let text = self.read_for_agent(&self.setup.project.join(path)).ok()?;
                    next_task(&String::from_utf8_lossy(&text), specs)
                });
                let (task, spec) = match next {
                    Some(task) => (task.title, task.spec),
                    None => ("finish what the plan leaves open".to_owned(), None),
                };
                (Some(task), spec)
            }
        }
    }

    /// The variables of a prompt template.
    fn variables(&self, turn: &Turn) -> Vec<(&str, String)> {
        let plan = &self.ledger.run().plan;
        let name = self.setup.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut variables = vec![
            ("MODE", plan.preset.clone()),
            ("ITERATION", turn.iteration.to_string()),
            ("MAX_ITERATIONS", plan.limits.iterations.to_string()),
            ("TASK_DESCRIPTION", turn.task.clone().unwrap_or_default()),
            ("SPEC", turn.spec.clone().unwrap_or_else(|| "none is named".to_owned())),
            ("DATE", Zoned::now().strftime("%Y-%m-%d").to_string()),
            ("PROJECT_NAME", name),
        ];
        for (name, value) in self.story_variables(turn) {
            variables.retain(|(known, _)| *known != name);
            variables.push((name, value));
        }
        variables.extend(self.setup.variables.iter().map(|(name, value)| (name.as_str(), value.clone())));
        variables
    }

    /// The user's prompt. A file is read again each time; if it has gone, the last text stands.
    pub(super) fn base_prompt(&mut self) -> Result<String> {
        let path = match &self.setup.prompt {
            PromptSource::Text(text) => return Ok(text.clone()),
            PromptSource::File(path) | PromptSource::Template(path) => path.clone(),
        };
        match self.read_for_agent(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.base_prompt = Some(text.clone());
                Ok(text)
            }
            Err(error) => match self.base_prompt.clone() {
                Some(text) => {
                    let path = path.display();
                    self.ledger.warn(format!("{path}: {error}; going on with the prompt of the last turn"));
                    Ok(text)
                }
                None => Err(Error::new(format!("cannot read the prompt file `{}`: {error}", path.display()))),
            },
        }
    }

    pub(super) fn record_prompt(&mut self, folder: &Path, iteration: u32, prompt: &str) {
        let folder_in_project = match &self.setup.assignment {
            // Others work on tasks at the same time.
            Some(assignment) => Task::of(assignment).run_folder(&self.run.id()),
            None => self.setup.project.join(PROJECT_DIR),
        };
        let in_project = folder_in_project.join(format!("prompt_{iteration:03}.txt"));
        let own = folder.join("prompt.md");
        let recorded = record(&own, prompt.as_bytes());
        // The agent may have put a link there, to a place that it cannot write itself.
        let copied =
            Root::new(&self.setup.project).replace(&in_project, prompt.as_bytes(), Readers::AsBefore);
        for (path, result) in [(own, recorded), (in_project, copied)] {
            if let Err(error) = result {
                self.ledger.reporters.detail(&format!("cannot write {}: {error}", path.display()));
            }
        }
    }
}

/// A pipe with a copy; without the copy if the disk refuses it.
pub(super) fn copied_to(path: &Path) -> Sink {
    Sink::Pipe { copy: record_into(path).ok() }
}

/// The first 200 characters of a prompt, in one line.
fn beginning(prompt: &str) -> String {
    let end = prompt.char_indices().nth(200).map_or(prompt.len(), |(at, _)| at);
    let more = if end < prompt.len() { "..." } else { "" };
    format!("{}{more}", prompt[..end].trim_end().replace('\n', "\\n"))
}

fn command_line(spec: &Spec) -> String {
    let words = std::iter::once(&spec.program).chain(&spec.args);
    shell_words::join(words.map(|word| word.to_string_lossy()))
}
