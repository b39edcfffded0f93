//! What ralph itself does: iterations, gates, commits, the end.

use std::{fmt::Write as _, time::Duration};

use ralph_core::{
    duration::format_duration,
    engine::{
        Action, Run,
        commit::CommitEnd,
        decide,
        edits::{EditsTaken, Effect},
        event::{BaseMoved, RunStarted, Turn, TurnEnd, TurnEnded},
        outcome::Outcome,
        plan::{Cause, CommitRule, Plan},
    },
    setup::Setup,
    stories::Statistics,
    verify::finding::Finding,
};

use super::Human;
use crate::{
    report::{style::Marks, summary, who},
    term::{
        Palette, Stream, Width,
        fit::{columns, fit, flow, one_line},
        printable,
        wrap::wrap,
    },
};

impl Human {
    pub(super) fn started(&mut self, started: &RunStarted) {
        let Palette { strong, quiet, .. } = self.look.palette;
        let (plan, setup) = (&started.plan, &started.setup);
        let word = if setup.agents.len() < 2 { "agent" } else { "agents" };
        let title = format!("ralph {} {}", plan.preset, started.run);
        let facts = [
            title.clone(),
            format!("{word} {}", one_line(&who::agents(setup))),
            format!("at most {}", summary::count(plan.limits.max_iterations.into(), "iteration")),
            match (&setup.assignment, &plan.review) {
                (Some(assignment), _) => format!("task {}", assignment.task),
                (None, Some(range)) => format!("commits {}", one_line(&range.name)),
                (None, None) => summary::count(plan.guardrails() as u64, "guardrail"),
            },
        ];
        let facts = flow(&facts, self.look.marks.dot, 0, 2, self.screen.columns());
        let facts = facts.strip_prefix(&title).unwrap_or(&facts);
        self.line(&format!("{strong}ralph {}{strong:#} {quiet}{}{quiet:#}{facts}", plan.preset, started.run));
        self.budget(started);
        // A review has nothing to check: it says what it thinks.
        if !plan.is_guarded() && plan.review.is_none() {
            self.line(&format!(
                "{quiet}Nothing checks the agent's word: add \"guardrails\" to .ralph/settings.json.{quiet:#}"
            ));
        }
    }

    pub(super) fn found(&mut self, findings: &[Finding]) {
        let Palette { warn, .. } = self.look.palette;
        for finding in findings {
            self.alert(&format!("{warn}Finding:{warn:#} {}", printable(&finding.line())));
        }
    }

    pub(super) fn edits_taken(&mut self, taken: &EditsTaken) {
        let Palette { accent, .. } = self.look.palette;
        for edit in &taken.edits {
            let what = match edit.effect {
                Effect::Taken => "You changed",
                Effect::NewRuns => "Not used in this run:",
            };
            self.line(&format!("{accent}{what}{accent:#} {}", printable(&edit.line())));
        }
    }

    pub(super) fn base_moved(&mut self, moved: &BaseMoved) {
        let Palette { accent, .. } = self.look.palette;
        for file in &moved.files {
            self.line(&format!("{accent}You changed{accent:#} {}", printable(file)));
        }
    }

    pub(super) fn iteration(&mut self, setup: &Setup, plan: &Plan, turn: &Turn) {
        self.tools.reset();
        let Palette { strong, accent, .. } = self.look.palette;
        let rule = self.look.marks.rule;
        let of = plan.limits.max_iterations;
        let Turn { iteration, attempt, .. } = turn;
        let retry = if 1 < *attempt { format!(", attempt {attempt}") } else { String::new() };
        let about = Self::about(plan, turn);
        let who = who::of_turn(setup, turn).map(|who| format!(", {who}")).unwrap_or_default();
        let title = format!("Iteration {iteration} of {of}{retry}{}{}", one_line(&about), one_line(&who));
        let rest = rule.repeat(self.screen.columns().min(80).saturating_sub(columns(&title) + 4));
        let short = rule.repeat(2);
        self.line(&format!("\n{accent}{short}{accent:#} {strong}{title}{strong:#} {accent}{rest}{accent:#}"));
        if let (Some(why), Some(who)) = (who::because(turn.because.as_ref()), &turn.agent) {
            let why = format!("{who} has this turn: {why}");
            self.line(&one_line(&why));
        }
        if let Some(task) = &turn.task {
            let spec = turn.spec.as_ref().map(|spec| format!(" ({spec})")).unwrap_or_default();
            let task = format!("Task: {task}{spec}");
            let task = fit(&one_line(&task), self.screen.columns()).into_owned();
            self.line(&task);
        }
        self.told(turn);
    }

    pub(super) fn turn_ended(&mut self, run: &Run, turn: &TurnEnded) {
        self.turn_line(run, turn);
        let Palette { bad, warn, .. } = self.look.palette;
        match &turn.end {
            TurnEnd::Failed(failure) => {
                let mark = self.look.marks.bad;
                self.alert(&format!("{mark} {bad}The agent failed: {}{bad:#}", printable(&failure.message)));
                self.last_lines(&turn.last_lines, &failure.message);
            }
            TurnEnd::Paused { .. } => self.line("The agent waits for a person."),
            TurnEnd::OverBudget { limit } => {
                self.alert(&format!("{warn}The agent was ended at its limit of {}.{warn:#}", limit.name()));
            }
            TurnEnd::Tampered { changed } => self.tampered(changed),
            TurnEnd::Unguarded { changed, unjudged } => self.unguarded(changed, unjudged),
            TurnEnd::Interrupted => self.line(&format!("{warn}The agent was ended.{warn:#}")),
            TurnEnd::Abandoned => {
                self.line(&format!("{warn}The last turn was cut off; it runs again.{warn:#}"));
            }
            TurnEnd::Finished if turn.claimed && run.plan.gates.iter().any(|gate| gate.check.judges()) => {
                let Palette { accent, .. } = self.look.palette;
                self.line(&format!(
                    "{accent}The agent says that it is done. Ralph runs the guardrails.{accent:#}"
                ));
            }
            TurnEnd::Finished => {}
        }
        if let Some(verdict) = &turn.review {
            self.verdict(verdict);
        }
        for leftover in &turn.leftovers {
            let fate = summary::leftovers(&run.started.setup);
            self.line(&format!("{warn}Left behind by the agent, {fate}: {}{warn:#}", printable(leftover)));
        }
        if !turn.denials.is_empty() {
            let tools = turn.denials.join(", ");
            let tools = printable(&tools);
            self.alert(&format!(
                "{warn}The agent's own permission rules refused: {tools}. To lift them: \"agent\": {{\"permissions\": \"skip\"}}{warn:#}"
            ));
        }
    }

    /// What the turn took and used. Whether it was any good is for others to say.
    fn turn_line(&mut self, run: &Run, turn: &TurnEnded) {
        let number = run.state.spent().turns;
        let mut facts = vec![format_duration(Duration::from_millis(turn.ms))];
        facts.extend(summary::cost(&turn.usage));
        if 0 < turn.usage.tokens() {
            facts.push(summary::tokens(turn.usage.input, turn.usage.cached, turn.usage.output));
        }
        let Palette { quiet, .. } = self.look.palette;
        let label = format!("turn {number}: ");
        let facts = flow(&facts, " · ", label.len(), 2, self.screen.columns());
        self.line(&format!("{quiet}{label}{facts}{quiet:#}"));
    }

    /// What the agent said last, unless the message says all of it.
    fn last_lines(&mut self, lines: &[String], message: &str) {
        if let [only] = lines
            && message.contains(only.as_str())
        {
            return;
        }
        let Palette { quiet, .. } = self.look.palette;
        let mark = self.look.marks.output;
        for line in lines {
            self.alert(&format!("  {mark} {quiet}{}{quiet:#}", printable(line)));
        }
    }

    pub(super) fn committed(&mut self, run: &Run, end: &CommitEnd) {
        let claimed = run.memory.turn.as_ref().is_some_and(|last| last.claimed);
        let is_done = decide(&run.plan, &run.state) == Action::Finish(Outcome::Done);
        let Palette { good, bad, quiet, warn, .. } = self.look.palette;
        let Marks { good: ok, bad: failed, .. } = self.look.marks;
        match end {
            CommitEnd::Made { commit, subject, .. } => {
                let used = columns(ok) + " Committed  ".len() + commit.len();
                let subject = one_line(subject);
                let subject = fit(&subject, self.screen.columns().saturating_sub(used));
                self.line(&format!("{ok} {good}Committed{good:#} {quiet}{commit}{quiet:#} {subject}"));
            }
            CommitEnd::Already { .. } => {
                self.line(&format!("{quiet}The agent had committed its work itself.{quiet:#}"));
            }
            CommitEnd::NotWanted | CommitEnd::Changed { .. } => {}
            CommitEnd::Nothing if run.plan.commit == CommitRule::Required && !claimed && !is_done => {
                self.alert(&format!("{failed} {bad}No changes detected{bad:#}"));
            }
            CommitEnd::Nothing => self.line(&format!("{quiet}Nothing to commit.{quiet:#}")),
            CommitEnd::Failed { output } => {
                self.alert(&format!("{failed} {bad}The commit failed:{bad:#} {}", printable(output)));
            }
        }
        if let Some(text) = summary::beyond(&run.plan.preset, end.beyond()) {
            self.alert(&format!("{warn}warning:{warn:#} {}", printable(&text)));
        }
    }

    pub(super) fn ended(&mut self, run: &Run, outcome: &Outcome) {
        let Run { started, plan, state, memory } = run;
        let Palette { good, bad, warn, .. } = self.look.palette;
        let (mark, style) = match outcome {
            Outcome::Done if state.needs_person() => (self.look.marks.pending, warn),
            Outcome::Done => (self.look.marks.good, good),
            Outcome::Exhausted { .. } | Outcome::Stopped(_) | Outcome::Interrupted => {
                (self.look.marks.pending, warn)
            }
            Outcome::Unready { .. } | Outcome::GaveUp { .. } => (self.look.marks.bad, bad),
        };
        self.line("");
        self.screen.flush(None);
        if !self.look.summary {
            return;
        }
        let line = printable(&summary::outcome(outcome, plan, state)).into_owned();
        let spent = flow(&summary::spent(state), ", ", 3, 3, self.screen.columns());
        let mut out = String::new();
        let _ = writeln!(out, "{mark} {style}{line}{style:#}\n   {spent}");
        let findings = summary::findings(state);
        if !findings.is_empty() {
            let _ = writeln!(out, "   Needs attention:");
        }
        for line in &findings {
            let _ = writeln!(out, "   - {}", printable(line));
        }
        for line in summary::person_notes(state) {
            let _ = writeln!(out, "   {}", printable(&line));
        }
        for line in summary::notes(state).iter().filter(|_| *outcome == Outcome::Done) {
            let _ = writeln!(out, "   Note: {}", printable(line));
        }
        for line in summary::opinions(state) {
            let _ = writeln!(out, "   {}", printable(&line));
        }
        for caveat in summary::caveats(run).iter().filter(|_| *outcome == Outcome::Done) {
            let _ = writeln!(out, "   Caveat: {}", printable(&caveat.to_string()));
        }
        for line in memory.reviews.iter().flat_map(Statistics::lines) {
            let _ = writeln!(out, "   {}", printable(&line));
        }
        if let Some(line) = summary::baseline(state, plan) {
            let line = printable(&line).into_owned();
            let _ = writeln!(out, "   {line}");
        }
        for line in summary::tests(state, plan) {
            let _ = writeln!(out, "   {}", printable(&line));
        }
        for line in summary::work(memory) {
            let _ = writeln!(out, "   {line}");
        }
        if state.needs_person() {
            let run = &started.run;
            let _ = writeln!(
                out,
                "   take it as it is: ralph accept {run}\n   send it back: ralph reject {run} \"why\""
            );
        }
        let has_verdict =
            plan.review.is_some() && matches!(outcome, Outcome::GaveUp { cause: Cause::Gate, .. });
        if !outcome.is_final() && !has_verdict && !matches!(outcome, Outcome::Unready { .. }) {
            let raise = match outcome {
                Outcome::Exhausted { limit } => limit.raised(plan, state.spent()),
                _ => String::new(),
            };
            let words = match (outcome, started.setup.root_task()) {
                // What the agent waits for stands in the way of a plain resume.
                (outcome, Some(task)) if outcome.is_wait() => ["ralph task resume", task, ""],
                _ => ["ralph resume", &started.run, &raise],
            };
            let command: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let _ = writeln!(out, "   continue with: {}", command.join(" "));
        }
        // The talk may go to a terminal and this into a file.
        let room = self.screen.room().and_then(|_| Width::of(Stream::Out).room());
        let out = room.map_or_else(|| out.clone(), |room| wrap(&out, room));
        let _ = self.data.write_all(out.as_bytes()).and_then(|()| self.data.flush());
    }
}
