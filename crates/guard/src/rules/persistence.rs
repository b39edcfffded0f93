//! What would run again later.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{
    file_access::Access,
    paths::{Place, Relation, relation_to},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "start-files",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "changes files that run or rule every session of the user",
        instead: "Set what you need in the command itself, or in a file of the project, and say what the user may add.",
        check: Check::Command(start_files),
        matches: &[
            "echo x >> ~/.bashrc",
            "sed -i 1d ~/.zshrc",
            "ln -sf /tmp/x ~/.local/bin/git",
            "cat key >> ~/.ssh/authorized_keys",
            "cp x ~/.config/autostart/",
            "echo x > ~/.npmrc",
            "python3 -c \"open('/root/.profile','a').write('x')\"",
        ],
        passes: &[
            "cat ~/.bashrc",
            "echo 'add to ~/.bashrc' >> README.md",
            "cp ~/.bashrc bashrc.txt",
            "touch ~/.cache/x",
        ],
    },
    Rule {
        id: "outlives",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "starts something that is to live on without anyone who ends it",
        instead: "Start it in the background with `&`, and end it with `kill $!` when you are done.",
        check: Check::Command(|input| {
            let command = input.command;
            let detaches = command.is(&["disown", "daemonize", "start-stop-daemon"])
                || command.is(&["setsid"]) && (command.has("f", &["fork"]) || command.in_background);
            input.found_if(detaches && !command.has("", &["help", "version"]))
        }),
        matches: &["nohup ./server & disown -h", "setsid -f ./worker", "(setsid ./daemon &)"],
        passes: &["nohup npm start > server.log 2>&1 &", "npm run dev &", "setsid --wait npm test"],
    },
    Rule {
        id: "schedule",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "schedules something for later",
        instead: "Do it now, or say what should be scheduled.",
        check: Check::Command(schedule),
        matches: &[
            "crontab x",
            "echo x | crontab -",
            "at now + 1 minute",
            "systemctl --user enable x",
            "launchctl load x",
            "systemd-run --on-calendar=daily x",
            "schtasks /create /tn x",
            "batch < x",
        ],
        passes: &["crontab -l", "atq", "systemctl --user status", "launchctl list"],
    },
    Rule {
        id: "remote-keys",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "gives a key or an account access",
        instead: "Leave access to the user.",
        check: Check::Command(remote_keys),
        matches: &[
            "ssh-copy-id x@y",
            "gh ssh-key add x",
            "gh auth login",
            "ssh-keygen -t ed25519 -f ~/.ssh/id_x -N ''",
            "gh api -X POST user/keys -f key=x",
        ],
        passes: &["ssh-keygen -lf tests/x.pub", "gh auth status", "ssh-keygen -t ed25519 -f tests/key -N ''"],
    },
    Rule {
        id: "package-settings",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "changes where packages come from, or other settings of the user's tools",
        instead: "Put settings into the project, or pass them as options.",
        check: Check::Command(package_settings),
        matches: &[
            "npm config set registry http://x.example",
            "pip config set global.index-url http://x.example",
            "yarn config set npmRegistryServer http://x",
            "npm set //x/:_authToken y",
            "gem sources --add http://x",
            "docker login x",
            "gh alias set x '!sh'",
            "go env -w GOPROXY=http://x",
        ],
        passes: &[
            "npm config get registry",
            "pip config list",
            "yarn config",
            "go env GOPATH",
            "npm config set fund false --location project",
        ],
    },
];

/// Files and folders in a home that run or rule later sessions.
const START_FILES: &[&str] = &[
    ".ssh",
    ".config",
    ".local/bin",
    ".local/share/applications",
    ".local/share/systemd",
    ".local/lib",
    "bin",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".vim",
    ".oh-my-zsh",
    ".emacs.d",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/bin",
    ".cargo/env",
    ".m2/settings.xml",
    ".gradle/init.d",
    ".gradle/gradle.properties",
    ".pip",
    ".vscode",
    ".ipython",
    ".git-templates",
    "Library/Preferences",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".zsh",
    ".bash_completion.d",
    ".terraform.d",
    ".azure",
    ".password-store",
];

fn start_files(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let Place::Home(rest) = input.place_of(&file.path) else { return false };
        // A hidden file right in the home is the settings of some program.
        let is_setting = rest.starts_with('.')
            && !rest.contains('/')
            && ![".cache", ".npm", ".cargo", ".m2", ".gradle", ".rustup", ".local", ".config"]
                .contains(&rest.as_str());
        let is_start = START_FILES.iter().any(|start| relation_to(&rest, start) == Relation::Inside);
        matches!(file.access, Access::Write | Access::Append)
            && (is_setting || is_start)
            && !input.command.is(&["mkdir"])
    })
}

fn schedule(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.asks_for_help() {
        return None;
    }
    let table = command.is(&["crontab"])
        && !command.has("lr", &[])
        && (!command.operands(&["-u"]).is_empty() || command.has("e", &[]) || command.stdin.is_given());
    let jobs = command.is(&["at", "batch"]) && !command.has("lqdrc", &[])
        || command.is(&["at"]) && command.has("f", &[]);
    let units = command.is(&["systemctl"])
        && command.has_word(&["enable", "link", "start", "add-wants", "edit"])
        && command.has_word(&["--user", "--global"]);
    let agents = command.runs(&[
        "launchctl load|bootstrap|submit|enable|start|setenv",
        "schtasks *",
        "pm2 startup|save",
    ]) && !command.has_word(&["/query", "/Query"]);
    let runs = command.is(&["systemd-run"])
        && command.args.iter().any(|arg| arg.starts_with("--on-") || arg.starts_with("--timer"));
    let other = command.is(&["anacron", "fcron", "fcrontab", "incrontab"]) && !command.has("l", &[])
        || command.is(&["Register-ScheduledTask", "New-Service"]);
    input.found_if(table || jobs || units || agents || runs || other)
}

fn remote_keys(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.asks_for_help() {
        return None;
    }
    let adds = command.is(&["ssh-copy-id", "ssh-import-id"])
        || command.runs(&[
            "gh ssh-key|gpg-key|deploy-key add",
            "gh repo deploy-key add",
            "gh auth login|refresh|setup-git|logout",
            "glab auth|ssh-key login|add",
            "gcloud auth login|activate-service-account",
            "az login",
            "aws configure set|import",
            "aws sso login",
            "heroku keys:add|login",
            "gcloud compute os-login|project-info ssh-keys|add-metadata",
        ]);
    let api = command.runs(&["gh api"])
        && command
            .args
            .iter()
            .any(|arg| arg.contains("/keys") || arg.contains("/hooks") || arg.contains("collaborators"))
        && command.args.iter().any(|arg| ["POST", "PUT"].contains(&arg.as_str()) || arg == "-f");
    let makes = command.is(&["ssh-keygen"])
        && command.values("f", &[]).iter().any(|path| {
            matches!(input.place_of(&command.resolve_path(path, input.ctx)), Place::Home(_) | Place::System)
        })
        && !command.has("lFHBye", &[]);
    input.found_if(adds || api || makes)
}

/// Commands that change settings of tools.
const CHANGES_TOOL_SETTINGS: &[&str] = &[
    "npm|pnpm|yarn|bun config|c set|edit|delete",
    "npm|pnpm|yarn set *",
    "yarn config *",
    "pip config set|edit|unset",
    "bundle config set",
    "composer config --global|-g",
    "poetry config *",
    "conda config *",
    "cargo login|logout",
    "npm|pnpm|yarn login|adduser|logout",
    "docker|podman login|logout",
    "helm repo|registry add|login",
    "nuget sources add|update",
    "dotnet nuget add|update|remove source",
    "gh alias set|import",
    "gh config set",
    "gh extension install",
    "gem sources",
    "gcloud config set|unset",
    "kubectl config set*|use-context|delete-*|rename-context|unset",
    "code --install-extension",
    "rustup default|override|set|self",
    "chsh",
];

fn package_settings(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if command.asks_for_help()
        || command.has_word(&["--location=project"])
        || command.values("L", &["location"]).contains(&"project")
    {
        return None;
    }
    let sets = command.runs(CHANGES_TOOL_SETTINGS);
    let reads = command.is(&["yarn", "poetry", "conda", "gem"])
        && (command.words().len() < 3 && !command.has("au", &["add", "remove", "clear-all"])
            || command.has_word(&["get", "list", "--list", "--show", "--get"]))
        || command.has_word(&["--local"]);
    let proxies = command.is(&["go"]) && command.has_word(&["env"]) && command.has("wu", &[]);
    input.found_if((sets && !reads) || proxies)
}
