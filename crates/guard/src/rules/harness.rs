//! Ralph's own files, and the settings of agents.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{
    invocation::Invocation,
    paths::{Place, Touch, below, touches},
    programs::AGENTS,
    uses::Use,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "harness-files",
        category: Category::Harness,
        tier: Tier::Block,
        finds: "changes ralph's own files, or settings and hooks of agents or of git",
        instead: "Leave these files alone; `ralph/tasks.json` and `progress.txt` are yours. Say what should change.",
        check: Check::Scene(files),
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
        check: Check::Scene(variables),
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
        check: Check::Scene(agents),
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
        check: Check::Scene(control),
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
const IN_PROJECT: [&str; 16] = [
    ".ralph",
    ".ralph-active",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    ".github/hooks",
    ".mcp.json",
    ".git/hooks",
    ".git/config",
    ".amp",
    ".copilot",
    "opencode.json",
];

/// Protected in a home.
const IN_HOME: [&str; 21] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude/plugins",
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

fn files(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| {
        let is_in = |folders: &[String]| folders.iter().any(|folder| below(&one.path, folder).is_some());
        let guarded = match scene.place(&one.path) {
            _ if is_in(&scene.ctx.open) => false,
            _ if is_in(&scene.ctx.own) => true,
            Place::Project(rest) => is_guarded(&rest, &IN_PROJECT, one.kind) && !is_open(&rest),
            Place::Home(rest) => is_guarded(&rest, &IN_HOME, one.kind),
            _ => {
                // The project may be named from outside, by a name that is not known to be it.
                let name = one.path.rsplit('/').next().unwrap_or_default();
                name == ".ralph-active"
                    || one.path.ends_with("/.claude/settings.json")
                    || one.path.contains("/.ralph/")
            }
        };
        one.kind.changes() && guarded
    })
}

/// In a guarded place, or a folder around one that is deleted or moved.
fn is_guarded(rest: &str, guarded: &[&str], kind: Use) -> bool {
    guarded.iter().any(|name| match touches(rest, name) {
        Touch::Inside => true,
        Touch::Around => matches!(kind, Use::DeleteTree | Use::Delete),
        Touch::Apart => touches_hidden(rest, name),
    }) || rest.strip_prefix(".claude/").is_some_and(|name| name.starts_with("settings"))
        || rest == ".claude" && kind != Use::Read && !matches!(kind, Use::Append)
}

/// Patterns such as `.cl*` or `.*` mean hidden files too.
fn touches_hidden(rest: &str, name: &str) -> bool {
    rest.starts_with('.') && rest.contains('*') && touches(rest, name) != Touch::Apart
}

/// What an agent may write in `.ralph`.
fn is_open(rest: &str) -> bool {
    if rest == ".ralph/implementation_plan.md" {
        return true;
    }
    let Some(inner) = rest.strip_prefix(".ralph/tasks/") else { return false };
    !inner.split('/').any(|part| part == "runs" || part == "TASK.md")
}

fn variables(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let is_own = |name: &str| {
        name.starts_with("RALPH_")
            || name == "CLAUDE_CONFIG_DIR"
            || name == "CODEX_HOME"
            || name == "IS_SANDBOX"
    };
    let set = one.env.iter().any(|(name, _)| is_own(name));
    let shell = one.is(&["export", "unset", "declare", "typeset", "readonly"])
        && one.args.iter().any(|arg| is_own(arg.split('=').next().unwrap_or_default()));
    let env = one.is(&["env"])
        && (one.values("u", &["unset"]).iter().any(|name| is_own(name))
            || (one.has("i", &["ignore-environment"]) || one.args.first().is_some_and(|arg| arg == "-"))
                && !one.operands(&[]).is_empty());
    scene.found_if(set || shell || env)
}

fn agents(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let package = [
        "@anthropic-ai/claude-code",
        "@openai/codex",
        "@google/gemini-cli",
        "@sourcegraph/amp",
        "opencode-ai",
        "@qwen-code/qwen-code",
        "@github/copilot",
    ];
    let is_package = package.iter().any(|name| one.spelled.starts_with(name));
    let is_agent = (AGENTS.contains(&one.program.as_str()) && !one.is(&["ralph", "pi"]))
        || is_package
        || one.is(&["pi"]) && one.has("p", &["print", "mode"]);
    if !is_agent || one.is_question() || one.has_word(&["-v"]) {
        return None;
    }
    let looks =
        one.words().first().is_some_and(|verb| {
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
        }) && one.words().get(1).is_none_or(|verb| ["list", "get", "status", "ls", "show"].contains(verb))
            && !one.runs(&["*|claude|codex login|logout|update"]);
    scene.found_if(!looks)
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

fn is_for_agents(one: &Invocation) -> bool {
    let is_unsafe =
        |arg: &String| UNSAFE_FLAGS.contains(&arg.split_once('=').map_or(arg.as_str(), |(name, _)| name));
    one.runs(&FOR_AGENTS) && !one.args.iter().any(is_unsafe)
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
fn passes_hooks(one: &Invocation) -> bool {
    if !one.is(&["git"]) {
        return false;
    }
    let verb = one.words().first().copied().unwrap_or_default();
    let has_letter = ["commit", "am"].contains(&verb);
    let has_hooks = has_letter || ["push", "merge", "rebase", "cherry-pick"].contains(&verb);
    let passes = |switch: &&str| {
        (has_letter && *switch == "n") || (7 < switch.len() && "no-verify".starts_with(*switch))
    };
    has_hooks && one.switches(&GIT_VALUED, "uS").iter().any(passes)
}

fn control(scene: &Scene<'_>) -> Option<String> {
    let one = scene.one;
    let drives = one.is(&["ralph"]) && !one.is_question() && !is_for_agents(one);
    let hooks =
        one.is(&["git"]) && one.args.iter().any(|arg| arg.to_lowercase().starts_with("core.hookspath="));
    scene.found_if(drives || passes_hooks(one) || hooks)
}
