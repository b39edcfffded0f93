//! The environment of other processes.

use crate::rules::RuleInput;

/// `ps e` shows the environment of processes: letters without a dash that are the value of no option.
pub(super) fn shows_environment(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let takes_value = |arg: &String| {
        let long = ["--sort", "--format", "--pid", "--ppid", "--user", "--group", "--sid", "--tty"];
        long.contains(&arg.as_str())
            || (!arg.starts_with("--")
                && arg.starts_with('-')
                && arg.ends_with(['o', 'O', 'p', 'C', 'u', 'U', 'g', 'G', 't', 's', 'k', 'q']))
    };
    let is_letters =
        |arg: &String| arg.contains('e') && arg.bytes().all(|letter| letter.is_ascii_alphabetic());
    let shows = |(at, arg): (usize, &String)| {
        is_letters(arg) && at.checked_sub(1).is_none_or(|before| !takes_value(&command.args[before]))
    };
    // What stands behind `axo` is a list of columns.
    let shows = command.is(&["ps"])
        && command.args.iter().enumerate().any(shows)
        && !command
            .args
            .iter()
            .take(2)
            .any(|arg| arg.ends_with('o') && !is_letters(arg) && !arg.starts_with('-'));
    input.found_if(shows)
}
