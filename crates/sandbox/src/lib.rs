//! Keeps an agent and what it starts contained: what may be written, seen and talked to.
//!
//! The kinds differ in what they are made of ([`Level`]); what they let happen is one [`Policy`]. A
//! process that `process` starts is wrapped: ralph itself becomes the process outside of a sandbox (`outside`),
//! and ends as the command inside ended. So signals, sessions and the sweep work as they do without one.
//!
//! Most of it is Linux. A Mac has `seatbelt`, and containers.

#[cfg(target_os = "linux")]
pub mod bwrap;
#[cfg(not(target_os = "linux"))]
#[path = "bwrap/elsewhere.rs"]
pub mod bwrap;
mod docker;
#[cfg(target_os = "linux")]
mod embedded;
mod environment;
mod exec;
mod git_rules;
#[cfg(target_os = "linux")]
mod group;
mod home;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod link;
pub mod login;
mod memory;
#[cfg(target_os = "linux")]
mod mounts;
pub mod moved;
#[cfg(target_os = "linux")]
pub mod outside;
#[cfg(not(target_os = "linux"))]
#[path = "outside/elsewhere.rs"]
pub mod outside;
mod own_file;
#[cfg(target_os = "linux")]
mod own_process;
mod placeholders;
#[cfg(target_os = "linux")]
mod proxy;
mod reach;
mod sbx;
mod seatbelt;
#[cfg(target_os = "linux")]
mod seccomp;
pub mod self_test;
pub mod spool;
mod survey;
mod tools;
pub mod unprotected;
mod variables;
mod viewing;
mod watched;
mod wrapped;

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ralph_core::containment::{
    contact::Contact,
    level::Level,
    policy::{self, Access, Layer, Places, Policy},
    wanted::Wanted,
};
use ralph_sys::{
    error::{Error, Result},
    files::{self, MAX_TEXT_LEN},
    paths,
    process::{Spec, Supervisor},
};

use login::Login;
use placeholders::StandIns;
use sbx::Machine;
use tools::Tools;
use wrapped::{wrapped, written_folders};

pub use memory::machine_memory;
pub use wrapped::COMMAND;

/// Tells programs inside that they are inside, and in which kind.
const VARIABLE: &str = "RALPH_SANDBOX";

/// Whether this process is inside of one: then it sees no process outside, whether it lives or not.
pub fn is_inside() -> bool {
    env::var_os(VARIABLE).is_some_and(|level| !level.is_empty())
}

/// A process inside ends no process outside.
pub fn refuse_inside() -> Result<()> {
    if !is_inside() {
        return Ok(());
    }
    Err(Error::new("runs cannot be ended from inside a sandbox")
        .hint("say on the bus what should end and why: ralph bus post --type WARNING --body \"...\""))
}

/// The sandbox of a run.
pub struct Sandbox {
    wanted: Wanted,
    project: PathBuf,
    places: Places,
    policy: Policy,
    /// Where the policy is written for the process outside.
    rules: PathBuf,
    /// Where the proxy writes down whom it was asked for.
    log: PathBuf,
    /// As much of that was read.
    read: u64,
    login: Option<Login>,
    placeholders: StandIns,
    watched: BTreeMap<PathBuf, String>,
    /// Where that is kept for a process that continues the run when this one is killed.
    kept: PathBuf,
    /// Of containers, which must be told apart.
    id: String,
    /// What a person should know from the start.
    warnings: Vec<String>,
    /// The agent's name, whose variables reach the inside.
    agent: &'static str,
    /// The agent's program, which some kinds start in a way of its own.
    agent_program: PathBuf,
    /// Where package managers write, if they may.
    tools: Option<Tools>,
}

/// What a sandbox is made for.
pub struct SandboxRequest<'a> {
    /// The folder that the agent works in.
    pub project: &'a Path,
    /// The agent's name.
    pub agent: &'static str,
    /// The agent's program.
    pub program: &'a Path,
    /// What the user adds to its environment.
    pub env: &'a BTreeMap<String, String>,
    /// What the agent must be able to write, wherever it is.
    pub work: Option<PathBuf>,
    /// A folder of this sandbox alone.
    pub folder: &'a Path,
    /// A folder that other sandboxes of the project share.
    pub cache: PathBuf,
    /// Tells it from other sandboxes.
    pub id: String,
    /// What no process inside may get at, beside the secrets that every sandbox hides.
    pub secrets: Vec<PathBuf>,
}

impl Sandbox {
    /// Makes the folders and rules of a sandbox; nothing runs inside yet.
    pub fn prepare(
        wanted: Wanted,
        request: SandboxRequest<'_>,
        supervisor: &mut Supervisor,
    ) -> io::Result<Self> {
        let SandboxRequest { project, agent, program, env, work, folder, cache, id, secrets } = request;
        let mut places = survey::survey(project);
        let tracked = git_rules::tracked(supervisor, project, &places.secrets);
        places.secrets.retain(|path| !tracked.contains(path));
        let (tmp, state) = (folder.join("tmp"), folder.join("agent"));
        for folder in [&tmp, &cache, &state] {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let variable = |name: &str| env.get(name).cloned().or_else(|| env::var(name).ok());
        let login = Login::prepare(agent, &state, &variable)?;
        places.hidden.extend(survey::real(login::hidden(agent, &variable)));
        places.hidden.extend(survey::real(secrets));
        let (hooks, mut files) = git_rules::protect(&mut places, supervisor);
        files.extend(login::expected(agent).iter().map(|(name, text)| (project.join(name), *text)));
        let own =
            [&tmp, &cache, &state].map(std::fs::canonicalize).into_iter().collect::<io::Result<Vec<_>>>()?;
        places.own = own;
        let opened = wanted.writable.iter().map(|text| (text, survey::resolve(text, project)));
        let (opened, absent): (Vec<_>, Vec<_>) = opened.partition(|(_, path)| path.is_some());
        let absent = absent.into_iter().map(|(text, _)| ("writable", text));
        let readable = wanted.readable.iter().map(|text| (text, survey::resolve(text, project)));
        let (readable, unreadable): (Vec<_>, Vec<_>) = readable.partition(|(_, path)| path.is_some());
        let absent = absent.chain(unreadable.into_iter().map(|(text, _)| ("readable", text)));
        let mut warnings: Vec<String> = absent
            .map(|(key, path)| format!("sandbox.{key}: `{path}` is not there, so it cannot be opened"))
            .collect();
        let readable: Vec<PathBuf> = readable.into_iter().filter_map(|(_, path)| path).collect();
        places.writable = opened
            .into_iter()
            .filter_map(|(_, path)| path)
            .chain(work.and_then(|path| std::fs::canonicalize(path).ok()))
            .collect();
        let mut links = Vec::new();
        if wanted.level().has_ralph() {
            let asked = home::HomeNeeds { agent, program, variable: &variable, readable: &readable };
            let withheld;
            (links, withheld) = home::hide(&mut places, &asked);
            warnings.extend(withheld);
        }
        let tools = Tools::of(&wanted, folder, &cache, env);
        let mut env = environment::of(&cache, agent);
        if let Some(tools) = &tools {
            env.extend(tools.for_agent()?);
        }
        env.insert(VARIABLE.to_owned(), Some(wanted.level().name().to_owned()));
        env.extend(login.iter().flat_map(Login::variables));
        let policy = Policy {
            tmp,
            hosts: wanted.hosts.clone(),
            env,
            processes: wanted.processes,
            limits: wanted.limits,
            links,
            ..Policy::default()
        };
        let [rules, log, kept] =
            ["sandbox.json", "contacts.jsonl", "protected.json"].map(|name| folder.join(name));
        let read = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
        let records = paths::project_dir(project).map_err(|error| io::Error::other(error.to_string()))?;
        let lock = records.join("stand-ins.lock");
        let placeholders = StandIns::of(project, hooks, files, &lock)?;
        let (watched, project, agent_program) = (BTreeMap::new(), project.to_owned(), program.to_owned());
        let sandbox = Self {
            wanted,
            project,
            places,
            policy,
            rules,
            log,
            read,
            login,
            placeholders,
            watched,
            kept,
            id,
            warnings,
            agent,
            agent_program,
            tools,
        };
        if sandbox.level() == Level::Sbx {
            sandbox.machine().create(agent, &sandbox.policy.hosts, supervisor)?;
        }
        Ok(sandbox)
    }

    /// The agent's own folder inside, if this variable names it there.
    pub fn agent_folder(&self, variable: &str) -> Option<&Path> {
        self.login.as_ref()?.folder(variable)
    }

    /// Its kind.
    pub fn level(&self) -> Level {
        self.wanted.level()
    }

    /// What a person should know of it from the start.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn machine(&self) -> Machine<'_> {
        Machine { run: &self.id, project: &self.project, commands: &self.wanted.sbx }
    }

    /// A folder that can be written inside and read outside.
    pub fn tmp(&self) -> &Path {
        &self.policy.tmp
    }

    /// Whether a path leads to what no process inside sees.
    pub fn hides(&self, path: &Path) -> bool {
        let Ok(real) = std::fs::canonicalize(path) else { return false };
        let hidden = || self.places.hidden.iter().chain(&self.places.secrets);
        // What the user keeps at home the user may name; in the project an agent may have put a link to it.
        let is_led_home = || {
            let layers = policy::layers(&self.places);
            let nearest = layers.iter().rev().find(|layer| real.starts_with(&layer.path));
            nearest.is_some_and(|layer| layer.access == Access::Hide)
        };
        hidden().any(|hidden| real.starts_with(hidden)) || path.starts_with(&self.project) && is_led_home()
    }

    /// Makes a process one that runs inside.
    pub fn wrap(&mut self, spec: Spec) -> io::Result<Spec> {
        self.placeholders.make()?;
        let mut places = self.places.clone();
        places.own.extend(written_folders(&spec));
        self.policy.layers = present(policy::layers(&places));
        let spec = self.without_variables(spec);
        match self.level() {
            Level::Embedded | Level::Bwrap | Level::Landlock => {
                let mut policy = self.policy.clone();
                // Who names programs of its own means them.
                policy.env.retain(|name, _| name != "PATH" || spec.env.iter().all(|(set, _)| set != "PATH"));
                own_file::write(&self.rules, &serde_json::to_vec(&policy)?)?;
                wrapped(self.level(), &self.rules, Some(&self.log), spec)
            }
            Level::Docker => {
                let image = self.wanted.image.as_deref().unwrap_or_default();
                Ok(docker::wrap(&self.id, image, &self.policy, spec))
            }
            Level::Sbx => Ok(self.machine().wrap(&self.agent_program, spec)),
            Level::Seatbelt => Ok(seatbelt::wrap(&self.policy, spec)),
            Level::None => Ok(spec),
        }
    }

    /// Looks at what is protected, before the agent has its turn.
    pub fn begin_turn(&mut self) {
        // Before the look; if they cannot be made the turn cannot begin, which says why.
        let _ = self.placeholders.make();
        self.watched = watched::fingerprints(&self.places);
        if !self.level().protects() {
            // A disk that is full loses what a killed process leaves, not what this one sees.
            let _ = serde_json::to_vec(&self.watched).map(|text| own_file::write(&self.kept, &text));
        }
        if let Some(login) = &mut self.login {
            login.renew();
        }
    }

    /// A login that the agent renewed is kept.
    pub fn end_turn(&mut self) {
        if let Some(login) = &mut self.login {
            login.keep();
        }
    }

    /// Forgets the turn before: from here on a killed process has left no word of how things were.
    pub fn forget_turn(&self) {
        let _ = std::fs::remove_file(&self.kept);
    }

    /// Remembers the turn that an earlier process began. Says whether that left word of how things were before it.
    pub fn recall_turn(&mut self) -> bool {
        // As before the look at that time.
        let _ = self.placeholders.make();
        let kept =
            files::read(&self.kept, MAX_TEXT_LEN).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let is_known = kept.is_some();
        self.watched = kept.unwrap_or_default();
        is_known
    }

    /// What is protected and not as it was before the turn.
    pub fn changed(&self) -> Vec<String> {
        watched::changed(&self.watched, &watched::fingerprints(&self.places), &self.project)
    }

    /// Whom processes inside wanted to talk to since the last look.
    pub fn connections(&mut self) -> Vec<Contact> {
        let Ok(mut file) = files::open(&self.log) else { return Vec::new() };
        let mut text = String::new();
        if file.seek(SeekFrom::Start(self.read)).is_err() || file.read_to_string(&mut text).is_err() {
            return Vec::new();
        }
        // The last line may be on its way.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        self.read += whole.len() as u64;
        let mut contacts: Vec<Contact> =
            whole.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        contacts.sort();
        contacts.dedup();
        contacts
    }

    /// What must be run after each process, so that nothing of it is left.
    pub fn cleanup_command(&self) -> Option<Vec<OsString>> {
        (self.level() == Level::Docker).then(|| docker::remove(&self.id))
    }

    /// Removes what was made for the run; containers are ended.
    pub fn finish(&self, supervisor: &mut Supervisor) {
        self.placeholders.remove();
        if let Some(login) = &self.login {
            login.forget();
        }
        let _ = std::fs::remove_dir_all(&self.policy.tmp);
        if let Some(tools) = &self.tools {
            tools.finish();
        }
        if self.level() == Level::Sbx {
            self.machine().stop(supervisor);
        }
    }
}

/// The layers of what is there. Through a link a path leads to a place that has its own layer.
fn present(layers: Vec<Layer>) -> Vec<Layer> {
    let is_there = |layer: &Layer| std::fs::canonicalize(&layer.path).is_ok_and(|it| it == layer.path);
    layers.into_iter().filter(is_there).collect()
}
