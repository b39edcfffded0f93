//! Files that a run is started with: a prompt that says something, and what is written where there is nothing.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use ralph_core::setup::PromptSource;
use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN, Readers, Root},
};

/// Writes the files that are not there.
pub(super) fn write_absent(project: &Path, drafts: &[(PathBuf, Cow<'static, str>)]) -> Result<()> {
    for (path, text) in drafts.iter().filter(|(path, _)| path.symlink_metadata().is_err()) {
        Root::around(project, path)
            .replace(path, text.as_bytes(), Readers::AsBefore)
            .context(format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A prompt that is still to be written says what it says.
pub(in crate::driver) fn check_prompt(
    prompt: &PromptSource,
    drafts: &[(PathBuf, Cow<'static, str>)],
) -> Result<()> {
    let Some(path) = prompt.path() else { return Ok(()) };
    if path.symlink_metadata().is_err() && drafts.iter().any(|(draft, _)| draft == path) {
        return Ok(());
    }
    let text = files::read(path, MAX_TEXT_LEN)
        .map_err(|error| Error::new(format!("cannot read the prompt file `{}`: {error}", path.display())))?;
    if text.trim_ascii().is_empty() {
        return Err(Error::new(format!("the prompt file `{}` is empty", path.display())));
    }
    Ok(())
}
