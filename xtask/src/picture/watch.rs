//! The screen of `ralph watch` on the run of the demo.

use std::{num::NonZeroU16, path::Path, process::Command};

use anyhow::{Context, Result, ensure};

use super::svg;
use crate::{cargo::root, say, terminal::Terminal};

const COLUMNS: NonZeroU16 = NonZeroU16::new(96).expect("not zero");
const ROWS: NonZeroU16 = NonZeroU16::new(26).expect("not zero");

/// Runs the demo, looks at it, and draws what is on the screen.
pub(super) fn take(program: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let command = |args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("TMPDIR", folder.path()).env("HOME", folder.path()).env("LANG", "C.UTF-8");
        command
    };
    let demo = command(&["demo", "--keep"]).output().context("cannot start the demo")?;
    ensure!(demo.status.success(), "the demo ended with {}", demo.status);
    let kept = fs_err::read_dir(folder.path())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.join("greeter").exists())
        .context("the demo kept nothing")?;
    let mut watch = command(&["watch"]);
    watch.current_dir(kept.join("greeter")).env("RALPH_STATE_DIR", kept.join("state"));
    let mut terminal = Terminal::start(watch, COLUMNS, ROWS)?;
    terminal.until("complete")?;
    terminal.until("DONE")?;
    let path = root().join("docs/watch.svg");
    fs_err::write(&path, svg::draw(terminal.screen(), ROWS.get(), &[]))?;
    terminal.press("q")?;
    terminal.wait()?;
    say(&format!("written: {}; now look at it\n", path.display()));
    Ok(())
}
