//! What Python projects install: a virtual environment inside the project, with the project itself in it.
//!
//! An environment outside of the project, or the machine's own Python, is used as it is: an editable install in it
//! leads to the project's path, which is the judge's.

use std::collections::BTreeSet;

use super::{Place, PrepareStep};

/// Tools with a lock file: the file, the command, and what it makes in the project.
const LOCKED: [(&str, &str); 4] = [
    ("uv.lock", "uv sync --frozen"),
    ("poetry.lock", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction"),
    ("pdm.lock", "pdm sync"),
    ("Pipfile.lock", "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev"),
];

/// Where all of these put it.
const MADE_BY_LOCK: &str = ".venv";

/// The lists of requirements that are installed if they are there.
pub(super) const REQUIREMENTS: [&str; 8] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements_test.txt",
    "test-requirements.txt",
];

/// The extras and dependency groups that tests usually need.
const EXTRAS: [&str; 6] = ["test", "tests", "testing", "dev", "develop", "development"];

const READS: [&str; 16] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    REQUIREMENTS[0],
    REQUIREMENTS[1],
    REQUIREMENTS[2],
    REQUIREMENTS[3],
    REQUIREMENTS[4],
    REQUIREMENTS[5],
    REQUIREMENTS[6],
    REQUIREMENTS[7],
];

/// The virtual environments of the working tree in this folder, each with its `pyvenv.cfg`.
pub(super) fn environments<'a>(place: &'a Place<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let here = place.facts.environments.iter();
    here.filter(|(path, _)| super::folder_of(path) == place.folder)
        .map(|(path, text)| (path.as_str(), text.as_str()))
}

/// The environments that a lock file makes, in place or not.
pub(super) fn made<'a>(place: &'a Place<'a>) -> impl Iterator<Item = &'static str> {
    LOCKED.iter().any(|(lock, _)| place.has(lock)).then_some(MADE_BY_LOCK).into_iter()
}

/// Makes the environment of this folder, if it has one.
pub(super) fn step(place: &Place<'_>) -> Option<PrepareStep> {
    if let Some((_, command)) = LOCKED.iter().find(|(lock, _)| place.has(lock) && !is_by_hand(place, lock)) {
        return Some(place.step(*command, &[MADE_BY_LOCK], &READS));
    }
    let (path, config) = environments(place).next()?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let wanted = arguments(place);
    let python = interpreter(config);
    let make = format!("{} -m venv {}", shell_words::quote(&python), shell_words::quote(name));
    let pip = format!("{}/bin/python -m pip --disable-pip-version-check install", shell_words::quote(name));
    let groups = groups(place);
    let mut commands = vec![make];
    if !groups.is_empty() {
        // The first that knows dependency groups.
        commands.push(format!("{pip} 'pip>=25.1'"));
    }
    let all: Vec<String> = wanted.into_iter().chain(groups).collect();
    if !all.is_empty() {
        commands.push(format!("{pip} {}", all.join(" ")));
    }
    Some(place.step(commands.join(" && "), &[name], &READS))
}

/// Whether the user has made the environment without the tool whose lock file is there, and perhaps without having the
/// tool. Only uv leaves a mark in what it makes.
fn is_by_hand(place: &Place<'_>, lock: &str) -> bool {
    let is_by_uv =
        |config: &str| config.lines().any(|line| line.split('=').next().map(str::trim) == Some("uv"));
    lock == "uv.lock" && environments(place).next().is_some_and(|(_, config)| !is_by_uv(config))
}

/// What pip installs: the project itself and its lists of requirements.
fn arguments(place: &Place<'_>) -> Vec<String> {
    let mut all = Vec::new();
    if is_installable(place) {
        let extras: Vec<&str> = EXTRAS.into_iter().filter(|extra| extras(place).contains(*extra)).collect();
        all.push(if extras.is_empty() { "-e .".to_owned() } else { format!("-e '.[{}]'", extras.join(",")) });
    }
    all.extend(REQUIREMENTS.iter().filter(|name| place.has(name)).map(|name| format!("-r {name}")));
    // Many configure it and leave it to the person who tests to install it.
    let configures = |file: &str, sections: &[&str]| has_section(place, file, sections);
    if configures("pyproject.toml", &["[tool.pytest.ini_options]", "[tool.pytest]"])
        || configures("setup.cfg", &["[tool:pytest]"])
    {
        all.push("pytest".to_owned());
    }
    all
}

/// Whether a file has one of these sections.
fn has_section(place: &Place<'_>, file: &str, sections: &[&str]) -> bool {
    let mut lines = place.text(file).unwrap_or_default().lines().map(str::trim);
    lines.any(|line| sections.contains(&line))
}

/// The dependency groups that tests usually need.
fn groups(place: &Place<'_>) -> Vec<String> {
    let known = keys(place.text("pyproject.toml").unwrap_or_default(), "dependency-groups");
    EXTRAS.into_iter().filter(|name| known.contains(*name)).map(|name| format!("--group {name}")).collect()
}

fn is_installable(place: &Place<'_>) -> bool {
    let says = |file: &str, sections: &[&str]| has_section(place, file, sections);
    place.has("setup.py")
        || says("setup.cfg", &["[metadata]", "[options]"])
        || says("pyproject.toml", &["[project]", "[build-system]"])
}

/// The extras that the project offers. Pip only warns about one that it does not, so a guess does no harm.
fn extras(place: &Place<'_>) -> BTreeSet<String> {
    let pyproject = place.text("pyproject.toml").unwrap_or_default();
    let mut all = keys(pyproject, "project.optional-dependencies");
    all.extend(keys(pyproject, "tool.poetry.extras"));
    all.extend(keys(place.text("setup.cfg").unwrap_or_default(), "options.extras_require"));
    let script = place.text("setup.py").unwrap_or_default();
    let is_named =
        |name: &&str| script.contains(&format!("\"{name}\"")) || script.contains(&format!("'{name}'"));
    if script.contains("extras_require") {
        all.extend(EXTRAS.into_iter().filter(is_named).map(str::to_owned));
    }
    all
}

/// The keys of one section of a TOML or INI file.
fn keys(text: &str, section: &str) -> BTreeSet<String> {
    let header = format!("[{section}]");
    let lines = text.lines().map(str::trim_end).skip_while(|line| line.trim() != header).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with([' ', '\t', '#', ']']))
        .filter_map(|line| line.split_once('='))
        .map(|(key, _)| key.trim().trim_matches(['"', '\'']).to_owned())
        .collect()
}

/// The Python that an environment was made with.
fn interpreter(config: &str) -> String {
    let value = |name: &str| {
        let pairs = config.lines().filter_map(|line| line.split_once('='));
        pairs
            .map(|(key, value)| (key.trim(), value.trim()))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    let from_home = || value("home").map(|home| format!("{home}/python3"));
    value("executable").map(str::to_owned).or_else(from_home).unwrap_or_else(|| "python3".to_owned())
}
