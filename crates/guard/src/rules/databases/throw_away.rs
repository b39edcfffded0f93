//! Databases that tests make and throw away.

use crate::{command::Command, paths::Place, rules::RuleInput};

/// Whether only a database of tests is meant: by a variable, an option, or its name.
pub(super) fn is_for_tests(input: &RuleInput<'_>) -> bool {
    let command = input.command;
    if names(command).any(|name| is_one_of(name, &["prod", "production", "live"])) {
        return false;
    }
    is_test_environment(command)
        || names(command).any(|name| is_one_of(name, &["test", "tests", "testing"]))
        || is_scratch(input)
}

fn is_test_environment(command: &Command) -> bool {
    let is_test = |value: &str| ["test", "testing"].contains(&value);
    let by_variable = command.env.iter().any(|(name, value)| match name.as_str() {
        "DJANGO_SETTINGS_MODULE" | "DATABASE_URL" | "PGDATABASE" => {
            is_test_name(value.rsplit(['/', '.']).next().unwrap_or_default())
        }
        name => (name == "ENV" || name.ends_with("_ENV") || name.ends_with("_ENVIRONMENT")) && is_test(value),
    });
    let by_argument = command.args.iter().any(|arg| {
        let (name, value) = arg.split_once('=').unwrap_or_default();
        ((name == "--env" || name.ends_with("_ENV")) && is_test(value))
            || (name == "--settings" && is_test_name(value.rsplit('.').next().unwrap_or_default()))
    });
    by_variable || by_argument || command.values("", &["env", "environment"]).into_iter().any(is_test)
}

/// The names of databases that a client is given, without where they are.
fn names(command: &Command) -> impl Iterator<Item = &str> {
    let is_client = !command.is(&["rails", "rake", "php", "artisan", "python", "mix", "prisma", "redis-cli"]);
    let operands = command.operands(&["-h", "--host", "-U", "-u", "--username", "-p", "--port", "-c", "-e"]);
    let named = command.values("dD", &["dbname", "database"]);
    let is_plain = |name: &&str| !name.contains(' ') || name.contains("dbname=");
    let plain = operands.into_iter().chain(named).filter(move |name| is_client && is_plain(name));
    plain.map(|name| {
        let name = name.split_once("dbname=").map_or(name, |(_, name)| name);
        let name = name.split(' ').next().unwrap_or_default();
        let name = name.split('?').next().unwrap_or_default();
        name.rsplit('/').next().unwrap_or_default()
    })
}

/// Whether a name says that it is of tests, and of nothing else.
pub(super) fn is_test_name(name: &str) -> bool {
    is_one_of(&name.replace('_', "-"), &["test", "tests", "testing"])
        && !is_one_of(&name.replace('_', "-"), &["prod", "production", "live"])
}

fn is_one_of(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    lower.split(|next: char| !next.is_ascii_alphanumeric()).any(|part| words.contains(&part))
}

/// A file in memory or among the temporary ones.
fn is_scratch(input: &RuleInput<'_>) -> bool {
    let command = input.command;
    let first = command.operands(&["-cmd", "-init"]).first().copied().unwrap_or_default();
    command.is(&["sqlite3", "sqlite", "duckdb"])
        && (first == ":memory:"
            || input.place_of(&command.resolve_path(first, input.ctx)) == Place::Temporary)
}
