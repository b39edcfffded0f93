//! Reads values that have names which settings use too.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of these names.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).try_map(|given| {
        let known = names.iter().find(|(name, _)| *name == given);
        known.map(|(_, value)| *value).ok_or("not a known name")
    })
}
