//! Whether the agent gets at its model: its login, and a model server that it is to use instead of its own, seen from
//! inside a sandbox. What is certain is said before a turn is spent.

use std::{collections::BTreeMap, env, path::Path};

use ralph_core::{
    containment::{
        hosts::{Host, servers_in, variables_of_server},
        level::{Choice, Level},
        wanted::Wanted,
    },
    doctor::Login,
    setup::{AgentSetup, Setup},
};
use ralph_sandbox::login::{self, Asked};
use ralph_sys::files;

/// Whether an agent with these variables of the settings is logged in.
pub(crate) fn login(
    agent: &str,
    flags: &[String],
    variables: &BTreeMap<String, String>,
    project: &Path,
) -> Login {
    login::found(&Asked { agent, flags, project, variable: &|name| variable(variables, name) })
}

/// A variable of the agent.
fn variable(variables: &BTreeMap<String, String>, name: &str) -> Option<String> {
    variables.get(name).cloned().or_else(|| env::var(name).ok())
}

/// Opens the servers that the user's own environment names: who exports them wants the agent to talk to them. What
/// stands in settings opens nothing, because those of a project are not the user's.
pub(crate) fn open_servers(mut wanted: Wanted, agent: &str, variables: &BTreeMap<String, String>) -> Wanted {
    if wanted.level == Choice::Level(Level::None) {
        return wanted;
    }
    let exported = variables_of_server(agent).iter().filter(|name| !variables.contains_key(**name));
    for host in exported.filter_map(|name| Host::of_url(&env::var(name).ok()?)) {
        if !wanted.hosts.contains(&host) {
            wanted.hosts.push(host);
        }
    }
    wanted
}

/// What keeps the agent from its model, as far as that is certain.
pub(crate) fn obstacles(setup: &Setup) -> Vec<String> {
    let agent = ralph_agents::adapter(&setup.agent.command).name();
    // In there is another home, with a login of its own.
    let is_elsewhere = [Level::Sbx, Level::Docker].map(Choice::Level).contains(&setup.sandbox.level);
    let AgentSetup { flags, env, .. } = &setup.agent;
    let missing = !is_elsewhere && login(agent, flags, env, &setup.project) == Login::Missing;
    let missing = missing.then(|| {
        format!(
            "{agent} is not logged in: no key in the environment, no login on disk; log in: {}",
            Login::command(agent)
        )
    });
    missing.into_iter().chain(closed_server(setup, agent)).collect()
}

/// Names the setting that opens a server that the agent is configured for and cannot reach inside.
fn closed_server(setup: &Setup, agent: &str) -> Option<String> {
    if setup.sandbox.level == Choice::Level(Level::None) {
        return None;
    }
    let variables = &setup.agent.env;
    let by_variable = variables_of_server(agent).iter().filter_map(|name| {
        let host = Host::of_url(variables.get(*name)?)?;
        Some((host, format!("`agent.env.{name}`")))
    });
    let by_file = login::configuration(agent, &|name| variable(variables, name))
        .into_iter()
        .flat_map(|path| in_file(&path));
    let mut all = by_variable.chain(by_file);
    let (host, whence) = all.find(|(host, _)| !is_open(&setup.sandbox, host))?;
    let setting = match host.loopback_port() {
        Some(port) => format!("\"loopbackPorts\": [{port}]"),
        None => format!("\"hosts\": [\"{}\"]", String::from(host.clone())),
    };
    Some(format!(
        "{agent} cannot reach {} inside the sandbox ({whence}); open it in .ralph/settings.local.json: \"sandbox\": \
         {{{setting}}}",
        String::from(host)
    ))
}

/// The servers of this machine that a file of the user's names. Others may be many, and most are not for models.
fn in_file(path: &Path) -> Vec<(Host, String)> {
    let text = files::read_text(path).unwrap_or_default();
    let local = servers_in(&text).into_iter().filter(|host| host.loopback_port().is_some());
    local.map(|host| (host, path.display().to_string())).collect()
}

/// Whether a host is open, by this name or, where it is this machine, by another.
fn is_open(sandbox: &Wanted, host: &Host) -> bool {
    let port = host.loopback_port();
    let is_same = |open: &Host| open == host || port.is_some() && open.loopback_port() == port;
    sandbox.hosts.iter().any(is_same)
}
