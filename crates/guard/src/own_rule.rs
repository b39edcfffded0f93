//! A rule that a user has added.

use serde::Serialize;

use super::tier::Tier;

/// A rule that a user has added. It can only refuse more, never less.
#[derive(Clone, Debug, Serialize)]
pub struct OwnRule {
    /// Its name, which no other rule has.
    pub id: String,
    /// What follows when it matches.
    pub tier: Tier,
    /// What the agent should do instead.
    pub instead: String,
    pub(crate) patterns: Vec<String>,
    pub(crate) unless: Vec<String>,
    pub(crate) writes: Vec<String>,
}
