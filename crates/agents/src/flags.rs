//! Looks for options in the user's flags, which win over what ralph would add.

/// Whether one of the options stands in the flags, alone or as `--option=value`.
pub(super) fn contain(flags: &[String], options: &[&str]) -> bool {
    flags.iter().any(|flag| {
        let option = flag.split_once('=').map_or(flag.as_str(), |(option, _)| option);
        options.contains(&option)
    })
}
