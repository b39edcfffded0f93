//! The flags that say what keeps an agent from doing harm.

use clap::{Args, builder::PossibleValuesParser};
use ralph_core::containment::level::Choice;
use serde_json::{Value, json};

/// What keeps the agent of a loop from doing harm.
#[derive(Args, Debug, Default)]
pub(super) struct SafetyArgs {
    /// Contain the agent: auto (the first kind that works), embedded, bwrap, landlock, seatbelt, sbx, docker, none
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = false,
        default_missing_value = "auto",
        value_parser = PossibleValuesParser::new(Choice::NAMES.map(|(name, _)| name))
    )]
    sandbox: Option<String>,

    /// Do not contain the agent
    #[arg(long, conflicts_with = "sandbox")]
    no_sandbox: bool,

    /// Leave the agent without ralph's hooks
    #[arg(long)]
    no_guard: bool,
}

impl SafetyArgs {
    /// Whether any of these flags is there.
    pub(super) fn is_given(&self) -> bool {
        self.layer().iter().any(|(_, value)| value.is_some())
    }

    /// The settings that these flags stand for.
    pub(super) fn layer(&self) -> [(&'static str, Option<Value>); 2] {
        let level = if self.no_sandbox { Some("none") } else { self.sandbox.as_deref() };
        [
            ("sandbox", level.map(|level| json!({"level": level}))),
            ("guard", self.no_guard.then(|| "off".into())),
        ]
    }
}
