//! The parts of a manifest that judge: what runs the tests and how, not what the project is called or depends on.
//!
//! Manifests change all the time. Only a change of these parts is worth a word, so two versions are compared by what this says.

mod exchanged;

use std::collections::BTreeMap;

use serde_json::Value;

pub use exchanged::with_old_parts;

/// The judging parts of a manifest by name, each as one text. Empty for a file that is no manifest.
pub fn judging_parts(path: &str, text: &str) -> BTreeMap<String, String> {
    match path.rsplit('/').next().unwrap_or(path) {
        "package.json" | "composer.json" | "deno.json" | "deno.jsonc" => of_json(text),
        "pyproject.toml" => sections(text, is_judging_in_pyproject),
        "setup.cfg" => sections(text, is_judging_in_setup_cfg),
        "Cargo.toml" => of_cargo(text),
        "pom.xml" => lines_about(text, &POM_WORDS),
        name if name.starts_with("build.gradle") || name.starts_with("settings.gradle") => {
            lines_about(text, &GRADLE_WORDS)
        }
        _ => BTreeMap::new(),
    }
}

/// The names of the judging parts that differ between two versions.
pub fn changed_parts(path: &str, old: &str, new: &str) -> Vec<String> {
    let (old, new) = (judging_parts(path, old), judging_parts(path, new));
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
    names.filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

/// Keys at the top of a JSON manifest that say how it is tested.
const JSON_KEYS: [&str; 14] = [
    "jest",
    "mocha",
    "ava",
    "nyc",
    "c8",
    "vitest",
    "tap",
    "karma",
    "eslintConfig",
    "stylelint",
    "prettier",
    "test",
    "lint",
    "husky",
];

fn of_json(text: &str) -> BTreeMap<String, String> {
    let Ok(Value::Object(manifest)) = serde_json::from_str(text) else {
        // What cannot be read is compared as a whole.
        return BTreeMap::from([("all of it".to_owned(), text.to_owned())]);
    };
    let mut parts = BTreeMap::new();
    for (key, value) in &manifest {
        if JSON_KEYS.contains(&key.as_str()) {
            parts.insert(key.clone(), value.to_string());
        }
    }
    for list in ["scripts", "tasks"] {
        for (name, script) in manifest.get(list).and_then(Value::as_object).into_iter().flatten() {
            if is_judging_script(name) {
                parts.insert(format!("{list}.{name}"), script.to_string());
            }
        }
    }
    parts
}

/// `test`, `test:unit`, `pretest`, `lint`, `typecheck`; not `start`.
fn is_judging_script(name: &str) -> bool {
    const WORDS: [&str; 9] = ["test", "lint", "check", "spec", "e2e", "coverage", "verify", "ci", "validate"];
    let name = name.strip_prefix("pre").or(name.strip_prefix("post")).unwrap_or(name);
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.iter().any(|known| word == *known || word.ends_with(known) && word != "contest"))
}

fn is_judging_in_pyproject(section: &str) -> bool {
    const TOOLS: [&str; 14] = [
        "pytest",
        "coverage",
        "tox",
        "nox",
        "ruff",
        "mypy",
        "pyright",
        "pylint",
        "flake8",
        "black",
        "isort",
        "hatch",
        "pdm.scripts",
        "poe",
    ];
    section.strip_prefix("tool.").is_some_and(|tool| {
        TOOLS
            .iter()
            .any(|known| tool == *known || tool.starts_with(&format!("{known}.")) || tool == "poetry.scripts")
    })
}

fn is_judging_in_setup_cfg(section: &str) -> bool {
    const KNOWN: [&str; 8] =
        ["tool:pytest", "coverage", "flake8", "mypy", "tox", "aliases", "pylint", "pycodestyle"];
    KNOWN.iter().any(|known| {
        section == *known
            || section.starts_with(&format!("{known}:"))
            || section.starts_with(&format!("{known}-"))
    })
}

fn is_judging_in_cargo(section: &str) -> bool {
    ["test", "bench", "profile.test", "profile.dev", "lints", "workspace.lints"]
        .iter()
        .any(|known| section == *known || section.starts_with(&format!("{known}.")))
}

fn of_cargo(text: &str) -> BTreeMap<String, String> {
    let mut parts = sections(text, is_judging_in_cargo);
    // A library and a package can switch their tests off in a line.
    let lines =
        all_sections(text).into_iter().filter(|(section, _)| section == "lib" || section == "package");
    for (section, body) in lines {
        const KEYS: [&str; 6] = ["test", "doctest", "harness", "autotests", "bench", "autobenches"];
        for line in body.lines() {
            let key = line.split('=').next().unwrap_or_default().trim();
            if KEYS.contains(&key) {
                parts.insert(format!("{section}.{key}"), line.to_owned());
            }
        }
    }
    parts
}

/// The sections of a TOML or INI file that are meant, without comments and blank lines.
fn sections(text: &str, is_meant: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    for (section, body) in all_sections(text) {
        if is_meant(&section) {
            parts.entry(section).or_default().push_str(&body);
        }
    }
    parts
}

fn all_sections(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        match header(line) {
            Some(name) => all.push((name, String::new())),
            None => {
                if let Some((_, body)) = all.last_mut() {
                    body.push_str(bare);
                    body.push('\n');
                }
            }
        }
    }
    all
}

/// The name of the section that begins with this line, if one does.
fn header(line: &str) -> Option<String> {
    let (name, _) = line.trim_end().strip_prefix('[')?.split_once(']')?;
    Some(name.trim_matches(['[', ' ']).replace(['"', '\''], ""))
}

/// Lines of a `pom.xml` that say what is tested.
const POM_WORDS: [&str; 11] = [
    "surefire",
    "failsafe",
    "jacoco",
    "skiptests",
    "maven.test",
    "testfailureignore",
    "testsourcedirectory",
    "testresource",
    "checkstyle",
    "spotbugs",
    "rerunfailing",
];

/// Lines of a Gradle script that say what is tested.
const GRADLE_WORDS: [&str; 13] = [
    "usejunit",
    "usetestng",
    "ignorefailures",
    "tasks.test",
    "test {",
    "testlogging",
    "jacoco",
    "excludetags",
    "includetags",
    "exclude",
    "enabled = false",
    "maxretries",
    "checkstyle",
];

/// Lines with one of these words in them, and those of the elements around which they open.
fn lines_about(text: &str, words: &[&str]) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        let lower = line.to_lowercase();
        if let Some(word) = words.iter().find(|word| lower.contains(**word)) {
            let part: &mut String = parts.entry((*word).to_owned()).or_default();
            part.push_str(line);
            part.push('\n');
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, old: &str, new: &str, expected: &[&str]) {
        assert_eq!(changed_parts(path, old, new), expected, "{path}");
        assert!(changed_parts(path, new, new).is_empty());
    }

    #[test]
    fn scripts_and_settings_of_runners_count_and_dependencies_do_not() {
        let old =
            r#"{"version": "1.0.0", "scripts": {"test": "jest", "start": "node ."}, "jest": {"bail": 1}}"#;
        check("package.json", old, &old.replace("1.0.0", "2.0.0").replace("node .", "node a.js"), &[]);
        check("web/package.json", old, &old.replace("\"jest\",", "\"jest || true\","), &["scripts.test"]);
        check("package.json", old, &old.replace("\"bail\": 1", "\"testMatch\": []"), &["jest"]);
        check("package.json", old, &old.replace("\"start\"", "\"pretest\""), &["scripts.pretest"]);
        check("package.json", old, "{", &["jest", "scripts.test", "all of it"]);
        check(
            "composer.json",
            r#"{"scripts": {"lint": ["a", "b"]}}"#,
            r#"{"scripts": {}}"#,
            &["scripts.lint"],
        );
    }

    #[test]
    fn sections_are_compared_without_comments() {
        let old = "[project]\nname = 'a'\n\n[tool.pytest.ini_options]\naddopts = '-q'  \n# why\n[tool.poetry.dependencies]\nx = '1'\n";
        check(
            "pyproject.toml",
            old,
            &old.replace("name = 'a'", "name = 'b'").replace("# why", "").replace("x = '1'", "x = '2'"),
            &[],
        );
        check("pyproject.toml", old, &old.replace("-q", "-q -k nothing"), &["tool.pytest.ini_options"]);
        check("pyproject.toml", "", "[tool.coverage.report]\nfail_under = 1\n", &["tool.coverage.report"]);
        check(
            "setup.cfg",
            "[metadata]\nname=a\n[flake8]\nmax = 1\n",
            "[metadata]\nname=b\n[flake8]\nmax = 2\n",
            &["flake8"],
        );
    }

    #[test]
    fn a_line_can_switch_tests_off() {
        let old =
            "[package]\nname = \"a\"\n\n[lib]\npath = \"src/lib.rs\"\n\n[dependencies]\nserde = \"1\"\n";
        check("Cargo.toml", old, &old.replace("serde = \"1\"", "serde = \"2\""), &[]);
        check("Cargo.toml", old, &old.replace("path =", "test = false\npath ="), &["lib.test"]);
        check(
            "Cargo.toml",
            old,
            &old.replace("name = \"a\"", "name = \"a\"\nautotests = false"),
            &["package.autotests"],
        );
        check("Cargo.toml", old, &format!("{old}[[test]]\nname = \"x\"\nharness = false\n"), &["test"]);
        check("Cargo.toml", old, &format!("{old}[lints.rust]\nunused = \"allow\"\n"), &["lints.rust"]);
        check(
            "pom.xml",
            "<version>1</version>\n",
            "<version>2</version>\n<skipTests>true</skipTests>\n",
            &["skiptests"],
        );
        check(
            "app/build.gradle.kts",
            "version = \"1\"\n",
            "tasks.test { ignoreFailures = true }\n",
            &["ignorefailures"],
        );
    }

    #[test]
    fn other_files_have_no_such_parts() {
        check("src/main.rs", "a", "b", &[]);
        check("Cargo.lock", "[test]", "[test]\na", &[]);
    }
}
