//! Every command in the pages is run in a fresh home with a scripted agent, or there is a reason why not.

use std::{fmt::Write, fs, os::unix::fs::symlink, path::Path};

use serde_json::json;

use super::pages;
use crate::{
    contained::works,
    env::{Env, RALPH},
};

/// Commands that are not run: the page, how the command begins, and why.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", "cargo run", "builds the program; tests/it/demo.rs runs the demo"),
    ("README.md", "cargo install", "builds the program"),
    ("README.md", "cargo xtask", "builds and checks everything; CI runs both"),
    ("README.md", "pip install", "cargo xtask dist --try installs every package"),
    ("README.md", "ralph init", "asks in a terminal; tests/it/init.rs answers"),
    ("docs/bus.md", "ralph bus read --follow", "does not end; tests/it/bus.rs follows"),
    ("docs/cookbook.md", "ralph say", "needs a running loop: tests/it/say.rs"),
    ("docs/cookbook.md", "ralph pause", "needs a running loop: tests/it/say.rs"),
    ("docs/cookbook.md", "ralph resume", "needs a paused loop: tests/it/say.rs"),
    ("docs/cookbook.md", "ralph serve", "does not end: tests/it/serve.rs"),
    ("docs/cookbook.md", "ralph selftest", "runs a hundred loops: tests/it/selftest.rs"),
    ("docs/cookbook.md", "ralph stories", "needs an agent that reviews: tests/it/stories.rs"),
    ("docs/cookbook.md", "ralph fleet", "needs stories and lanes: tests/it/fleet.rs"),
    ("docs/cookbook.md", "ralph run --issue", "reads GitHub: tests/it/issues.rs has a gh of its own"),
    ("docs/cookbook.md", "ralph pr", "pushes to a forge: tests/it/pull_requests.rs"),
    ("docs/demo.md", "cat /tmp", "a folder that is named anew each time"),
    ("docs/fleet-board.md", "pip install", "asks a registry"),
    ("docs/fleet-board.md", "ralph fleet board", "does not end, or needs a server: tests/it/board.rs"),
    ("docs/fleet-machines.md", "ralph fleet", "needs other machines: tests/it/fleet/board.rs"),
    ("docs/fleet.md", "ralph fleet", "needs stories and lanes: tests/it/fleet.rs"),
    ("docs/issues.md", "ralph", "reads GitHub: tests/it/issues.rs has a gh of its own"),
    ("docs/job.md", "", "an agent types it inside a task: tests/it/job.rs"),
    ("docs/judge.md", "ralph run --sandbox --hidden", "needs a check outside: tests/it/hidden.rs"),
    ("docs/logs.md", "ralph logs 20261115", "a run that only the page has"),
    ("docs/pause.md", "ralph pause", "needs a running loop: tests/it/say.rs"),
    ("docs/quick-start.md", "", "tests/it/pages/quick_start.rs does all of it"),
    ("docs/resume.md", "ralph r", "needs runs that were stopped and edited: tests/it/resume.rs, edits.rs"),
    ("docs/review.md", "ralph review", "needs an agent that gives a verdict: tests/it/review.rs"),
    ("docs/say.md", "ralph say", "needs a running loop: tests/it/say.rs"),
    ("docs/selftest.md", "ralph selftest", "runs a hundred loops: tests/it/selftest.rs"),
    ("docs/serve.md", "ralph serve", "does not end: tests/it/serve.rs"),
    ("docs/serve.md", "ssh", "goes to another machine"),
    ("docs/stories.md", "ralph stories import", "needs lists of others: tests/it/stories"),
    ("docs/stories.md", "ralph stories submit", "a step of an agent: tests/it/stories.rs"),
    ("docs/stories.md", "ralph stories approve", "a step of an agent: tests/it/stories.rs"),
    ("docs/stories.md", "ralph stories request", "a step of an agent: tests/it/stories.rs"),
    ("docs/stories.md", "ralph stories  ", "needs an agent that reviews: tests/it/stories.rs"),
    ("docs/task.md", "ralph task run", "needs an agent that ends tasks: tests/it/task.rs"),
    ("docs/truth.md", "cargo xtask", "needs clones of other projects"),
    ("docs/verify.md", "git fetch", "needs a remote with receipts: tests/it/receipts.rs"),
    ("docs/verify.md", "ralph verify", "needs a remote with receipts: tests/it/receipts.rs"),
    ("docs/watch.md", "ralph", "needs a terminal: tests/it/watch.rs has one"),
];

/// Commands that end with another exit code than 0.
const EXITS: &[(&str, &str, i32)] = &[
    ("docs/guard.md", "ralph guard check", 1),
    ("docs/init.md", "ralph init --yes  ", 2),
    ("docs/init.md", "ralph init --yes --agent", 2),
    ("docs/logs.md", "ralph logs --iteration", 2),
    ("docs/stop.md", "ralph stop", 2),
];

/// What a page takes for granted, as shell commands.
const BEFORE: &[(&str, &str)] = &[
    ("docs/bus.md", "mkdir -p .ralph/tasks/greeter && echo 'Greet.' >.ralph/tasks/greeter/TASK.md"),
    (
        "docs/cookbook.md",
        "mkdir -p services/api/.ralph && cp .ralph/settings.json services/api/.ralph && cp Makefile services/api",
    ),
    ("docs/logs.md", "ralph run 'Do it.'"),
    ("docs/plan.md", "rm -r specs"),
    ("docs/record.md", "ralph run 'Do it.'; cp \"$(ralph status --json | jq -r .folder)/journal.jsonl\" ."),
    ("docs/report.md", "ralph run 'Do it.'"),
    ("docs/verify.md", "ralph run 'Do it.'; cp \"$(ralph status --json | jq -r .folder)/receipt.json\" ."),
];

/// An agent for every loop: changes a file, plans and builds as it is told, and says all words that end a loop.
const AGENT: &str = r#"[ "$1" = --version ] && echo "2.1.325 (Claude Code)" && exit
prompt=$(cat; echo "$*")
echo more >>work.txt
case $prompt in
*"Mode: plan"*) echo "- [ ] Accept ISO weeks (specs/dates.md)" >implementation_plan.md ;;
*"Mode: build"*) echo "- [x] Accept ISO weeks (specs/dates.md)" >implementation_plan.md ;;
esac
answer='It works. <promise>COMPLETE</promise>\n<response>DONE</response>'
printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"text","text":"'"$answer"'"}]}}'
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"'"$answer"'","total_cost_usd":0.1}'"#;

/// An editor that writes what is missing, and a list of stories.
const EDITOR: &str = r#"for file; do
    case $file in
    *tasks.json) printf '{"project": "Search", "branchName": "search", "description": "", "userStories": [{"id": "US-001", "title": "Accept ISO weeks", "description": "",
        "acceptanceCriteria": ["2026-W53 is parsed"], "priority": 1, "passes": false, "reviewStatus": null,
        "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}]}\n' >"$file" ;;
    *) echo "Accept ISO weeks." >"$file" ;;
    esac
done"#;

/// The commands of a page: all lines of `sh` blocks, and those after a `$` in `console` blocks.
fn commands(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for block in page.split("```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap_or_default();
        let lines = text.lines().filter_map(|line| match language {
            "sh" => Some(line),
            "console" => line.strip_prefix("$ "),
            _ => None,
        });
        for line in lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            match found
                .last_mut()
                .and_then(|last| last.strip_suffix('\\').map(str::to_owned).map(|it| (last, it)))
            {
                Some((last, start)) => *last = format!("{start}{}", line.trim_start()),
                None => found.push(line.to_owned()),
            }
        }
    }
    found
}

/// The entry of a table that is about this command.
fn entry<'a, T>(
    table: &'a [T],
    page: &str,
    command: &str,
    key: impl Fn(&T) -> (&str, &str),
) -> Option<&'a T> {
    table.iter().find(|it| {
        let (of, start) = key(it);
        of == page && format!("{command}  ").starts_with(start)
    })
}

/// A project as the pages assume it, with the programs that they call.
fn world() -> Env {
    let env = Env::new().with_git().commits().guardrails(&["make test"]).agent("claude", AGENT);
    let env = env.settings(json!({"agent": {"command": "claude", "flags": []}}));
    let env = env.variable("EDITOR", "edit").variable("MANPAGER", "cat").variable("LC_ALL", "C.UTF-8");
    for program in ["xdg-open", "open"] {
        env.program(program, "exit 0");
    }
    env.program("edit", EDITOR);
    symlink(RALPH, env.root().join("bin/ralph")).expect("a link");
    env.write("Makefile", "test lint:\n\ttest -e Makefile\n");
    for prompt in ["TASK.md", "one.md", "two.md", "specs/dates.md"] {
        env.write(prompt, "Accept ISO weeks.\n");
    }
    env.commit_all();
    env
}

/// Runs the commands of a page one after the other in one shell, and returns what went wrong.
fn run(page: &str, commands: &[&String]) -> Result<(), String> {
    let env = world();
    let before = BEFORE.iter().find(|(of, _)| *of == page).map_or("", |(_, before)| before);
    let mut script = format!("( {}\n) >before.log 2>&1\n", if before.is_empty() { ":" } else { before });
    for command in commands {
        let code = entry(EXITS, page, command, |it| (it.0, it.1)).map_or(0, |it| it.2);
        let quoted = command.replace('\'', "'\\''");
        let _ = writeln!(
            script,
            "{command}\ncode=$?; test $code = {code} || {{ printf '%s\\n' 'exit '$code', expected {code}: {quoted}' >&2; exit 99; }}"
        );
    }
    let output = env.sh(&script);
    if output.code == Some(0) { Ok(()) } else { Err(format!("{page}: {}\n{}", output.stdout, output.stderr)) }
}

/// The pages for users that people wrote: not the lists that are made from the program.
fn written() -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project");
    let is_written = |name: &str| {
        let is_page = name == "README.md" || (name.starts_with("docs/") && !name.starts_with("docs/design/"));
        is_page && !["docs/cli.md", "docs/guard-rules.md"].contains(&name)
    };
    let pages = pages(&root).into_iter().filter(|(name, _)| is_written(name));
    pages.map(|(name, page)| (name, commands(&page))).filter(|(_, commands)| !commands.is_empty()).collect()
}

#[test]
fn every_command_in_the_pages_works() {
    if !works("embedded") {
        return;
    }
    let mut failed = Vec::new();
    let mut count = 0;
    for (page, commands) in &written() {
        let is_run = |command: &&String| entry(NOT_RUN, page, command, |it| (it.0, it.1)).is_none();
        let commands: Vec<&String> = commands.iter().filter(is_run).collect();
        count += commands.len();
        if !commands.is_empty() {
            failed.extend(run(page, &commands).err());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(40 < count, "only {count} commands were found");
}

#[test]
fn every_reason_is_about_a_command_that_exists() {
    let pages = written();
    let exists = |page: &str, start: &str| {
        pages.iter().any(|(name, commands)| {
            name == page && commands.iter().any(|it| format!("{it}  ").starts_with(start))
        })
    };
    let reasons = NOT_RUN.iter().map(|it| (it.0, it.1)).chain(EXITS.iter().map(|it| (it.0, it.1)));
    let stale: Vec<_> = reasons.filter(|(page, start)| !exists(page, start)).collect();
    assert!(stale.is_empty(), "{stale:#?}");
    for (page, _) in BEFORE {
        assert!(exists(page, ""), "{page}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (_, _, reason) in NOT_RUN {
        let files = reason.split([' ', ',']).filter(|word| word.starts_with("tests/"));
        files.for_each(|file| assert!(fs::exists(root.join(file)).unwrap_or_default(), "{file}"));
    }
}

#[test]
fn commands_are_found_in_pages() {
    let page = "```sh\n# no\nralph a  # yes\nralph b \\\n  c\n```\n```console\n$ ralph d\nprinted\n```\n```json\n{}\n```\n";
    assert_eq!(commands(page), ["ralph a  # yes", "ralph b c", "ralph d"]);
}
