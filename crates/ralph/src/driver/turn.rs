//! Runs the agent once: prompt in, events out, and what they amount to.

use std::{fs::File, io};

use jiff::Timestamp;
use ralph_agents::{Adapter, Output};
use ralph_core::engine::{
    Order,
    event::{Event, Turn},
};
use ralph_sandbox::spool::FOLDER;
use ralph_sys::{
    error::Result,
    process::{Control, Ended, ProcessEvent, Sink, Spec, Stream},
};

use super::{
    Driver,
    agent::{Call, Purpose, copied_to},
    assigned::Posts,
    budget::{end_of_run, keep_to_budget, time_left, warn_of_missing_figures},
    conversation,
    ended::{Noticed, over},
    listener::Listener,
    progress::{Trees, warn_of_standstill},
    prompts, quota,
    site::Site,
    untouched,
};
use crate::{
    journal::{
        kept_stream::KeptStream,
        run_dir::{AGENT_STREAM, record_into},
    },
    project::git::Git,
    report::Reporter,
};

impl Driver {
    /// Runs one turn and records it.
    pub(super) fn run_turn(&mut self, order: Order) -> Result<()> {
        let chosen = order.chosen.as_ref().map(|chosen| chosen.agent.clone());
        let turn = self.ordered(order)?;
        if let Err(why) = self.hand_to(chosen.as_deref()) {
            self.refuse_turn(turn, why);
            return Ok(());
        }
        let began_on = self.trees.repository().and_then(Git::checked_out);
        let keeps = untouched::keep(&mut self.site, self.trees.repository(), &turn);
        let turn = Turn { keeps, ..turn };
        let Self { site, agent, prompts, containment, stories, .. } = self;
        warn_of_standstill(site, &turn);
        let prompt = prompts.of_turn(site, containment, stories.as_ref(), &turn)?;
        let posts = Posts::from_now(site);
        let folder = site.dir.turn(turn.iteration, turn.attempt);
        // Before the turn is on record: what stands in them from then on is this turn's.
        let stream = record_into(&folder.join(AGENT_STREAM)).ok();
        let stderr = copied_to(&folder.join("stderr.log"));
        containment.expect_turn();
        site.ledger.record(Event::TurnStarted(turn.clone()));
        prompts::record_prompt(site, &folder, turn.iteration, &prompt);
        let first = conversation::first_message(site, &prompt);
        let call = Call {
            prompt: first.as_deref().unwrap_or(&prompt),
            purpose: Purpose::Work,
            streams_input: first.is_some(),
            output: Output::Stream,
            iteration: turn.iteration,
            spool: &folder.join(FOLDER),
            // A conversation has several turns, each with a copy of its own.
            stdout: heard_by(site.adapter(), stream.filter(|_| first.is_none())),
            stderr,
        };
        containment.enter(site, &folder);
        let spec = agent.spec(site, call);
        let total = spec.limits.total.into_iter().chain(time_left(site.run())).min();
        let spec = spec.within(total).until(end_of_run(site.run()));
        if site.ledger.reporters.wants_details() {
            site.ledger.reporters.detail(&format!("Agent command: {}", command_line(&spec)));
            site.ledger.reporters.detail(&format!("Prompt: {}", beginning(&prompt)));
        }
        let mut listener = Listener::new(site.adapter(), &site.run().plan.claims, &prompt);
        if site.run().plan.review.is_some() {
            listener = listener.answering(&prompt);
        }
        let spec = containment.wrap(spec);
        let hooked = agent.hooked(site, &folder, containment.is_there());
        let ended = spec.and_then(|spec| match first {
            Some(_) => {
                conversation::converse(site, spec, &mut listener, hooked.as_ref(), containment.sandbox())
            }
            None => listen(site, spec, &mut listener),
        });
        let tampered = containment.leave(site);
        if tampered.is_some() {
            self.distrust_repository();
        }
        let Self { site, agent, containment, .. } = self;
        agent.notice_open_hooks(site, listener.tally.version.as_deref());
        if site.run().state.is_in_turn() {
            quota::read_record(site, containment.sandbox(), &mut listener.tally);
            if listener.scanner.claimed() && !listener.is_whole() {
                let text = "the agent's stream ended without its result, so its claim does not count";
                site.ledger.warn(text.to_owned());
            }
            let over = over(site, ended, listener, &posts);
            let over = match agent.gone() {
                Some(program) => over.of_gone_program(program),
                None => over,
            };
            let hooks = hooked.map(|hooked| hooked.settle(&over.tally));
            let undone = untouched::put_back(&mut self.site, self.trees.repository(), &folder);
            let view = self.site.run().plan.looks().then(|| self.observe());
            let tree = self.trees.after_turn(&mut self.site);
            let branch = self.strayed_to();
            self.warn_of_other_branch(began_on);
            let is_claimed = view.as_ref().is_some_and(|view| self.site.run().plan.is_claimed_by_file(view));
            let over = over.by_file(is_claimed);
            let (calls, ended) = over.recorded(Noticed { tampered, hooks, view, tree, branch, undone });
            self.site.ledger.record_judgements(calls);
            self.site.ledger.record(Event::TurnEnded(Box::new(ended.clone())));
            warn_of_missing_figures(&mut self.site.ledger, &ended);
        } else if let Some(changed) = tampered {
            let names = changed.join(", ");
            site.ledger.warn(format!("protected files were changed after the turn had ended: {names}"));
        }
        self.site.notice_changed_settings();
        Ok(())
    }

    /// Asks git nothing any more: a changed configuration can name programs that git runs when it is only asked.
    pub(super) fn distrust_repository(&mut self) {
        self.git = None;
        self.trees = Trees::new(None, false);
    }

    /// The branch that is checked out, where the run is for another.
    fn strayed_to(&self) -> Option<String> {
        let expected = self.site.run().plan.branch.as_ref()?;
        self.git.as_ref()?.checked_out().filter(|found| found != expected)
    }

    /// Where ralph commits nothing the branch is the agent's business, but a person wants to know where the work is.
    fn warn_of_other_branch(&mut self, began_on: Option<String>) {
        let now = self.trees.repository().and_then(Git::checked_out);
        if let (None, Some(before), Some(now)) = (&self.site.run().plan.branch, began_on, now)
            && before != now
        {
            let iteration = self.site.run().state.position().0;
            self.site.ledger.warn(format!("iteration {iteration} began on `{before}` and ended on `{now}`"));
        }
    }

    /// The turn that is due, with what is found before it begins.
    fn ordered(&mut self, order: Order) -> Result<Turn> {
        let Self { site, git, trees, containment, stories, .. } = self;
        let head = trees.repository().and_then(|git| git.head(&mut site.supervisor).unwrap_or_default());
        let (task, spec) = match site.run().memory.turn.as_ref().map(|last| &last.turn) {
            // A retry is about the same task, whatever the plan says by now.
            Some(last) if last.iteration == order.iteration => (last.task.clone(), last.spec.clone()),
            _ => prompts::task(site, containment),
        };
        let turn = Turn { head, task, spec, ..order.into() };
        let tasks = match stories {
            Some(stories) => Some(stories.before_turn(site, git.as_ref(), &turn)?),
            None => None,
        };
        let tree = trees.before_turn(site, turn.head.as_ref());
        Ok(Turn { tasks, tree, ..turn })
    }
}

/// Runs the agent to its end.
pub(super) fn listen(site: &mut Site, spec: Spec, listener: &mut Listener) -> io::Result<Ended> {
    let Site { supervisor, ledger, setup, dir } = site;
    let mut attend = |happening: ProcessEvent<'_>| match happening {
        ProcessEvent::Output(Stream::Err, bytes) => {
            ledger.reporters.moment(Timestamp::now());
            listener.on_complaint(bytes, &mut |line| ledger.complaint(line))
        }
        ProcessEvent::Output(Stream::Out, bytes) => {
            ledger.reporters.moment(Timestamp::now());
            let heard = listener.on_output(bytes, &mut |event| ledger.reporters.agent(event));
            ledger.reporters.flush();
            keep_to_budget(ledger, setup, listener, heard)
        }
        ProcessEvent::StopRequested => {
            ledger.notice(&happening);
            Control::Something
        }
        ProcessEvent::Tick => listener.time_passed(ledger, dir),
    };
    let ended = supervisor.run(spec, &mut attend);
    listener.finish(&mut |event| ledger.reporters.agent(event));
    ended
}

/// Where an agent prints its words: no other process can open the way of a stream of events. Who prints plain text may
/// have scripts that open theirs, by `/dev/stdout`.
pub(super) fn heard_by(adapter: &dyn Adapter, copy: Option<File>) -> Sink {
    let copy = copy.map(KeptStream::boxed);
    if adapter.is_structured() { Sink::Socket { copy } } else { Sink::Pipe { copy } }
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
