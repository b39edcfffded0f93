//! The files that start workers elsewhere: they can be read, their scripts are scripts, and ralph takes their calls.

use std::{fs, path::PathBuf};

use crate::env::{Env, RALPH, lacks};

/// With how many calls of ralph in each.
const FILES: [(&str, usize); 3] =
    [("ralph-worker.service", 1), ("kubernetes-worker.yaml", 1), ("github-worker.yml", 1)];

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../contrib", name].iter().collect()
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).expect("a file")
}

/// The flags of a call that starts a worker; comments have none.
fn flags(line: &str) -> Option<&str> {
    let call = line.trim().strip_prefix('#').map_or(line, |_| "").split_once("ralph fleet work ")?.1;
    Some(call.split(" || ").next().unwrap_or(call).trim())
}

#[test]
fn ralph_takes_the_calls_of_workers() {
    let env = Env::new();
    for (name, count) in FILES {
        let text = text(name);
        let calls: Vec<&str> = text.lines().filter_map(flags).collect();
        assert_eq!(calls.len(), count, "{name}: {calls:?}");
        for call in calls {
            assert!(call.contains("--login"), "{name}: {call}");
            env.sh(&format!("'{RALPH}' fleet work {call} --help")).exits(0);
            env.sh(&format!("'{RALPH}' fleet work {call} --helpless --help")).exits(2);
        }
    }
}

#[test]
fn a_service_has_its_sections_and_nothing_else() {
    let text = text("ralph-worker.service");
    let mut sections = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(section) => sections.push(section),
            None => assert!(line.split_once('=').is_some_and(|(key, _)| !key.contains(' ')), "{line}"),
        }
    }
    assert_eq!(sections, ["Unit", "Service", "Install"]);
}

#[test]
fn settings_of_workers_are_settings() {
    let settings = |name: &str, begin: &str| {
        let text = text(name);
        let line = text.lines().find(|line| line.contains(begin)).expect("settings").to_owned();
        let (from, to) = (line.find('{').expect("a brace"), line.rfind('}').expect("a brace"));
        line[from..=to].to_owned()
    };
    for name in ["kubernetes-worker.yaml", "github-worker.yml"] {
        let env = Env::new();
        env.write(".ralph/settings.json", &settings(name, "{\"agent\""));
        env.ralph(&["run", "--dry-run", "-p", "x"]).exits(0);
        env.write(".ralph/settings.json", &settings(name, "{\"agent\"").replacen("agent", "agnet", 1));
        env.ralph(&["run", "--dry-run", "-p", "x"]).exits(2);
    }
}

#[test]
fn files_in_yaml_can_be_read() {
    let env = Env::new();
    if env.sh("command -v ruby").code != Some(0) {
        return lacks("ruby is not installed");
    }
    for (name, _) in FILES.iter().filter(|(name, _)| !name.ends_with(".service")) {
        let read =
            "YAML.load_stream(File.read(ARGV[0])).each { |it| abort 'no object' unless it.is_a?(Hash) }";
        env.sh(&format!("ruby -ryaml -e \"{read}\" '{}'", path(name).display())).exits(0);
    }
}
