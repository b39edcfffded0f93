//! The kinds of sandboxes, and what each of them does not cover.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Namespaces that ralph makes itself.
    Embedded,
    /// The same by the `bwrap` program.
    Bwrap,
    /// No namespaces: the kernel refuses writes and connections.
    Landlock,
    /// The sandbox of macOS.
    Seatbelt,
    /// Docker's small virtual machines.
    Sbx,
    /// A container.
    Docker,
    /// No sandbox.
    #[default]
    None,
}

/// What the settings or a flag ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Choice {
    /// The first level that works here.
    Auto,
    /// This level and no other.
    Level(Level),
}

impl From<Choice> for String {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Auto => "auto".to_owned(),
            Choice::Level(level) => level.name().to_owned(),
        }
    }
}

impl TryFrom<String> for Choice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("there is no sandbox of the kind `{name}`"))
    }
}

impl Choice {
    /// Every choice with the name that settings and flags use.
    pub const NAMES: [(&str, Self); 8] = [
        ("auto", Self::Auto),
        ("embedded", Self::Level(Level::Embedded)),
        ("bwrap", Self::Level(Level::Bwrap)),
        ("landlock", Self::Level(Level::Landlock)),
        ("seatbelt", Self::Level(Level::Seatbelt)),
        ("sbx", Self::Level(Level::Sbx)),
        ("docker", Self::Level(Level::Docker)),
        ("none", Self::Level(Level::None)),
    ];

    /// The choice of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, choice)| choice)
    }
}

impl Level {
    /// What `auto` tries, in this order. The others are for those who ask for them.
    pub const AUTO: [Self; 4] = [Self::Embedded, Self::Bwrap, Self::Landlock, Self::Seatbelt];
    /// All that contain something.
    pub const ALL: [Self; 6] =
        [Self::Embedded, Self::Bwrap, Self::Landlock, Self::Seatbelt, Self::Sbx, Self::Docker];

    /// The name that settings and output use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::Seatbelt => "seatbelt",
            Self::Sbx => "sbx",
            Self::Docker => "docker",
            Self::None => "none",
        }
    }

    /// Whether anything is contained.
    pub fn contains(self) -> bool {
        self != Self::None
    }

    /// Whether this ralph can be called inside, as it can outside.
    pub fn has_ralph(self) -> bool {
        match self {
            Self::Embedded | Self::Bwrap | Self::Landlock | Self::Seatbelt => true,
            Self::Sbx | Self::Docker | Self::None => false,
        }
    }

    /// Whether protected paths inside the project cannot be written at all; else they are compared.
    pub fn protects(self) -> bool {
        match self {
            Self::Embedded | Self::Bwrap | Self::Seatbelt | Self::Docker => true,
            Self::Landlock | Self::Sbx | Self::None => false,
        }
    }

    /// What it does not cover, in words.
    pub fn uncovered(self) -> &'static [&'static str] {
        match self {
            Self::Embedded => &["data sent to allowed hosts", "bugs in the kernel", "the agent's own key"],
            Self::Bwrap => &[
                "data sent to allowed hosts",
                "bugs in the kernel",
                "the agent's own key",
                "the number of root's processes",
            ],
            Self::Landlock => &[
                "protected paths and secrets inside the project: the former are compared after each turn",
                "hosts by name: a program that ignores the proxy reaches the proxy's port number on any host",
                "names of files in the home",
                "modes and times of files outside, and the number of processes",
                "data sent to allowed hosts",
                "the agent's own key",
            ],
            Self::Seatbelt => {
                &["hosts by name: the network is open", "the number of processes", "the agent's own key"]
            }
            Self::Sbx => &[
                "protected paths inside the project, which are only compared after each turn",
                "virtual machines that keep running when ralph itself is killed",
            ],
            Self::Docker => &[
                "hosts by name: the container has the network that Docker gives it",
                "containers that keep running when ralph itself is killed",
            ],
            Self::None => &["anything"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_one_name() {
        for level in Level::ALL.into_iter().chain([Level::None]) {
            assert_eq!(Choice::named(level.name()), Some(Choice::Level(level)));
            assert_eq!(serde_json::to_value(Choice::Level(level)).expect("JSON"), level.name());
            assert!(!level.uncovered().is_empty());
        }
        assert_eq!(serde_json::to_value(Choice::Auto).expect("JSON"), "auto");
        assert!(Level::AUTO.into_iter().all(|level| Level::ALL.contains(&level) && level.contains()));
    }

    #[test]
    fn what_a_level_does_not_do_is_said() {
        let levels = || Level::ALL.into_iter().chain([Level::None]);
        let named = |is: fn(Level) -> bool| -> Vec<&str> {
            levels().filter(|level| is(*level)).map(Level::name).collect()
        };
        assert_eq!(named(|level| !level.contains()), ["none"]);
        assert_eq!(named(|level| !level.has_ralph()), ["sbx", "docker", "none"]);
        assert_eq!(named(|level| !level.protects()), ["landlock", "sbx", "none"]);
        let says = |level: Level, words: &str| level.uncovered().iter().any(|text| text.contains(words));
        for level in Level::ALL {
            assert_eq!(says(level, "protected paths"), !level.protects(), "{level:?}");
            let has_open_hosts = matches!(level, Level::Landlock | Level::Seatbelt | Level::Docker);
            assert_eq!(says(level, "hosts by name"), has_open_hosts, "{level:?}");
        }
        assert_eq!(Level::None.uncovered(), ["anything"]);
    }
}
