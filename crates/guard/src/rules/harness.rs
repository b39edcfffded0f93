//! Ralph's own files, and the settings of agents.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    file_access::Access,
    paths::{Place, Relation, relation_to, relative_to},
    pattern,
    programs::AGENTS,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "harness-files",
        category: Category::Harness,
        finds: "changes ralph's own files, or settings and hooks of agents or of git",
        instead: "Leave these files alone; `ralph/tasks.json` and `progress.txt` are yours. Say what should change.",
        patterns: Patterns::new(&[
            // What is found by its path is known only when it runs.
            "find ~-path|-wholename|-ipath|-iwholename|-regex|-name|-iname ~*.claude*|*.ralph*|*.codex*|*.gemini*|*.mcp.json|.git|*.git/hooks* ~-delete|rm|unlink|shred|truncate|mv|rmdir !~!|-not|-prune",
        ]),
        check: Check::Command(harness_files),
        matches: &[
            "find . -path '*.claude*' -name '*.json' -delete",
            "rm -f .ralph-active",
            "echo {} > .claude/settings.json",
            "rm -rf .ralph",
            "mv .claude x",
            "cd .claude && rm settings.json",
            "echo x > .git/hooks/pre-commit",
            "rm -rf .cl*",
            "jq . .claude/settings.json | sponge .claude/settings.json",
            "python3 -c \"import json; p='.claude/settings.json'; d=json.load(open(p)); json.dump(d, open(p, 'w'))\"",
            "node -e \"const p = '.mcp.json'; require('fs').writeFileSync(p, '{}')\"",
            "ruby -e \"d = '.claude'; File.write(d + '/settings.json', '{}')\"",
            "perl -e 'my $p = \".mcp.json\"; open(my $f, \">\", $p); print $f \"{}\"'",
            "php -r '$p = \".mcp.json\"; file_put_contents($p, \"{}\");'",
            "python3 -c \"import os; os.replace('x.tmp', '.claude/settings.json')\"",
            "sed -i s/a/b/ .mcp.json",
            "echo x > .claude/skills/a/SKILL.md",
            "patch .claude/settings.json < x.diff",
            "echo x > .CLAUDE/Settings.json",
            "git apply <<< $'--- a/.mcp.json\\n+++ b/.mcp.json'",
            "chmod -x ~/.cargo/bin/ralph",
            "iconv -f utf-8 -o .mcp.json x.json",
        ],
        passes: &[
            "cat .claude/settings.json",
            "python3 -c \"p='.claude/settings.json'; print(open(p).read())\"",
            "python3 -c \"p='.mcp.json'; q='a.json'; open(q, 'w').write(open(p).read())\"",
            "node -e \"const p = 'package.json'; require('fs').writeFileSync(p, '{}')\"",
            "echo x >> ralph/progress.txt",
            "git add ralph/tasks.json",
            "echo x > .claude/rules/a.md",
            "ls .git/hooks",
            "find . -not -path './.claude/*' -name '*.tmp' -delete",
            "echo note > .ralph/tasks/a/notes.md",
            "sed -i 's/- [ ]/- [x]/' .ralph/implementation_plan.md",
            "grep -rn .ralph-active src",
        ],
        ..RULE
    },
    Rule {
        id: "harness-variables",
        category: Category::Harness,
        finds: "sets variables that ralph uses",
        instead: "Leave `RALPH_...` variables as they are.",
        patterns: Patterns::new(&[
            "unset|export|declare|typeset|readonly ~RALPH_*|CLAUDE_CONFIG_DIR*|CODEX_HOME*|IS_SANDBOX*",
            "env -u=RALPH_*|-u=CLAUDE_CONFIG_DIR|-u=CODEX_HOME|-u=IS_SANDBOX|--unset=RALPH_*",
            "env ?* -i|--ignore-environment",
            "env - ?*",
        ]),
        variables: &["RALPH_*|CLAUDE_CONFIG_DIR|CODEX_HOME|IS_SANDBOX=*"],
        spares_dry_runs: false,
        matches: &[
            "RALPH_GUARD=off npm test",
            "export RALPH_RUN_ID=x",
            "env RALPH_GUARD=0 ls",
            "unset RALPH_RUN_ID",
            "env -u RALPH_RUN_ID bash -c ls",
            "env -i bash -c ls",
        ],
        passes: &["echo 'RALPH_GUARD=off' >> docs/x.md", "NODE_ENV=x npm test", "unset FOO"],
        ..RULE
    },
    Rule {
        id: "harness-agents",
        category: Category::Harness,
        finds: "starts an agent without a guard",
        instead: "Do the work yourself, or ask for another turn.",
        patterns: Patterns::new(&[
            "aider-chat|open-interpreter|openhands-ai|mini-swe-agent|sweagent|auggie|droid|cline|kilocode|plandex|openhands|interpreter|gptme|codebuff|kiro-cli",
            "claude|claude-code|codex|amp|gemini|gemini-cli|opencode|opencode-ai|qwen|qwen-code|copilot|aider|goose|cursor-agent|crush",
            "pi -p|--print|--mode",
        ]),
        unless: Patterns::new(&[
            // A tool for databases has the name of an agent.
            "goose ~-dir|--dir|sqlite3|postgres|mysql|mssql|up|down|create|fix|validate|redo|up-to|down-to",
            "claude|claude-code|codex|amp|gemini|gemini-cli|opencode|opencode-ai|qwen|qwen-code|copilot|aider|goose|cursor-agent|crush ~-v",
            "claude|claude-code|codex|amp|gemini|gemini-cli|opencode|opencode-ai|qwen|qwen-code|copilot|aider|goose|cursor-agent|crush doctor|config|mcp|completion|models|auth|stats|features !?*",
            "claude|claude-code|codex|amp|gemini|gemini-cli|opencode|opencode-ai|qwen|qwen-code|copilot|aider|goose|cursor-agent|crush doctor|config|mcp|completion|models|auth|stats|features list|get|status|ls|show",
        ]),
        spares_dry_runs: false,
        matches: &[
            "droid exec 'finish it'",
            "claude -p x --dangerously-skip-permissions",
            "codex exec x",
            "gemini --yolo -p x",
            "npx @anthropic-ai/claude-code -p x",
            "claude --settings x.json",
            "amp -x y --dangerously-allow-all",
            "claude mcp add x y",
            "claude -p 'do it'",
        ],
        passes: &["claude --version", "codex --help", "gemini --version", "which claude", "claude mcp list"],
        ..RULE
    },
    Rule {
        id: "harness-control",
        category: Category::Harness,
        finds: "controls the run that it is a part of, or skips git's hooks",
        instead: "Say that you are done or stuck; ralph decides what follows.",
        patterns: Patterns::new(&[
            "pre-commit|lefthook|overcommit|husky uninstall",
            "pre-commit|overcommit --uninstall",
            "ralph",
            "git -c=core.hookspath*",
            "git ~core.hookspath=*",
            // Where the shell finds ralph, git and agents.
            "hash -p ~ralph|git|claude|codex|gemini|opencode|amp",
            "enable -f ~*",
        ]),
        unless: Patterns::new(&[
            "ralph status|logs|report|bus|job|doctor|schema|completions|man|guard|demo|help !--no-guard|--no-sandbox|--sandbox|--config",
            "ralph stories list|check|submit|approve|request-changes !--no-guard|--no-sandbox|--sandbox|--config",
            "ralph task list !--no-guard|--no-sandbox|--sandbox|--config",
            "ralph session status !--no-guard|--no-sandbox|--sandbox|--config",
            "ralph plugin show !--no-guard|--no-sandbox|--sandbox|--config",
            "ralph sandbox check !--no-guard|--no-sandbox|--sandbox|--config",
        ]),
        spares_dry_runs: false,
        check: Check::Command(passes_hooks),
        matches: &[
            "HUSKY=0 git commit -m x",
            "pre-commit uninstall",
            "hash -p /bin/true ralph",
            "ralph stop",
            "ralph run -p x",
            "ralph -p x",
            "ralph clean --all",
            "ralph resume",
            "ralph stories",
            "ralph stories run",
            "ralph task stop a",
            "ralph session cancel",
            "ralph sandbox exec -- ls",
            "ralph job --no-guard -p x",
            "git commit --no-verify -m x",
            "git commit -anm x",
            "git -c core.hooksPath=/dev/null commit -m x",
        ],
        passes: &[
            "ralph --version",
            "ralph status",
            "ralph logs",
            "ralph guard check 'ls'",
            "git commit -m x",
            "git commit -am '-n'",
            "ralph bus post hi",
            "ralph stories submit US-1 --note built",
            "ralph stories request-changes US-1",
            "ralph -C . stories list",
            "ralph task list",
            "ralph job -p x",
        ],
        ..RULE
    },
    Rule {
        id: "harness-receipts",
        category: Category::Harness,
        finds: "signs a receipt of ralph",
        instead: "Leave signing to ralph and to the user.",
        check: Check::Command(harness_receipts),
        matches: &[
            "ssh-keygen -Y sign -f key -n ralph-receipt receipt",
            "ssh-keygen -Ysign -fkey -nralph-receipt receipt",
            "cat x | ssh-keygen -Y sign -n ralph-receipt -f ~/.ssh/id_ed25519",
        ],
        passes: &[
            "ssh-keygen -Y sign -f tests/key -n file x",
            "ssh-keygen -Y verify -n ralph-receipt -f signers -I ann -s sig",
            "ssh-keygen -Y check-novalidate -n ralph-receipt -s sig",
        ],
        ..RULE
    },
];

/// Protected in a project.
const IN_PROJECT: [&str; 24] = [
    ".ralph",
    ".ralph-active",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude/skills",
    ".claude/commands",
    ".claude/agents",
    ".claude/plugins",
    ".claude/output-styles",
    ".claude/workflows",
    ".agents/skills",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    ".cursor/hooks.json",
    ".github/hooks",
    ".mcp.json",
    ".git/hooks",
    ".git/config",
    ".amp",
    ".copilot",
    "opencode.json",
];

/// Protected in a home.
const IN_HOME: [&str; 25] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude/plugins",
    ".claude/skills",
    ".claude/commands",
    ".claude/agents",
    ".agents/skills",
    ".claude.json",
    ".claude/CLAUDE.md",
    ".codex",
    ".gemini",
    ".qwen",
    ".config/opencode",
    ".config/amp",
    ".copilot",
    ".config/ralph",
    ".local/state/ralph",
    ".local/share/ralph",
    ".config/github-copilot",
    ".config/claude",
    ".ralph",
    ".cache/ralph",
    ".pi",
    ".config/goose",
];

fn harness_files(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let is_in =
            |folders: &[String]| folders.iter().any(|folder| relative_to(&file.path, folder).is_some());
        let guarded = match input.place_of(&file.path) {
            _ if is_in(&input.ctx.writable) => false,
            _ if is_in(&input.ctx.protected) => true,
            Place::Project(rest) => is_guarded(&rest, &IN_PROJECT, file.access) && !is_open(&rest),
            Place::Home(rest) => is_guarded(&rest, &IN_HOME, file.access) || is_installed(&rest),
            Place::System | Place::Outside if is_installed(&file.path) => true,
            _ => {
                // The project may be named from outside, by a name that is not known to be it.
                let name = file.path.rsplit('/').next().unwrap_or_default();
                name == ".ralph-active"
                    || file.path.ends_with("/.claude/settings.json")
                    || file.path.contains("/.ralph/")
            }
        };
        file.access.changes() && guarded
    })
}

/// The program of ralph or of an agent, where programs lie.
fn is_installed(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    AGENTS.contains(&name) && parts.next().is_some_and(|folder| ["bin", "sbin", ".bin"].contains(&folder))
}

/// In a guarded place, or a folder around one that is deleted or moved.
fn is_guarded(rest: &str, guarded: &[&str], access: Access) -> bool {
    // Where file systems do not tell letters apart, `.CLAUDE` is `.claude`.
    let rest = &*rest.to_ascii_lowercase();
    guarded.iter().any(|name| match relation_to(rest, name) {
        Relation::Inside => true,
        Relation::Around => matches!(access, Access::DeleteTree | Access::Delete),
        Relation::Apart => touches_hidden(rest, name),
    }) || rest.strip_prefix(".claude/").is_some_and(|name| name.starts_with("settings"))
        || rest == ".claude" && access != Access::Read && !matches!(access, Access::Append)
}

/// Patterns such as `.cl*` or `.*` mean hidden files too.
fn touches_hidden(rest: &str, name: &str) -> bool {
    rest.starts_with('.') && rest.contains('*') && relation_to(rest, name) != Relation::Apart
}

/// What an agent may write in `.ralph`.
fn is_open(rest: &str) -> bool {
    if rest == ".ralph/implementation_plan.md" {
        return true;
    }
    let Some(inner) = rest.strip_prefix(".ralph/tasks/") else { return false };
    !inner.split('/').any(|part| part == "runs" || part == "TASK.md")
}

/// Options of git's commands that take a value.
const GIT_VALUED: [&str; 17] = [
    "-C",
    "-c",
    "-m",
    "-F",
    "-t",
    "--message",
    "--file",
    "--template",
    "--author",
    "--date",
    "--trailer",
    "--fixup",
    "--squash",
    "--reuse-message",
    "--reedit-message",
    "--git-dir",
    "--work-tree",
];

/// Whether git is told not to run the hooks of a step.
fn passes_hooks(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !command.is(&["git"]) {
        return None;
    }
    let verb = command.words().first().copied().unwrap_or_default();
    let switches_off = |name: &str, value: &str| {
        let pattern = "HUSKY|LEFTHOOK|HUSKY_SKIP_HOOKS|OVERCOMMIT_DISABLE|SKIP|PRE_COMMIT_ALLOW_NO_CONFIG=?*";
        pattern::means_variable(pattern, name, value)
            && !["HUSKY=1", "LEFTHOOK=1"].contains(&&*format!("{name}={value}"))
    };
    if command.sets_variable(&switches_off) {
        return input.found_if(true);
    }
    let has_letter = ["commit", "am"].contains(&verb);
    let has_hooks = has_letter || ["push", "merge", "rebase", "cherry-pick"].contains(&verb);
    let passes = |switch: &&str| {
        (has_letter && *switch == "n") || (7 < switch.len() && "no-verify".starts_with(*switch))
    };
    input.found_if(has_hooks && command.switches(&GIT_VALUED, "uS").iter().any(passes))
}

fn harness_receipts(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let signs = command.args.iter().any(|arg| matches!(arg.as_str(), "sign" | "-Ysign"));
    let for_receipts = command.args.iter().any(|arg| arg.ends_with("ralph-receipt"));
    input.found_if(command.is(&["ssh-keygen"]) && signs && for_receipts)
}
