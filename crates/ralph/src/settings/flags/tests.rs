//! A flag that is written once reaches everybody: the settings, a caller inside a sandbox, and the ralph outside.

use std::collections::BTreeSet;

use ralph_core::{duration::format_duration, engine::presets};
use serde_json::json;

use super::*;
use crate::settings::{Settings, keys, load};

/// Flags that stand for no setting, and those for how things look, which other commands have too.
const NO_SETTINGS: [&str; 7] =
    ["limit-exit-code", "finding-exit-code", "verbose", "quiet", "color", "timestamps", "output"];

fn command() -> Command {
    LoopFlags::augment_args(Command::new("ralph"))
}

fn parse(words: &[String]) -> LoopFlags {
    let words = std::iter::once("ralph".to_owned()).chain(words.iter().cloned());
    let matches = command().try_get_matches_from(words).expect("good flags");
    LoopFlags::from_arg_matches(&matches).expect("good flags")
}

/// Every flag with a value that it can have and that is not its default.
fn each_flag() -> impl Iterator<Item = (String, String)> {
    let command = command();
    let flags: Vec<(String, String)> = command
        .get_arguments()
        .map(|arg| {
            let long = arg.get_long().expect("a flag").to_owned();
            let takes_value = matches!(arg.get_action(), ArgAction::Set);
            let named = arg.get_possible_values().last().map(|value| value.get_name().to_owned());
            let word = match named.filter(|_| takes_value) {
                Some(name) => format!("--{long}={name}"),
                None if takes_value => format!("--{long}=7{}", unit(arg)),
                None => format!("--{long}"),
            };
            (long, word)
        })
        .collect();
    assert!(15 < flags.len(), "{flags:?}");
    flags.into_iter()
}

/// What makes a number the value of a flag.
fn unit(arg: &Arg) -> &'static str {
    match arg.get_value_names().into_iter().flatten().next().map(clap::builder::Str::as_str) {
        Some("DURATION") => "s",
        Some("TIME") => ":00",
        _ => "",
    }
}

#[test]
fn every_flag_reaches_the_settings() {
    let none = load_with(&parse(&[])).settings;
    let known = keys();
    for (flag, word) in each_flag() {
        let flags = parse(&[word]);
        let given = layer(&flags.settings);
        if NO_SETTINGS.contains(&flag.as_str()) {
            assert_eq!(given, Map::new(), "{flag}");
            continue;
        }
        let loaded = load_with(&flags);
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{flag}");
        let mut found = Vec::new();
        paths(&Value::Object(given), "", &mut found);
        assert!(found.len() == 1 && known.contains(&found[0]), "{flag}: {found:?}");
        // Showing the agent's output is what happens anyway.
        assert!(loaded.settings != none || flag == "stream-agent-output", "{flag}");
    }
}

fn load_with(flags: &LoopFlags) -> crate::settings::Loaded {
    let mut given = layer(&flags.settings);
    let agent = given.entry("agent").or_insert_with(|| json!({}));
    if agent.get("command").is_none() {
        agent["command"] = json!("claude");
    }
    load(std::path::Path::new("/nonexistent"), None, Value::Object(given)).expect("good settings")
}

fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                paths(member, &ralph_core::located::node::member_path(path, key), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

#[test]
fn every_flag_is_handed_out_of_a_sandbox_and_typed_again_outside() {
    let mut said = BTreeSet::new();
    for (flag, word) in each_flag() {
        let inside = words(std::slice::from_ref(&word));
        assert_eq!(inside, std::slice::from_ref(&word), "{flag}");
        let outside = LoopFlags::words_of_caller(&inside, "claude").expect("harmless flags");
        assert_eq!(outside, [OsString::from(&word)], "{flag}");
        assert_ne!(parse(&inside), LoopFlags::default(), "{flag}");
        said.extend(outside);
    }
    assert_eq!(said.len(), each_flag().count());
    // What was not typed is not handed over, and what was typed in two words is one word.
    let typed = ["--max-time", "90m", "-a", "codex", "--no-baseline"].map(str::to_owned);
    assert_eq!(words(&typed), ["--agent=codex", "--max-time=90m", "--no-baseline"]);
    assert_eq!(words(&[]), Vec::<String>::new());
}

fn words(typed: &[String]) -> Vec<String> {
    let typed = std::iter::once("ralph".to_owned()).chain(typed.iter().cloned());
    let words = LoopFlags::words(&command().try_get_matches_from(typed).expect("good flags"));
    words.into_iter().map(|word| word.into_string().expect("UTF-8")).collect()
}

#[test]
fn nothing_widens_what_the_caller_may_do() {
    let given = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        LoopFlags::words_of_caller(&words, "./own")
    };
    for words in [
        &["--sandbox=none"][..],
        &["--sandbox", "none"],
        &["--no-sandbox"],
        &["--no-guard"],
        &["--config=mine.json"],
        &["--prompt-file=/etc/shadow"],
        &["--as=x"],
        &["--agent"],
        &["--agent=./claude"],
        &["--agent=claude", "--agent=./claude"],
        &["--agent=a\0b"],
        &["--quiet=--no-sandbox"],
        &["--quiet", "--", "--no-sandbox"],
        &["a word"],
        &["--help"],
    ] {
        assert!(given(words).is_err(), "{words:?}");
    }
    assert_eq!(given(&["--agent", "./own"]), Ok(vec!["--agent=./own".into()]));
    // What looks like a flag is a value.
    assert_eq!(given(&["--agent=--no-sandbox"]), Ok(vec!["--agent=--no-sandbox".into()]));
}

#[test]
fn amounts_of_money_are_read() {
    assert_eq!((dollars("2.50"), dollars("$3")), (Ok(2.5), Ok(3.0)));
    for text in ["", "x", "-1", "inf", "NaN"] {
        assert!(dollars(text).is_err(), "{text}");
    }
}

#[test]
fn help_says_what_holds_without_a_flag() {
    let command = GuardrailFlags::augment_args(IterationFlags::augment_args(LoopFlags::augment_args(
        Command::default(),
    )));
    let help = |name: &str| {
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name)).expect("a flag");
        arg.get_help().map(ToString::to_string).unwrap_or_default()
    };
    for arg in command.get_arguments() {
        // What is shown is no setting; two flags are one.
        let is_other = arg.get_help_heading() == Some("Output") || arg.get_id() == "no_stream_agent_output";
        let name = arg.get_long().expect("a long name");
        assert!(is_other || help(name).contains("[default"), "--{name}: {}", help(name));
    }
    let Settings { retries, limits, .. } = Settings::default();
    let time = |time: Option<Duration>| time.map_or("no limit".to_owned(), format_duration);
    for (name, default) in [
        ("retries", retries.to_string()),
        ("iteration-timeout", time(limits.iteration_timeout)),
        ("idle-timeout", time(limits.idle_timeout)),
        ("start-timeout", time(limits.start_timeout)),
        ("gate-timeout", time(limits.gate_timeout)),
        ("max-iterations", presets::run("", vec![]).limits.max_iterations.to_string()),
        ("limit-exit-code", presets::run("", vec![]).limits.limit_exit_code.to_string()),
        ("finding-exit-code", presets::run("", vec![]).limits.finding_exit_code.to_string()),
    ] {
        assert!(help(name).contains(&format!("[default: {default}")), "--{name}: {}", help(name));
    }
    let none = [limits.max_cost.is_none(), limits.max_tokens.is_none(), limits.max_time.is_none()];
    assert!(none.iter().all(|is_none| *is_none), "no limit is the default");
}
