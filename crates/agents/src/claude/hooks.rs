//! Ralph's hooks in Claude Code: settings on the command line, closed against what could switch them off.

use serde_json::{Map, Value, json};

use crate::{Request, hooking::Hooks};

/// How long a hook may take, in seconds.
const TIMEOUT: u32 = 60;

/// The user's flags and the settings, as they are given to the program.
pub(super) struct Given {
    pub(super) flags: Vec<String>,
    pub(super) settings: Option<String>,
}

impl Given {
    /// Adds the hooks to what the user gives. The program takes one `--settings`, so those of the user's are carried
    /// over.
    pub(super) fn new(request: &Request<'_>) -> Self {
        let Some(hooks) = request.hooks else {
            return Self { flags: request.flags.to_vec(), settings: None };
        };
        let (mut flags, mut inline) = (Vec::new(), json!({}));
        let mut all = request.flags.iter();
        while let Some(flag) = all.next() {
            let value = match flag.split_once('=') {
                Some(("--settings", value)) => Some(value.to_owned()),
                _ if flag == "--settings" => all.next().cloned(),
                _ => {
                    flags.push(flag.clone());
                    None
                }
            };
            let Some(value) = value else { continue };
            let text =
                if value.trim_start().starts_with('{') { Some(&value) } else { hooks.settings.as_ref() };
            match text.map(|text| serde_json::from_str(text)) {
                Some(Ok(object @ Value::Object(_))) => inline = object,
                // The program itself says what is wrong with it.
                _ => flags.extend(["--settings".to_owned(), value]),
            }
        }
        add(&mut inline, hooks);
        Self { flags, settings: Some(inline.to_string()) }
    }
}

fn add(settings: &mut Value, hooks: &Hooks) {
    let mut entry = |event: &str, name: &str, closed: bool| {
        let mut hook = json!({"type": "command", "command": hooks.command(name), "timeout": TIMEOUT});
        if closed {
            // What cannot be judged must not run.
            hook["onFailure"] = json!("block");
        }
        let entries = object(object(settings).entry("hooks").or_insert(Value::Null)).entry(event);
        let entries = entries.or_insert_with(|| json!([]));
        if !entries.is_array() {
            *entries = json!([]);
        }
        if let Some(entries) = entries.as_array_mut() {
            entries.push(json!({"matcher": "*", "hooks": [hook]}));
        }
    };
    entry("PreToolUse", "pre-tool-use", true);
    entry("PostToolUse", "post-tool-use", false);
    entry("PostToolUseFailure", "post-tool-use", false);
    if hooks.on_stop {
        entry("Stop", "stop", false);
    }
    // A file of the project's could say otherwise, and an agent can write one.
    object(settings).insert("disableAllHooks".to_owned(), json!(false));
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("it was made one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Output, Permissions};

    fn given(flags: &[&str], on_stop: bool) -> (Vec<String>, Value) {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let settings = Some(r#"{"model":"from a file"}"#.to_owned());
        let hooks = Hooks { program: "/opt/my tools/ralph".to_owned(), on_stop, settings };
        let given = Given::new(&Request {
            flags: &flags,
            output: Output::Stream,
            permissions: Permissions::Agent,
            prompt: None,
            hooks: Some(&hooks),
            resume: None,
            budget_usd: None,
            streams_input: false,
        });
        (given.flags, serde_json::from_str(&given.settings.expect("settings")).expect("JSON"))
    }

    #[test]
    fn hooks_are_closed() {
        let (flags, settings) = given(&["--model", "x"], false);
        assert_eq!(flags, ["--model", "x"]);
        assert_eq!(settings["disableAllHooks"], false);
        let pre = &settings["hooks"]["PreToolUse"][0];
        assert_eq!(pre["matcher"], "*");
        assert_eq!(pre["hooks"][0]["onFailure"], "block");
        assert_eq!(pre["hooks"][0]["command"], "'/opt/my tools/ralph' hook pre-tool-use");
        assert_eq!(settings["hooks"]["Stop"], Value::Null);
        assert_eq!(given(&[], true).1["hooks"]["Stop"][0]["hooks"][0].get("onFailure"), None);
    }

    #[test]
    fn settings_of_the_user_are_kept() {
        let own =
            r#"{"model":"x","disableAllHooks":true,"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}]}}"#;
        for flags in [vec!["--settings", own], vec![&*format!("--settings={own}")]] {
            let (flags, settings) = given(&flags, false);
            assert!(flags.is_empty(), "{flags:?}");
            assert_eq!((&settings["model"], &settings["disableAllHooks"]), (&json!("x"), &json!(false)));
            assert_eq!(settings["hooks"]["PreToolUse"].as_array().map(Vec::len), Some(2));
        }
        let (flags, settings) = given(&["--settings", "own.json", "-x"], false);
        assert_eq!((flags, &settings["model"]), (vec!["-x".to_owned()], &json!("from a file")));
        assert_eq!(
            given(&["--settings", r#"{"hooks": 3}"#], false).1["hooks"]["PreToolUse"][0]["matcher"],
            "*"
        );
        assert_eq!(given(&["--settings", "{broken"], false).0, ["--settings", "{broken"]);
    }
}
