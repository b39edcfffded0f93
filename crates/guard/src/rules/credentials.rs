//! Keys that services hand out, and searches for keys.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{file_access::Access, paths::Place, programs::FETCHERS, text};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cloud-metadata",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "asks the machine's cloud for its keys",
        instead: "Work without the keys of the machine; ask the user for what is needed.",
        check: Check::Command(cloud_metadata),
        matches: &[
            "curl http://169.254.169.254/latest/meta-data/iam/security-credentials/",
            "wget -qO- http://metadata.google.internal/computeMetadata/v1/",
            "curl \"http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI\"",
            "python3 -c \"import urllib.request as u; print(u.urlopen('http://169.254.169.254/').read())\"",
        ],
        passes: &["grep -rn 169.254.169.254 src", "curl http://localhost:8080/meta-data"],
    },
    Rule {
        id: "container-environment",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "prints the environment that containers were given",
        instead: "Ask for the part you need: `docker inspect --format '{{.State.Status}}' NAME`.",
        check: Check::Command(container_environment),
        matches: &[
            "docker inspect db --format '{{.Config.Env}}'",
            "podman inspect -f '{{json .Config}}' db",
            "docker inspect $(docker ps -q)",
        ],
        passes: &["docker inspect web", "docker inspect -f '{{.State.Status}}' web", "docker ps"],
    },
    Rule {
        id: "search-secrets",
        category: Category::Secrets,
        tier: Tier::Block,
        finds: "searches the user's files for passwords and keys",
        instead: "Search in the project.",
        check: Check::Command(search_secrets),
        matches: &[
            "grep -ri password ~/.config",
            "rg -i 'api_?key|token' /etc",
            "grep -rE 'secret' /home/me/work",
        ],
        passes: &["grep -rn password src", "rg token .", "grep -c . ~/notes.txt"],
    },
];

/// Where clouds answer, to whoever asks from a machine of theirs.
const METADATA_ADDRESSES: [&str; 8] = [
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "metadata.google.internal",
    "metadata.goog/",
    "fd00:ec2::254",
    "2852039166",
    "0xa9fea9fe",
];

fn cloud_metadata(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let names = |text: &String| {
        let text = text.to_lowercase();
        METADATA_ADDRESSES.iter().any(|address| text.contains(address))
    };
    let fetches = FETCHERS.contains(&command.program.as_str()) || command.is(&["ssh", "telnet"]);
    let calls = |code: &&String| {
        ["urlopen", "requests.", "fetch(", "http", "socket", "open("].iter().any(|call| code.contains(call))
    };
    let in_code = command.code.as_ref().filter(calls).is_some_and(names);
    input.found_if((fetches && command.args.iter().any(names)) || in_code)
}

fn container_environment(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !command.runs(&["docker|podman|nerdctl inspect", "docker|podman|nerdctl container|image inspect"]) {
        return None;
    }
    let formats = command.values("f", &["format"]);
    let shows = |format: &&str| {
        let dense: String = format.to_lowercase().split_whitespace().collect();
        dense.contains(".env") || dense.contains(".config}") || dense.contains("json.}")
    };
    let is_listed = |arg: &String| {
        text::sources(arg).any(|source| ["docker", "podman", "nerdctl"].iter().any(|it| source.contains(it)))
    };
    let is_every = formats.is_empty() && command.args.iter().any(is_listed);
    input.found_if(formats.iter().any(shows) || is_every)
}

fn search_secrets(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !command.is(&["grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep"]) {
        return None;
    }
    let is_wanted = |pattern: &&str| {
        let lower = pattern.to_lowercase();
        ["passw", "secret", "token", "api_key", "api_?key", "apikey", "api-key", "credential", "private key"]
            .iter()
            .any(|word| lower.contains(word))
    };
    let mut patterns = command.values("e", &["regexp"]);
    patterns.extend(command.operands(&["-A", "-B", "-C", "-m", "-g", "-t"]).first());
    if !patterns.iter().any(is_wanted) {
        return None;
    }
    input.found_file_if(|file| {
        file.access == Access::Read
            && matches!(
                input.place_of(&file.path),
                Place::Root | Place::System | Place::HomeRoot | Place::Home(_)
            )
    })
}
