//! Variables that change what programs do, and connections that no one checks.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{flatten::is_loopback, paths::Place, text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "preload",
        category: Category::Environment,
        finds: "sets a variable that loads code into other programs or replaces the programs they call",
        instead: "Run the program with its own options.",
        variables: &[
            "BASH_FUNC_*=*",
            "GIT_CONFIG_PARAMETERS=?*",
            "GIT_CONFIG_KEY_*=core.hookspath|core.fsmonitor|core.sshcommand|core.pager|core.editor|alias.*|credential.helper",
            "npm_config_script_shell=?*",
            "LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH|BASH_ENV|ENV|PROMPT_COMMAND|PS4|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5DB|RUBYOPT|GIT_EXTERNAL_DIFF|GIT_TEMPLATE_DIR|GCONV_PATH|LD_ORIGIN_PATH|GIT_EXEC_PATH|GIT_PROXY_COMMAND|NODE_REPL_EXTERNAL_MODULE|LESSOPEN|LESSCLOSE=?*",
            "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS=!-X*|-Dfile*|",
            "NODE_OPTIONS=*--require*|*-r?*|*--import*|*--loader*",
            "GIT_SSH_COMMAND|GIT_SSH=!ssh?*",
            "GIT_SSH_COMMAND|GIT_SSH=*ProxyCommand*",
            "GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS=!true|/bin/true|echo|/bin/echo|",
            "GIT_EDITOR|EDITOR|VISUAL|PAGER|GIT_PAGER|MANPAGER|BROWSER|GIT_SEQUENCE_EDITOR=*curl*|*wget*|*bash?-c*|*sh?-c*|*nc?*|*python?-c*|*rm?*",
        ],
        // They let what the project says into every shell of the user.
        patterns: Patterns::new(&["direnv allow|permit|grant|edit", "mise|rtx trust", "alias ~*=*/tmp/*"]),
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
            "direnv allow",
            "alias git='sh /tmp/g'",
        ],
        passes: &[
            "NODE_ENV=test npm test",
            "RUST_LOG=debug cargo run",
            "export NODE_OPTIONS=--max-old-space-size=4096",
            "GIT_SSH_COMMAND='ssh -o BatchMode=yes' git fetch",
            "PYTHONPATH=src python3 x.py",
        ],
        ..RULE
    },
    Rule {
        id: "search-path",
        category: Category::Environment,
        finds: "puts a temporary folder or the working folder first on the `PATH`",
        instead: "Call the program by its path.",
        check: Check::Command(search_path),
        matches: &["export PATH=/tmp/evil:$PATH", "PATH=.:$PATH make", "PATH=/dev/shm/x:$PATH git status"],
        passes: &[
            "export PATH=\"$PWD/node_modules/.bin:$PATH\"",
            "PATH=$PATH:/opt/x make",
            "export PATH=$HOME/.cargo/bin:$PATH",
            "echo $PATH",
        ],
        ..RULE
    },
    Rule {
        id: "unsafe-transport",
        category: Category::Environment,
        finds: "switches off the checks of connections, or sends them through another machine",
        instead: "Leave certificate checks on and use the network as it is.",
        patterns: Patterns::new(&[
            "npm|pnpm|yarn config set strict-ssl|strictssl|enablestrictssl false",
            "npm|pnpm|yarn set strict-ssl false",
            "npm|pnpm|yarn ~strict-ssl=false|--strict-ssl=false",
        ]),
        variables: &[
            "NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY=0",
            "GIT_SSL_NO_VERIFY=1|true",
            "HTTP_PROXY|HTTPS_PROXY|ALL_PROXY=!*localhost*|*127.0.0.1*|*::1*|*$*|",
            "GOFLAGS=*insecure*",
            "GONOSUMCHECK|GONOSUMDB|GOINSECURE=?*",
            "NPM_CONFIG_REGISTRY|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|UV_INDEX_URL|GOPROXY=!*localhost*|*127.0.0.1*|*registry.npmjs.org*|*pypi.org*|*proxy.golang.org*|*$*|direct|off|",
        ],
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
        ..RULE
    },
];

fn preload(input: &RuleInput<'_>) -> Option<String> {
    input.found_if(input.command.sets_variable(&|name, value| {
        name == "LD_LIBRARY_PATH" && value.split(':').any(|part| is_foreign(input, part))
    }))
}

/// A folder for temporary files, whose contents others may write.
fn is_foreign(input: &RuleInput<'_>, folder: &str) -> bool {
    !folder.is_empty() && input.place_of(&input.command.resolve_path(folder, input.ctx)) == Place::Temporary
}

fn search_path(input: &RuleInput<'_>) -> Option<String> {
    input.found_if(input.command.sets_variable(&|name, value| {
        let first = || text::split(value, ":").first().copied().unwrap_or_default().to_owned();
        let is_open =
            |first: String| is_foreign(input, &first) || ["", ".", "./", ".."].contains(&first.as_str());
        name == "PATH" && !value.is_empty() && is_open(first())
    }))
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

/// Something is fetched from or sent to another machine without asking who that is.
fn unsafe_transport(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let (valued, unchecked): (&[&str], _) = match command.program.as_str() {
        "curl" => (&CURL_VALUED, ["k", "insecure"]),
        "wget" => (
            &["-O", "-o", "-P", "-U", "--header", "--post-data", "--output-document"],
            ["", "no-check-certificate"],
        ),
        _ => return None,
    };
    let is_other_host = |target: &&str| {
        let rest = target.split_once("://").map_or(*target, |(_, rest)| rest);
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        !host.is_empty() && text::is_known(host) && !is_loopback(target)
    };
    let is_unchecked = command.switches(valued, "").iter().any(|switch| unchecked.contains(switch));
    input.found_if(is_unchecked && command.operands(valued).iter().any(is_other_host))
}
