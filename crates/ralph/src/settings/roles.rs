//! The settings of several agents: who they are, what each may use, and which does what.

use std::collections::BTreeMap;

use ralph_core::{
    engine::roles::{AgentBudget, ESCALATE_AFTER, MAIN, Roles},
    located::{fields::Fields, node::Node},
    nearest::nearest,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AgentSettings, Settings,
    layers::Origin,
    read::read_agent,
    value::{dollar_limit, filled, positive, whole_limit},
};

/// One of several agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct NamedAgent {
    #[serde(flatten)]
    pub(crate) agent: AgentSettings,
    /// What it may cost in one run, in US dollars; then others stand in for it. `0` is no limit.
    #[serde(serialize_with = "super::or_zero")]
    #[schemars(range(min = 0.0))]
    pub(crate) max_cost: Option<f64>,
    /// How many tokens it may use in one run, in and out. `0` is no limit.
    #[serde(serialize_with = "super::or_zero")]
    #[schemars(range(min = 0))]
    pub(crate) max_tokens: Option<u64>,
}

/// Which agent does what, by the names in `agents`. Each list is an order: the next stands in for the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct RolesSettings {
    /// The agents that work. Without it, `main`, or the only one of `agents`.
    #[schemars(schema_with = "super::schema::names")]
    pub(crate) work: Vec<String>,
    /// The agents that review. Without it, those that work.
    #[schemars(schema_with = "super::schema::names")]
    pub(crate) review: Vec<String>,
    /// The agents that fix what a review found. Without it, those that work.
    #[schemars(schema_with = "super::schema::names")]
    pub(crate) fix: Vec<String>,
    /// The agents that write commit messages. Without it, the one that did the work.
    #[schemars(schema_with = "super::schema::names")]
    pub(crate) message: Vec<String>,
    /// The agents that take over when the others fail, the strongest last.
    #[schemars(schema_with = "super::schema::names")]
    pub(crate) escalate: Vec<String>,
    /// After how many iterations in a row with a failed guardrail the next agent of `escalate` takes over, until the
    /// guardrails pass.
    #[schemars(range(min = 1))]
    pub(crate) escalate_after: u32,
}

impl Default for RolesSettings {
    fn default() -> Self {
        Self {
            work: Vec::new(),
            review: Vec::new(),
            fix: Vec::new(),
            message: Vec::new(),
            escalate: Vec::new(),
            escalate_after: ESCALATE_AFTER,
        }
    }
}

pub(super) fn read(fields: &mut Fields<'_, '_>, settings: &mut Settings) {
    let agents = fields.named("agents", is_name, |fields| {
        let mut named = NamedAgent::default();
        read_agent(fields, &mut named.agent);
        fields.set("maxCost", &mut named.max_cost, dollar_limit);
        fields.set("maxTokens", &mut named.max_tokens, whole_limit);
        named
    });
    settings.agents = agents.unwrap_or_default();
    fields.object("roles", |fields| {
        let roles = &mut settings.roles;
        let lists = [
            ("work", &mut roles.work),
            ("review", &mut roles.review),
            ("fix", &mut roles.fix),
            ("message", &mut roles.message),
            ("escalate", &mut roles.escalate),
        ];
        for (key, list) in lists {
            *list = fields.each(key, a_name).unwrap_or_default();
        }
        fields.set("escalateAfter", &mut roles.escalate_after, positive);
    });
}

pub(super) fn a_name(node: &Node) -> Result<String, String> {
    filled(node, "the name of an agent")
}

fn is_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.contains(char::is_control) {
        return Err("expected a name for an agent".to_owned());
    }
    Ok(())
}

/// What was typed about agents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TypedAgents<'a> {
    /// `--agent`: a name, or a command.
    pub(crate) agent: Option<&'a str>,
    /// `--model`.
    pub(crate) model: Option<&'a str>,
    /// `--reviewer`: a name, or a command.
    pub(crate) reviewer: Option<&'a str>,
}

/// A key with the file and line that it stands in, or that something near it does.
fn at(origins: &BTreeMap<String, Origin>, key: &str) -> String {
    let mut near = Some(key);
    while let Some(path) = near {
        let is_inside =
            |it: &str| it.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if let Some((_, origin)) = origins.iter().find(|(it, _)| is_inside(it)) {
            return format!("{origin}: {key}");
        }
        near = path.rsplit_once('.').map(|(above, _)| above);
    }
    key.to_owned()
}

impl Settings {
    /// The settings with every name of an agent looked up: `agent` is who works first, `agents` are all, and `roles` name
    /// them. Problems are told as those of a file, with its line.
    pub(crate) fn with_roles(
        mut self,
        typed: TypedAgents<'_>,
        origins: &BTreeMap<String, Origin>,
    ) -> Result<Self, Vec<String>> {
        let is_alone = self.agents.is_empty();
        let given = (!self.agent.command.is_empty()).then(|| self.agent.clone());
        match typed.agent {
            Some(agent) if self.agents.contains_key(agent) => self.roles.work = vec![agent.to_owned()],
            // What was typed is no name, so it is a command.
            Some(_) if !is_alone => {
                self.agents.insert(
                    MAIN.to_owned(),
                    NamedAgent { agent: self.agent.clone(), ..NamedAgent::default() },
                );
                self.roles.work = vec![MAIN.to_owned()];
            }
            Some(_) | None => {
                if let Some(agent) = given {
                    let main = self.agents.entry(MAIN.to_owned());
                    main.or_insert(NamedAgent { agent, ..NamedAgent::default() });
                }
            }
        }
        if let Some(reviewer) = typed.reviewer.filter(|reviewer| !self.agents.contains_key(*reviewer)) {
            let agent = AgentSettings { command: reviewer.to_owned(), ..AgentSettings::default() };
            self.agents.insert(reviewer.to_owned(), NamedAgent { agent, ..NamedAgent::default() });
        }
        let mut problems: Vec<String> = self
            .agents
            .iter()
            .filter(|(_, named)| named.agent.command.is_empty())
            .map(|(name, _)| format!("{}: missing", at(origins, &format!("agents.{name}.command"))))
            .collect();
        if self.roles.work.is_empty() {
            match self.agents.keys().find(|name| *name == MAIN).or_else(|| only(self.agents.keys())) {
                Some(first) => self.roles.work = vec![first.clone()],
                None => problems.push(format!("{}: missing: which of them works", at(origins, "roles.work"))),
            }
        }
        let RolesSettings { work, review, fix, message, escalate, .. } = &self.roles;
        for (key, names) in
            [("work", work), ("review", review), ("fix", fix), ("message", message), ("escalate", escalate)]
        {
            for name in names.iter().filter(|name| !self.agents.contains_key(*name)) {
                let like = nearest(name, self.agents.keys().map(String::as_str));
                let like = like.map(|like| format!("; did you mean {like:?}?")).unwrap_or_default();
                problems.push(format!(
                    "{}: there is no agent {name:?} in \"agents\"{like}",
                    at(origins, &format!("roles.{key}"))
                ));
            }
        }
        problems.extend(self.unknown_reviewers(origins));
        if !problems.is_empty() {
            return Err(problems);
        }
        let first = self.roles.work.first().and_then(|first| self.agents.get_mut(first));
        if let (Some(model), Some(named)) = (typed.model, first) {
            named.agent.model = Some(model.to_owned());
        }
        if let Some(first) = self.roles.work.first().and_then(|first| self.agents.get(first)) {
            self.agent = first.agent.clone();
        }
        Ok(self)
    }

    /// The rules about who does what.
    pub(crate) fn plan_roles(&self) -> Roles {
        let RolesSettings { work, review, fix, message, escalate, escalate_after } = self.roles.clone();
        let budget =
            |named: &NamedAgent| AgentBudget { max_cost: named.max_cost, max_tokens: named.max_tokens };
        let budgets = self.agents.iter().map(|(name, named)| (name.clone(), budget(named)));
        Roles {
            work,
            review,
            fix,
            message,
            escalate_after: (!escalate.is_empty()).then_some(escalate_after),
            escalate,
            budgets: budgets.filter(|(_, budget)| *budget != AgentBudget::default()).collect(),
        }
    }
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}
