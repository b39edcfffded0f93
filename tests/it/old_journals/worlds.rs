//! The worlds of the recorded runs: the project, the agent and the settings that each began with.

use serde_json::json;

use crate::{
    env::{Env, done, say, shell},
    stories::{list, story, with},
};

/// A moment for git, so that the same files are always the same commit.
const MOMENT: &str = "2026-11-17T00:00:00Z";

/// A repository whose commits can be foreseen.
fn repository() -> Env {
    Env::new().variable("GIT_AUTHOR_DATE", MOMENT).variable("GIT_COMMITTER_DATE", MOMENT).with_git()
}

/// A project whose agent is this shell script, with its prompt in `$prompt`.
fn worker(script: &str) -> Env {
    repository().agent("worker", &format!("prompt=$(cat)\n{script}"))
}

/// A project whose agent takes itself for Claude Code and prints this.
fn claude(before: &str, lines: &[&str]) -> Env {
    let lines: Vec<String> = lines.iter().map(|line| format!("echo '{line}'")).collect();
    repository().agent("claude", &format!("cat >/dev/null\n{before}\n{}", lines.join("\n")))
}

/// A check that is red from the start, a refuted claim, an agent that fails once, commits that it words.
pub(super) fn run() -> Env {
    worker(
        r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"
        case $RALPH_ITERATION in
            1) echo "Claimed too early. <response>DONE</response>" ;;
            2)
                test -e ../stumbled || { touch ../stumbled; echo "connection reset" >&2; exit 1; }
                echo yes >fixed; echo "More to come." ;;
            *) echo "<response>DONE</response>" ;;
        esac"#,
    )
    .commits()
    .settings(json!({
        "guardrails": [
            {"command": "echo looking; test -e fixed", "failAction": "PREPEND", "hint": "Make it."},
            {"command": "test ! -e part-1 || test -e fixed"},
        ],
        "retryDelay": "10ms",
    }))
}

/// Every way in which a guardrail can end that does not pass.
pub(super) fn gates() -> Env {
    worker("echo Hm.").settings(json!({
        "guardrails": [
            {"command": "seq 200; exit 3"},
            {"command": "kill -9 $$"},
            {"command": "sleep 60", "failAction": "REPLACE"},
        ],
        "limits": {"gateTimeout": "100ms"},
        "outputTruncateChars": 20,
        "baseline": false,
    }))
}

/// A check that fails in the same way each time.
pub(super) fn stuck() -> Env {
    worker("echo Hm.").guardrails(&["echo 1 test failed: week_53; exit 2"])
}

/// A usage limit that no one waits for.
pub(super) fn quota() -> Env {
    let limit =
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4000000000}}"#;
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Come back in a hundred years"}"#;
    claude("", &[limit, refused]).settings(json!({"limits": {"maxWait": "20ms"}}))
}

/// A turn that changes what can take the guard away.
pub(super) fn unguarded() -> Env {
    let done = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<response>DONE</response>"}]},"parent_tool_use_id":null}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","usage":{"input_tokens":3,"output_tokens":2}}"#;
    claude("mkdir -p .claude; echo '{}' >.claude/settings.local.json", &[done, result])
}

/// A turn that changes what a sandbox cannot protect.
pub(super) fn tampered() -> Env {
    worker("mkdir -p .claude; echo '{}' >.claude/settings.json; echo '<response>DONE</response>'")
}

/// A check that fails because of where it runs.
pub(super) fn contained() -> Env {
    worker("echo Hm.").guardrails(&["touch ../outside"])
}

/// An agent that takes the project away.
pub(super) fn gone() -> Env {
    Env::new().agent("worker", "cat >/dev/null; mv ../project ../moved; echo Hm.")
}

pub(super) fn failing() -> Env {
    worker("echo 'no such model' >&2; exit 7").settings(json!({"retries": 1}))
}

/// A turn that uses up its budget.
pub(super) fn expensive() -> Env {
    let used = json!({"result": {"total_cost_usd": 0.25, "usage": {"input_tokens": 10, "output_tokens": 5}}});
    let env = repository().turns(json!([[say("Hm."), used]]));
    env.settings(json!({"limits": {"maxCostUsd": 0.25}}))
}

/// An agent that waits until it is ended.
pub(super) fn waiting() -> Env {
    repository().turns(json!([[say("Hm.")], [shell("touch began"), json!({"await": "../go"}), done()]]))
}

fn planned(script: &str) -> Env {
    let env = worker(script);
    env.write("specs/sums.md", "It adds numbers.\n");
    env
}

pub(super) fn plan() -> Env {
    planned(r#"seq "$RALPH_ITERATION" >implementation_plan.md; echo "More to come.""#)
}

/// The first try of the first task fails its test, and the second one needs to know why.
pub(super) fn build() -> Env {
    built(
        r#"
        case "$RALPH_ITERATION$prompt" in
            2* | *"grep right work-"*failed*) echo right >"work-$RALPH_ITERATION" ;;
            *) echo wrong >"work-$RALPH_ITERATION" ;;
        esac
        sed -i "${RALPH_ITERATION}s/ \]/x]/" implementation_plan.md
        case $RALPH_ITERATION in
            1) echo "One of two." ;;
            2) echo "<promise>COMPLETE</promise>" ;;
        esac"#,
    )
}

/// Tests that no attempt passes.
pub(super) fn hopeless() -> Env {
    built("echo wrong >work-1; echo Hm.").settings(json!({"retries": 1}))
}

fn built(script: &str) -> Env {
    let env = planned(script);
    env.write("implementation_plan.md", "- [ ] Add numbers\n- [ ] Show sums\n");
    env.write("AGENTS.md", "TEST_COMMAND=\"grep right work-*\"\n");
    env.git(&["add", "specs", "implementation_plan.md", "AGENTS.md"]);
    env.git(&["commit", "--quiet", "-m", "plan"]);
    env
}

pub(super) fn prompt() -> Env {
    let env = worker("echo seen >notes.md; echo Well.");
    env.write("ask.md", "Look around.");
    env
}

/// A task whose agent does this.
fn assigned(script: &str) -> Env {
    worker(script).settings(json!({"task": {"restartDelay": "10ms", "pollInterval": "10ms"}}))
}

/// Done in the second turn.
pub(super) fn task() -> Env {
    assigned(
        r#"echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"; echo working
        test "$RALPH_ITERATION" != 2 || echo done >"$TASK_FOLDER/DONE""#,
    )
}

pub(super) fn task_that_waits() -> Env {
    assigned("echo waiting; exit 42")
}

/// A part of a task.
pub(super) fn job() -> Env {
    let env = worker("echo part >part; echo Well.");
    env.write(".ralph/tasks/t/TASK.md", "Do it.\n");
    env
}

/// Implemented, sent back, mended, approved.
pub(super) fn stories() -> Env {
    listed(
        &list(&[story("US-1")]),
        r#"
        change() { sed -i "$1" ralph/tasks.json; }
        case "$prompt" in
            *"Mode: implement"*) did=implement; echo code >code; change 's/"reviewStatus": null/"reviewStatus": "needs_review"/' ;;
            *"Mode: review-fix"*) did=mend; echo better >code
                change 's/changes_requested/needs_review/; s/"reviewFeedback": "More."/"reviewFeedback": ""/' ;;
            *"Mode: review"*) did=review
                if grep -q '"reviewCount": 0' ralph/tasks.json; then
                    change 's/needs_review/changes_requested/; s/"reviewCount": 0/"reviewCount": 1/; s/"reviewFeedback": ""/"reviewFeedback": "More."/'
                else
                    change 's/needs_review/approved/; s/"reviewCount": 1/"reviewCount": 2/; s/"passes": false/"passes": true/'
                fi ;;
        esac
        git add code ralph && git commit --quiet -m "$did"; echo Well."#,
    )
}

/// The agent approves its own work.
pub(super) fn cheating() -> Env {
    listed(
        &list(&[story("US-1")]),
        r#"sed -i 's/"reviewStatus": null/"reviewStatus": "approved"/; s/"passes": false/"passes": true/; s/"reviewCount": 0/"reviewCount": 1/' ralph/tasks.json
        git add ralph; git commit --quiet -m cheat; echo Well."#,
    )
}

/// A story that waits for a person's.
pub(super) fn blocked() -> Env {
    let person = with("US-1", &json!({"kind": "human"}));
    let waits = with("US-2", &json!({"dependsOn": ["US-1"]}));
    listed(&list(&[person, waits]), "echo Well.")
}

fn listed(stories: &str, script: &str) -> Env {
    let env = worker(script).settings(json!({"sandbox": "none"}));
    env.write("ralph/tasks.json", stories);
    env.write("ralph/prd.md", "# What is wanted\n");
    env.write("ralph/prompt.md", "Work on {{STORY_ID}}.\n");
    env.write("ralph/progress.txt", "# Log\n");
    env.git(&["add", "ralph"]);
    env.git(&["commit", "--quiet", "-m", "stories"]);
    env
}

/// One conversation that goes on.
pub(super) fn session() -> Env {
    repository().agent(
        "claude",
        r#"answer() {
    echo '{"type":"system","subtype":"init","session_id":"s-1"}'
    echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"parent_tool_use_id":null}'
    printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]},"parent_tool_use_id":null}\n' "$1"
    echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","usage":{"input_tokens":3,"output_tokens":2}}'
}
while read -r prompt; do
    if ! test -e part-1; then echo 1 >part-1; answer "One of two."
    elif ! test -e part-2; then echo 2 >part-2; answer "Two of two."
    else answer "<promise>DONE</promise>"; fi
done"#,
    )
}

/// A loop inside a conversation: hooks are called, no agent is started.
pub(super) fn in_session() -> Env {
    repository()
}
