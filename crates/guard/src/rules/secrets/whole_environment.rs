//! Code of other languages that takes the environment as a whole.

/// What is the whole environment in other languages.
const WHOLE_ENVIRONMENT: [&str; 14] = [
    "ENV.to_h",
    "p ENV",
    "puts ENV\n",
    "%ENV",
    "getenv()",
    "print_r($_ENV",
    "$_SERVER)",
    "in ENVIRON",
    "os.Environ()",
    "Deno.env.toObject",
    "System.get_env()",
    "Sys.getenv()",
    "collect(ENV)",
    "ENV.inspect",
];

/// Whether code takes the whole environment, in any language.
pub(in crate::rules) fn takes_environment(code: &str) -> bool {
    WHOLE_ENVIRONMENT.iter().any(|word| code.contains(word)) || uses_whole_environment(code)
}

/// Whether code takes the environment as a whole, and not one variable of it or only names.
fn uses_whole_environment(code: &str) -> bool {
    let parts = ["[", ".get", ".setdefault", ".pop", ".update", ".copy", ".keys", "?."];
    let takes = |before: &str, after: &str| {
        let is_variable = after
            .strip_prefix('.')
            .is_some_and(|name| name.starts_with(|next: char| next.is_ascii_uppercase()));
        let is_search = before.trim_end().ends_with(" in") && !after.starts_with(".items");
        let is_names = before.ends_with("Object.keys(") || before.ends_with("len(");
        let is_set = after.trim_start().starts_with('=');
        !is_variable
            && !is_search
            && !is_names
            && !is_set
            && !parts.iter().any(|part| after.starts_with(part))
    };
    ["os.environ", "process.env"]
        .iter()
        .any(|name| code.match_indices(name).any(|(at, _)| takes(&code[..at], &code[at + name.len()..])))
}

/// Whether a variable holds where a database is, and with that often its password.
pub(super) fn is_connection(name: &str) -> bool {
    let is_place = ["_URL", "_URI", "_DSN"].iter().any(|end| name.ends_with(end));
    let stores = ["DATABASE", "DB", "POSTGRES", "PG", "MYSQL", "MONGO", "MONGODB", "REDIS", "CLICKHOUSE"];
    is_place && name.split('_').any(|word| stores.contains(&word))
}

/// Whether code prints such a variable itself, and not what it found there, or whether it is set.
pub(super) fn prints_connection(code: &str) -> bool {
    let shows = ["console.log(", "print(", "puts ", "echo ", "p "];
    let asks =
        ["process.env.", "os.environ[", "os.environ.get(", "os.getenv(", "ENV[", "ENV.fetch(", "getenv("];
    let prints = |rest: &str| {
        let rest = rest.trim_start_matches(['"', '\'']);
        let end = rest.find(|next: char| !next.is_ascii_alphanumeric() && next != '_').unwrap_or(rest.len());
        let after = rest[end..].trim_start_matches(['"', '\'', ')', ']', ' ']);
        is_connection(&rest[..end]) && (after.is_empty() || after.starts_with([';', '\n', ',']))
    };
    let is_asked = |inside: &str| asks.iter().any(|ask| inside.strip_prefix(ask).is_some_and(prints));
    shows.iter().any(|show| code.split(show).skip(1).any(is_asked))
}
