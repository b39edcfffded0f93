//! What a turn committed that its loop has no business with: a plan is no code.

use std::{io, path::Path};

use ralph_core::path_pattern::is_meant;

use crate::{driver::site::Site, project::git::Git};

/// As many files are recorded.
const MAX_FILES: usize = 100;

/// The files of the commits since the turn began that are no plan, no specification, and nothing that the settings
/// allow; none where every file may be touched.
pub(super) fn files(site: &mut Site, git: &Git) -> io::Result<Vec<String>> {
    let (Some(allowed), Some(plan)) = (site.setup.may_touch.clone(), site.setup.plan_file.clone()) else {
        return Ok(Vec::new());
    };
    let before = site.run().memory.turn.as_ref().and_then(|last| last.turn.head.clone());
    let committed = git.committed_since(&mut site.supervisor, before.as_deref())?;
    let project = site.setup.project.clone();
    let is_known = |path: &Path| {
        let Some(path) = path.to_str() else { return false };
        path == plan.path
            || Path::new(path).starts_with(&plan.specs)
            || allowed.iter().any(|it| is_meant(path, it))
    };
    let mut beyond: Vec<String> = committed
        .iter()
        .map(|path| git.top().join(path))
        .filter(|path| !path.strip_prefix(&project).is_ok_and(is_known))
        .map(|path| path.strip_prefix(&project).unwrap_or(&path).display().to_string())
        .collect();
    beyond.truncate(MAX_FILES);
    Ok(beyond)
}
