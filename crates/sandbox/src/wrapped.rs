//! A process on its way inside, by way of ralph itself.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use ralph_core::containment::level::Level;
use ralph_sys::process::Spec;

use super::spool;

/// The hidden command of the process outside.
pub const COMMAND: &str = "sandboxed";

/// Variables by which ralph tells a process where to leave what is meant for ralph or for later.
const WRITTEN: [&str; 2] = [spool::VARIABLE, "RUN_FOLDER"];

/// The folders that ralph tells a process to write to.
pub(super) fn written_folders(spec: &Spec) -> impl Iterator<Item = PathBuf> {
    let set = WRITTEN.into_iter().filter_map(|name| spec.env.iter().find(|(known, _)| known == name));
    set.filter_map(|(_, value)| std::fs::canonicalize(value.as_ref()?).ok())
}

/// A process that runs inside, by way of ralph itself.
pub(super) fn wrapped(level: Level, rules: &Path, log: Option<&Path>, spec: Spec) -> io::Result<Spec> {
    let mut args: Vec<OsString> = vec![COMMAND.into(), level.name().into(), rules.into()];
    args.extend(log.into_iter().flat_map(|log| ["--log".into(), log.into()]));
    args.extend(["--".into(), spec.program]);
    args.extend(spec.args);
    Ok(Spec { program: env::current_exe()?.into(), args, ..spec })
}
