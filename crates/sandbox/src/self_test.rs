//! Tries a kind of sandbox before a run depends on it: a program must start inside, a write and a connection that
//! are forbidden must be refused, and so must the settings of the kernel.

use std::{
    env,
    ffi::OsString,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::containment::{
    level::{Choice, Level},
    policy::{Access, Layer, Policy},
    wanted::{PROCESSES, Wanted},
};
use ralph_sys::{
    calls::{refusal, succeeded},
    error::{Error, Result},
    process::{Spec, Supervisor},
};

use super::{own_file, seatbelt, wrapped::wrapped};

/// The hidden command that tries what is forbidden.
pub const COMMAND: &str = "sandbox-probe";
/// How long a test may take. A container may have to be fetched first, and then is not ready.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Most of what it says.
const MAX_OUTPUT_LEN: usize = 16 * 1024;

/// Files that rule the whole machine. They are opened and never written.
const KERNEL_SETTINGS: [&str; 3] =
    ["/proc/sys/kernel/domainname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger"];

/// The kind that a run gets: the one that was asked for, or the first that works.
pub fn choose(supervisor: &mut Supervisor, wanted: &Wanted) -> Result<Level> {
    match wanted.level {
        Choice::Level(Level::None) => Ok(Level::None),
        Choice::Level(level) => obstacle(supervisor, level, wanted).map_or(Ok(level), |why| {
            Err(Error::new(format!("the sandbox `{}` does not work here: {why}", level.name()))
                .hint("see what works: ralph sandbox check")
                .hint("take the first that works: --sandbox auto, or none: --no-sandbox"))
        }),
        Choice::Auto => {
            let mut reasons = Vec::new();
            for level in Level::AUTO {
                match obstacle(supervisor, level, wanted) {
                    None => return Ok(level),
                    Some(why) => reasons.push(format!("{}: {why}", level.name())),
                }
            }
            Err(Error::new(format!("no kind of sandbox works here ({})", reasons.join("; ")))
                .hint("see what would help: ralph sandbox check")
                .hint("run without one, if you must: --no-sandbox"))
        }
    }
}

/// Why a kind does not work here; nothing if it does.
pub fn obstacle(supervisor: &mut Supervisor, level: Level, wanted: &Wanted) -> Option<String> {
    match level {
        Level::Embedded | Level::Landlock => try_out(supervisor, level).err(),
        Level::Bwrap => missing("bwrap").or_else(|| try_out(supervisor, level).err()),
        Level::Seatbelt if cfg!(target_os = "macos") => {
            missing("sandbox-exec").or_else(|| try_out(supervisor, level).err())
        }
        Level::Seatbelt => Some("it is for macOS".to_owned()),
        Level::Docker => missing("docker").or_else(|| match &wanted.image {
            None => Some("it needs an image: \"sandbox\": {\"image\": \"...\"} in the settings".to_owned()),
            Some(image) => answers(supervisor, "docker", &["run", "--rm", "--pull", "never", image, "true"]),
        }),
        Level::Sbx => missing("sbx").or_else(|| answers(supervisor, "sbx", &["ls", "--json"])),
        Level::None => None,
    }
}

fn missing(program: &str) -> Option<String> {
    which::which(program).is_err().then(|| "it is not installed".to_owned())
}

fn answers(supervisor: &mut Supervisor, program: &str, args: &[&str]) -> Option<String> {
    let spec = spec(program.into(), args.iter().map(OsString::from).collect(), Path::new("/"));
    match supervisor.capture(spec, MAX_OUTPUT_LEN) {
        Ok(captured) if succeeded(&captured) => None,
        Ok(captured) => Some(first_line(&refusal(&captured))),
        Err(error) => Some(error.to_string()),
    }
}

fn try_out(supervisor: &mut Supervisor, level: Level) -> std::result::Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let folder = tempfile::Builder::new().prefix("ralph-sandbox-").tempdir().map_err(failed)?;
    let root = std::fs::canonicalize(folder.path()).map_err(failed)?;
    Preflight::prepare(&root, level).map_err(failed)?.check(supervisor)
}

/// What a test stands on.
struct Preflight {
    spec: Spec,
    outside: PathBuf,
    /// Something to connect to that is forbidden.
    listener: TcpListener,
    is_shut_off: bool,
}

impl Preflight {
    fn prepare(root: &Path, level: Level) -> io::Result<Self> {
        let (project, outside, tmp) = (root.join("project"), root.join("outside"), root.join("tmp"));
        for folder in [&project, &outside, &tmp] {
            fs_err::create_dir_all(folder)?;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let layers =
            [&project, &tmp].map(|path| Layer { path: path.clone(), access: Access::Write }).to_vec();
        let policy = Policy { layers, tmp, processes: PROCESSES, ..Policy::default() };
        let rules = root.join("sandbox.json");
        own_file::write(&rules, &serde_json::to_vec(&policy)?)?;
        let outside = outside.join("written");
        let args: Vec<OsString> = vec![
            COMMAND.into(),
            project.join("written").into(),
            outside.clone().into(),
            listener.local_addr()?.port().to_string().into(),
        ];
        let spec = spec(env::current_exe()?.into(), args, &project);
        let spec = match level {
            Level::Seatbelt => seatbelt::wrap(&policy, spec),
            _ => wrapped(level, &rules, None, spec)?,
        };
        // A profile for Seatbelt leaves the network alone, which `Level` says.
        Ok(Self { spec, outside, listener, is_shut_off: level != Level::Seatbelt })
    }

    fn check(self, supervisor: &mut Supervisor) -> std::result::Result<(), String> {
        let captured = supervisor.capture(self.spec, MAX_OUTPUT_LEN).map_err(|error| error.to_string())?;
        if !succeeded(&captured) {
            let said = first_line(&refusal(&captured));
            return Err(said.trim_start_matches("error: ").to_owned());
        }
        // No one has to take the word of the process inside.
        let is_connected = self.listener.set_nonblocking(true).is_ok() && self.listener.accept().is_ok();
        if self.outside.exists() {
            return Err("a write outside of the project went through".to_owned());
        }
        if self.is_shut_off && is_connected {
            return Err("a connection to the machine itself went through".to_owned());
        }
        Ok(())
    }
}

/// What the hidden command does inside.
pub fn probe(inside: &Path, outside: &Path, port: u16) -> Result<u8> {
    if let Err(error) = std::fs::write(inside, "") {
        return Err(Error::new(format!("a write inside the project was refused: {error}")));
    }
    if std::fs::write(outside, "").is_ok() {
        return Err(Error::new("a write outside of the project went through"));
    }
    for setting in KERNEL_SETTINGS {
        if std::fs::OpenOptions::new().write(true).open(setting).is_ok() {
            return Err(Error::new(format!("{setting} could be written")));
        }
    }
    // Whether it went through is seen outside: in here it may have reached a port of the sandbox's own, or itself.
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let _ = TcpStream::connect_timeout(&address, TRIAL_TIMEOUT);
    Ok(0)
}

fn spec(program: OsString, args: Vec<OsString>, dir: &Path) -> Spec {
    Spec::new(program, dir).args(args).within(TRIAL_TIMEOUT)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
