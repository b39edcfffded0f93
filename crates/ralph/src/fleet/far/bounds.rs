//! What a worker lets itself be told: its own settings bound agent, sandbox, hosts and cost.

use std::collections::BTreeSet;

use ralph_core::containment::level::{Choice, Level};
use serde_json::{Value, json};

use super::posting::Posting;
use crate::settings::{Settings, of_bytes};

/// What a worker has and allows.
pub(super) struct Bounds {
    pub(super) settings: Settings,
    pub(super) labels: Vec<String>,
}

impl Bounds {
    /// The settings that the run of an item gets here. `Err` says why this worker does not take it.
    pub(super) fn apply(&self, posting: &Posting) -> Result<Value, String> {
        let lacking: Vec<&str> = posting
            .item
            .labels
            .iter()
            .filter(|label| !self.labels.contains(label))
            .map(String::as_str)
            .collect();
        if !lacking.is_empty() {
            return Err(format!("it needs {}", lacking.join(", ")));
        }
        let inspected = of_bytes(posting.settings.to_string().as_bytes());
        if let Some(problem) = inspected.problems.first() {
            return Err(format!("its settings cannot be read: {problem}"));
        }
        let wanted = inspected.loaded.settings;
        let own = self.commands();
        let named = posting.item.agent.iter().filter(|name| !wanted.agents.contains_key(*name));
        let all = wanted.agents.values().map(|named| &named.agent.command).chain([&wanted.agent.command]);
        let strange = all.chain(named).find(|command| !command.is_empty() && !own.contains(command.as_str()));
        if let Some(command) = strange {
            return Err(format!(
                "it wants the agent `{command}`, which the settings of this worker do not name"
            ));
        }
        let is_open = |level: Option<Choice>| level == Some(Choice::Level(Level::None));
        if is_open(wanted.sandbox.level) && !is_open(self.settings.sandbox.level) {
            return Err("it wants no sandbox, and the settings of this worker want one".to_owned());
        }
        let is_new = |host: &&_| !self.settings.sandbox.hosts.contains(host);
        if let Some(host) =
            wanted.sandbox.hosts.iter().find(is_new).filter(|_| !is_open(self.settings.sandbox.level))
        {
            return Err(format!(
                "it wants to reach {}, which the settings of this worker do not name",
                json!(host)
            ));
        }
        Ok(self.bounded(posting.settings.clone()))
    }

    /// What may cost how much: the least of what is left and of what this worker spends on one item.
    pub(super) fn left(&self, posting: &Posting) -> Option<f64> {
        let own = self.settings.limits.max_cost.filter(|most| 0.0 < *most);
        match (posting.left, own) {
            (Some(left), Some(own)) => Some(left.min(own)),
            (left, own) => left.or(own),
        }
    }

    /// The programs that the worker's own settings name.
    fn commands(&self) -> BTreeSet<&str> {
        let agents = self.settings.agents.values().map(|named| named.agent.command.as_str());
        agents.chain([self.settings.agent.command.as_str()]).filter(|command| !command.is_empty()).collect()
    }

    /// Everything that contains an agent is the worker's own, and what it logs in with.
    fn bounded(&self, mut settings: Value) -> Value {
        let own = json!(self.settings);
        settings["sandbox"] = own["sandbox"].clone();
        if self.settings.sandbox.level.is_none() {
            settings["sandbox"]["level"] = json!("auto");
        }
        settings["guard"] = own["guard"].clone();
        settings["leftovers"] = own["leftovers"].clone();
        let login = |agent: &mut Value| {
            let command = agent["command"].as_str().unwrap_or_default().to_owned();
            let agents = self.settings.agents.values().map(|named| &named.agent);
            let known = agents.chain([&self.settings.agent]).find(|it| it.command == command);
            if let Some(known) = known {
                agent["env"] = json!(known.env);
                agent["permissions"] = json!(known.permissions);
            }
        };
        if settings["agent"].is_object() {
            login(&mut settings["agent"]);
        }
        let agents = settings.get_mut("agents").and_then(Value::as_object_mut);
        agents.into_iter().flatten().for_each(|(_, agent)| login(agent));
        settings
    }
}

#[cfg(test)]
mod tests {
    use ralph_core::fleet::{FleetItem, FleetStarted};

    use super::*;

    fn bounds(own: &Value, labels: &[&str]) -> Bounds {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Bounds { settings: of_bytes(own.to_string().as_bytes()).loaded.settings, labels }
    }

    fn posting(settings: Value, labels: &[&str]) -> Posting {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let started = FleetStarted { settings, ..FleetStarted::default() };
        Posting::new(&started, FleetItem { labels, ..FleetItem::default() }, Vec::new())
    }

    #[test]
    fn a_worker_takes_only_what_it_has_and_allows() {
        let own = json!({"agent": {"command": "claude"}, "sandbox": {"hosts": ["a.example"]}});
        for (settings, labels, refused) in [
            (json!({"agent": {"command": "claude"}}), vec!["gpu"], None),
            (json!({"agent": {"command": "claude"}}), vec!["gpu", "macos"], Some("it needs macos")),
            (json!({"agent": {"command": "codex"}}), vec![], Some("it wants the agent `codex`")),
            (
                json!({"agent": {"command": "claude"}, "agents": {"x": {"command": "codex"}}}),
                vec![],
                Some("it wants the agent `codex`"),
            ),
            (json!({"agent": {"command": "claude"}, "sandbox": "none"}), vec![], Some("it wants no sandbox")),
            (json!({"agent": {"command": "claude"}, "sandbox": {"hosts": ["a.example"]}}), vec![], None),
            (
                json!({"agent": {"command": "claude"}, "sandbox": {"hosts": ["b.example"]}}),
                vec![],
                Some("it wants to reach \"b.example\""),
            ),
            (
                json!({"agent": {"command": "claude"}, "retries": "many"}),
                vec![],
                Some("its settings cannot be read"),
            ),
        ] {
            let said = bounds(&own, &["gpu"]).apply(&posting(settings.clone(), &labels));
            match (said, refused) {
                (Ok(_), None) => {}
                (Err(why), Some(part)) => assert!(why.contains(part), "{why}"),
                (said, _) => panic!("{settings}: {said:?}"),
            }
        }
    }

    #[test]
    fn what_contains_the_agent_is_the_worker_s_own() {
        let own = json!({
            "agent": {"command": "claude", "env": {"KEY": "own"}}, "limits": {"maxCost": 3},
            "sandbox": {"level": "bwrap", "maxProcesses": 7},
        });
        let wanted = json!({
            "agent": {"command": "claude", "env": {"PATH": "theirs"}}, "guard": "off", "retries": 9,
            "sandbox": {"maxProcesses": 900},
        });
        let bounds = bounds(&own, &[]);
        let mut posting = posting(wanted, &[]);
        let settings = bounds.apply(&posting).expect("taken");
        assert_eq!(settings["sandbox"]["maxProcesses"], 7);
        assert_eq!(settings["sandbox"]["level"], "bwrap");
        assert_eq!(settings["guard"], "on");
        assert_eq!(settings["agent"]["env"], json!({"KEY": "own"}));
        assert_eq!(settings["retries"], 9);
        assert_eq!(bounds.left(&posting), Some(3.0));
        posting.left = Some(2.0);
        assert_eq!(bounds.left(&posting), Some(2.0));
    }
}
