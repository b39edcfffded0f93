//! What it costs to start a process inside a sandbox.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::{
    Effort,
    clock::{self, interleave},
    place::Place,
    table::Table,
};

const LIMIT: Duration = Duration::from_millis(20);
const LAYERS: usize = 42;

/// Measures the start of a process with and without.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let project = fs_err::canonicalize(place.current("project"))?;
    let rules = place.path("sandbox.json");
    // As many layers as a run in a usual project has.
    let mut layers = vec![json!({"path": project, "access": "write"})];
    for (number, access) in (0..).zip(["read", "hide", "write"].into_iter().cycle().take(LAYERS)) {
        let folder = project.join(format!("layers/{number}"));
        fs_err::create_dir_all(&folder)?;
        layers.push(json!({"path": folder, "access": access}));
    }
    // The sandbox has a /dev of its own, which hides the programs where temporary files are in /dev/shm.
    layers.push(json!({"path": place.noop, "access": "read"}));
    let policy = json!({"layers": layers, "tmp": project, "hosts": [], "env": {}, "processes": 4096});
    fs_err::write(&rules, policy.to_string())?;
    let inside = || {
        let mut ralph = place.ralph()?;
        ralph.args(["sandboxed", "embedded"]).arg(&rules).arg("--").arg(&place.noop);
        clock::run(&mut ralph, 0)
    };
    let ([noop, contained], note) = interleave(
        effort.rounds(200),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("inside", Box::new(inside)),
        ],
    )?;
    table.ratio("a process in the embedded sandbox, against a no-op", noop.seconds, contained.seconds, 40.0);
    table.time("  more than without", contained.seconds - noop.seconds, LIMIT);
    table.note(format!("sandbox, {note}"));
    Ok(())
}
