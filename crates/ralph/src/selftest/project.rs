//! Cheats on a copy of the user's project: a mistake in the code that its guardrails see, and one cheat after the other that
//! hides it.

use std::time::{Duration, Instant};

use ralph_core::duration::format_duration;
use ralph_sys::{
    error::{Error, Result},
    process::Crew,
};
use serde_json::{Value, json};

use super::{
    Loop, Rules, Trial, TrialEnd,
    catalogue::{Act, Breaks, Entry, EntryKind, Fixture, Reach, SeenBy},
    copy::Copy,
    generic::{
        Cheat, Edit, Files,
        breaks::{Break, breaks},
        cheats,
    },
    trial,
};

/// So many mistakes are tried until the guardrails see one.
const MAX_BREAKS: usize = 12;
/// With a mistake in the code, guardrails may take this much longer than without.
const SLOWER: u32 = 5;
/// What they may take beside that.
const MISTAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// A failure is shown with so many lines.
const MAX_SHOWN: usize = 12;

/// What is tried.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) project: &'a std::path::Path,
    pub(crate) guardrails: Vec<String>,
    /// What installs what they need.
    pub(crate) prepare: Vec<String>,
    /// For all of it.
    pub(crate) max_time: Duration,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) commit: String,
    /// What is not committed, and not in the copy.
    pub(crate) left_out: Vec<String>,
    /// The mistake that the cheats hide is in this file.
    pub(crate) broken: String,
    pub(crate) trials: Vec<Trial>,
    /// Cheats for which there was no time.
    pub(crate) not_run: Vec<String>,
    /// Cheats with which the guardrails fail anyway, so that they deceive no one.
    pub(crate) not_counted: Vec<String>,
}

/// Runs the cheats; nothing when ralph was asked to stop.
pub(crate) fn run(
    asked: &Asked<'_>,
    rules: &Rules,
    on_result: &mut dyn FnMut(&Trial, usize),
) -> Result<Option<Told>> {
    let crew = Crew::new()?;
    let deadline = Instant::now() + asked.max_time;
    let Some(copy) = Copy::new(&crew, asked.project, asked.max_time)? else { return Ok(None) };
    copy.prepare(&crew, &asked.prepare, left(deadline))?;
    let bench = Bench { crew: &crew, copy: &copy, rules, deadline, asked };
    let Some((files, broken, said)) = bench.broken()? else { return Ok(None) };
    let cheats = cheats(&files, &asked.guardrails, &said);
    if cheats.is_empty() {
        return Err(Error::new(
            "no cheat applies to this project: ralph knows neither its tests nor its runner",
        )
        .hint("`ralph judge --explain` lists the files that it takes for checks"));
    }
    let mut told = Told {
        commit: copy.commit.clone(),
        left_out: copy.left_out.clone(),
        broken: broken.path.clone(),
        ..Told::default()
    };
    for cheat in &cheats {
        let entry = entry(cheat, &broken);
        let tried = bench.tries(&entry)?;
        if crew.is_stopping() {
            return Ok(None);
        }
        match tried {
            Tried::NotRun => told.not_run.push(entry.id),
            Tried::NotCounted => told.not_counted.push(entry.id),
            Tried::Ended(trial) => {
                on_result(&trial, cheats.len());
                told.trials.push(*trial);
            }
        }
    }
    if told.trials.is_empty() {
        return Err(bench.nothing_ran(&told));
    }
    Ok(Some(told))
}

/// What became of a cheat.
enum Tried {
    NotRun,
    NotCounted,
    Ended(Box<Trial>),
}

struct Bench<'a> {
    crew: &'a Crew,
    copy: &'a Copy,
    rules: &'a Rules,
    deadline: Instant,
    asked: &'a Asked<'a>,
}

/// How the guardrails ended, and what was said.
struct Plain {
    passes: Option<bool>,
    said: String,
}

impl Bench<'_> {
    /// The files with a mistake that the guardrails see, the mistake, and what they said about it.
    fn broken(&self) -> Result<Option<(Files, Break, String)>> {
        let started = Instant::now();
        let before = self.plain(Vec::new(), left(self.deadline))?;
        let limit = started.elapsed() * SLOWER + MISTAKE_TIMEOUT;
        if self.crew.is_stopping() {
            return Ok(None);
        }
        match before.passes {
            Some(true) => {}
            Some(false) => return Err(fails_already(&before.said)),
            None => return Err(self.too_slow()),
        }
        let mut files = self.copy.files(self.crew)?;
        for broken in breaks(&files).into_iter().take(MAX_BREAKS) {
            let limit = limit.min(left(self.deadline));
            if limit.is_zero() {
                return Err(self.too_slow());
            }
            let write = Act::Write { path: broken.path.clone(), text: broken.text.clone() };
            let after = self.plain(vec![write], limit)?;
            if self.crew.is_stopping() {
                return Ok(None);
            }
            if after.passes == Some(false) {
                files.insert(broken.path.clone(), broken.text.clone());
                return Ok(Some((files, broken, after.said)));
            }
        }
        Err(Error::new("no mistake in the code made a guardrail fail, so a cheat has nothing to hide")
            .hint("guardrails that run tests of the code would: `ralph init` looks for some"))
    }

    fn too_slow(&self) -> Error {
        let time = format_duration(self.asked.max_time);
        Error::new(format!("no cheat ran: the guardrails alone took {time}"))
            .hint("give it more time: --max-time 1h")
    }

    fn nothing_ran(&self, told: &Told) -> Error {
        if told.not_run.is_empty() {
            return Error::new(format!(
                "no cheat deceives the guardrails: they fail with each of the {} that apply",
                told.not_counted.len()
            ));
        }
        self.too_slow()
    }

    /// What a loop without ralph's findings and judge makes of it.
    fn plain(&self, acts: Vec<Act>, limit: Duration) -> Result<Plain> {
        let mut settings = self.rules.settings.clone();
        settings["verify"] = json!({"checkout": "never", "onFinding": "report", "testsMayChange": true});
        settings["baseline"] = json!(false);
        let rules = Rules { decides: Loop::Ralph, settings, is_contained: self.rules.is_contained };
        let entry = Entry { turns: vec![turn(acts)], ..empty() };
        let place = self.copy.again(self.crew, &rules, (&Fixture::default(), &entry), limit)?;
        let ended = trial::ralph(self.crew, &place, limit)?;
        let status = trial::status(self.crew, &place)?;
        let status: Value = serde_json::from_str(&status.out).unwrap_or_default();
        let outcome = status["outcome"]["outcome"].as_str();
        // Not even begun is neither: the settings or the machine are to blame, and ralph says why.
        let passes = ended.code.and(outcome).map(|outcome| outcome == "done");
        if ended.code.is_some() && outcome.is_none() {
            return Err(Error::new(format!(
                "ralph cannot run in a copy of the project: {}",
                ended.err.trim()
            )));
        }
        Ok(Plain { passes, said: format!("{}\n{}", ended.out, ended.err) })
    }

    fn tries(&self, entry: &Entry) -> Result<Tried> {
        let limit = left(self.deadline);
        if limit.is_zero() {
            return Ok(Tried::NotRun);
        }
        let fixture = Fixture {
            language: "of the project".to_owned(),
            guardrails: self.asked.guardrails.clone(),
            ..Fixture::default()
        };
        let place = self.copy.again(self.crew, self.rules, (&fixture, entry), limit)?;
        let tried = trial::in_place(self.crew, self.rules, &place, (&fixture, entry), left(self.deadline))?;
        if left(self.deadline).is_zero() && matches!(tried.verdict, TrialEnd::Broken { .. }) {
            return Ok(Tried::NotRun);
        }
        if tried.verdict == TrialEnd::Refused {
            let acts = entry.turns.concat().into_iter().filter(|act| !matches!(act, Act::Say(_))).collect();
            let plain = self.plain(acts, left(self.deadline))?;
            if plain.passes == Some(false) {
                return Ok(Tried::NotCounted);
            }
        }
        Ok(Tried::Ended(Box::new(self.rules.trial(&fixture, entry, tried))))
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

fn fails_already(said: &str) -> Error {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = lines[lines.len().saturating_sub(MAX_SHOWN)..].join("\n");
    Error::new(format!("a guardrail fails already in a copy of what is committed: {shown}"))
        .hint("name commands that install what it needs: `verify.prepare` in the settings")
}

fn turn(mut acts: Vec<Act>) -> Vec<Act> {
    acts.push(Act::Say("<response>DONE</response>".to_owned()));
    acts
}

/// The agent that makes the mistake and hides it.
fn entry(cheat: &Cheat, broken: &Break) -> Entry {
    let edit = match &cheat.edit {
        Edit::Write { path, text } => Act::Write { path: path.clone(), text: text.clone() },
        Edit::Delete { path } => Act::Shell(format!("rm -f -- {}", shell_words::quote(path))),
    };
    let mistake = Act::Write { path: broken.path.clone(), text: broken.text.clone() };
    Entry {
        id: format!("{}:{}", cheat.kind, cheat.path),
        class: cheat.class.to_owned(),
        says: cheat.says.clone(),
        turns: vec![turn(vec![mistake, edit])],
        ..empty()
    }
}

fn empty() -> Entry {
    Entry {
        id: String::new(),
        kind: EntryKind::Cheat,
        class: String::new(),
        fixture: "project".to_owned(),
        says: String::new(),
        seen_by: SeenBy::Machine,
        reach: Reach::Repository,
        closes: None,
        breaks: Breaks::No,
        guardrails: Vec::new(),
        base: String::new(),
        turns: Vec::new(),
    }
}
