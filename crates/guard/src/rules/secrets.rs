//! Keys, tokens, passwords.

mod of_processes;
mod whole_environment;

pub(super) use whole_environment::takes_environment;
use whole_environment::{is_connection, prints_connection};

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    file_access::Access,
    paths::Place,
    script,
    secrets::{is_secret, is_secret_variable},
    text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "read-secret",
        category: Category::Secrets,
        finds: "reads a file with secrets in it",
        instead: "Read an example such as `.env.example`; to see names, or whether a file exists, use `ls` or `test -f`.",
        // Also of containers: what they are given to keep.
        patterns: Patterns::new(&[
            "cat|head|tail|less|more|grep|base64|xxd|od|strings|sed|awk|cp|nl|tac ~/run/secrets/?*|/var/run/secrets/?*",
        ]),
        check: Check::Command(read_secret),
        matches: &[
            "cat .env",
            "base64 ~/.ssh/id_ed25519",
            "less /etc/shadow",
            "cp ~/.aws/credentials x",
            "grep KEY .env.local",
            "cat < ~/.netrc",
            "git show HEAD:.env",
        ],
        passes: &[
            "cat .env.example",
            "ls -la ~/.ssh",
            "test -f .env",
            "cat ~/.ssh/known_hosts",
            "cat tests/fixtures/test.key",
            "grep -q '^API_KEY=' .env",
        ],
        ..RULE
    },
    Rule {
        id: "read-all-home",
        category: Category::Secrets,
        finds: "reads a whole home or the whole system",
        instead: "Search in the project, or in the one folder that is needed.",
        check: Check::Command(read_all_home),
        matches: &[
            "find ~ -name '*.pem' -exec cat {} \\;",
            "grep -r password ~",
            "tar czf x.tgz ~",
            "cp -r / x",
            "rg token /home",
            "zip -r x.zip ~/",
        ],
        passes: &["grep -r password .", "tar czf x.tgz src", "ls ~"],
        ..RULE
    },
    Rule {
        id: "print-environment",
        category: Category::Secrets,
        finds: "prints the environment or a secret variable",
        instead: "Print the one variable that is needed, such as `printenv PATH`.",
        check: Check::Command(print_environment),
        matches: &[
            "env",
            "printenv",
            "env | grep -i token",
            "env | grep -v PATH",
            "printenv ANTHROPIC_API_KEY",
            "echo $GITHUB_TOKEN",
            "export -p",
            "set",
            "declare -p",
        ],
        passes: &[
            "env | grep -i ^node",
            "printenv PATH",
            "env NODE_ENV=test npm test",
            "echo $HOME",
            "env | cut -d= -f1",
            "env | grep PATH",
            "[ -n \"$GITHUB_TOKEN\" ]",
            "echo \"${TOKEN:+set}\"",
        ],
        ..RULE
    },
    Rule {
        id: "print-environment-code",
        category: Category::Secrets,
        finds: "prints the environment or a secret variable in a one-liner",
        instead: "Print the one variable that is needed.",
        code: &[&[
            "dotenv_values()",
            "require('dotenv').config())",
            "require(\"dotenv\").config())",
            "config().parsed",
        ]],
        check: Check::Command(print_environment_code),
        matches: &[
            "python3 -c 'import os; [print(k, v) for k, v in os.environ.items()]'",
            "python3 -c 'from dotenv import dotenv_values; print(dotenv_values())'",
            "node -e 'console.log(process.env)'",
            "python3 -c 'import os; print(os.environ)'",
            "python3 -c 'import os; print(os.environ[\"API_TOKEN\"])'",
        ],
        passes: &[
            "python3 -c 'import os; print(\"CI\" in os.environ)'",
            "node -e 'console.log(Object.keys(process.env).length)'",
            "node -e 'console.log(process.env.PATH)'",
            "python3 -c 'import os; print(os.environ[\"HOME\"])'",
            "node -e 'console.log(!!process.env.API_TOKEN)'",
        ],
        ..RULE
    },
    Rule {
        id: "ask-for-secret",
        category: Category::Secrets,
        finds: "asks a keychain, a vault or a cloud for a secret",
        instead: "Say which secret is needed and let the user give it to the program that needs it.",
        patterns: Patterns::new(&[
            "git credential-osxkeychain|credential-libsecret|credential-manager|credential-wincred get|fill",
            "gh|glab auth status -t|--show-token",
            "docker-credential-* get|list",
            "aws sso get-role-credentials",
            "az ?* ?* keys|credential|credentials list|show",
            "az ?* keys|credential|credentials list|show",
            "az ?* show-connection-string|list-keys",
            "az ?* ?* show-connection-string|list-keys",
            "* ~--show-secrets|--show-secret-values|--show-secret|--show-token|--reveal|--with-decryption|--show-sensitive*|--include-secrets",
            "* get-secret*|show-secret*|reveal-secret*|get-password|show-password|print-access-token|get-access-token|print-token|auth:token",
            "* ?* get-secret*|show-secret*|reveal-secret*|get-password|show-password|print-access-token|get-access-token|print-token",
            "terraform|tofu output -json",
            "getent shadow|gshadow",
            "docker|podman history --no-trunc",
            "docker|podman compose config --environment",
            "docker|podman compose config --env-file !-q|--quiet|--services|--volumes|--images|--profiles|--no-interpolate",
            "git config ~*extraheader*",
            "jq -n ~env|$env|env?*|$env?*",
            "systemctl show-environment",
            "firebase functions:secrets:access|functions:config:get",
            "npm config|c get *_authtoken*|*_password*",
            "npm|pnpm|yarn config|c list|ls >*auth*|*token*|*passw*",
            "rails runner|r|console|c ~*credentials*|*.secrets.*|*secret_key*",
            "php|artisan|sail ~tinker ~*config(*|*env(*",
            "python|manage.py|django-admin ~shell ~*SECRET_KEY*|*settings.DATABASES*",
            "ssh-keygen -y",
            "pulumi config get",
            "keyctl print|read|pipe",
            "vault read|kv|token|login|unwrap",
            "security find-generic-password|find-internet-password|dump-keychain|export|unlock-keychain",
            "gcloud auth print-access-token|print-identity-token|application-default",
            "gcloud secrets versions access",
            "aws secretsmanager get-secret-value|batch-get-secret-value",
            "aws ssm get-parameter|get-parameters|get-parameters-by-path",
            "aws configure get|export-credentials",
            "aws sts get-session-token|assume-role|get-federation-token",
            "aws ecr get-login-password",
            "aws iam create-access-key|list-access-keys",
            "az account get-access-token",
            "az keyvault secret show|list|download",
            "az ad sp create-for-rbac",
            "gh auth token",
            "gh secret set",
            "glab auth token",
            "bw get|list|export|unlock",
            "lpass show|export",
            "gopass show|cat",
            "secret-tool lookup|search",
            "kwallet-query",
            "keyring get",
            "heroku config|config:get|auth:token",
            "fly|flyctl auth token",
            "vercel env pull",
            "railway variables|variable|vars !-s|--set|--delete",
            "netlify env:list|env:get|env:clone",
            "convex|eas env list|get|pull",
            "eas env:list|env:get|env:pull",
            "infisical export|secrets|run",
            "dotenvx get|decrypt|ls",
            "aws lambda get-function-configuration|get-function",
            "az webapp|functionapp config appsettings|connection-string list",
            "firebase functions:config:get|functions:secrets:access|apphosting:secrets:access",
            "dokku config|config:show|config:get|config:export",
            "cf env",
            "phase secrets export|get|list",
            "platform|upsun variable:get|environment:info",
            "npm token",
            "credstash get|getall",
            "sops decrypt",
            "age-keygen",
            "terraform|tofu state pull",
            "pbpaste",
            "wl-paste",
            "xclip|xsel",
            "screencapture|scrot|grim",
            "rbw get",
            "wrangler secret",
            "git credential|credential-store|credential-cache fill|get",
            "kubectl|oc config view --raw",
            "op read|document|get|inject",
            "op item !list",
            "pass show|grep",
            "doppler secrets",
            "chamber read|export",
            "kubectl|oc get|describe secret|secrets|secret/* -o|--output !-o=name|-o=wide|--output=name|--output=wide",
            "kubectl|oc edit secret|secrets|secret/*",
            "gpg|gpg2 ~--export-secret*|--export-ssh-key",
            "docker secret inspect",
            "sops|gpg|gpg2|age -d|--decrypt",
            "ansible-vault ~view|decrypt",
            "pass ?* !?*",
            "rails|rake|hanami credentials:show|credentials:edit|credentials:diff|secrets:show|secrets:edit|encrypted:show",
        ]),
        unless: Patterns::new(&["pass ls|init|list|help|version"]),
        code: &[&[
            "keyring.get_password",
            "keyring.get_credential",
            "keytar.getPassword",
            "keytar').getPassword",
            "keytar\").getPassword",
            ".findCredentials(",
            "get_secret_value(",
            "GetSecretValueCommand",
            "access_secret_version(",
            "accessSecretVersion(",
            "WithDecryption=True",
            "WithDecryption: true",
            "secretstorage.",
            "read_secret_version(",
            "browser_cookie3.",
        ]],
        spares_dry_runs: false,
        check: Check::Command(of_processes::shows_environment),
        matches: &[
            "pulumi stack output --show-secrets",
            "jq -n env",
            "bin/rails credentials:show",
            "rails runner 'puts Rails.application.credentials.aws'",
            "php artisan tinker --execute='dump(config(\"database\"))'",
            "ssh-keygen -y -f ~/.ssh/id_rsa",
            "vault kv get secret/x",
            "gh auth token",
            "security find-generic-password -s x -w",
            "kubectl get secret db -o yaml",
            "aws secretsmanager get-secret-value --secret-id x",
            "op read op://a/b",
            "ps axe",
            "python3 -c 'import keyring; print(keyring.get_password(\"a\", \"b\"))'",
            "gpg --export-secret-keys",
        ],
        passes: &[
            "gh auth status",
            "ps -eo pid,etime,cmd",
            "ps -o etime= -p 12",
            "kubectl get secrets",
            "aws sts get-caller-identity",
            "vault status",
            "gpg --list-keys",
        ],
        ..RULE
    },
];

fn read_secret(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        file.access == Access::Read && is_secret(&file.path, input.ctx) && !uses_key(input)
    })
}

/// Programs that use a key without showing it.
fn uses_key(input: &RuleInput<'_>) -> bool {
    input.command.is(&["ssh", "ssh-add", "age", "sops", "docker", "openssl"])
        && !input.command.has_word(&["rsa", "pkey", "ec", "enc", "base64", "pkcs12"])
        || input.command.is(&["scp", "rsync", "sftp"]) && input.command.has("i", &[]) && input.files.len() < 2
}

fn read_all_home(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_search =
        command.wrappers.iter().any(|wrapper| ["find", "fd", "xargs"].contains(&wrapper.as_str()));
    let is_deep = match command.program.as_str() {
        _ if is_search => true,
        "grep" | "egrep" | "cp" | "zip" | "scp" => command.has("rRa", &["recursive", "archive"]),
        "rg" | "ag" | "ack" | "tar" | "rsync" | "7z" | "restic" | "borg" | "trufflehog" => true,
        _ => false,
    };
    if !is_deep {
        return None;
    }
    input.found_file_if(|file| {
        let is_whole = match input.place_of(&file.path) {
            Place::Root | Place::HomeRoot => true,
            Place::Home(rest) => is_search && text::starts_unknown(&rest),
            _ => false,
        };
        file.access == Access::Read && is_whole
    })
}

fn print_environment(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let prints_all = match command.program.as_str() {
        "env" => command.operands(&["-u"]).is_empty() && !command.asks_for_help(),
        "printenv" => command.operands(&[]).is_empty() && !command.asks_for_help(),
        "set" => command.args.is_empty() && (command.redirects.is_empty() || command.is_piped),
        "export" | "declare" | "typeset" | "compgen" => {
            command.operands(&[]).is_empty()
                && (command.args.iter().any(|arg| ["-p", "-x", "-xp", "-px"].contains(&arg.as_str()))
                    || (command.args.is_empty() && command.program == "export"))
        }
        _ => false,
    };
    let names_one =
        command.is(&["printenv"]) && command.operands(&[]).iter().any(|name| is_secret_variable(name));
    let says = command.is(&["echo", "printf"])
        && !command.is_remote
        && command.args.iter().flat_map(|arg| text::sources(arg)).any(|source| {
            source.starts_with('$')
                && !source.starts_with("$(")
                && (is_secret_variable(source) || is_connection(&source[1..]))
        });
    let loads = says && command.redirects.iter().any(|redirect| !redirect.path.starts_with("/dev/std"));
    input.found_if(
        (prints_all && !prints_only_names(input)) || names_one || (says && !loads && !feeds_login(input)),
    )
}

/// Filters behind `env` that leave names only.
const NAMES_ONLY: [&str; 10] = [
    "cut -d= -f1",
    "cut -f1 -d=",
    "cut -d = -f 1",
    "cut -d = -f1",
    "sed s/=.*",
    "sed 's/=.*",
    "wc ",
    "grep -c",
    "grep -q",
    "awk -F= '{print $1}'",
];

/// `env | cut -d= -f1` shows names only.
fn prints_only_names(input: &RuleInput<'_>) -> bool {
    input
        .command
        .feeds
        .iter()
        .any(|next| NAMES_ONLY.iter().any(|name| next.starts_with(name)) || picks_harmless(next))
}

/// `env | grep PATH` shows what holds no secret.
fn picks_harmless(next: &str) -> bool {
    let harmless = "PATH|HOME|LANG|LC_|SHELL|TERM|NODE|VIRTUAL_ENV|PYTHON|RUST|CARGO_HOME|JAVA_HOME|GOPATH|GOROOT|EDITOR|PORT|USER|PWD|CI|TMPDIR|XDG_|CONDA_|NVM_|DISPLAY|HOSTNAME|PROXY|HTTP_PROXY|HTTPS_PROXY|NO_PROXY|LOGNAME|TZ|RAILS_ENV|GOFLAGS|CXX|CFLAGS|LD_LIBRARY|NIX_|SSH_TTY|DBUS|WAYLAND|DOTNET|ANDROID|DENO|BUN|MAKE";
    let words: Vec<&str> = next.split(' ').collect();
    let [grep, options @ .., pattern] = &words[..] else { return false };
    let pattern = pattern.trim_start_matches('^').trim_end_matches('=');
    ["grep", "rg"].contains(grep)
        && options.iter().all(|option| ["-i", "-E", "-w", "-n"].contains(option))
        && harmless.split('|').any(|name| pattern.to_ascii_uppercase().starts_with(name))
        && pattern.bytes().all(|next| next.is_ascii_alphanumeric() || next == b'_')
}

/// `echo $TOKEN | docker login --password-stdin` shows nothing.
fn feeds_login(input: &RuleInput<'_>) -> bool {
    let takes = ["login", "--password-stdin", "--with-token", "wc ", "sha256sum", "md5sum", "grep -q"];
    input.command.feeds.iter().any(|next| takes.iter().any(|word| next.contains(word)))
}

/// Whether code asks for a variable whose name says that its value is a secret.
pub(super) fn names_secret_variable(code: &str) -> bool {
    let asks = ["environ", "getenv", "ENV", "env["].iter().any(|word| code.contains(word));
    let is_named = |name: &String| is_secret_variable(name) && name.len() < 60;
    let dotted = code.split("process.env.").skip(1).any(|rest| {
        let name: String = rest.chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
        is_secret_variable(&name)
    });
    // `$ENV{NAME}` of Perl has no quotes.
    let bare =
        code.split("ENV{").skip(1).any(|rest| is_secret_variable(rest.split('}').next().unwrap_or_default()));
    dotted || bare || (asks && script::string_literals(code).iter().any(is_named))
}

fn print_environment_code(input: &RuleInput<'_>) -> Option<String> {
    let code = input.command.code.as_deref()?;
    let shows =
        ["print", "Print", "log(", "echo", "puts", "write(", "say ", "dump", "p ENV", "fetch(", "post("]
            .iter()
            .any(|word| code.contains(word))
            || (input.command.is(&["node"]) && input.command.has("p", &["print"]));
    let asks_only = code.contains("!!process.env") || code.contains("bool(");
    let takes = takes_environment(code) || names_secret_variable(code);
    input.found_if(shows && !asks_only && takes || prints_connection(code))
}
