//! Calls of git that trust no one: no configuration but ralph's own, no hooks, no replaced objects, nothing that is
//! fetched on the way.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use ralph_sys::{
    calls,
    process::{Captured, Spec, Supervisor},
};

/// Enough for a list of a million files.
const MAX_OUTPUT_LEN: usize = 256 * 1024 * 1024;

/// What every call is told. Times of files that cannot be set back are part of what is compared.
const FIXED: [&str; 10] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "maintenance.auto=false",
    "gc.auto=0",
    "advice.detachedHead=false",
];

/// Whose configuration a call reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Config<'a> {
    /// The user's, of the machine and of the repository.
    User,
    /// This file and that of the repository.
    Own(&'a Path),
}

/// A call that is being put together.
pub(super) struct GitCall {
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    dir: PathBuf,
    input: Option<Vec<u8>>,
}

impl GitCall {
    /// A call in this folder.
    pub(super) fn new(dir: &Path, config: Config<'_>) -> Self {
        let mut args: Vec<OsString> = vec!["--no-pager".into()];
        args.extend(FIXED.iter().flat_map(|setting| [OsString::from("-c"), setting.into()]));
        let mut env: Vec<(OsString, Option<OsString>)> = Vec::new();
        let mut set = |name: &str, value: &OsStr| env.push((name.into(), Some(value.into())));
        for name in ["GIT_NO_REPLACE_OBJECTS", "GIT_NO_LAZY_FETCH", "GIT_ATTR_NOSYSTEM"] {
            set(name, OsStr::new("1"));
        }
        set("GIT_OPTIONAL_LOCKS", OsStr::new("0"));
        // `check-ignore` refuses them. No call here has a path from elsewhere among its arguments.
        set("GIT_LITERAL_PATHSPECS", OsStr::new("0"));
        if let Config::Own(file) = config {
            set("GIT_CONFIG_NOSYSTEM", OsStr::new("1"));
            set("GIT_CONFIG_GLOBAL", file.as_os_str());
        }
        Self { args, env, dir: dir.to_owned(), input: None }
    }

    /// For this repository.
    pub(super) fn git_dir(self, dir: &Path) -> Self {
        self.variable("GIT_DIR", dir.as_os_str())
    }

    /// With these files.
    pub(super) fn work_tree(self, dir: &Path) -> Self {
        self.variable("GIT_WORK_TREE", dir.as_os_str())
    }

    /// With this index.
    pub(super) fn index(self, file: &Path) -> Self {
        self.variable("GIT_INDEX_FILE", file.as_os_str())
    }

    /// With this variable in the environment.
    pub(super) fn variable(mut self, name: &str, value: &OsStr) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// With this setting.
    pub(super) fn setting(mut self, setting: impl Into<OsString>) -> Self {
        self.args.extend([OsString::from("-c"), setting.into()]);
        self
    }

    /// With this on its standard input.
    pub(super) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// With these arguments.
    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Calls git and returns what it printed, or why it refused.
    pub(super) fn run(self, supervisor: &mut Supervisor) -> io::Result<Result<Vec<u8>, String>> {
        let captured = self.capture(supervisor)?;
        Ok(if calls::succeeded(&captured) { Ok(captured.out) } else { Err(calls::refusal(&captured)) })
    }

    /// Calls git, which must succeed.
    pub(super) fn must(self, supervisor: &mut Supervisor, what: &str) -> io::Result<Vec<u8>> {
        self.run(supervisor)?.map_err(|error| io::Error::other(format!("{what}: {error}")))
    }

    /// The same without a supervisor: where others are at work whom a supervisor would end.
    #[cfg(feature = "nats")]
    pub(super) fn alone(self, what: &str) -> io::Result<Vec<u8>> {
        let output = ralph_sys::process::at_once(&self.spec())?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(io::Error::other(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }

    pub(super) fn capture(self, supervisor: &mut Supervisor) -> io::Result<Captured> {
        supervisor.capture(self.spec(), MAX_OUTPUT_LEN)
    }

    fn spec(self) -> Spec {
        let mut spec = calls::unattended("git".into(), &self.dir, self.args);
        // Ralph may have been started by git itself, with variables that lead elsewhere. The last word counts.
        let inherited =
            std::env::vars_os().map(|(name, _)| name).filter(|name| name.as_bytes().starts_with(b"GIT_"));
        let removed = inherited.map(|name| (name, None));
        spec.env = removed.chain(std::mem::take(&mut spec.env)).chain(self.env).collect();
        Spec { input: self.input, ..spec }
    }
}

/// The parts of an output that are separated by NUL.
pub(super) fn parts(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// A path as git prints it.
pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The text of an output, without the end of its last line.
pub(super) fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end_matches('\n').to_owned()
}
