//! The folder of ralph's files in a project, kept out of git.

use std::path::Path;

use ralph_core::setup::PROJECT_DIR;
use ralph_sys::files::{Readers, Root};

use crate::project::git;

/// What git sees of the folder.
const IGNORED: &str = "\
# Runtime files of ralph. Settings, prompts and the plan belong to the project.
*
!settings.json
!settings.schema.json
!prompts/
!prompts/**
!implementation_plan.md
";

/// Makes `.ralph/` and keeps what ralph writes there out of git; settings and prompts stay visible.
pub(crate) fn hide(project: &Path) -> std::io::Result<()> {
    let excluded = git::exclude_own_files(project);
    let (root, ignore) = (Root::new(project), Path::new(PROJECT_DIR).join(".gitignore"));
    root.make_folder(PROJECT_DIR)?;
    if !project.join(&ignore).exists() {
        root.replace(&ignore, IGNORED.as_bytes(), Readers::AsBefore)?;
    }
    excluded
}
