//! What a run wants of its sandbox, as it stands in the journal.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    hosts::{self, Host},
    level::{Choice, Level},
    limits::SandboxLimits,
};

/// What a run wants of its sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wanted {
    /// The kind; in the journal one that was found to work.
    pub level: Choice,
    /// More that may be written: absolute, relative to the project, or with `~` for the home.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// More of the home that may be read, written in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// More variables that reach processes inside, each with a `*` at its end or without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Whom processes inside may talk to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// Whether package managers may install: their registries are among the hosts, and they can write where they keep
    /// what they install.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packages: bool,
    /// Where gates run.
    #[serde(default)]
    pub gates: GatesRun,
    /// As many processes and threads there may be at once.
    pub processes: u32,
    /// What they may use of the machine.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: SandboxLimits,
    /// The image of a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The command lines of `sbx` that are not the usual ones, by what they do.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sbx: BTreeMap<String, String>,
}

/// As many processes and threads there may usually be at once.
pub const PROCESSES: u32 = 4096;

impl Default for Wanted {
    fn default() -> Self {
        Self {
            level: Choice::Level(Level::None),
            writable: Vec::new(),
            readable: Vec::new(),
            env: Vec::new(),
            hosts: Vec::new(),
            packages: false,
            gates: GatesRun::Inside,
            processes: PROCESSES,
            limits: SandboxLimits::default(),
            image: None,
            sbx: BTreeMap::new(),
        }
    }
}

impl Wanted {
    /// The same for a run of another agent, which talks to hosts of its own.
    #[must_use]
    pub fn for_agent(mut self, agent: &str) -> Self {
        let own = hosts::of_agent(agent).iter().filter_map(|host| Host::parse(host).ok());
        let new: Vec<Host> = own.filter(|host| !self.hosts.contains(host)).collect();
        self.hosts.extend(new);
        self
    }

    /// The kind, once it is known.
    pub fn level(&self) -> Level {
        match self.level {
            Choice::Level(level) => level,
            Choice::Auto => Level::None,
        }
    }
}

fn is_default(limits: &SandboxLimits) -> bool {
    *limits == SandboxLimits::default()
}

/// Where gates run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatesRun {
    /// With the agent: they run what the agent wrote.
    #[default]
    Inside,
    /// Beside it, with all rights of the user.
    Outside,
}

impl GatesRun {
    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("inside", Self::Inside), ("outside", Self::Outside)];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_agent_adds_its_own_hosts_once() {
        let own: Vec<Host> =
            hosts::of_agent("claude").iter().filter_map(|host| Host::parse(host).ok()).collect();
        assert!(!own.is_empty());
        let mine = Host::parse("example.org").expect("a host");
        let wanted = Wanted { hosts: vec![own[0].clone(), mine.clone()], processes: 7, ..Wanted::default() };
        let once = wanted.for_agent("claude");
        assert_eq!((once.hosts.len(), once.processes), (own.len() + 1, 7));
        assert!(own.iter().chain([&mine]).all(|host| once.hosts.contains(host)));
        let twice = once.clone().for_agent("claude");
        assert_eq!(twice, once);
    }

    #[test]
    fn nothing_is_contained_until_a_kind_is_known() {
        let of = |level| Wanted { level, ..Wanted::default() }.level();
        assert_eq!(of(Choice::Auto), Level::None);
        assert_eq!(of(Choice::Level(Level::Docker)), Level::Docker);
        assert_eq!(Wanted::default().level(), Level::None);
    }

    #[test]
    fn limits_are_recorded_where_there_are_some() {
        let recorded = |limits| {
            let wanted = Wanted { limits, ..Wanted::default() };
            serde_json::to_value(wanted).expect("a value").get("limits").is_some()
        };
        assert!(!recorded(SandboxLimits::default()));
        assert!(recorded(SandboxLimits { memory: Some(1), ..SandboxLimits::default() }));
    }
}
