//! Variables that change what programs do, and connections that nobody checks.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{command::Command, flatten::is_loopback, paths::Place, text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "preload",
        category: Category::Environment,
        tier: Tier::Block,
        finds: "sets a variable that loads code into other programs or replaces the programs they call",
        instead: "Run the program with its own options.",
        check: Check::Command(preload),
        matches: &[
            "LD_PRELOAD=./x.so ls",
            "export BASH_ENV=x",
            "PROMPT_COMMAND='curl x' bash",
            "GIT_SSH_COMMAND='sh x' git fetch",
            "env LD_LIBRARY_PATH=/tmp/x ssh h",
            "export PERL5OPT=-Mx",
            "export NODE_OPTIONS='--require /tmp/x.js'",
            "PYTHONSTARTUP=x python3",
        ],
        passes: &[
            "NODE_ENV=test npm test",
            "RUST_LOG=debug cargo run",
            "export NODE_OPTIONS=--max-old-space-size=4096",
            "GIT_SSH_COMMAND='ssh -o BatchMode=yes' git fetch",
            "PYTHONPATH=src python3 x.py",
        ],
    },
    Rule {
        id: "search-path",
        category: Category::Environment,
        tier: Tier::Block,
        finds: "puts a temporary or the working folder first where programs are searched",
        instead: "Call the program by its path.",
        check: Check::Command(search_path),
        matches: &["export PATH=/tmp/evil:$PATH", "PATH=.:$PATH make", "PATH=/dev/shm/x:$PATH git status"],
        passes: &[
            "export PATH=\"$PWD/node_modules/.bin:$PATH\"",
            "PATH=$PATH:/opt/x make",
            "export PATH=$HOME/.cargo/bin:$PATH",
            "echo $PATH",
        ],
    },
    Rule {
        id: "unsafe-transport",
        category: Category::Environment,
        tier: Tier::Block,
        finds: "switches off the checks of connections, or sends them through another machine",
        instead: "Leave certificate checks on and use the network as it is.",
        check: Check::Command(unsafe_transport),
        matches: &[
            "NODE_TLS_REJECT_UNAUTHORIZED=0 npm test",
            "GIT_SSL_NO_VERIFY=1 git clone https://x.example/a",
            "export https_proxy=http://203.0.113.9:80",
            "export PYTHONHTTPSVERIFY=0",
            "npm config set strict-ssl false",
            "curl -sk https://x.example/a",
            "wget --no-check-certificate https://x.example/a",
        ],
        passes: &[
            "HTTPS_PROXY=http://localhost:3128 npm ci",
            "NODE_TLS_REJECT_UNAUTHORIZED=1 node x",
            "env -u https_proxy ls",
            "npm config get registry",
            "curl -k https://localhost:8443/health",
            "curl -o k https://x.example/a",
        ],
    },
];

/// Variables that are set, for a command or for all that follow.
fn assigned_variables(input: &RuleInput<'_>) -> Vec<(String, String)> {
    let mut all = input.command.env.clone();
    if input.command.is(&["export", "declare", "typeset", "readonly", "local", "setenv"]) {
        let pairs = input.command.args.iter().filter_map(|arg| arg.split_once('='));
        all.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    if input.command.is(&["launchctl"]) && input.command.has_word(&["setenv"]) {
        let words = input.command.operands(&[]);
        all.extend(
            words.get(1).zip(words.get(2)).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
    }
    all
}

fn preload(input: &RuleInput<'_>) -> Option<String> {
    let found = assigned_variables(input).into_iter().any(|(name, value)| match name.as_str() {
        "LD_PRELOAD"
        | "LD_AUDIT"
        | "DYLD_INSERT_LIBRARIES"
        | "DYLD_LIBRARY_PATH"
        | "BASH_ENV"
        | "ENV"
        | "PROMPT_COMMAND"
        | "PS4"
        | "PYTHONSTARTUP"
        | "PYTHONHOME"
        | "PERL5OPT"
        | "PERL5DB"
        | "RUBYOPT"
        | "JAVA_TOOL_OPTIONS"
        | "_JAVA_OPTIONS"
        | "GIT_EXTERNAL_DIFF"
        | "GIT_TEMPLATE_DIR"
        | "GCONV_PATH"
        | "LD_ORIGIN_PATH"
        | "GIT_EXEC_PATH"
        | "GIT_PROXY_COMMAND"
        | "NODE_REPL_EXTERNAL_MODULE"
        | "LESSOPEN"
        | "LESSCLOSE" => !value.is_empty() && !value.starts_with("-X") && !value.starts_with("-Dfile"),
        "LD_LIBRARY_PATH" => value.split(':').any(|part| is_foreign(input, part)),
        "NODE_OPTIONS" => {
            value.contains("--require")
                || value.contains("-r ")
                || value.contains("--import")
                || value.contains("--loader")
        }
        "GIT_SSH_COMMAND" | "GIT_SSH" => {
            !value.trim_start().starts_with("ssh ") || value.contains("ProxyCommand")
        }
        "GIT_ASKPASS" | "SSH_ASKPASS" | "SUDO_ASKPASS" => {
            !["true", "/bin/true", "echo", "", "/bin/echo"].contains(&value.as_str())
        }
        "GIT_EDITOR"
        | "EDITOR"
        | "VISUAL"
        | "PAGER"
        | "GIT_PAGER"
        | "MANPAGER"
        | "BROWSER"
        | "GIT_SEQUENCE_EDITOR" => ["curl", "wget", "bash -c", "sh -c", "nc ", "python -c", "rm "]
            .iter()
            .any(|word| value.contains(word)),
        _ => false,
    });
    input.found_if(found)
}

/// A folder for temporary files, whose contents others may write.
fn is_foreign(input: &RuleInput<'_>, folder: &str) -> bool {
    !folder.is_empty() && input.place_of(&input.command.resolve_path(folder, input.ctx)) == Place::Temporary
}

fn search_path(input: &RuleInput<'_>) -> Option<String> {
    let found = assigned_variables(input).into_iter().any(|(name, value)| {
        let first = text::split(&value, ":").first().copied().unwrap_or_default().to_owned();
        name == "PATH"
            && (is_foreign(input, &first) || ["", ".", "./", ".."].contains(&first.as_str()))
            && !value.is_empty()
    });
    input.found_if(found)
}

/// Options of `curl` that take a value, which may be any text.
const CURL_VALUED: [&str; 22] = [
    "-o",
    "-H",
    "-d",
    "-X",
    "-u",
    "-A",
    "-e",
    "-b",
    "-c",
    "-F",
    "-T",
    "-x",
    "-w",
    "-m",
    "-E",
    "-K",
    "-r",
    "-D",
    "--header",
    "--data",
    "--output",
    "--request",
];

/// Whether something is fetched from or sent to another machine without asking who that is.
fn trusts_anyone(command: &Command) -> bool {
    let (switches, hosts) = match command.program.as_str() {
        "curl" => (command.switches(&CURL_VALUED, ""), command.operands(&CURL_VALUED)),
        "wget" => {
            let valued = ["-O", "-o", "-P", "-U", "--header", "--post-data", "--output-document"];
            (command.switches(&valued, ""), command.operands(&valued))
        }
        _ => return false,
    };
    let is_unchecked = switches.iter().any(|switch| match command.program.as_str() {
        "curl" => ["k", "insecure"].contains(switch),
        _ => *switch == "no-check-certificate",
    });
    let is_other_host = |target: &&str| {
        let rest = target.split_once("://").map_or(*target, |(_, rest)| rest);
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        !host.is_empty() && text::is_known(host) && !is_loopback(target)
    };
    is_unchecked && hosts.iter().any(is_other_host)
}

fn unsafe_transport(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_local = |value: &str| ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| value.contains(host));
    let found =
        assigned_variables(input).into_iter().any(|(name, value)| match name.to_uppercase().as_str() {
            "NODE_TLS_REJECT_UNAUTHORIZED" | "PYTHONHTTPSVERIFY" => value == "0",
            "GIT_SSL_NO_VERIFY" => ["1", "true"].contains(&value.as_str()),
            "HTTP_PROXY" | "HTTPS_PROXY" | "ALL_PROXY" => {
                !value.is_empty() && !is_local(&value) && text::is_known(&value)
            }
            "GOFLAGS" | "GONOSUMCHECK" | "GONOSUMDB" | "GOINSECURE" => {
                value.contains("insecure") || name.starts_with("GON")
            }
            "NPM_CONFIG_REGISTRY" | "PIP_INDEX_URL" | "PIP_EXTRA_INDEX_URL" | "UV_INDEX_URL" | "GOPROXY" => {
                value.contains("://")
                    && !is_local(&value)
                    && !["registry.npmjs.org", "pypi.org", "proxy.golang.org"]
                        .iter()
                        .any(|host| value.contains(host))
            }
            _ => false,
        });
    let settings = command.runs(&[
        "npm|pnpm|yarn config set strict-ssl|strictSsl|enableStrictSsl",
        "npm|pnpm|yarn set strict-ssl",
    ]) && command.has_word(&["false"])
        || command.is(&["npm", "pnpm", "yarn"])
            && command.has_word(&["strict-ssl=false", "--strict-ssl=false"]);
    input.found_if(found || settings || trusts_anyone(command))
}
