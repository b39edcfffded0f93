//! Which files hold secrets.

mod in_home;

use in_home::LOGINS_IN_HOME;
pub use in_home::SECRETS_IN_HOME;

use super::{
    context::Context,
    paths::{self, Place, Relation, glob_matches, relation_to},
};

/// Anywhere on the system.
const IN_SYSTEM: [&str; 19] = [
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/master.passwd",
    "/etc/ssh/ssh_host_*_key",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/ssl/private",
    "/etc/letsencrypt/live",
    "/etc/letsencrypt/archive",
    "/var/run/secrets",
    "/run/secrets",
    "/etc/kubernetes/admin.conf",
    "/etc/rancher/k3s/k3s.yaml",
    "/etc/NetworkManager/system-connections",
    "/proc/kcore",
    "/dev/mem",
    "/etc/security/opasswd",
];

/// By the name of the file, wherever it is.
const SECRET_NAMES: [&str; 38] = [
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "*key.pem",
    "privkey*.pem",
    "*private*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "credentials.json",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "serviceAccount*.json",
    "*-credentials.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    ".secrets",
    ".htpasswd",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".pypirc",
    "*.tfstate",
    ".vault_pass*",
    "kubeconfig",
    "wallet.dat",
];

/// Names of files that only look like secrets.
const EXAMPLE_WORDS: [&str; 14] = [
    "example",
    "sample",
    "template",
    "dist",
    "fixture",
    "mock",
    "dummy",
    "test",
    "schema",
    "defaults",
    "public",
    "ci",
    "placeholder",
    "tpl",
];

/// Folders whose files are examples.
const EXAMPLE_FOLDERS: [&str; 11] = [
    "test",
    "tests",
    "__tests__",
    "spec",
    "fixtures",
    "testdata",
    "test-data",
    "examples",
    "docs",
    "mocks",
    "node_modules",
];

/// Whether a file of a project is one that holds secrets, by its path from there: keys, credentials, `.env` and its like,
/// and no example of them.
pub fn is_secret_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    is_secret_name(name) && !looks_like_example(path)
}

/// Whether a whole path is a file with secrets in it, or a folder that is there for them.
pub(crate) fn is_secret(path: &str, ctx: &Context) -> bool {
    let is_process = path.starts_with("/proc/") && ["/environ", "/mem"].iter().any(|end| path.ends_with(end));
    if is_process || IN_SYSTEM.iter().any(|secret| touches_system(path, secret)) {
        return true;
    }
    if let Place::Home(rest) = paths::place_of(path, ctx)
        && is_home_secret(&rest)
    {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    is_secret_name(name) && !is_example(path, ctx)
}

fn touches_system(path: &str, secret: &str) -> bool {
    // Most paths begin otherwise: seen from one letter.
    if let (Some(given), Some(expected)) = (path.as_bytes().get(1), secret.as_bytes().get(1))
        && given != expected
        && !b"*?[".contains(given)
    {
        return false;
    }
    let (mut parts, mut names) = (path.split('/'), secret.split('/'));
    loop {
        match (parts.next(), names.next()) {
            (_, None) => return true,
            (Some(part), Some(name))
                if part == name || glob_matches(name, part) || glob_matches(part, name) => {}
            _ => return false,
        }
    }
}

fn is_home_secret(rest: &str) -> bool {
    let name = rest.rsplit('/').next().unwrap_or_default();
    let is_open = name.starts_with("known_hosts")
        || name.rsplit('.').next() == Some("pub")
        || ["config", "authorized_keys"].contains(&name);
    if is_open && relation_to(rest, ".ssh") == Relation::Inside {
        return false;
    }
    let mut all = SECRETS_IN_HOME.iter().chain(&LOGINS_IN_HOME);
    all.any(|secret| relation_to(rest, secret) == Relation::Inside)
        || [".aws", ".kube", ".docker"].contains(&rest)
}

fn is_secret_name(name: &str) -> bool {
    let has_pattern = name.contains(['*', '?', '[']);
    SECRET_NAMES.iter().any(|secret| {
        glob_matches(secret, name)
            || (has_pattern
                && !paths::matches_all(name)
                && !secret.contains('*')
                && glob_matches(name, secret)
                && name.starts_with(['.', 'i']))
    }) && name.rsplit('.').next() != Some("pub")
        && name != "*.env"
}

fn is_example(path: &str, ctx: &Context) -> bool {
    match paths::relative_to(path, &ctx.project) {
        Some(from_project) => looks_like_example(from_project),
        None => has_example_word(path.rsplit('/').next().unwrap_or_default()),
    }
}

fn looks_like_example(from_project: &str) -> bool {
    let (folders, name) = from_project.rsplit_once('/').unwrap_or(("", from_project));
    has_example_word(name) || folders.split('/').any(|part| EXAMPLE_FOLDERS.contains(&part))
}

fn has_example_word(name: &str) -> bool {
    name.to_lowercase().split(['.', '-', '_']).any(|word| EXAMPLE_WORDS.contains(&word))
}

/// Whether a variable's name says that its value is a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.trim_start_matches('$').to_uppercase();
    let words: Vec<&str> = name.split('_').collect();
    let telling = [
        "TOKEN",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWD",
        "PASS",
        "APIKEY",
        "CREDENTIAL",
        "CREDENTIALS",
        "PAT",
        "PRIVATE",
        "PWD",
    ];
    let is_key = words.last() == Some(&"KEY") && 1 < words.len();
    (is_key || words.iter().any(|word| telling.contains(word))) && name != "PWD" && name != "OLDPWD"
}
