//! A run in a few lines: its end on the screen, and what `status` says.

use std::time::Duration;

use ralph_agents::Usage;
use ralph_core::{
    claim::Claim,
    duration::format_duration,
    engine::{
        AwaitedQuota, GateTests, PersonNote, Run, State,
        event::ChildRun,
        memory::Memory,
        outcome::{Exhausted, Outcome},
        plan::{Cause, Plan},
        stop::Stop,
    },
    review::Opinion,
    setup::Setup,
    verify::{caveat::Caveat, finding::Finding},
};

use crate::{journal::local_time, term::fit::one_line};

/// As many files are named in a line.
const MAX_FILES_NAMED: usize = 5;

/// The longest part of a note that a line shows, in characters.
const MAX_NOTE_SHOWN: usize = 60;

/// What a person said and no turn was told, a line each.
pub(crate) fn person_notes(state: &State) -> Vec<String> {
    let untold = state.person_notes().iter().filter(|note| note.is_untold());
    untold
        .map(|note| format!("Not told to the agent yet: note {}, \"{}\"", note.number, beginning(&note.text)))
        .collect()
}

/// What becomes of a note.
pub(crate) fn note_state(note: &PersonNote) -> String {
    match (note.withdrawn, note.told, note.keep) {
        (true, ..) => "withdrawn".to_owned(),
        (false, None, false) => "for the next turn".to_owned(),
        (false, None, true) => "for every turn from the next on".to_owned(),
        (false, Some(iteration), false) => format!("read in iteration {iteration}"),
        (false, Some(iteration), true) => format!("for every turn, last read in iteration {iteration}"),
    }
}

/// `note 1`, `notes 1 and 3`.
pub(crate) fn numbered(notes: &[u32]) -> String {
    let numbers: Vec<String> = notes.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [only] => format!("note {only}"),
        [others @ .., last] => format!("notes {} and {last}", others.join(", ")),
        [] => String::new(),
    }
}

/// The beginning of a note, in one line.
pub(crate) fn beginning(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().nth(MAX_NOTE_SHOWN) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.into_owned(),
    }
}

/// How a run ended, in one line without a full stop.
pub(crate) fn outcome(outcome: &Outcome, plan: &Plan, state: &State) -> String {
    match outcome {
        Outcome::Done if state.needs_person() => {
            let findings = count(state.findings().len() as u64, "finding");
            format!("Done as far as the checks go, with {findings}: a person must look")
        }
        Outcome::Done if plan.review.is_some() => "Approved by the reviewer".to_owned(),
        Outcome::Done => format!("Complete: {}", done(plan, state)),
        // For some loops that is an end like any other: then it says, too, what it is worth.
        Outcome::Exhausted { limit: Exhausted::MaxIterations } => {
            let is_complete = plan.limits.limit_exit_code == 0;
            let unchecked = if is_complete && !plan.is_guarded() { "; nothing checked the work" } else { "" };
            format!("Maximum iterations reached ({}){unchecked}", plan.limits.max_iterations)
        }
        Outcome::Exhausted { limit: Exhausted::MaxTime } => "Maximum time reached".to_owned(),
        Outcome::Exhausted { limit: Exhausted::MaxCost } => "Maximum cost reached".to_owned(),
        Outcome::Exhausted { limit: Exhausted::MaxTokens } => "Maximum number of tokens reached".to_owned(),
        Outcome::Exhausted { limit: Exhausted::MaxIterationCost } => {
            "Maximum cost of an iteration reached".to_owned()
        }
        Outcome::Exhausted { limit: Exhausted::MaxIterationTokens } => {
            "Maximum number of tokens of an iteration reached".to_owned()
        }
        Outcome::Exhausted { limit: Exhausted::Until } => time_to_end(plan, state),
        Outcome::Exhausted { limit: Exhausted::LeaveQuota } => quota_to_leave(plan, state),
        Outcome::Stopped(Stop::Blocked { reason }) => format!("Blocked: {reason}"),
        Outcome::Stopped(stop) => format!("Stopped: {}", stop.reason()),
        Outcome::Interrupted => "Interrupted".to_owned(),
        Outcome::Unready { reason } => reason.clone(),
        Outcome::GaveUp { cause: Cause::Gate, reason } if plan.review.is_some() => {
            format!("Changes requested: {reason}")
        }
        Outcome::GaveUp { cause, reason } => {
            let what = match cause {
                Cause::Agent => "the agent kept failing",
                Cause::Gate => "the guardrails kept failing",
                Cause::NoChange => "the agent changed nothing",
                Cause::Commit => "the work could not be committed",
            };
            format!("Gave up: {what}: {reason}")
        }
    }
}

/// Why a run ended at a time of day, or before it because the usage limit is back too late.
fn time_to_end(plan: &Plan, state: &State) -> String {
    let end = plan.limits.until_ms.map(|ms| format!(" {}", local_time::shown(ms))).unwrap_or_default();
    match state.awaited_quota() {
        Some(AwaitedQuota::BackAt(seconds)) => {
            let back = local_time::shown(seconds.saturating_mul(1000));
            format!("The usage limit is back at {back}, and --until is{end}")
        }
        Some(AwaitedQuota::Unknown) => {
            format!("The usage limit is reached, and the next try would be after --until{end}")
        }
        None => format!("Time to end reached (--until{end})"),
    }
}

/// Why a run ended that is to leave some of the usage limit.
fn quota_to_leave(plan: &Plan, state: &State) -> String {
    let leave = plan.limits.leave_quota.unwrap_or(0);
    let fullest = state.quota().iter().max_by_key(|window| (window.used, window.resets_at));
    let used = fullest.map_or(100, |window| window.used);
    let reset =
        fullest.and_then(|window| window.resets_at).map(|at| local_time::shown(at.saturating_mul(1000)));
    let reset = reset.map(|at| format!("; it resets at {at}")).unwrap_or_default();
    format!("{used} % of the usage limit is used, and --leave-quota keeps {leave} %{reset}")
}

/// Why a run is complete, and what says so beside the agent.
fn done(plan: &Plan, state: &State) -> String {
    let said = match plan.claims.as_slice() {
        _ if plan.judges_tasks() => "every story is done",
        [Claim::TurnEnd] => "the turn has ended",
        claims if claims.contains(&Claim::PlanSettled) && state.had_tasks() => "no task of the plan is open",
        claims if claims.contains(&Claim::NothingLeft) && !state.has_claimed() => "nothing was left to plan",
        _ => "the agent said so",
    };
    match plan.is_guarded() {
        true => format!("{said}, and {} passed", gates(plan)),
        false if plan.judges_tasks() => {
            format!("{said}, by the agent's own reviews; nothing else checked it")
        }
        false => format!("{said}; nothing checked it"),
    }
}

/// What became of a file that said too early that the task is done; nothing if it stays where it is.
pub(crate) fn put_aside(file: &str, to: Option<&str>) -> Option<String> {
    Some(format!("{file} came too early; renamed to {}", to?))
}

/// That lines of the record are lost.
pub(crate) fn repaired(lost: usize, lines: u64) -> String {
    format!("the record was damaged: {lost} of {lines} lines are lost")
}

/// A story that the agent cannot do.
pub(crate) fn handed_over(story: &str, reason: &str) -> String {
    format!("Blocked: {story}: {reason}; the story is for a person now")
}

/// What weakens the judgement of a run and is not the agent's doing.
pub(crate) fn caveats(run: &Run) -> Vec<Caveat> {
    let in_place = run.started.setup.judge.in_place.clone().map(|why| Caveat::JudgedInPlace { why });
    in_place.into_iter().chain(run.state.caveats(&run.plan)).collect()
}

/// Runs that are still at work when the one that started them ends.
pub(crate) fn outlived(children: &[ChildRun], kept: bool) -> String {
    let name = |child: &ChildRun| format!("{} ({})", child.run, child.title);
    let names = children.iter().map(name).collect::<Vec<_>>().join(", ");
    let what = if kept { "left at work" } else { "ended" };
    format!("child runs still at work when the task stops, {what}: {names}")
}

/// What a loop committed that it has no business with.
pub(crate) fn beyond(preset: &str, files: &[String]) -> Option<String> {
    let more = files.len().saturating_sub(MAX_FILES_NAMED);
    let more = if 0 < more { format!(" and {more} more") } else { String::new() };
    let named = files[..files.len().min(MAX_FILES_NAMED)].join(", ");
    (!files.is_empty()).then(|| {
        format!("`ralph {preset}` committed files that are no plan, specification or note: {named}{more}")
    })
}

/// What a person must look at before anything else.
pub(crate) fn findings(state: &State) -> Vec<String> {
    let findings = state.findings().iter().filter(|_| !state.is_accepted());
    let mut lines: Vec<String> = findings.map(Finding::line).collect();
    if !lines.is_empty() {
        lines.extend(state.reason().map(|reason| format!("the agent's reason: {reason}")));
    }
    lines
}

/// What else was seen at the last claim.
pub(crate) fn notes(state: &State) -> Vec<String> {
    state.notes().iter().map(ToString::to_string).collect()
}

/// What reviewers said about the last claim.
pub(crate) fn opinions(state: &State) -> Vec<String> {
    state.opinions().iter().map(Opinion::line).collect()
}

fn gates(plan: &Plan) -> String {
    match plan.guardrails() {
        1 => "its guardrail".to_owned(),
        2 => "both guardrails".to_owned(),
        several => format!("all {several} guardrails"),
    }
}

/// Which gates failed before the first iteration, and which of them pass by now; nothing if none did.
pub(crate) fn baseline(state: &State, plan: &Plan) -> Option<String> {
    let gates = state.baseline().failed().filter_map(|(gate, mended)| {
        let name = plan.gates.get(gate)?.check.name();
        Some(if mended { format!("{name} (passed since)") } else { name.to_owned() })
    });
    let gates: Vec<String> = gates.collect();
    (!gates.is_empty()).then(|| format!("failing before the first iteration: {}", gates.join(", ")))
}

/// How many tests each guardrail ran last, and how that compares with the time before the run.
pub(crate) fn tests(state: &State, plan: &Plan) -> Vec<String> {
    let all: Vec<GateTests<'_>> = state.tests(plan).collect();
    let line = |it: &GateTests<'_>| {
        let words = it.now.words(it.before);
        if all.len() == 1 { words } else { format!("{}: {words}", plan.gates[it.gate].check.name()) }
    };
    all.iter().map(line).collect()
}

/// Which files a run has changed, committed or not, and how to see that.
pub(crate) fn work(memory: &Memory) -> Vec<String> {
    let Some(work) = &memory.work else { return Vec::new() };
    let command = work.command().map(|command| format!("see what it did: {command}"));
    work.words().into_iter().chain(command).collect()
}

/// A time that a run took, the same everywhere: no one counts tenths of a second after a minute.
pub(crate) fn time(ms: u64) -> String {
    format_duration(Duration::from_millis(ms))
}

/// What a run has used: turns, time, tools, commits, tokens, cost.
pub(crate) fn spent(state: &State) -> Vec<String> {
    let spent = state.spent();
    let mut parts = vec![count(spent.turns.into(), "turn"), time(spent.ms), count(spent.tools, "tool call")];
    if 0 < spent.asked.turns {
        let cost = cost(&spent.asked.usage).map(|cost| format!(" ({cost})")).unwrap_or_default();
        parts.insert(1, format!("{} of them asked about findings{cost}", spent.asked.turns));
    }
    if 0 < spent.commits {
        parts.push(count(spent.commits.into(), "commit"));
    }
    if 0 < spent.usage.tokens() {
        parts.push(tokens(spent.usage.input, spent.usage.cached, spent.usage.output));
    }
    parts.extend(cost(&spent.usage));
    if 0 < spent.unmetered {
        parts.push(count(spent.unmetered.into(), "unmetered turn"));
    }
    parts
}

/// What it cost to ask the agent about findings, and whether that was in vain.
pub(crate) fn asked(state: &State) -> String {
    let asked = &state.spent().asked;
    let turns = if asked.turns == 1 { "turn" } else { "turns" };
    let cost = cost(&asked.usage).map(|cost| format!(" ({cost})")).unwrap_or_default();
    let in_vain = match state.asked_in_vain() {
        0 => String::new(),
        vain => format!(", {vain} unnecessary: a person accepted the agent's reason"),
    };
    format!("{turns} asked about findings{cost}{in_vain}")
}

/// A cost as people read it: `~` before what ralph estimated.
pub(crate) fn cost(usage: &Usage) -> Option<String> {
    let about = if usage.estimated { "~" } else { "" };
    usage.cost_usd.map(|cost| format!("{about}${cost:.2}"))
}

/// What became of processes that a turn left behind.
pub(crate) fn leftovers(setup: &Setup) -> &'static str {
    if setup.leftovers.are_kept() { "kept" } else { "ended" }
}

/// Two costs, either of which may be unknown.
pub(crate) fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
    }
}

/// Tokens as people say them: `1.2M in (850K cached) / 45K out`.
pub(crate) fn tokens(input: u64, cached: u64, output: u64) -> String {
    let cached = if 0 < cached { format!(" ({} cached)", short(cached)) } else { String::new() };
    format!("{} in{cached} / {} out", short(input), short(output))
}

/// A number of things, in the plural where it belongs.
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A number with three figures at most.
pub(crate) fn short(number: u64) -> String {
    let in_units = |unit: u64, letter: char| {
        let tenths = number.saturating_mul(10).saturating_add(unit / 2) / unit;
        if tenths.is_multiple_of(10) {
            format!("{}{letter}", tenths / 10)
        } else {
            format!("{}.{}{letter}", tenths / 10, tenths % 10)
        }
    };
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => in_units(1000, 'K'),
        _ => in_units(1_000_000, 'M'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short() {
        assert_eq!(tokens(1_200_000, 850_000, 45_000), "1.2M in (850K cached) / 45K out");
        assert_eq!(tokens(999, 0, 1), "999 in / 1 out");
        assert_eq!(tokens(1500, 0, 1_000_000), "1.5K in / 1M out");
    }
}
