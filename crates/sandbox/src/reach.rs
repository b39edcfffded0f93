//! What processes inside can get at.

use std::path::Path;

use ralph_core::containment::{
    level::Level,
    policy::{self, Access},
};

use super::Sandbox;

impl Sandbox {
    /// Whether processes inside can get at what is at a path. What is not there is out of reach.
    pub fn reaches(&self, path: &Path) -> bool {
        let Ok(real) = std::fs::canonicalize(path) else { return false };
        let layers = policy::layers(&self.places);
        // They are sorted: the last one that has it is the innermost.
        let decides = layers.iter().rfind(|layer| real.starts_with(&layer.path));
        match (self.level(), decides.map(|layer| layer.access)) {
            // Nothing of the machine is in these kinds but what they are given.
            (_, Some(Access::Hide)) | (Level::Docker | Level::Sbx, None) => false,
            (_, Some(Access::Read | Access::Write) | None) => true,
        }
    }
}
