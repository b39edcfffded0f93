//! The settings of the sandbox: a level, or an object.

use std::collections::BTreeMap;

use ralph_core::containment::{
    environment::is_pattern,
    hosts::{Host, REGISTRIES, of_agent},
    level::{Choice, Level},
    limits::{SandboxLimits, USUAL_FILE_SIZE, USUAL_FREE_DISK},
    wanted::{GatesRun, PROCESSES, Wanted},
};
use ralph_core::located::{
    fields::{Fields, read_root},
    node::Node,
    report::Report,
};
use ralph_sandbox::machine_memory;
use schemars::JsonSchema;
use serde::Serialize;

use super::layers::{expand, position_of};
use super::read::MANNER;
use super::value::{boolean, choice, command, filled, positive, size_limit, string, wrong_value};

/// What contains the agent and what it starts. A level alone stands for `{"level": ...}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct SandboxSettings {
    /// The kind: `auto` takes the first that works. Without it, the command decides: most take `none`.
    #[schemars(schema_with = "super::schema::sandbox_level")]
    pub(crate) level: Option<Choice>,
    /// More that may be written inside: absolute, relative to the project, or with `~` for your home.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(crate) writable: Vec<String>,
    /// More of your home that can be read inside, in addition to tools: absolute, or with `~`; `~` alone is
    /// everything except secrets. It applies only in your own settings.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(crate) readable: Vec<String>,
    /// More variables of your environment to pass inside, in addition to harmless ones and those of the agent:
    /// `NAME`, or `BEGINNING_*`. They apply only in your own settings.
    #[schemars(schema_with = "super::schema::variable_names")]
    pub(crate) env: Vec<String>,
    /// More hosts that can be reached, in addition to the agent's own: `example.com`, `*.example.com`, or with a port
    /// `example.com:8443`. An entry with a port applies only in your own settings, not in the project's.
    #[schemars(schema_with = "super::schema::hosts")]
    pub(crate) hosts: Vec<Host>,
    /// Ports of this machine that can be reached from inside. They apply only in your own settings.
    #[schemars(inner(range(min = 1)))]
    pub(crate) loopback_ports: Vec<u16>,
    /// Let package managers reach their registries: those of JavaScript, Python, Rust, Go,
    /// Ruby, Java, .NET and PHP. Cargo, rustup, Go, nvm, pyenv, asdf, mise, uv and pip can install.
    pub(crate) packages: bool,
    /// Whether guardrails run inside, with the agent, or outside, with all your rights.
    #[schemars(schema_with = "super::schema::gates_run")]
    pub(crate) gates: GatesRun,
    /// How many processes and threads there may be inside at once.
    #[schemars(range(min = 1))]
    pub(crate) max_processes: u32,
    /// How much memory the processes inside may use together, in bytes or as `8GB`. Without it, seven eighths of what the machine has. `0` switches the limit off.
    #[schemars(schema_with = "super::schema::size")]
    pub(crate) max_memory: Option<u64>,
    /// The largest file that processes inside may write, in bytes or as `20GB`. `0` switches the limit off.
    #[schemars(schema_with = "super::schema::size")]
    pub(crate) max_file_size: u64,
    /// How much disk space must stay free, in bytes or as `200MB`. With less, ralph ends everything inside. `0` switches the limit off.
    #[schemars(schema_with = "super::schema::size")]
    pub(crate) min_free_disk: u64,
    /// The image of the container, for `docker`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) image: Option<String>,
    /// Other command lines for `sbx`.
    pub(crate) sbx: SbxSettings,
}

/// Command lines for `sbx`. A word in braces stands for something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct SbxSettings {
    /// Closes the network of all virtual machines before the first one is made.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) policy: Option<String>,
    /// Makes a machine: `{name}`, `{agent}`, `{dir}`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) create: Option<String>,
    /// Opens its network for a host: `{name}`, `{host}`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) allow: Option<String>,
    /// Runs its agent: `{name}`, `{args}`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) run: Option<String>,
    /// Runs a command in it: `{name}`, `{dir}`, `{args}`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) exec: Option<String>,
    /// Ends it: `{name}`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) stop: Option<String>,
}

impl SbxSettings {
    fn by_verb(&self) -> BTreeMap<String, String> {
        let Self { policy, create, allow, run, exec, stop } = self;
        let all = [
            ("policy", policy),
            ("create", create),
            ("allow", allow),
            ("run", run),
            ("exec", exec),
            ("stop", stop),
        ];
        all.into_iter().filter_map(|(verb, line)| Some((verb.to_owned(), line.clone()?))).collect()
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            level: None,
            writable: Vec::new(),
            readable: Vec::new(),
            env: Vec::new(),
            hosts: Vec::new(),
            loopback_ports: Vec::new(),
            packages: false,
            gates: GatesRun::Inside,
            max_processes: PROCESSES,
            max_memory: None,
            max_file_size: USUAL_FILE_SIZE,
            min_free_disk: USUAL_FREE_DISK,
            image: None,
            sbx: SbxSettings::default(),
        }
    }
}

impl SandboxSettings {
    /// What a run with this agent wants, where the command takes `usual` by itself.
    pub(crate) fn wanted(&self, agent: &str, usual: Choice) -> Wanted {
        let level = self.level.unwrap_or(usual);
        if level == Choice::Level(Level::None) {
            return Wanted::default();
        }
        let registries: &[&str] = if self.packages { &REGISTRIES } else { &[] };
        let ports = self.loopback_ports.iter().map(|port| format!("127.0.0.1:{port}"));
        let listed = of_agent(agent).iter().chain(registries).map(|host| (*host).to_owned()).chain(ports);
        let known = listed.filter_map(|host| Host::parse(&host).ok());
        Wanted {
            level,
            writable: self.writable.clone(),
            readable: self.readable.clone(),
            env: self.env.clone(),
            hosts: known.chain(self.hosts.iter().cloned()).collect(),
            packages: self.packages,
            gates: self.gates,
            processes: self.max_processes,
            limits: self.limits(),
            image: self.image.clone(),
            sbx: self.sbx.by_verb(),
        }
    }
}

impl SandboxSettings {
    fn limits(&self) -> SandboxLimits {
        let unless_off = |bytes: u64| Some(bytes).filter(|bytes| *bytes != 0);
        let memory = match self.max_memory {
            Some(most) => unless_off(most),
            None => machine_memory().map(|all| all - all / 8),
        };
        SandboxLimits {
            memory,
            file_size: unless_off(self.max_file_size),
            free_disk: unless_off(self.min_free_disk),
        }
    }
}

/// Reads the key, in either form.
pub(super) fn read(fields: &mut Fields<'_, '_>, settings: &mut SandboxSettings) {
    if fields.is_string("sandbox") {
        settings.level = fields.take("sandbox", a_level);
    } else {
        fields.object("sandbox", |fields| read_members(fields, settings));
    }
}

fn read_members(fields: &mut Fields<'_, '_>, settings: &mut SandboxSettings) {
    settings.level = fields.take("level", a_level);
    settings.writable = fields.each("writable", |node| filled(node, "a path")).unwrap_or_default();
    settings.readable = fields.each("readable", |node| filled(node, "a path")).unwrap_or_default();
    settings.env = fields.each("env", a_variable).unwrap_or_default();
    settings.hosts = fields.each("hosts", |node| Host::parse(string(node)?)).unwrap_or_default();
    settings.loopback_ports = fields.each("loopbackPorts", a_port).unwrap_or_default();
    fields.set("packages", &mut settings.packages, boolean);
    fields.set("gates", &mut settings.gates, |node| choice(node, &GatesRun::NAMES));
    fields.set("maxProcesses", &mut settings.max_processes, positive);
    settings.max_memory = fields.take("maxMemory", size);
    fields.set("maxFileSize", &mut settings.max_file_size, size);
    fields.set("minFreeDisk", &mut settings.min_free_disk, size);
    settings.image = fields.take("image", |node| filled(node, "the name of an image"));
    fields.object("sbx", |fields| read_sbx(fields, &mut settings.sbx));
}

fn read_sbx(fields: &mut Fields<'_, '_>, sbx: &mut SbxSettings) {
    sbx.policy = fields.take("policy", command);
    sbx.create = fields.take("create", command);
    sbx.allow = fields.take("allow", command);
    sbx.run = fields.take("run", command);
    sbx.exec = fields.take("exec", command);
    sbx.stop = fields.take("stop", command);
}

fn a_level(node: &Node) -> Result<Choice, String> {
    choice(node, &Choice::NAMES)
}

fn size(node: &Node) -> Result<u64, String> {
    size_limit(node).map(Option::unwrap_or_default)
}

fn a_variable(node: &Node) -> Result<String, String> {
    let name = string(node)?;
    if is_pattern(name) {
        return Ok(name.to_owned());
    }
    Err(wrong_value("the name of a variable, or its beginning with a `*`", node))
}

fn a_port(node: &Node) -> Result<u16, String> {
    positive(node).and_then(|port| u16::try_from(port).map_err(|_| "expected a port number".to_owned()))
}

/// Turns a level alone into an object, so that layers with either form merge.
pub(super) fn as_object(root: &mut Node) {
    expand(root, "sandbox", "level");
}

/// What only the user may open, found in the settings of the project.
pub(super) fn refuse_from_project(node: &Node, report: &mut Report) {
    let mut settings = SandboxSettings::default();
    let mut quiet = Report::default();
    read_root(&MANNER, node, &mut quiet, |fields| read(fields, &mut settings));
    let mut refuse = |key: &str| {
        report.problem(
            position_of(node, &["sandbox", key]),
            &format!("sandbox.{key}"),
            "only your own settings may open this machine: put it into .ralph/settings.local.json",
        );
    };
    if !settings.loopback_ports.is_empty() {
        refuse("loopbackPorts");
    }
    if !settings.readable.is_empty() {
        refuse("readable");
    }
    if !settings.env.is_empty() {
        refuse("env");
    }
    if settings.hosts.iter().any(Host::is_explicit) {
        refuse("hosts");
    }
}
