//! Keys that services hand out, and searches for keys.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{file_access::Access, paths::Place};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cloud-metadata",
        category: Category::Secrets,
        finds: "asks the machine's cloud for its keys",
        instead: "Work without the keys of the machine; ask the user for what is needed.",
        patterns: Patterns::new(&[
            "curl|wget|http|https|xh|aria2c|axel|lynx|w3m|links|fetch|nc|ncat|socat|openssl|ssh|telnet ~*169.254.169.254*|*169.254.170.2*|*100.100.100.200*|*metadata.google.internal*|*metadata.goog/*|*fd00:ec2::254*|*2852039166*|*0xa9fea9fe*",
        ]),
        code: &[
            &["urlopen", "requests.", "fetch(", "http", "socket", "open("],
            &[
                "169.254.169.254",
                "169.254.170.2",
                "100.100.100.200",
                "metadata.google.internal",
                "metadata.goog/",
                "fd00:ec2::254",
                "2852039166",
                "0xa9fea9fe",
            ],
        ],
        spares_dry_runs: false,
        matches: &[
            "curl http://169.254.169.254/latest/meta-data/iam/security-credentials/",
            "wget -qO- http://metadata.google.internal/computeMetadata/v1/",
            "curl \"http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI\"",
            "python3 -c \"import urllib.request as u; print(u.urlopen('http://169.254.169.254/').read())\"",
        ],
        passes: &["grep -rn 169.254.169.254 src", "curl http://localhost:8080/meta-data"],
        ..RULE
    },
    Rule {
        id: "container-environment",
        category: Category::Secrets,
        finds: "prints the environment of containers",
        instead: "Ask for the part you need: `docker inspect --format '{{.State.Status}}' NAME`.",
        patterns: Patterns::new(&[
            "docker|podman|nerdctl inspect -f=*.env*|-f=*.config}*|-f=*.config?}*|-f=*json?.}*|-f=*json?.?}*|--format=*.env*|--format=*.config}*|--format=*.config?}*|--format=*json?.}*|--format=*json?.?}*",
            "docker|podman|nerdctl inspect !-f|--format ~*$(docker*|*$(podman*|*$(nerdctl*",
            "docker|podman|nerdctl inspect >*env*",
            "docker|podman|nerdctl container|image inspect -f=*.env*|-f=*.config}*|-f=*.config?}*|-f=*json?.}*|-f=*json?.?}*|--format=*.env*|--format=*.config}*|--format=*.config?}*|--format=*json?.}*|--format=*json?.?}*",
            "docker|podman|nerdctl container|image inspect !-f|--format ~*$(docker*|*$(podman*|*$(nerdctl*",
            "docker|podman|nerdctl container|image inspect >*env*",
            // It fills in what the `.env` of the project says.
            "docker|podman|nerdctl compose config|convert >*passw*|*secret*|*token*|*key*|*env*|*credential*",
            "docker-compose config|convert >*passw*|*secret*|*token*|*key*|*env*|*credential*",
        ]),
        matches: &[
            "docker inspect web | jq '.[0].Config.Env'",
            "docker inspect db --format '{{.Config.Env}}'",
            "podman inspect -f '{{json .Config}}' db",
            "docker inspect $(docker ps -q)",
            "docker compose config | grep -i password",
        ],
        passes: &[
            "docker inspect web",
            "docker inspect -f '{{.State.Status}}' web",
            "docker ps",
            "docker compose config -q",
        ],
        ..RULE
    },
    Rule {
        id: "search-secrets",
        category: Category::Secrets,
        finds: "searches the user's files for passwords and keys",
        instead: "Search in the project.",
        patterns: Patterns::new(&["history|fc >*passw*|*token*|*secret*|*api?key*"]),
        check: Check::Command(search_secrets),
        matches: &[
            "history | grep -i password",
            "grep -ri password ~/.config",
            "rg -i 'api_?key|token' /etc",
            "grep -rE 'secret' /home/me/work",
        ],
        passes: &["grep -rn password src", "rg token .", "grep -c . ~/notes.txt"],
        ..RULE
    },
];

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
