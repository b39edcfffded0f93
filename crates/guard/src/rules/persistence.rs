//! What would run again later.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{
    paths::{Place, Touch, touches},
    uses::Use,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "start-files",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "changes files that run or rule every session of the user",
        instead: "Set what you need in the command itself, or in a file of the project, and say what the user may add.",
        check: Check::Scene(start_files),
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
        id: "schedule",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "schedules something for later",
        instead: "Do it now, or say what should be scheduled.",
        check: Check::Scene(schedule),
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
        check: Check::Scene(keys),
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
        check: Check::Scene(packages),
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
const START: &[&str] = &[
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

fn start_files(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| {
        let Place::Home(rest) = scene.place(&one.path) else { return false };
        // A hidden file right in the home is the settings of some program.
        let is_setting = rest.starts_with('.')
            && !rest.contains('/')
            && ![".cache", ".npm", ".cargo", ".m2", ".gradle", ".rustup", ".local", ".config"]
                .contains(&rest.as_str());
        let is_start = START.iter().any(|start| touches(&rest, start) == Touch::Inside);
        matches!(one.kind, Use::Write | Use::Append) && (is_setting || is_start) && !scene.one.is(&["mkdir"])
    })
}

fn schedule(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_question() {
        return None;
    }
    let table = one.is(&["crontab"])
        && !one.has("lr", &[])
        && (!one.operands(&["-u"]).is_empty() || one.has("e", &[]) || one.input.is_given());
    let jobs = one.is(&["at", "batch"]) && !one.has("lqdrc", &[]) || one.is(&["at"]) && one.has("f", &[]);
    let units = one.is(&["systemctl"])
        && one.has_word(&["enable", "link", "start", "add-wants", "edit"])
        && one.has_word(&["--user", "--global"]);
    let agents =
        one.runs(&["launchctl load|bootstrap|submit|enable|start|setenv", "schtasks *", "pm2 startup|save"])
            && !one.has_word(&["/query", "/Query"]);
    let runs = one.is(&["systemd-run"])
        && one.args.iter().any(|arg| arg.starts_with("--on-") || arg.starts_with("--timer"));
    let other = one.is(&["anacron", "fcron", "fcrontab", "incrontab"]) && !one.has("l", &[])
        || one.is(&["Register-ScheduledTask", "New-Service"]);
    scene.found_if(table || jobs || units || agents || runs || other)
}

fn keys(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_question() {
        return None;
    }
    let adds = one.is(&["ssh-copy-id", "ssh-import-id"])
        || one.runs(&[
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
    let api = one.runs(&["gh api"])
        && one
            .args
            .iter()
            .any(|arg| arg.contains("/keys") || arg.contains("/hooks") || arg.contains("collaborators"))
        && one.args.iter().any(|arg| ["POST", "PUT"].contains(&arg.as_str()) || arg == "-f");
    let makes = one.is(&["ssh-keygen"])
        && one
            .values("f", &[])
            .iter()
            .any(|path| matches!(scene.place(&one.path(path, scene.ctx)), Place::Home(_) | Place::System))
        && !one.has("lFHBye", &[]);
    scene.found_if(adds || api || makes)
}

/// Commands that change settings of tools.
const SETS: &[&str] = &[
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

fn packages(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    if one.is_question()
        || one.has_word(&["--location=project"])
        || one.values("L", &["location"]).contains(&"project")
    {
        return None;
    }
    let sets = one.runs(SETS);
    let reads = one.is(&["yarn", "poetry", "conda", "gem"])
        && (one.words().len() < 3 && !one.has("au", &["add", "remove", "clear-all"])
            || one.has_word(&["get", "list", "--list", "--show", "--get"]))
        || one.has_word(&["--local"]);
    let proxies = one.is(&["go"]) && one.has_word(&["env"]) && one.has("wu", &[]);
    scene.found_if((sets && !reads) || proxies)
}
