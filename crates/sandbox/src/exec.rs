//! Runs any command inside, for a person who wants to try things.

use std::{collections::BTreeMap, ffi::OsString, io, path::Path};

use ralph_core::containment::{contact::Contact, environment::stays_outside, wanted::Wanted};
use ralph_sys::{
    calls,
    process::{Spec, Supervisor},
};

use super::{Sandbox, SandboxRequest};

impl Sandbox {
    /// Runs a command inside, in the foreground. Returns its exit code; what a person should know is noticed.
    pub fn try_command(
        wanted: Wanted,
        agent: &'static str,
        project: &Path,
        command: &[OsString],
        notice: &mut dyn FnMut(&str),
    ) -> io::Result<u8> {
        let folder = tempfile::Builder::new().prefix("ralph-sandbox-").tempdir()?;
        let folder_path = std::fs::canonicalize(folder.path())?;
        let mut supervisor = Supervisor::new()?;
        let request = SandboxRequest {
            project,
            agent,
            program: Path::new(""),
            env: &BTreeMap::new(),
            work: None,
            folder: &folder_path,
            cache: folder_path.join("cache"),
            id: format!("exec-{}", std::process::id()),
            secrets: Vec::new(),
        };
        let mut sandbox = Self::prepare(wanted, request, &mut supervisor)?;
        for warning in sandbox.warnings().into_iter().chain(stays_outside(&sandbox.withheld_variables())) {
            notice(&warning);
        }
        let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let spec = sandbox.wrap(plain(program, args, project))?;
        let mut inside = std::process::Command::new(&spec.program);
        inside.args(&spec.args).current_dir(project);
        for (name, value) in &spec.env {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        let code = ralph_sys::process::foreground(&mut inside);
        for contact in sandbox.connections() {
            let Contact { host, refused } = &contact;
            if let Some(why) = refused {
                let hint = contact.hint().map(|hint| format!("; to allow it: {hint}")).unwrap_or_default();
                notice(&format!("the sandbox refused a connection to {host}: {why}{hint}"));
            }
        }
        sandbox.finish(&mut supervisor);
        code
    }
}

/// A process with nothing special about it.
fn plain(program: &OsString, args: &[OsString], dir: &Path) -> Spec {
    calls::unattended(program.clone(), dir, args.to_vec())
}
