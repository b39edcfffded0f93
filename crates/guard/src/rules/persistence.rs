//! What would run again later.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    file_access::Access,
    paths::{Place, Relation, relation_to},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "start-files",
        category: Category::Persistence,
        finds: "changes files that run in every session of the user or configure the session",
        instead: "Set what you need in the command itself, or in a file of the project, and say what the user may add.",
        code: &[
            &[
                "usercustomize",
                "sitecustomize",
                "getusersitepackages",
                "USER_SITE",
                "getsitepackages",
                "getuserbase",
            ],
            &["write", "copy", "'a'", "\"a\"", "'w'", "\"w\"", "symlink", "rename", "move("],
        ],
        check: Check::Command(start_files),
        matches: &[
            "echo x >> ~/.bashrc",
            "sed -i 1d ~/.zshrc",
            "ln -sf /tmp/x ~/.local/bin/git",
            "cat key >> ~/.ssh/authorized_keys",
            "cp x ~/.config/autostart/",
            "echo x > ~/.npmrc",
            "python3 -c \"open('/root/.profile','a').write('x')\"",
            "python3 -c \"import site; open(site.getusersitepackages() + '/x.pth', 'w').write('x')\"",
        ],
        passes: &[
            "cat ~/.bashrc",
            "python3 -c 'import site; print(site.getusersitepackages())'",
            "echo 'add to ~/.bashrc' >> README.md",
            "cp ~/.bashrc bashrc.txt",
            "touch ~/.cache/x",
        ],
        ..RULE
    },
    Rule {
        id: "outlives",
        category: Category::Persistence,
        finds: "starts a process that no one ends",
        instead: "Start it in the background with `&`, and end it with `kill $!` when you are done.",
        patterns: Patterns::new(&["daemonize|start-stop-daemon", "setsid -f|--fork"]),
        check: Check::Command(|input| {
            let command = input.command;
            input.found_if(command.is(&["disown"]) || (command.is(&["setsid"]) && command.in_background))
        }),
        matches: &["nohup ./server & disown -h", "setsid -f ./worker", "(setsid ./daemon &)"],
        passes: &["nohup npm start > server.log 2>&1 &", "npm run dev &", "setsid --wait npm test"],
        ..RULE
    },
    Rule {
        id: "schedule",
        category: Category::Persistence,
        finds: "schedules something for later",
        instead: "Do it now, or say what should be scheduled.",
        patterns: Patterns::new(&[
            "systemd-run --uid|--property=user*",
            "nssm install",
            "at.exe ?*",
            "rcctl|sysrc enable",
            "pm2 start --cron*",
            "supervisorctl add|update|start",
            "crontab ?* !-l|-r",
            "crontab -e",
            "at|batch !-l|-q|-d|-r|-c",
            "at -f",
            "systemctl --user|--global ~enable|link|start|add-wants|edit",
            "launchctl load|bootstrap|submit|enable|start|setenv",
            "schtasks !~/query",
            "pm2 startup|save",
            "systemd-run ~--on-*|--timer*",
            "anacron|fcron|fcrontab|incrontab !-l",
            "Register-ScheduledTask|New-Service",
        ]),
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
        ..RULE
    },
    Rule {
        id: "remote-keys",
        category: Category::Persistence,
        finds: "gives a key or an account access",
        instead: "Leave access to the user.",
        patterns: Patterns::new(&[
            "ssh-copy-id|ssh-import-id",
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
            "gh api ~*/keys*|*/hooks*|*collaborators* ~POST|PUT|-f",
        ]),
        check: Check::Command(remote_keys),
        matches: &[
            "ssh-copy-id x@y",
            "gh ssh-key add x",
            "gh auth login",
            "ssh-keygen -t ed25519 -f ~/.ssh/id_x -N ''",
            "gh api -X POST user/keys -f key=x",
        ],
        passes: &["ssh-keygen -lf tests/x.pub", "gh auth status", "ssh-keygen -t ed25519 -f tests/key -N ''"],
        ..RULE
    },
    Rule {
        id: "package-settings",
        category: Category::Persistence,
        finds: "changes where packages come from, or other settings of the user's tools",
        instead: "Put settings into the project, or pass them as options.",
        patterns: Patterns::new(&[
            "npm|pnpm|yarn|bun config|c set|edit|delete",
            "npm|pnpm|yarn set !version|resolution",
            "pip config set|edit|unset",
            "bundle config set",
            "cargo login|logout",
            "npm|pnpm|yarn login|adduser|logout",
            "docker|podman login|logout",
            "helm repo|registry add|login",
            "nuget sources add|update",
            "dotnet nuget add|update|remove source",
            "gh alias set|import",
            "gh config set",
            "gh extension install",
            "gcloud config set|unset",
            "kubectl config set*|delete-*|rename-context|unset",
            "kubectl config use-context !minikube|kind-*|k3d-*|docker-desktop|orbstack|rancher-desktop",
            "rustup default|override|set|self",
            "yarn config ?* ?*",
            "composer config --global|-g",
            "poetry|conda config ?* ?*",
            "conda config --add|--remove|--set|--append|--prepend",
            "poetry config --unset",
            "gem sources -a|-r|-u|--add|--remove|--clear-all",
            "code --install-extension",
            "go env -w|-u",
        ]),
        unless: Patterns::new(&[
            "* ~--location=project|--local",
            "* -L=project|--location=project",
            "yarn|poetry|conda|gem ~get|list|--list|--show|--get",
        ]),
        matches: &[
            "npm config set registry http://x.example",
            "pip config set global.index-url http://x.example",
            "yarn config set npmRegistryServer http://x",
            "npm set registry http://x",
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
        ..RULE
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
    let unpacks = input.command.is(&["tar", "bsdtar", "unzip", "7z", "cpio"]);
    input.found_file_if(|file| {
        let place = input.place_of(&file.path);
        if unpacks && place == Place::HomeRoot {
            return file.access == Access::Append;
        }
        let Place::Home(rest) = place else { return false };
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
    input.found_if(command.is(&["crontab"]) && !command.has("lr", &[]) && command.stdin.is_given())
}

/// A key among those that open something.
fn remote_keys(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_used = |path: &&str| {
        matches!(input.place_of(&command.resolve_path(path, input.ctx)), Place::Home(_) | Place::System)
    };
    let makes = input.runs(&["ssh-keygen !-l|-F|-H|-B|-y|-e"]) && !command.asks_for_help();
    input.found_if(makes && command.values("f", &[]).iter().any(is_used))
}
