//! Asks a reviewer about what is claimed: in a fresh process that changes nothing, with an answer that ralph reads.
//!
//! Invariant: what the reviewer changes nevertheless is put back before its answer is recorded.

use std::{io, path::Path};

use jiff::Timestamp;
use ralph_agents::{Failure, FailureKind, Output};
use ralph_core::{
    engine::{
        OpinionOrder,
        event::{Event, KeptFiles, OpinionEnded, OpinionStarted, TurnEnd},
        plan::Check,
    },
    key_mask::masked,
    review::{
        OpinionAbout, look,
        prompt::{self, AGAIN, LOOK_AGAIN, MAX_DIFF_LEN, ReviewSubject},
    },
    setup::{PromptSource, TaskFrom},
};
use ralph_sandbox::spool::FOLDER;
use ralph_sys::{error::Result, hash::fnv, process::Supervisor};

use super::{
    Driver, abandon,
    agent::{Call, Purpose, copied_to},
    assigned::Posts,
    budget::{end_of_run, time_left},
    ended::{Noticed, over},
    listener::Listener,
    turn::{heard_by, listen},
    untouched,
};
use crate::{
    journal::run_dir::{AGENT_STREAM, record, record_into},
    project::git::Git,
    report::summary,
};

impl Driver {
    /// Asks a reviewer and records what it says.
    pub(super) fn ask_opinion(&mut self, order: OpinionOrder) -> Result<()> {
        let chosen = order.chosen.as_ref().map(|chosen| chosen.agent.clone());
        let started = OpinionStarted::from(order);
        if let Err(why) = self.hand_to(chosen.as_deref()) {
            self.refuse_opinion(started, FailureKind::Permanent, why);
            return Ok(());
        }
        let folder = self.site.dir.opinion(started.number);
        let kept = match self.trees.repository() {
            Some(git) => git.keep(&mut self.site.supervisor, &folder),
            None => Err(io::Error::other("the project is not in a git repository")),
        };
        let kept = match kept {
            Ok(kept) => kept,
            // Without that no one could tell what the reviewer changes.
            Err(error) => {
                let why = format!("the files cannot be kept as they are: {error}");
                self.refuse_opinion(started, FailureKind::Transient, why);
                return Ok(());
            }
        };
        let prompt = self.question(started.about, &kept)?;
        let keeps = Some(kept);
        self.converse_once(OpinionStarted { keeps, ..started }, &folder, &prompt);
        if let Some(stories) = &mut self.stories {
            // Its files may have been changed and put back.
            stories.forget();
        }
        self.site.notice_changed_settings();
        Ok(())
    }

    /// Undoes what a reviewer changed that was being asked when ralph died.
    pub(super) fn abandon_opinion(&mut self) {
        let Some(last) = self.site.run().memory.opinion.clone() else { return };
        let (about, folder) = (last.started.about, self.site.dir.opinion(last.started.number));
        let changed = self.containment.left_by_the_dead();
        let mut ended = OpinionEnded::new(about, TurnEnd::Abandoned);
        if let Ok((ms, usage)) =
            abandon::used_by(&mut self.site, &folder, last.started.agent.as_deref(), last.began)
        {
            (ended.ms, ended.usage) = (ms, usage);
        }
        if let Some(changed) = changed {
            ended.end = TurnEnd::Tampered { changed };
            self.distrust_repository();
        } else {
            let kept = last.started.keeps.as_ref();
            let restored = untouched::restore(&mut self.site, self.trees.repository(), &folder, kept);
            (ended.undone, ended.meddled) = (restored.files, restored.meddled);
        }
        self.site.ledger.record(Event::OpinionEnded(Box::new(ended)));
    }

    /// Records a reviewer that could not be asked at all.
    fn refuse_opinion(&mut self, started: OpinionStarted, kind: FailureKind, message: String) {
        let about = started.about;
        self.site.ledger.record(Event::OpinionStarted(Box::new(started)));
        let end = TurnEnd::Failed(Failure { kind, message });
        self.site.ledger.record(Event::OpinionEnded(Box::new(OpinionEnded::new(about, end))));
    }

    fn converse_once(&mut self, started: OpinionStarted, folder: &Path, prompt: &str) {
        let (about, kept) = (started.about, started.keeps.clone());
        let Self { site, agent, containment, .. } = self;
        let posts = Posts::from_now(site);
        let stream = record_into(&folder.join(AGENT_STREAM)).ok();
        let stderr = copied_to(&folder.join("stderr.log"));
        let _ = record(&folder.join("prompt.md"), masked(prompt).as_bytes());
        containment.expect_turn();
        site.ledger.record(Event::OpinionStarted(Box::new(started)));
        let call = Call {
            prompt,
            purpose: Purpose::Opinion,
            streams_input: false,
            output: Output::Stream,
            iteration: site.run().state.position().0,
            spool: &folder.join(FOLDER),
            stdout: heard_by(site.adapter(), stream),
            stderr,
        };
        containment.enter(site, folder);
        let spec = agent.spec(site, call);
        let total = spec.limits.total.into_iter().chain(time_left(site.run())).min();
        let spec = spec.within(total).until(end_of_run(site.run()));
        let mut listener = Listener::new(site.adapter(), &[], prompt).answering(prompt);
        let spec = containment.wrap(spec);
        let hooked = agent.hooked(site, folder, containment.is_there());
        let ended = spec.and_then(|spec| listen(site, spec, &mut listener));
        let tampered = containment.leave(site);
        if tampered.is_some() {
            self.distrust_repository();
        }
        let words = listener.words.clone().unwrap_or_default();
        let over = over(&self.site, ended, listener, &posts);
        let over = match self.agent.gone() {
            Some(program) => over.of_gone_program(program),
            None => over,
        };
        let hooks = hooked.map(|hooked| hooked.settle(&over.tally));
        let restored = untouched::restore(&mut self.site, self.trees.repository(), folder, kept.as_ref());
        let (calls, turn) = over.recorded(Noticed { tampered, hooks, ..Noticed::default() });
        let is_finished = turn.end == TurnEnd::Finished;
        let ended = OpinionEnded {
            verdict: turn.review.filter(|_| is_finished && about != OpinionAbout::Look),
            look: look(&words, prompt).filter(|_| is_finished && about == OpinionAbout::Look),
            undone: restored.files,
            meddled: restored.meddled,
            ms: turn.ms,
            usage: turn.usage,
            model: turn.model,
            hooks: turn.hooks,
            ..OpinionEnded::new(about, turn.end)
        };
        self.site.ledger.record_judgements(calls);
        self.site.ledger.record(Event::OpinionEnded(Box::new(ended)));
    }

    /// What the reviewer is told.
    fn question(&mut self, about: OpinionAbout, kept: &KeptFiles) -> Result<String> {
        let subject = self.subject(kept)?;
        let run = self.site.run();
        let seed = format!("{}{}", run.started.run, Timestamp::now().as_nanosecond());
        let mark = subject.mark(fnv(seed.as_bytes()));
        let is_again = run.state.is_asked_again();
        let (text, again) = match about {
            OpinionAbout::Review { .. } => (prompt::review(&subject, &mark), AGAIN),
            OpinionAbout::Look => (prompt::look(&subject, &mark), LOOK_AGAIN),
        };
        let text = if is_again { format!("{text}\n\n{again}\n") } else { text };
        Ok(self.site.adapter().deliverable(text))
    }

    /// What the run has done, as far as a reviewer is told it.
    fn subject(&mut self, kept: &KeptFiles) -> Result<ReviewSubject> {
        let task = self.task_for_review()?;
        let memory = &self.site.run().memory;
        // Before the first turn nothing was done.
        let base = if memory.turn.is_some() { memory.first_head.clone() } else { kept.head.clone() };
        let diff = match self.trees.repository() {
            Some(git) => difference(git, &mut self.site.supervisor, base.as_deref(), kept),
            None => Ok((String::new(), String::new())),
        };
        let (from, diff) =
            diff.unwrap_or_else(|error| (String::new(), format!("It cannot be shown: {error}")));
        let more = (MAX_DIFF_LEN < diff.len()).then(|| format!("git diff {from} {}", kept.tree));
        let run = self.site.run();
        let passed = run.plan.gates.iter().filter_map(|gate| match &gate.check {
            Check::Command { command } => Some(format!("`{command}` passes")),
            Check::Hidden { .. }
            | Check::ChildrenEnded { .. }
            | Check::TaskRules
            | Check::CleanTree
            | Check::StoriesDone
            | Check::PlanSettled
            | Check::Review { .. }
            | Check::Work { .. } => None,
        });
        let adapter = self.site.adapter();
        let diff = if diff.trim().is_empty() { "No file differs.".to_owned() } else { diff };
        Ok(ReviewSubject {
            task: adapter.harmless(&task),
            change: "everything since the run began".to_owned(),
            diff: adapter.harmless(&diff),
            more,
            guardrails: passed.collect(),
            findings: summary::findings(&run.state).iter().map(|line| adapter.harmless(line)).collect(),
        })
    }

    /// What was asked for, in the words that the agent was given.
    fn task_for_review(&mut self) -> Result<String> {
        let Self { site, prompts, containment, .. } = self;
        if let Some(stories) = &site.setup.stories {
            let list = stories.ralph_dir.join("tasks.json");
            return Ok(format!("Every story of {} is to be done.", list.display()));
        }
        let of_turn = site.run().memory.turn.as_ref().and_then(|last| last.turn.task.clone());
        match (&site.setup.prompt, &site.setup.task) {
            (PromptSource::Text(_) | PromptSource::File(_), TaskFrom::Prompt) => {
                prompts.base(site, containment)
            }
            (_, TaskFrom::Fixed(task)) => Ok(task.clone()),
            (PromptSource::Template(_), _) | (_, TaskFrom::PlanFile) => match of_turn {
                Some(task) => Ok(task),
                None => prompts.base(site, containment),
            },
        }
    }
}

/// What differs from what the run began with, and the name of that for git.
fn difference(
    git: &Git,
    supervisor: &mut Supervisor,
    base: Option<&str>,
    kept: &KeptFiles,
) -> io::Result<(String, String)> {
    let from = match base {
        Some(base) => base.to_owned(),
        None => git.empty_tree(supervisor)?,
    };
    let diff = git.patch(supervisor, &from, &kept.tree, 2 * MAX_DIFF_LEN)?;
    Ok((from, diff))
}
