//! What a user means by words that the parser would take for something else.

use std::ffi::OsString;

/// The words as the parser reads them.
pub(super) fn meant(command: &clap::Command, args: Vec<OsString>) -> Vec<OsString> {
    with_default_command(command, with_bare_sandbox(args))
}

/// `ralph run --sandbox "Make the tests pass"`: a text of several words is a prompt, and no level.
fn with_bare_sandbox(mut args: Vec<OsString>) -> Vec<OsString> {
    let own = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    for at in 0..own.saturating_sub(1) {
        let is_prompt = args[at + 1].to_string_lossy().contains(char::is_whitespace);
        if args[at] == "--sandbox" && is_prompt {
            args[at].push("=auto");
        }
    }
    args
}

/// `ralph -p "..."` means `ralph run -p "..."`.
fn with_default_command(command: &clap::Command, mut args: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(arg) = args.get(at).map(|arg| arg.to_string_lossy().into_owned()) {
        match arg.as_str() {
            "-C" | "--project-dir" => at += 2,
            "-h" | "--help" | "-v" | "--version" | "help" => return args,
            _ if arg.starts_with("-C") || arg.starts_with("--project-dir=") => at += 1,
            // A word that is no command gets clap's suggestion.
            _ if !arg.starts_with('-') || command.find_subcommand(&arg).is_some() => return args,
            _ => {
                args.insert(at, "run".into());
                return args;
            }
        }
    }
    args
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{super::Cli, *};

    #[track_caller]
    fn check(typed: &[&str], expected: &[&str]) {
        let args = typed.iter().map(OsString::from).collect();
        let expected: Vec<OsString> = expected.iter().map(OsString::from).collect();
        assert_eq!(meant(&Cli::command(), args), expected);
    }

    #[test]
    fn the_obvious_words_mean_what_they_say() {
        check(&["ralph", "-p", "x"], &["ralph", "run", "-p", "x"]);
        check(&["ralph", "-C", "d", "-p", "x"], &["ralph", "-C", "d", "run", "-p", "x"]);
        check(&["ralph", "rnu", "-p", "x"], &["ralph", "rnu", "-p", "x"]);
        check(&["ralph", "--version"], &["ralph", "--version"]);
        check(
            &["ralph", "run", "--sandbox", "Fix the tests"],
            &["ralph", "run", "--sandbox=auto", "Fix the tests"],
        );
        check(&["ralph", "--sandbox", "Fix\nit"], &["ralph", "run", "--sandbox=auto", "Fix\nit"]);
    }

    #[test]
    fn a_level_stays_a_level() {
        check(
            &["ralph", "run", "--sandbox", "bwrap", "Fix it"],
            &["ralph", "run", "--sandbox", "bwrap", "Fix it"],
        );
        // A slip of the pen gets its suggestion.
        check(&["ralph", "run", "--sandbox", "embeded"], &["ralph", "run", "--sandbox", "embeded"]);
        check(&["ralph", "run", "--", "--sandbox", "a b"], &["ralph", "run", "--", "--sandbox", "a b"]);
        check(&["ralph", "run", "--sandbox"], &["ralph", "run", "--sandbox"]);
    }
}
