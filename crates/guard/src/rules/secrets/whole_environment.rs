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
