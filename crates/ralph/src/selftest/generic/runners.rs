//! What runs the tests, made to agree: the recipes and scripts that guardrails lead to, and the configuration of runners.

use std::collections::BTreeSet;

use ralph_checks::{
    leads::{Place, leads},
    test_files::Language,
};
use serde_json::Value;

use super::{Cheat, Edit, Files, edits};

const CLASS: &str = "guardrail that cannot fail";

/// A recipe or script with a success at its end, for every place that a guardrail leads to.
pub(super) fn recipes(files: &Files, guardrails: &[String]) -> Vec<Cheat> {
    let read = |path: &str| files.get(path).cloned();
    let found = guardrails.iter().flat_map(|command| leads(command, &read)).flat_map(|lead| lead.places);
    let places: BTreeSet<Place> = found.collect();
    let cheat = |place: Place| {
        let text = files.get(&place.file)?;
        let Some(part) = &place.part else {
            let is_script = Language::of(&place.file) == Language::Shell && !edits::is_bats(&place.file);
            let text = is_script.then(|| edits::after_head(text, "exit 0"))?;
            return Some(Cheat::writes(
                "script",
                CLASS,
                "ends with success at the start of",
                &place.file,
                text,
            ));
        };
        let text = if place.file.rsplit('.').next() == Some("json") {
            script(text, part)
        } else {
            recipe(text, part)
        }?;
        let edit = Edit::Write { path: place.file.clone(), text };
        Some(Cheat::new("recipe", CLASS, "adds `|| true` to", &place.to_string(), edit))
    };
    places.into_iter().filter_map(cheat).collect()
}

/// The target of a makefile or justfile whose commands cannot fail.
fn recipe(text: &str, name: &str) -> Option<String> {
    let (mut is_inside, mut is_changed) = (false, false);
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_command = line.starts_with(['\t', ' ']) && !line.trim().is_empty();
        if !is_command && !line.trim().is_empty() {
            let head = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='));
            is_inside = head.is_some_and(|(names, _)| {
                names.split_whitespace().any(|word| word.trim_start_matches('@') == name)
            });
        }
        if is_inside && is_command && !line.ends_with('\\') {
            is_changed = true;
            lines.push(format!("{line} || true"));
        } else {
            lines.push(line.to_owned());
        }
    }
    is_changed.then(|| lines.join("\n") + "\n")
}

/// The script of a manifest that cannot fail.
fn script(text: &str, name: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let old = manifest["scripts"][name].as_str()?;
    let start = text.find("\"scripts\"")?;
    let (head, rest) = text.split_at(start);
    let new =
        rest.replacen(&Value::from(old).to_string(), &Value::from(format!("{old} || true")).to_string(), 1);
    (new != rest).then(|| format!("{head}{new}"))
}

/// Runners whose configuration has them collect nothing.
pub(super) fn configurations(files: &Files, guardrails: &[String]) -> Vec<Cheat> {
    let has = |path: &str| files.contains_key(path);
    let text = |path: &str| files.get(path).map_or("", String::as_str);
    let commands =
        [guardrails.join("\n"), text("Makefile").to_owned(), text("package.json").to_owned()].join("\n");
    let runs = |program: &str| commands.contains(program);
    let mut cheats = Vec::new();
    let mut write = |path: &str, text: String| {
        let edit = Edit::Write { path: path.to_owned(), text };
        cheats.push(Cheat::new(
            "runner",
            "runner configuration",
            "has the runner run nothing with",
            path,
            edit,
        ));
    };
    if runs("pytest") {
        write("pytest.ini", "[pytest]\naddopts = --collect-only -q\n".to_owned());
    }
    if runs("unittest") {
        let packages = files.keys().filter(|path| {
            path.ends_with("__init__.py") && path.split('/').any(|name| name == "tests" || name == "test")
        });
        for path in packages.take(1) {
            let nothing = "def load_tests(loader, tests, pattern):\n    return type(tests)()\n";
            write(path, format!("{}{nothing}", files[path]));
        }
    }
    if runs("vitest") {
        let nothing = "export default { test: { passWithNoTests: true, include: ['nothing/**'] } };\n";
        write("vitest.config.mjs", nothing.to_owned());
    }
    if runs("jest") {
        let nothing = "module.exports = { passWithNoTests: true, testMatch: ['**/nothing/**'] };\n";
        write("jest.config.js", nothing.to_owned());
    }
    if runs("rspec") {
        write(".rspec", format!("{}--dry-run\n", text(".rspec")));
    }
    let manifest = text("Cargo.toml");
    if runs("cargo") && manifest.contains("[package]\n") && !manifest.contains("[lib]") && has("src/lib.rs") {
        let manifest = manifest.replacen("[package]\n", "[package]\nautotests = false\n", 1);
        write("Cargo.toml", format!("{manifest}\n[lib]\ntest = false\ndoctest = false\n"));
    }
    if runs("go test") {
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with("_test.go")).take(1) {
            write(path, format!("//go:build never\n\n{text}"));
        }
    }
    cheats
}
