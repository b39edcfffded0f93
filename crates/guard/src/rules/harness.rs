//! Ralph's own files, and the settings of agents.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{
    command::Command,
    file_access::Access,
    paths::{Place, Relation, relation_to, relative_to},
    programs::AGENTS,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "harness-files",
        category: Category::Harness,
        tier: Tier::Block,
        finds: "changes ralph's own files, or settings and hooks of agents or of git",
        instead: "Leave these files alone; `ralph/tasks.json` and `progress.txt` are yours. Say what should change.",
        check: Check::Command(harness_files),
        matches: &[
            "rm -f .ralph-active",
            "echo {} > .claude/settings.json",
            "rm -rf .ralph",
            "mv .claude x",
            "cd .claude && rm settings.json",
            "echo x > .git/hooks/pre-commit",
            "rm -rf .cl*",
            "jq . .claude/settings.json | sponge .claude/settings.json",
            "sed -i s/a/b/ .mcp.json",
            "echo x > .claude/skills/a/SKILL.md",
        ],
        passes: &[
            "cat .claude/settings.json",
            "echo x >> ralph/progress.txt",
            "git add ralph/tasks.json",
            "echo x > .claude/rules/a.md",
            "ls .git/hooks",
            "echo note > .ralph/tasks/a/notes.md",
            "sed -i 's/- [ ]/- [x]/' .ralph/implementation_plan.md",
            "grep -rn .ralph-active src",
        ],
    },
    Rule {
        id: "harness-variables",
        category: Category::Harness,
        tier: Tier::Block,
        finds: "sets variables that ralph uses",
        instead: "Leave `RALPH_...` variables as they are.",
        check: Check::Command(harness_variables),
        matches: &[
            "RALPH_GUARD=off npm test",
            "export RALPH_RUN_ID=x",
            "env RALPH_GUARD=0 ls",
            "unset RALPH_RUN_ID",
            "env -u RALPH_RUN_ID bash -c ls",
            "env -i bash -c ls",
        ],
        passes: &["echo 'RALPH_GUARD=off' >> docs/x.md", "NODE_ENV=x npm test", "unset FOO"],
    },
    Rule {
        id: "harness-agents",
        category: Category::Harness,
        tier: Tier::Block,
        finds: "starts an agent without a guard",
        instead: "Do the work yourself, or ask for another turn.",
        check: Check::Command(harness_agents),
        matches: &[
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
    },
    Rule {
        id: "harness-control",
        category: Category::Harness,
        tier: Tier::Block,
        finds: "controls the loop it runs in, or passes over the hooks of git",
        instead: "Say that you are done or stuck; ralph decides what follows.",
        check: Check::Command(harness_control),
        matches: &[
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
            Place::Home(rest) => is_guarded(&rest, &IN_HOME, file.access),
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

/// In a guarded place, or a folder around one that is deleted or moved.
fn is_guarded(rest: &str, guarded: &[&str], access: Access) -> bool {
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

fn harness_variables(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_own = |name: &str| {
        name.starts_with("RALPH_")
            || name == "CLAUDE_CONFIG_DIR"
            || name == "CODEX_HOME"
            || name == "IS_SANDBOX"
    };
    let set = command.env.iter().any(|(name, _)| is_own(name));
    let shell = command.is(&["export", "unset", "declare", "typeset", "readonly"])
        && command.args.iter().any(|arg| is_own(arg.split('=').next().unwrap_or_default()));
    let env = command.is(&["env"])
        && (command.values("u", &["unset"]).iter().any(|name| is_own(name))
            || (command.has("i", &["ignore-environment"])
                || command.args.first().is_some_and(|arg| arg == "-"))
                && !command.operands(&[]).is_empty());
    input.found_if(set || shell || env)
}

fn harness_agents(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let package = [
        "@anthropic-ai/claude-code",
        "@openai/codex",
        "@google/gemini-cli",
        "@sourcegraph/amp",
        "opencode-ai",
        "@qwen-code/qwen-code",
        "@github/copilot",
    ];
    let is_package = package.iter().any(|name| command.spelled.starts_with(name));
    let is_agent = (AGENTS.contains(&command.program.as_str()) && !command.is(&["ralph", "pi"]))
        || is_package
        || command.is(&["pi"]) && command.has("p", &["print", "mode"]);
    if !is_agent || command.asks_for_help() || command.has_word(&["-v"]) {
        return None;
    }
    let looks = command.words().first().is_some_and(|verb| {
        [
            "doctor",
            "config",
            "mcp",
            "login",
            "logout",
            "update",
            "completion",
            "models",
            "auth",
            "stats",
            "features",
        ]
        .contains(verb)
    }) && command
        .words()
        .get(1)
        .is_none_or(|verb| ["list", "get", "status", "ls", "show"].contains(verb))
        && !command.runs(&["*|claude|codex login|logout|update"]);
    input.found_if(!looks)
}

/// The commands of ralph that agents may type: they look, or take a step that ralph itself checks.
const FOR_AGENTS: [&str; 6] = [
    "ralph status|logs|report|bus|job|doctor|schema|completions|man|guard|demo|help",
    "ralph stories list|check|submit|approve|request-changes",
    "ralph task list",
    "ralph session status",
    "ralph plugin show",
    "ralph sandbox check",
];
/// What would take away from a part of the work what keeps the whole safe.
const UNSAFE_FLAGS: [&str; 4] = ["--no-guard", "--no-sandbox", "--sandbox", "--config"];

fn is_for_agents(command: &Command) -> bool {
    let is_unsafe =
        |arg: &String| UNSAFE_FLAGS.contains(&arg.split_once('=').map_or(arg.as_str(), |(name, _)| name));
    command.runs(&FOR_AGENTS) && !command.args.iter().any(is_unsafe)
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
fn passes_hooks(command: &Command) -> bool {
    if !command.is(&["git"]) {
        return false;
    }
    let verb = command.words().first().copied().unwrap_or_default();
    let has_letter = ["commit", "am"].contains(&verb);
    let has_hooks = has_letter || ["push", "merge", "rebase", "cherry-pick"].contains(&verb);
    let passes = |switch: &&str| {
        (has_letter && *switch == "n") || (7 < switch.len() && "no-verify".starts_with(*switch))
    };
    has_hooks && command.switches(&GIT_VALUED, "uS").iter().any(passes)
}

fn harness_control(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let drives = command.is(&["ralph"]) && !command.asks_for_help() && !is_for_agents(command);
    let hooks = command.is(&["git"])
        && command.args.iter().any(|arg| arg.to_lowercase().starts_with("core.hookspath="));
    input.found_if(drives || passes_hooks(command) || hooks)
}
