//! The flags that say what keeps an agent from doing harm. A caller inside a sandbox cannot pass them on.

use clap::Args;
use ralph_core::{
    containment::level::{Choice, Level},
    setup::Guard,
};
use serde_json::{Map, Value, json};

use super::named::named;

/// What keeps the agent of a loop from doing harm.
#[derive(Args, Debug, Default)]
pub(super) struct SafetyArgs {
    /// Contain the agent: auto (the first kind that works), embedded, bwrap, landlock, seatbelt, sbx, docker, none
    /// [default: none; auto in `stories`]
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = false,
        default_missing_value = "auto",
        value_parser = named(&Choice::NAMES)
    )]
    sandbox: Option<Choice>,

    /// Do not contain the agent
    #[arg(long, conflicts_with = "sandbox")]
    no_sandbox: bool,

    /// Start the agent without ralph's hooks [default: it has them]
    #[arg(long)]
    no_guard: bool,
}

impl SafetyArgs {
    /// Whether any of these flags is there.
    pub(super) fn is_given(&self) -> bool {
        !self.layer().is_empty()
    }

    /// The settings that these flags stand for.
    pub(super) fn layer(&self) -> Map<String, Value> {
        let level = if self.no_sandbox { Some(Choice::Level(Level::None)) } else { self.sandbox };
        let sandbox = level.map(|level| ("sandbox".to_owned(), json!({"level": level})));
        let guard = self.no_guard.then(|| ("guard".to_owned(), json!(Guard::Off)));
        sandbox.into_iter().chain(guard).collect()
    }
}
