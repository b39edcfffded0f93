//! `ralph selftest`: a bench of cheats and honest changes, with your rules.

mod project;

use std::{
    io::{self, Write},
    path::Path,
};

use clap::Args;
use ralph_core::containment::level::{Choice, Level};
use ralph_sandbox::self_test;
use ralph_sys::{
    error::{Error, GUARDRAIL_FAILED, INTERRUPTED, Result},
    process::Supervisor,
};
use serde_json::{Map, Value, json};

use self::project::ProjectArgs;
use super::{print, safety_args::SafetyArgs};
use crate::{
    report::{
        selftest::{Tally, list, table},
        style::Marks,
    },
    selftest::{
        self, Loop, Rules, Trial, TrialEnd,
        catalogue::{Catalogue, Entry, EntryKind},
    },
    settings::{self, Settings},
    term::{self, Palette, Stream},
};

/// What of `verify` is about a project, and not a rule.
const OF_A_PROJECT: [&str; 3] = ["prepare", "keep", "carry"];

/// Try your rules on agents that cheat, and on agents that do not
///
/// Runs a catalogue of cheats and honest changes in small test projects, each in a real loop with a scripted agent,
/// real guardrails, and the `verify` and `sandbox` rules of your settings. The table shows how many were refused,
/// were a finding, or passed, and what stops a cheat that passed. It changes none of your files and calls no model.
/// Exits with 3 if a visible cheat passed or an honest change was refused.
///
/// With `--project`, cheats hide a mistake in a copy of your project instead, from its own guardrails.
///
/// Example: ralph selftest --sandbox
#[derive(Args, Debug)]
pub(super) struct SelftestArgs {
    /// Run only the entries with this id, class or language; `ID*` means every id that begins with `ID`
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    #[command(flatten)]
    copy: ProjectArgs,

    /// Show the entries and run nothing
    #[arg(long)]
    list: bool,

    /// With the strictest rules instead of those of your settings: every finding refuses the claim
    #[arg(long)]
    strict: bool,

    /// What decides that work is done
    #[arg(long = "loop", value_name = "LOOP", value_enum, default_value_t = Loop::Ralph)]
    decides: Loop,

    #[command(flatten)]
    safety: SafetyArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the bench and shows the result.
pub(super) fn main(args: &SelftestArgs, project: &Path) -> Result<u8> {
    if args.copy.project {
        return project::main(args, project);
    }
    let catalogue = Catalogue::own().map_err(Error::new)?;
    let wanted = wanted(args, &catalogue)?;
    if args.list {
        let entries = json!({"fixtures": catalogue.fixtures, "entries": wanted});
        print(&if args.json { format!("{entries}\n") } else { list(&catalogue, &wanted) })?;
        return Ok(0);
    }
    let (rules, settings) = rules(args, project)?;
    let mut progress =
        Progress { all: wanted.len(), done: 0, is_shown: !args.json && term::can_erase(Stream::Err) };
    let trials = selftest::run(&catalogue, &wanted, &rules, &mut |trial| progress.tell(trial));
    progress.end();
    let Some(trials) = trials? else { return Ok(INTERRUPTED) };
    if args.json {
        print(&format!("{}\n", as_json(&trials, &rules)))?;
    } else {
        print(&as_text(&trials, &settings.output))?;
    }
    Ok(if trials.iter().any(|trial| trial.is_wrong) { GUARDRAIL_FAILED } else { 0 })
}

/// The entries that were asked for.
fn wanted<'a>(args: &SelftestArgs, catalogue: &'a Catalogue) -> Result<Vec<&'a Entry>> {
    let is_meant = |entry: &Entry, word: &String| {
        let language = catalogue.fixture(entry).map_or("", |fixture| &*fixture.language);
        let begins = word.strip_suffix('*').is_some_and(|start| entry.id.starts_with(start));
        begins || [&*entry.id, &*entry.class, language].iter().any(|name| name.eq_ignore_ascii_case(word))
    };
    if let Some(word) =
        args.only.iter().find(|word| !catalogue.entries.iter().any(|entry| is_meant(entry, word)))
    {
        return Err(
            Error::new(format!("no entry is called `{word}`")).hint("see them: ralph selftest --list")
        );
    }
    let is_wanted =
        |entry: &&Entry| args.only.is_empty() || args.only.iter().any(|word| is_meant(entry, word));
    Ok(catalogue.entries.iter().filter(is_wanted).collect())
}

fn as_text(trials: &[Trial], display: &settings::Output) -> String {
    table(trials, Marks::of(display.emoji), Palette::of(display.color, &io::stdout()))
}

/// The rules of the settings and of the flags, and all settings.
fn rules(args: &SelftestArgs, project: &Path) -> Result<(Rules, Settings)> {
    let mut flags = json!({"agent": {"command": "none"}});
    for (key, value) in args.safety.layer() {
        flags[key] = value;
    }
    let loaded = settings::load(project, None, flags).map_err(|error| {
        let hints = error.hints.clone();
        hints.into_iter().fold(Error::new(error), Error::hint)
    })?;
    let settings = loaded.settings;
    let mut wanted = settings.sandbox.wanted("", Choice::Level(Level::None));
    let mut supervisor = Supervisor::new()?;
    let level = self_test::choose(&mut supervisor, &wanted)?;
    supervisor.release();
    wanted.level = Choice::Level(level);
    let mut verify = json!(settings.verify);
    if let Some(verify) = verify.as_object_mut() {
        verify.retain(|key, _| !OF_A_PROJECT.contains(&key.as_str()));
    }
    if args.strict {
        verify = json!({"checkout": "require", "onFinding": "refuse"});
    }
    let mut rules = Map::from_iter([("verify".to_owned(), verify)]);
    if level != Level::None {
        rules.insert("sandbox".to_owned(), json!({"level": wanted.level}));
    }
    let rules =
        Rules { decides: args.decides, settings: Value::Object(rules), is_contained: level != Level::None };
    Ok((rules, settings))
}

fn as_json(trials: &[Trial], rules: &Rules) -> Value {
    let tally = |kind: EntryKind| {
        let tally = Tally::of(trials.iter().filter(|trial| trial.kind == kind));
        json!({
            "refused": tally.refused,
            "finding": tally.finding,
            "passed": tally.passed,
            "skipped": tally.skipped,
            "broken": tally.broken,
        })
    };
    json!({
        "loop": rules.decides,
        "isContained": rules.is_contained,
        "settings": rules.settings,
        "cheats": tally(EntryKind::Cheat),
        "honest": tally(EntryKind::Honest),
        "isFine": !trials.iter().any(|trial| trial.is_wrong),
        "entries": trials,
    })
}

/// One line that says how far it is.
struct Progress {
    all: usize,
    done: usize,
    is_shown: bool,
}

impl Progress {
    fn tell(&mut self, trial: &Trial) {
        self.done += 1;
        let verdict = match &trial.verdict {
            TrialEnd::Refused => "refused",
            TrialEnd::Finding => "finding",
            TrialEnd::Passed => "passed",
            TrialEnd::Skipped { .. } => "skipped",
            TrialEnd::Broken { .. } => "could not be run",
        };
        self.show(&format!("{} of {}: {} {verdict}", self.done, self.all, trial.id));
    }

    fn end(&self) {
        self.show("");
    }

    fn show(&self, text: &str) {
        if self.is_shown {
            // No one is left to tell if this fails.
            let _ = write!(io::stderr().lock(), "\r\x1b[K{text}");
        }
    }
}
