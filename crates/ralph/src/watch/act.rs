//! What a key does to a run: the command of the same name, in a process of its own.

use std::{env, io, path::Path};

use ralph_sys::process::{Spec, at_once, detach};

use crate::term::fit::one_line;

/// Calls ralph; returns what it answers, and whether that is bad news.
pub(super) fn call(args: &[String], project: &Path) -> (String, bool) {
    let said = env::current_exe().and_then(|me| at_once(&Spec::new(me, project).args(args.to_vec())));
    match said {
        Ok(said) if said.status.success() => (first_line(&said.stdout), false),
        Ok(said) => (first_line(&said.stderr), true),
        Err(error) => (error.to_string(), true),
    }
}

/// Starts ralph so that it outlives this process; returns what it answers where it ends soon.
pub(super) fn start(args: &[String], project: &Path) -> (String, bool) {
    match begun(args, project) {
        Ok(None) => ("it continues in the background".to_owned(), false),
        Ok(Some(refusal)) => (refusal, true),
        Err(error) => (error.to_string(), true),
    }
}

/// Starts it, and waits until it has begun or says why not.
fn begun(args: &[String], project: &Path) -> io::Result<Option<String>> {
    let args: Vec<_> = ["-C".into(), project.into()].into_iter().chain(args.iter().map(Into::into)).collect();
    let mut apart = detach::start_apart(&args)?;
    Ok(apart.refused_within(detach::BEGIN_TIMEOUT)?.map(|(said, _)| first_line(said.as_bytes())))
}

/// The first thing that it says.
fn first_line(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("done");
    one_line(line).into_owned()
}
