//! Which files hold secrets.

use super::{
    context::Context,
    paths::{self, Place, Relation, glob_matches, relation_to},
};

/// In a home folder.
const IN_HOME: [&str; 76] = [
    ".ssh",
    ".aws/credentials",
    ".aws/sso",
    ".aws/cli",
    ".gnupg",
    ".kube/config",
    ".kube/cache",
    ".docker/config.json",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/gcloud",
    ".azure",
    ".codex/auth.json",
    ".claude/.credentials.json",
    ".claude.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/github-copilot",
    ".config/op",
    ".password-store",
    ".vault-token",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/keyrings",
    ".local/share/fish/fish_history",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".config/BraveSoftware",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Cookies",
    ".config/rclone",
    ".rclone.conf",
    ".s3cfg",
    ".boto",
    ".config/doctl",
    ".config/heroku",
    ".fly",
    ".railway",
    ".oci",
    ".databrickscfg",
    ".kaggle/kaggle.json",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".config/hcloud",
    ".config/.wrangler",
    ".wallet",
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".config/solana",
    ".config/sops",
];

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
    IN_HOME.iter().any(|secret| relation_to(rest, secret) == Relation::Inside)
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
    let from_project = paths::relative_to(path, &ctx.project).unwrap_or(path);
    let mut parts: Vec<&str> = from_project.split('/').collect();
    let name = parts.pop().unwrap_or_default().to_lowercase();
    let words = name.split(['.', '-', '_']);
    words.into_iter().any(|word| EXAMPLE_WORDS.contains(&word))
        || (parts.iter().any(|part| EXAMPLE_FOLDERS.contains(part))
            && paths::relative_to(path, &ctx.project).is_some())
}

/// Whether a variable's name says that its value is a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
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
