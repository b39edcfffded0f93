//! The folder of ralph's files in a project, kept out of git.

use std::path::Path;

use ralph_core::setup::PROJECT_DIR;

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
    let dir = project.join(PROJECT_DIR);
    fs_err::create_dir_all(&dir)?;
    let ignore = dir.join(".gitignore");
    if !ignore.exists() {
        fs_err::write(&ignore, IGNORED)?;
    }
    git::exclude_own_files(project)
}
