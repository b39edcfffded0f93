//! A manifest with the judging parts of another version: what runs the tests as it was, and everything else as it is.

use serde_json::{Map, Value};

use super::{
    JSON_KEYS, changed_parts, is_judging_in_cargo, is_judging_in_pyproject, is_judging_in_setup_cfg,
    is_judging_script,
};

/// The new version with the judging parts of the old one; nothing where parts of such a file cannot be exchanged.
pub fn with_old_parts(path: &str, old: &str, new: &str) -> Option<String> {
    match path.rsplit('/').next().unwrap_or(path) {
        "package.json" | "composer.json" | "deno.json" => in_json(old, new),
        "pyproject.toml" => Some(in_sections(old, new, is_judging_in_pyproject)),
        "setup.cfg" => Some(in_sections(old, new, is_judging_in_setup_cfg)),
        "Cargo.toml" => {
            let exchanged = in_sections(old, new, is_judging_in_cargo);
            // A line of another section cannot be exchanged so.
            changed_parts(path, old, &exchanged).is_empty().then_some(exchanged)
        }
        _ => None,
    }
}

fn in_json(old: &str, new: &str) -> Option<String> {
    let object = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    };
    let (old, mut new) = (object(old)?, object(new)?);
    exchange(&mut new, &old, |key| JSON_KEYS.contains(&key));
    for list in ["scripts", "tasks"] {
        let of_old = old.get(list).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut of_new = new.get(list).and_then(Value::as_object).cloned().unwrap_or_default();
        exchange(&mut of_new, &of_old, is_judging_script);
        if new.contains_key(list) || !of_new.is_empty() {
            new.insert(list.to_owned(), Value::Object(of_new));
        }
    }
    serde_json::to_string_pretty(&new).ok()
}

fn exchange(new: &mut Map<String, Value>, old: &Map<String, Value>, is_meant: impl Fn(&str) -> bool) {
    new.retain(|key, _| !is_meant(key));
    let meant = old.iter().filter(|(key, _)| is_meant(key));
    new.extend(meant.map(|(key, value)| (key.clone(), value.clone())));
}

fn in_sections(old: &str, new: &str, is_meant: impl Fn(&str) -> bool) -> String {
    let mut text = picked(new, |section| !section.is_some_and(&is_meant));
    text.push_str(&picked(old, |section| section.is_some_and(&is_meant)));
    text
}

/// The lines of some sections. What stands before the first header has no section.
fn picked(text: &str, is_wanted: impl Fn(Option<&str>) -> bool) -> String {
    let mut section: Option<String> = None;
    let mut lines = String::new();
    for line in text.lines() {
        if let Some(name) = super::header(line) {
            section = Some(name);
        }
        if is_wanted(section.as_deref()) {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, old: &str, new: &str, is_exchanged: bool) {
        let text = with_old_parts(path, old, new);
        assert_eq!(text.is_some(), is_exchanged, "{path}");
        if let Some(text) = text {
            assert!(changed_parts(path, old, &text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_judges_is_old_and_the_rest_is_new() {
        let old = r#"{"name": "a", "scripts": {"test": "jest", "start": "x"}, "jest": {"bail": true}}"#;
        let new = r#"{"name": "b", "scripts": {"test": "true", "start": "y"}, "mocha": {}}"#;
        check("package.json", old, new, true);
        let text = with_old_parts("web/package.json", old, new).expect("it can be exchanged");
        assert!(text.contains(r#""name": "b""#) && text.contains(r#""start": "y""#), "{text}");
        assert!(text.contains(r#""test": "jest""#) && !text.contains("mocha"), "{text}");
        let old = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
        let new = "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"--deselect x\"\n[tool.x]\ny = 1\n";
        check("pyproject.toml", old, new, true);
        let text = with_old_parts("pyproject.toml", old, new).expect("it can be exchanged");
        assert!(text.contains("name = \"b\"") && text.contains("[tool.x]"), "{text}");
        check("setup.cfg", "[tool:pytest]\na = 1\n", "[metadata]\nname = a\n", true);
        check(
            "Cargo.toml",
            "[package]\nname = \"a\"\n",
            "[package]\nname = \"a\"\n[[test]]\nname = \"x\"\n",
            true,
        );
    }

    #[test]
    fn what_cannot_be_exchanged_is_none() {
        check(
            "Cargo.toml",
            "[package]\nname = \"a\"\n",
            "[package]\nname = \"a\"\nautotests = false\n",
            false,
        );
        check("package.json", "{}", "no JSON", false);
        check("pom.xml", "<a/>", "<b/>", false);
    }
}
