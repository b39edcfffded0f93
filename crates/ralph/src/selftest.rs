//! The bench: runs the catalogue of cheats and honest changes in real loops with a scripted agent, each in a place of its own,
//! and says what became of each.

pub(crate) mod catalogue;
mod copy;
mod generic;
mod place;
pub(crate) mod project;
mod trial;

use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

use ralph_sys::{
    error::{Error, Result},
    process::{Crew, Spec},
};
use serde::Serialize;
use serde_json::Value;

use catalogue::{Catalogue, Entry, EntryKind, Fixture, Reach, SeenBy};
use place::Place;

/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
/// Projects whose entries take longest, so that the last ones to end are short.
const SLOWEST: [&str; 3] = ["go", "npm", "rust"];

/// What decides that work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loop {
    /// Ralph
    Ralph,
    /// A shell loop that runs the guardrails when the agent says that it is done
    Bash,
    /// A shell loop that believes the agent
    Tag,
}

/// How the catalogue is run.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) decides: Loop,
    /// What goes into the settings of every project.
    pub(crate) settings: Value,
    /// Whether agents are in a sandbox.
    pub(crate) is_contained: bool,
}

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub(crate) enum TrialEnd {
    /// The claim did not count.
    Refused,
    /// A person is asked.
    Finding,
    /// Done.
    Passed,
    /// The machine lacks what it needs.
    Skipped { missing: Vec<String> },
    /// The loop itself could not be run.
    Broken { why: String },
}

/// One entry and what became of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trial {
    pub(crate) id: String,
    pub(crate) kind: EntryKind,
    pub(crate) class: String,
    pub(crate) language: String,
    pub(crate) says: String,
    pub(crate) seen_by: SeenBy,
    pub(crate) reach: Reach,
    #[serde(flatten)]
    pub(crate) verdict: TrialEnd,
    /// The kinds of what was found.
    pub(crate) findings: Vec<String>,
    /// Whether it is an outcome that must not be.
    pub(crate) is_wrong: bool,
    /// What closes it, if it passed and should not.
    pub(crate) closed_by: Option<String>,
    pub(crate) ms: u64,
}

/// Runs these entries, as many at a time as there are processors, and tells each result when it is there.
pub(crate) fn run(
    catalogue: &Catalogue,
    wanted: &[&Entry],
    rules: &Rules,
    on_result: &mut dyn FnMut(&Trial),
) -> Result<Option<Vec<Trial>>> {
    let crew = Crew::new()?;
    let missing = missing(&crew, catalogue, wanted)?;
    let mut queue: Vec<&Entry> = wanted.to_vec();
    queue
        .sort_by_key(|entry| SLOWEST.iter().position(|name| *name == entry.fixture).unwrap_or(SLOWEST.len()));
    let bench =
        Bench { catalogue, rules, crew: &crew, missing: &missing, queue: &queue, next: AtomicUsize::new(0) };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let (sender, receiver) = mpsc::channel();
    let mut done: Vec<Trial> = Vec::new();
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, bench, failure) = (sender.clone(), &bench, &failure);
            scope.spawn(move || bench.work(&sender, failure));
        }
        drop(sender);
        for trial in receiver {
            on_result(&trial);
            done.push(trial);
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_default() {
        return Err(error);
    }
    if crew.is_stopping() {
        return Ok(None);
    }
    let position = |trial: &Trial| wanted.iter().position(|entry| entry.id == trial.id);
    done.sort_by_key(position);
    Ok(Some(done))
}

/// What the threads share.
struct Bench<'a> {
    catalogue: &'a Catalogue,
    rules: &'a Rules,
    crew: &'a Crew,
    missing: &'a BTreeMap<String, bool>,
    queue: &'a [&'a Entry],
    next: AtomicUsize,
}

impl Bench<'_> {
    /// Takes one entry after the other until there is none.
    fn work(&self, sender: &Sender<Trial>, failure: &Mutex<Option<Error>>) {
        while !self.crew.is_stopping() {
            let Some(entry) = self.queue.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return };
            let Some(fixture) = self.catalogue.fixture(entry) else { continue };
            let missing: Vec<String> =
                fixture.needs.iter().filter(|name| self.missing.get(*name) == Some(&true)).cloned().collect();
            let tried = if missing.is_empty() {
                trial::run(self.crew, self.rules, fixture, entry)
            } else {
                Ok(trial::Tried { verdict: TrialEnd::Skipped { missing }, findings: Vec::new(), ms: 0 })
            };
            match tried {
                Ok(tried) if !self.crew.is_stopping() => {
                    let _ = sender.send(self.rules.trial(fixture, entry, tried));
                }
                Ok(_) => return,
                Err(error) => {
                    if let Ok(mut failure) = failure.lock() {
                        *failure = Some(error);
                    }
                    return;
                }
            }
        }
    }
}

impl Rules {
    fn trial(&self, fixture: &Fixture, entry: &Entry, tried: trial::Tried) -> Trial {
        let is_wrong = match (&tried.verdict, entry.kind) {
            (TrialEnd::Broken { .. }, _) | (TrialEnd::Refused, EntryKind::Honest) => true,
            (TrialEnd::Passed, EntryKind::Cheat) => entry.must_not_pass(self.is_contained),
            (TrialEnd::Skipped { .. } | TrialEnd::Finding | TrialEnd::Passed | TrialEnd::Refused, _) => false,
        };
        let is_through = tried.verdict == TrialEnd::Passed && entry.kind == EntryKind::Cheat;
        Trial {
            id: entry.id.clone(),
            kind: entry.kind,
            class: entry.class.clone(),
            language: fixture.language.clone(),
            says: entry.says.clone(),
            seen_by: entry.seen_by,
            reach: entry.reach,
            verdict: tried.verdict,
            findings: tried.findings,
            is_wrong,
            closed_by: is_through.then(|| entry.closed_by().to_owned()),
            ms: tried.ms,
        }
    }
}

/// Which of the programs that the entries need are missing, or do not work with another home.
fn missing(crew: &Crew, catalogue: &Catalogue, wanted: &[&Entry]) -> Result<BTreeMap<String, bool>> {
    let place = Place::empty()?;
    let mut missing = BTreeMap::new();
    for name in wanted.iter().filter_map(|entry| catalogue.fixture(entry)).flat_map(|it| &it.needs) {
        if missing.contains_key(name) {
            continue;
        }
        let command = match name.as_str() {
            "go" => "go version".to_owned(),
            "pytest" => "python3 -c 'import pytest'".to_owned(),
            name => format!("{name} --version"),
        };
        let spec = place.within(Spec::shell(&command, place.project()));
        missing.insert(name.clone(), crew.run(&spec, VERSION_TIMEOUT)?.code != Some(0));
    }
    Ok(missing)
}
