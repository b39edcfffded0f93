//! What kind of work a turn of a stories loop does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of work a turn does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The prompt says.
    #[default]
    Work,
    /// Implement the next story.
    Implement,
    /// Review a story in a fresh context.
    Review,
    /// Mend what the review found.
    Fix,
}

impl Mode {
    /// Its name in prompts and in `.ralph-active`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Fix => "review-fix",
        }
    }

    /// Its name in a sentence.
    pub fn with_article(self) -> String {
        let article = if self == Self::Implement { "an" } else { "a" };
        format!("{article} {}", self.name())
    }
}
