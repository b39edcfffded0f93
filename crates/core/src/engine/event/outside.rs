//! What there is outside of the project that judges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verify::outside::OutsideSeen;

/// What there is, and which moment it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideLooked {
    /// When.
    pub moment: Moment,
    /// What.
    #[serde(flatten)]
    pub seen: OutsideSeen,
}

/// When ralph looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before anything of the run ran, or what a person changed since is part of it: claims are compared with this.
    Base,
    /// A process of the run leaves it like this.
    Left,
}
