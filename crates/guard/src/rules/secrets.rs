//! Keys, tokens, passwords.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{
    paths::Place,
    script,
    secrets::{is_secret, is_secret_variable},
    text,
    uses::Use,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "read-secret",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "reads a file with secrets in it",
        instead: "Read an example such as `.env.example`; names and whether a file is there may be asked with `ls` or `test -f`.",
        check: Check::Scene(read),
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
    },
    Rule {
        id: "read-all-home",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "reads a whole home or the whole system",
        instead: "Search in the project, or in the one folder that is needed.",
        check: Check::Scene(read_all),
        matches: &["grep -r password ~", "tar czf x.tgz ~", "cp -r / x", "rg token /home", "zip -r x.zip ~/"],
        passes: &["grep -r password .", "tar czf x.tgz src", "ls ~"],
    },
    Rule {
        id: "print-environment",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "prints the environment or a secret variable",
        instead: "Print the one variable that is needed, such as `printenv PATH`.",
        check: Check::Scene(environment),
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
            "printenv PATH",
            "env NODE_ENV=test npm test",
            "echo $HOME",
            "env | cut -d= -f1",
            "env | grep PATH",
            "[ -n \"$GITHUB_TOKEN\" ]",
            "echo \"${TOKEN:+set}\"",
        ],
    },
    Rule {
        id: "print-environment-code",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "prints the environment or a secret variable in a one-liner",
        instead: "Print the one variable that is needed.",
        check: Check::Scene(environment_code),
        matches: &[
            "node -e 'console.log(process.env)'",
            "python3 -c 'import os; print(os.environ)'",
            "python3 -c 'import os; print(os.environ[\"API_TOKEN\"])'",
        ],
        passes: &[
            "node -e 'console.log(process.env.PATH)'",
            "python3 -c 'import os; print(os.environ[\"HOME\"])'",
            "node -e 'console.log(!!process.env.API_TOKEN)'",
        ],
    },
    Rule {
        id: "ask-for-secret",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "asks a keychain, a vault or a cloud for a secret",
        instead: "Say which secret is needed and let the user give it to the program that needs it.",
        check: Check::Scene(ask),
        matches: &[
            "vault kv get secret/x",
            "gh auth token",
            "security find-generic-password -s x -w",
            "kubectl get secret db -o yaml",
            "aws secretsmanager get-secret-value --secret-id x",
            "op read op://a/b",
            "gpg --export-secret-keys",
        ],
        passes: &[
            "gh auth status",
            "kubectl get secrets",
            "aws sts get-caller-identity",
            "vault status",
            "gpg --list-keys",
        ],
    },
];

fn read(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| one.kind == Use::Read && is_secret(&one.path, scene.ctx) && !uses_key(scene))
}

/// Programs that use a key without showing it.
fn uses_key(scene: &Scene<'_>) -> bool {
    scene.one.is(&["ssh", "ssh-add", "age", "sops", "docker", "openssl"])
        && !scene.one.has_word(&["rsa", "pkey", "ec", "enc", "base64", "pkcs12"])
        || scene.one.is(&["scp", "rsync", "sftp"]) && scene.one.has("i", &[]) && scene.uses.len() < 2
}

fn read_all(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let is_deep = match one.program.as_str() {
        "grep" | "egrep" | "cp" | "zip" | "scp" => one.has("rRa", &["recursive", "archive"]),
        "rg" | "ag" | "ack" | "tar" | "rsync" | "7z" | "restic" | "borg" | "trufflehog" => true,
        _ => false,
    };
    if !is_deep {
        return None;
    }
    scene.file(|one| one.kind == Use::Read && matches!(scene.place(&one.path), Place::Root | Place::HomeRoot))
}

fn environment(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let prints_all = match one.program.as_str() {
        "env" => one.operands(&["-u"]).is_empty() && !one.is_question(),
        "printenv" => one.operands(&[]).is_empty() && !one.is_question(),
        "set" => one.args.is_empty() && (one.redirects.is_empty() || one.is_piped),
        "export" | "declare" | "typeset" | "compgen" => {
            one.operands(&[]).is_empty()
                && (one.args.iter().any(|arg| ["-p", "-x", "-xp", "-px"].contains(&arg.as_str()))
                    || (one.args.is_empty() && one.program == "export"))
        }
        _ => false,
    };
    let names_one = one.is(&["printenv"]) && one.operands(&[]).iter().any(|name| is_secret_variable(name));
    let says =
        one.is(&["echo", "printf"])
            && !one.is_elsewhere
            && one.args.iter().flat_map(|arg| text::sources(arg)).any(|source| {
                source.starts_with('$') && !source.starts_with("$(") && is_secret_variable(source)
            });
    let loads = says && one.redirects.iter().any(|redirect| !redirect.path.starts_with("/dev/std"));
    scene.found_if(
        (prints_all && !prints_only_names(scene)) || names_one || (says && !loads && !feeds_login(scene)),
    )
}

/// `env | cut -d= -f1` shows names only.
fn prints_only_names(scene: &Scene<'_>) -> bool {
    let names = [
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
    scene.one.feeds.iter().any(|next| names.iter().any(|name| next.starts_with(name)) || picks_harmless(next))
}

/// `env | grep PATH` shows what holds no secret.
fn picks_harmless(next: &str) -> bool {
    let harmless = [
        "PATH",
        "HOME",
        "LANG",
        "LC_",
        "SHELL",
        "TERM",
        "NODE_ENV",
        "VIRTUAL_ENV",
        "PYTHON",
        "RUST",
        "CARGO_HOME",
    ];
    let words: Vec<&str> = next.split(' ').collect();
    let [grep, options @ .., pattern] = &words[..] else { return false };
    let pattern = pattern.trim_start_matches('^').trim_end_matches('=');
    ["grep", "rg"].contains(grep)
        && options.iter().all(|option| ["-i", "-E", "-w", "-n"].contains(option))
        && harmless.iter().any(|name| pattern.starts_with(name))
        && pattern.bytes().all(|next| next.is_ascii_alphanumeric() || next == b'_')
}

/// `echo $TOKEN | docker login --password-stdin` shows nothing.
fn feeds_login(scene: &Scene<'_>) -> bool {
    let takes = ["login", "--password-stdin", "--with-token", "wc ", "sha256sum", "md5sum", "grep -q"];
    scene.one.feeds.iter().any(|next| takes.iter().any(|word| next.contains(word)))
}

fn environment_code(scene: &Scene<'_>) -> Option<String> {
    let code = scene.one.code.as_deref()?;
    let shows = ["print", "log(", "echo", "puts", "write(", "say ", "dump", "p ENV", "fetch(", "post("]
        .iter()
        .any(|word| code.contains(word));
    let whole = [
        "process.env)",
        "os.environ)",
        "JSON.stringify(process.env",
        "dict(os.environ",
        "os.environ.items",
        "ENV.to_h",
        "p ENV",
        "puts ENV\n",
        "%ENV",
        "getenv()",
        "print_r($_ENV",
        "Object.entries(process.env",
        "**os.environ",
        "$_SERVER)",
        "ENV.inspect",
    ];
    let names = script::literals(code);
    let is_named = names.iter().any(|name| {
        is_secret_variable(name)
            && name.len() < 60
            && (code.contains("environ")
                || code.contains("getenv")
                || code.contains("ENV")
                || code.contains("env["))
    });
    let dotted = code.split("process.env.").skip(1).any(|rest| {
        let name: String = rest.chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
        is_secret_variable(&name)
    });
    let asks_only =
        code.contains("!!process.env") || code.contains("in os.environ") || code.contains("bool(");
    scene
        .found_if(shows && !asks_only && (whole.iter().any(|word| code.contains(word)) || is_named || dotted))
}

/// Commands that print a secret.
const ASKS: &[&str] = &[
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
    "op read|item|document|get|inject",
    "bw get|list|export|unlock",
    "lpass show|export",
    "pass show|git|find|grep",
    "gopass show|cat",
    "secret-tool lookup|search",
    "kwallet-query",
    "keyring get",
    "heroku config|config:get|auth:token",
    "doppler secrets|run",
    "infisical secrets|export",
    "fly|flyctl auth token",
    "vercel env pull",
    "netlify env:list|env:get",
    "npm token",
    "chamber read|export|exec",
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
    "kubectl|oc config view",
];

fn ask(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_question() {
        return None;
    }
    let asks = one.runs(ASKS);
    let raw = one.runs(&["kubectl|oc config view"]) && !one.has("", &["raw"]);
    let chamber_runs = one.runs(&[
        "doppler run",
        "chamber exec",
        "op item list",
        "pass git",
        "pass find",
        "aws configure list",
    ]);
    let secrets = one.runs(&["kubectl|oc get|describe|edit secret|secrets|secret/*"])
        && (!one.values("o", &["output"]).iter().all(|format| ["name", "wide"].contains(format))
            || one.runs(&["kubectl|oc edit *"]));
    let keys = one.is(&["gpg", "gpg2"])
        && one.args.iter().any(|arg| arg.starts_with("--export-secret") || arg == "--export-ssh-key")
        || (one.is(&["docker"]) && one.runs(&["docker secret inspect"]))
        || (one.is(&["sops", "gpg", "gpg2", "age"]) && one.has("d", &["decrypt"]))
        || (one.is(&["ps"])
            && one.args.first().is_some_and(|arg| !arg.starts_with('-') && arg.contains('e')))
        || (one.is(&["ansible-vault"]) && one.has_word(&["view", "decrypt"]))
        || (one.is(&["git"]) && one.has_word(&["credential"]) && one.has_word(&["fill"]))
        || (one.is(&["pass"])
            && one.words().len() == 1
            && !one.has_word(&["ls", "init", "list", "help", "version"]));
    scene.found_if((asks && !raw && !chamber_runs) || secrets || keys)
}
