//! Agents with and without a login, laid out as they do it.

use std::fs;

use super::*;

/// An agent's folder and a project, with files in them.
struct Place {
    root: tempfile::TempDir,
    kind: &'static Kind,
}

impl Place {
    fn new(agent: &str) -> Self {
        let kind = KINDS.iter().find(|kind| kind.name == agent).expect("an agent");
        Self { root: tempfile::tempdir().expect("a folder"), kind }
    }

    /// The agent's folder.
    fn folder(&self) -> PathBuf {
        self.root.path().join("state").join(self.kind.below)
    }

    fn project(&self) -> PathBuf {
        self.root.path().join("above/project")
    }

    fn with(self, path: impl Fn(&Self) -> PathBuf, text: &str) -> Self {
        let path = path(&self);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    /// A file in the agent's folder.
    fn file(self, name: &str, text: &str) -> Self {
        self.with(|place| place.folder().join(name), text)
    }

    fn look(&self, key: Option<&str>, flags: &[&str]) -> Login {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let variable = |name: &str| match name {
            _ if name == self.kind.variable => Some(self.root.path().join("state").display().to_string()),
            _ => key.filter(|key| *key == name).map(|_| "secret".to_owned()),
        };
        let project = self.project();
        found(&Asked { agent: self.kind.name, flags: &flags, project: &project, variable: &variable })
    }

    /// Why no one can tell; what is secret is not in it.
    #[track_caller]
    fn doubt(&self, flags: &[&str]) -> String {
        let Login::Unknown { why } = self.look(None, flags) else { panic!("{} is known", self.kind.name) };
        assert!(!why.contains("secret"), "{why}");
        why
    }
}

#[test]
fn every_agent_is_logged_in_by_a_file() {
    for (agent, file, text) in [
        ("claude", ".credentials.json", r#"{"claudeAiOauth":{"accessToken":"secret"}}"#),
        ("codex", "auth.json", r#"{"OPENAI_API_KEY":null,"tokens":{"id_token":"secret"}}"#),
        ("gemini", "oauth_creds.json", r#"{"access_token":"secret"}"#),
        ("qwen", "oauth_creds.json", r#"{"access_token":"secret"}"#),
        ("opencode", "auth.json", r#"{"anthropic":{"type":"api","key":"secret"}}"#),
        ("pi", "auth.json", r#"{"anthropic":{"type":"oauth"}}"#),
        ("amp", "secrets.json", r#"{"apiKey@https://ampcode.com/":"secret"}"#),
        ("copilot", "config.json", r#"{"theme":"dark","copilot_tokens":{"x":"secret"}}"#),
    ] {
        let place = Place::new(agent).file(file, text);
        assert_eq!(place.look(None, &[]), Login::File { path: place.folder().join(file) }, "{agent}");
        for empty in ["{}", "", "[]", r#"{"theme":null}"#] {
            let login = Place::new(agent).file(file, empty).look(None, &[]);
            assert!(!matches!(login, Login::File { .. } | Login::Key { .. }), "{agent} {empty}");
        }
    }
    // Settings stand in the same file.
    let copilot = Place::new("copilot").file("config.json", r#"{"theme":"dark"}"#);
    assert!(matches!(copilot.look(None, &[]), Login::Unknown { .. }));
}

#[test]
fn every_agent_is_logged_in_by_a_key() {
    for (agent, key) in [
        ("claude", "CLAUDE_CODE_OAUTH_TOKEN"),
        ("claude", "ANTHROPIC_PROFILE"),
        ("codex", "CODEX_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("qwen", "OPENAI_API_KEY"),
        ("opencode", "OPENROUTER_API_KEY"),
        ("pi", "ANTHROPIC_API_KEY"),
        ("amp", "AMP_API_KEY"),
        ("copilot", "GH_TOKEN"),
    ] {
        let login = Place::new(agent).look(Some(key), &[]);
        assert_eq!(login, Login::Key { variable: key.to_owned() }, "{agent}");
    }
}

#[test]
fn what_cannot_be_known_is_not_called_missing() {
    for (agent, file, text) in [
        ("claude", "settings.json", r#"{"apiKeyHelper":"/bin/secret"}"#),
        ("claude", "settings.json", r#"{"env":{"ANTHROPIC_API_KEY":"secret"}}"#),
        ("claude", ".claude.json", r#"{"primaryApiKey":"secret"}"#),
        ("codex", "config.toml", "model_provider = \"secret\""),
        ("gemini", ".env", "GEMINI_API_KEY=secret"),
        ("qwen", "settings.json", r#"{"security":{"auth":{"apiKey":"secret"}}}"#),
        ("pi", "models.json", r#"{"providers":{"x":{"apiKey":"secret"}}}"#),
    ] {
        let place = Place::new(agent).file(file, text);
        let path = place.folder().join(file).display().to_string();
        assert!(place.doubt(&[]).contains(&path), "{agent} {file}");
    }
    let in_project = [
        ("claude", "project/.claude/settings.local.json", r#"{"env":{"ANTHROPIC_API_KEY":"secret"}}"#),
        ("codex", "project/.codex/config.toml", "model_provider = \"secret\""),
        ("gemini", ".env", "GEMINI_API_KEY=secret"),
        ("qwen", ".qwen/.env", "OPENAI_API_KEY=secret"),
    ];
    for (agent, file, text) in in_project {
        let place = Place::new(agent).with(|place| place.root.path().join("above").join(file), text);
        assert!(place.doubt(&[]).contains(file), "{agent} {file}");
    }
    for (agent, flag) in [
        ("claude", "--settings=secret"),
        ("codex", "--oss"),
        ("qwen", "--openai-api-key=secret"),
        ("pi", "--api-key=secret"),
    ] {
        assert!(
            Place::new(agent).doubt(&[flag]).contains(flag.split('=').next().expect("a name")),
            "{agent}"
        );
    }
    for agent in ["opencode", "copilot"] {
        Place::new(agent).doubt(&[]);
    }
    let stranger = Asked { agent: "helper", flags: &[], project: Path::new("/"), variable: &|_| None };
    assert!(matches!(found(&stranger), Login::Unknown { .. }));
}
