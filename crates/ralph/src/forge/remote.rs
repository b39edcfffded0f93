//! Which repository elsewhere a project belongs to.

use std::{env, ffi::OsString, path::Path};

use ralph_core::forge::{Forge, RemoteRepository};
use ralph_sys::{
    calls::looking_git,
    error::{Error, Result},
    process::Supervisor,
};

/// Most of what git says.
const MAX_OUTPUT_LEN: usize = 64 * 1024;

/// The repository on GitHub that a project belongs to.
pub(crate) fn remote(supervisor: &mut Supervisor, project: &Path) -> Result<RemoteRepository> {
    let found = anywhere(supervisor, project);
    if let Some(found) = found.iter().find(|it| it.forge == Forge::GitHub) {
        return Ok(found.clone());
    }
    Err(match remote_name(supervisor, project) {
        None => Error::new("the project has no remote repository, so it has no issues")
            .hint("add it: git remote add origin https://github.com/OWNER/NAME"),
        Some(name) => Error::new(format!("the remote `{name}` is not a repository on GitHub"))
            .hint("issues are read by `gh`; for a server of your own, set GH_HOST to its name"),
    })
}

/// Where the remote of a project leads: as its address is written, and as git understands that.
pub(crate) fn anywhere(supervisor: &mut Supervisor, project: &Path) -> Vec<RemoteRepository> {
    let Some(name) = remote_name(supervisor, project) else { return Vec::new() };
    let host = env::var("GH_HOST").ok();
    let written = ask(supervisor, project, &["config", "--get", &format!("remote.{name}.url")]);
    let meant = ask(supervisor, project, &["remote", "get-url", &name]);
    [written, meant]
        .iter()
        .filter_map(|address| RemoteRepository::of(&name, address, host.as_deref()))
        .collect()
}

/// The remote that the branch belongs to, or the only one, or `origin`.
pub(crate) fn remote_name(supervisor: &mut Supervisor, project: &Path) -> Option<String> {
    let branch = ask(supervisor, project, &["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let own = ask(supervisor, project, &["config", "--get", &format!("branch.{branch}.remote")]);
    if !own.is_empty() && own != "." {
        return Some(own);
    }
    let all = ask(supervisor, project, &["remote"]);
    match all.lines().count() {
        0 => None,
        1 => Some(all),
        _ => Some("origin".to_owned()),
    }
}

fn ask(supervisor: &mut Supervisor, project: &Path, words: &[&str]) -> String {
    let spec = looking_git(project, words.iter().map(OsString::from).collect());
    let captured = supervisor.capture(spec, MAX_OUTPUT_LEN);
    captured.map(|captured| String::from_utf8_lossy(&captured.out).trim().to_owned()).unwrap_or_default()
}
