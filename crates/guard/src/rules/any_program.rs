//! Programs that no other rule knows, by the verbs that all of them use.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{command::Command, paths::Place};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "unknown-destroys",
        category: Category::FileSystem,
        finds: "tells a program to delete, destroy or erase its data",
        instead: "Use its read-only commands, and leave deleting to the user.",
        patterns: Patterns::new(&[
            "* delete|destroy|purge|wipe|erase|erase_*|erase-*|nuke|obliterate|forget|unregister*|factory-reset|decommission|terminate|*-destroy|*-all-data|delete-*|destroy-*|purge-*|wipe-*|terminate-*|undeploy-*|remove-all|uninstall-all|drop-all|delete:all|*:destroy|*:purge|*:wipe",
            "* ?* delete|destroy|purge|wipe|erase|erase_*|erase-*|nuke|obliterate|forget|unregister*|factory-reset|decommission|terminate|*-destroy|*-all-data|delete-*|destroy-*|purge-*|wipe-*|terminate-*|undeploy-*|remove-all|uninstall-all|drop-all|delete:all|*:destroy|*:purge|*:wipe",
            "* ?* ?* delete|destroy|purge|wipe|erase|obliterate|terminate|*-destroy|delete-all",
            "* db|database|schema|table drop|truncate",
            "* remove|rm|del --all|--everything",
            "gpg|gpg2 ~--delete-keys|--delete-secret*",
            "ssh-add -D",
            "kdestroy",
            "pass|gopass rm|remove|delete",
            "doveadm expunge",
            "atrm ?*",
            "vmrun deleteVM",
            "ipmitool ~power|chassis ~off|cycle|reset|soft",
            "openocd ~*erase*",
            "guix gc",
            "bleachbit|czkawka_cli|czkawka-cli|stacer|ccleaner ~*clean*|*delete*|-D",
            "* ~--delete-all*|--wipe|--wipe-*|--erase|--erase-*|--destroy|--destroy-*|--purge-all|--factory-reset|--unregister|--obliterate|--nuke|--replace-all|--delete-existing|--drop-existing|--drop-tables|--drop-database|--force-reset|--reset-all|--clean-all|--wipe-all",
        ]),
        unless: Patterns::new(SPEAKS_OTHERWISE),
        spares: is_of_project,
        matches: &[
            "qm destroy 100 --purge",
            "esptool.py --port /dev/ttyUSB0 erase_flash",
            "VBoxManage unregistervm dev --delete",
            "wsl --unregister Ubuntu",
            "heketi-cli volume delete 1",
            "fastly logging s3 delete --name logs",
            "gpg --batch --yes --delete-secret-keys x",
            "wasp db drop",
        ],
        passes: &[
            "./scripts/db.sh delete staging",
            "rails destroy model Post",
            "pytest -k delete",
            "echo delete it",
            "pm2 delete web",
            "x purge --dry-run",
        ],
        ..RULE
    },
    Rule {
        id: "unknown-deletes-outside",
        category: Category::FileSystem,
        finds: "tells a program to delete files outside the project",
        instead: "Delete only what is below the project or a temporary folder.",
        check: Check::Command(deletes_outside),
        matches: &[
            "fclones dedupe --delete ~/photos",
            "python3 tools/sync.py --delete-extra . ~/docs",
            "x clean --all ~/docs",
            "x remove ../other",
        ],
        passes: &[
            "x --delete build/old",
            "x clean /tmp/x",
            "x --delete --config ~/.x.toml build/old",
            "make -C ../lib clean",
            "grep --color remove /etc/hosts",
            "x --delete --dry-run ~/docs",
            ": rm -rf /",
            "true delete ~/docs",
            "false || : sudo rm -rf /etc",
        ],
        ..RULE
    },
    Rule {
        id: "unknown-publishes",
        category: Category::Exfiltration,
        finds: "tells a program to publish, deploy, upload or share something",
        instead: "Prepare it and stop; leave publishing to the user.",
        patterns: Patterns::new(&[
            "* publish|unpublish|deploy|undeploy|upload|yank|send|share|tunnel|funnel|push",
            "* ?* publish|unpublish|deploy|undeploy|upload|yank|send|share|tunnel|funnel",
            "* ?* ?* undeploy|unpublish",
        ]),
        unless: Patterns::new(SPEAKS_OTHERWISE),
        spares: is_of_project,
        matches: &["modal deploy app.py", "wormhole send a.tar", "osf upload a.csv", "valet share"],
        passes: &[
            "make deploy",
            "arduino-cli upload -p /dev/ttyACM0",
            "grep deploy docs/a.md",
            "tmux send ls",
        ],
        ..RULE
    },
];

/// Programs that mean something else by such words: texts, names of files and of tests, tasks of the project. What is dangerous
/// of them other rules know.
const SPEAKS_OTHERWISE: &[&str] = &[
    "git|gh|glab|hub|hg|svn|jj|sl|ralph|curl|wget|http|https|httpie|xh|xhs|curlie|grpcurl|websocat",
    "echo|printf|:|true|false|cat|grep|egrep|fgrep|rg|ag|ack|sed|awk|jq|yq|tr|sort|uniq|head|tail|less|more|wc|cut|diff|cmp|tee|test|[|[[|let",
    "cd|pushd|mkdir|touch|cp|mv|rm|rmdir|ln|ls|tree|find|fd|stat|file|which|type|command|man|help|tldr|apropos|export|local|declare|readonly|typeset|unset|set|read|trap|return|source|.|alias|eval|basename|dirname|realpath|rsync|install|chmod|chown|open|xdg-open",
    "vim|vi|nvim|nano|emacs|bat|xargs|parallel|time|watch|env|sh|bash|zsh|fish|dash|ksh|pwsh|powershell|ssh|scp|sftp|docker|podman|nerdctl|docker-compose",
    "python|node|deno|bun|ruby|perl|php|lua|java|javac|kotlin|scala|go|cargo|rustc|rustup|npm|pnpm|yarn|npx|bunx|lerna|rush|nx|turbo|moon|ember|ng|vite|webpack|rollup|esbuild|tsc|tsx|ts-node|swift|xcrun|xcodebuild",
    "make|gmake|just|task|rake|rails|hanami|mage|invoke|inv|nox|tox|doit|gradle|gradlew|mvn|mvnw|sbt|ant|bazel|buck2|meson|cmake|ninja|pants|mix|dotnet|flutter|dart|composer|symfony|artisan|console|manage.py|django-admin|flask",
    "pip|pipx|uv|uvx|poetry|pdm|hatch|rye|pipenv|conda|mamba|bundle|gem|spring|pm2|tmux|screen|zellij|supervisorctl|arduino-cli|pio|platformio",
    "pytest|jest|vitest|mocha|ava|karma|cypress|playwright|phpunit|rspec|cucumber|ctest|nosetests|hypothesis|behave|robot|newman|k6|locust|act|gotestsum",
    "psql|mysql|mariadb|sqlite3|duckdb|mongosh|mongo|redis-cli|valkey-cli|prisma|knex|sequelize|alembic|kubectl|oc|helm|aws|gcloud|az|terraform|tofu|pulumi|vault|consul|nomad|firebase|supabase|wrangler|kind|k3d|minikube",
    "quilt|stg|guilt|adb|drizzle-kit|mutagen|bd|task|todo|zk|ip|nmcli|notify-send|say|codemod|jscodeshift|comby|ast-grep|sg|plop|hygen|cookiecutter|copier|yeoman|yo|claude|codex",
];

/// A script of the project says itself what its words mean.
fn is_of_project(input: &RuleInput<'_>) -> bool {
    let spelled = &input.command.spelled;
    let place = input.place_of(&input.command.resolve_path(spelled, input.ctx));
    spelled.contains('/') && matches!(place, Place::Project(_) | Place::Temporary)
}

/// Of these the first rows are about text and files: what they are told to delete is in the text, or other rules know it.
const ABOUT_TEXT: usize = 4;

/// How an option begins that has something deleted.
const DELETES: [&str; 9] = [
    "--delete",
    "--purge",
    "--wipe",
    "--erase",
    "--destroy",
    "--nuke",
    "--shred",
    "--remove-source",
    "--remove-all",
];

/// Words that have something deleted.
const VERBS: [&str; 18] = [
    "delete", "remove", "rm", "del", "clean", "cleanup", "clear", "purge", "wipe", "erase", "empty", "prune",
    "dedupe", "dedup", "trash", "shred", "unlink", "destroy",
];

/// Options that take no value, so that what stands behind them is no value.
const SWITCHES: [&str; 12] =
    ["-f", "-r", "-R", "-y", "-v", "-q", "-rf", "--force", "--recursive", "--yes", "--all", "--verbose"];

/// A path outside the project in the arguments of a program that is told to delete.
fn deletes_outside(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let has_option = command.args.iter().any(|arg| is_deletion(arg));
    let has_verb = || command.words().iter().take(2).any(|word| VERBS.contains(word));
    let has_outside = || command.args.iter().enumerate().any(|(at, arg)| is_outside(input, at, arg));
    let is_found = !command.is_remote
        && !command.program.is_empty()
        && (has_option || has_verb())
        && has_outside()
        && !command.is_dry_run()
        && !is_of_project(input)
        && !input.runs(if has_option { &SPEAKS_OTHERWISE[..ABOUT_TEXT] } else { SPEAKS_OTHERWISE });
    input.found_if(is_found)
}

fn is_deletion(arg: &str) -> bool {
    arg.starts_with("--") && DELETES.iter().any(|option| arg.starts_with(option))
}

/// Whether an argument is a path outside the project, and not the value of an option.
fn is_outside(input: &RuleInput<'_>, at: usize, arg: &str) -> bool {
    if !arg.starts_with(['/', '~']) && !arg.starts_with("..") {
        return false;
    }
    let Command { args, .. } = input.command;
    let before = at.checked_sub(1).map_or("", |before| args[before].as_str());
    let is_value = before.starts_with('-') && !is_deletion(before) && !SWITCHES.contains(&before);
    let place = input.place_of(&input.command.resolve_path(arg, input.ctx));
    !is_value
        && matches!(place, Place::Home(_) | Place::HomeRoot | Place::Root | Place::System | Place::Outside)
}
