//! What a user can type, compared with what it is called elsewhere, and with how often it is written.

mod names;

use std::{
    any::TypeId,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use clap::{Args, Command, CommandFactory};

use super::Cli;
use crate::settings::flags::LoopFlags;

fn flags(command: &Command) -> BTreeSet<String> {
    command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned).collect()
}

/// A flag of a loop that is not in `LoopFlags` would be lost when an agent inside a sandbox asks for a run.
#[test]
fn what_a_caller_inside_cannot_hand_over_is_known() {
    let command = Cli::command();
    let job = command.find_subcommand("job").expect("the command");
    let shared = flags(&LoopFlags::augment_args(Command::new("x")));
    let own: BTreeSet<String> = flags(job).difference(&shared).cloned().collect();
    let (of_job, outside) = (
        ["as", "detach", "dry-run", "hidden-guardrail", "of", "prompt", "prompt-file", "task", "watch"],
        ["config", "no-guard", "no-sandbox", "sandbox", "tests-may-change"],
    );
    let expected = of_job.into_iter().chain(outside).map(str::to_owned).collect();
    assert_eq!(own, expected);
    assert!(shared.is_subset(&flags(job)));
}

/// Flags that several commands write for themselves, because they say something else in each.
const OWN_MEANING: [(&str, &str); 25] = [
    ("agent", "what works in a loop, what init offers, or where a plugin goes"),
    ("all", "of all projects: to be shown, or to be removed"),
    ("as", "the run that goes on, or the kind of a file that is imported"),
    ("board", "where it is, or, in a build that has none, that there is none"),
    ("config", "of a loop, or of a worker that starts others' loops"),
    ("dry-run", "what a loop would do, or what would be removed"),
    ("explain", "why a command is judged so, or what judges a project"),
    ("file", "what is written, or what would be read"),
    ("follow", "a run or a bus"),
    ("force", "replace what is there, or kill at once"),
    ("guardrail", "one more of a loop, or the only ones of a judgement"),
    ("json", "each command says what it prints"),
    ("keep", "the folder of a trial, or a note for every turn"),
    ("lanes", "of a fleet, or of a worker"),
    ("list", "the entries of the bench, or what was said"),
    ("listen", "for browsers, or for machines of a fleet"),
    ("login", "what lets a machine in, or, in a build without boards, that there is none"),
    ("max-cost", "of a run, or of a fleet that is resumed"),
    ("max-time", "of a run, or of all tries on a copy of the project"),
    ("name", "of a project that begins, or of a worker"),
    ("now", "ends a run, every lane of a fleet, or a turn"),
    ("project", "a bus, or where a plugin goes"),
    ("session-id", "whose loop is started, ended or shown"),
    ("task", "a new one, the caller's, or one whose bus it is"),
    ("type", "of a message that is posted, or of those that are shown"),
];

/// A flag that is written twice drifts apart: a group of flags that commands flatten says it for all of them.
#[test]
fn a_flag_is_written_once() {
    let written = written_flags();
    assert!(60 < written.len(), "the flags were not found: {written:?}");
    let known = all_longs();
    for (name, files) in &written {
        assert!(known.contains(name), "--{name} was read wrongly from {files:?}");
        let reason = OWN_MEANING.iter().find(|(own, _)| own == name);
        assert!(files.len() == 1 || reason.is_some(), "--{name} is written in {files:?}");
    }
    for (name, _) in OWN_MEANING {
        assert!(written.get(name).is_some_and(|files| 1 < files.len()), "--{name} is written once");
    }
}

/// The flags that the sources write, each with its files.
fn written_flags() -> BTreeMap<String, Vec<String>> {
    let mut written: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("tests.rs") {
                let text = fs_err::read_to_string(&path).expect("a source");
                let file = path.file_name().expect("a name").to_string_lossy().into_owned();
                for name in flags_of(&text) {
                    written.entry(name).or_default().push(file.clone());
                }
            }
        }
    }
    written
}

/// The long names in the attributes of clap: as they are given, or as the field is called.
fn flags_of(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, start) in source.match_indices("#[arg(") {
        let Some((attribute, after)) = source[at + start.len()..].split_once(")]\n") else { continue };
        let mut parts = attribute.split(',').map(str::trim);
        let Some(long) = parts.find(|part| *part == "long" || part.starts_with("long = ")) else { continue };
        let field = after.lines().map(str::trim).find(|line| !line.starts_with("#["));
        let field = field.and_then(|line| line.split(':').next()).unwrap_or_default();
        let field = field.rsplit(' ').next().unwrap_or_default().replace('_', "-");
        let given = long.split('"').nth(1).map(str::to_owned);
        found.push(given.unwrap_or(field));
    }
    found
}

/// A value with a few possible names is an enum once it is read; a text would be compared with names again elsewhere.
#[test]
fn names_are_read_as_what_they_mean() {
    fn check(command: &Command, seen: &mut usize) {
        for arg in command.get_arguments().filter(|arg| !arg.get_possible_values().is_empty()) {
            let is_text = arg.get_value_parser().type_id() == TypeId::of::<String>();
            assert!(!is_text, "{} {}", command.get_name(), arg.get_id());
            *seen += 1;
        }
        command.get_subcommands().for_each(|command| check(command, seen));
    }
    let mut seen = 0;
    check(&Cli::command(), &mut seen);
    assert!(20 < seen, "{seen}");
}

fn all_longs() -> BTreeSet<String> {
    fn add(command: &Command, found: &mut BTreeSet<String>) {
        found.extend(flags(command));
        command.get_subcommands().for_each(|command| add(command, found));
    }
    let mut found = BTreeSet::new();
    add(&Cli::command(), &mut found);
    found
}
