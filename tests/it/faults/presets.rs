//! The loops whose ralph is killed, each with all that it can meet on its way.

use serde_json::json;

use crate::env::Env;

/// One kind of loop. What the agent does depends on its prompt, on the iteration and on what it finds, but not on
/// how often it is called, because a turn that was cut off is repeated.
pub(crate) struct Preset {
    pub(crate) prepare: fn(Env) -> Env,
    pub(crate) args: &'static [&'static str],
    /// What the agent does, in the language of the shell, with its prompt in `$prompt`; as [`Agent::Claude`] it
    /// is given one message after the other.
    pub(crate) agent: &'static str,
    pub(crate) kind: Agent,
    /// How the run ends.
    pub(crate) code: i32,
    pub(crate) outcome: &'static str,
    /// What happens to a turn that was cut off.
    pub(crate) cut: Cut,
}

/// Which program the agent takes itself for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    Worker,
    /// It answers each message in `$prompt` by calling `answer TEXT`, and stays for the next.
    Claude,
}

impl Preset {
    /// The world that it works in.
    pub(crate) fn env(&self) -> Env {
        let env = Env::new().with_git();
        (self.prepare)(match self.kind {
            Agent::Worker => env.agent("worker", &format!("prompt=$(cat)\n{}", self.agent)),
            Agent::Claude => {
                env.agent("claude", &format!("{ANSWER}\nwhile read -r prompt; do\n{}\ndone", self.agent))
            }
        })
    }
}

/// Answers as Claude Code does, with one call of a tool.
const ANSWER: &str = r#"answer() {
    echo '{"type":"system","subtype":"init","session_id":"s-1"}'
    echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"parent_tool_use_id":null}'
    printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]},"parent_tool_use_id":null}\n' "$1"
    echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","usage":{"input_tokens":3,"output_tokens":2}}'
}"#;

/// What happens to a turn that ralph did not live to see the end of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It is repeated, so the prompts and their number are the same.
    IsRepeated,
    /// What it left behind counts, so there may be one turn less.
    Counts,
}

/// Everything that an unattended run can meet on its way: a refuted claim, a red guardrail whose output the agent
/// needs, an agent that fails once and is waited for, commits that the agent words, a push.
pub(crate) const RUN: Preset = Preset {
    prepare: |env| {
        env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
        env.git(&["remote", "add", "origin", "../remote"]);
        env.commits().guardrails(&["test -e fixed", "true"]).settings(json!({
            "scm": {"tasks": ["commit", "push origin HEAD"]},
            "retryDelay": "10ms",
        }))
    },
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"
        case $RALPH_ITERATION in
            1) echo "Claimed too early. <response>DONE</response>" ;;
            2)
                test -e ../stumbled || { touch ../stumbled; exit 1; }
                case "$prompt" in *'"test -e fixed" failed'*) echo yes >fixed ;; esac
                echo "More to come." ;;
            3) echo "<response>DONE</response>" ;;
        esac"#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// The first claim rests on a file that git does not see: only the judge notices. The second one is judged, and pushed.
pub(crate) const JUDGED: Preset = Preset {
    prepare: |env| {
        env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
        env.git(&["remote", "add", "origin", "../remote"]);
        env.commits().guardrails(&["test -e fixed"]).settings(json!({
            "scm": {"tasks": ["commit", "push origin HEAD"]},
        }))
    },
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        case "$prompt" in
            *"a clean clone"*) rm .git/info/exclude ;;
            *) echo fixed >.git/info/exclude ;;
        esac
        echo yes >fixed; echo "<response>DONE</response>""#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// The agent weakens its check, is asked, and puts it back.
pub(crate) const ASKED: Preset = Preset {
    prepare: weakened,
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        case "$prompt" in
            *"choose one of two things"*) echo good >code; echo "grep -q good code" >tests/run.sh ;;
            *) echo bad >code; echo true >tests/run.sh ;;
        esac
        echo "<response>DONE</response>""#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// The agent weakens its check, and ralph puts it back.
pub(crate) const RESTORED: Preset = Preset {
    prepare: |env| weakened(env).settings(json!({"verify": {"onFinding": "restore"}})),
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        case "$prompt" in
            *"has restored"*) echo good >code ;;
            *) echo bad >code; echo true >tests/run.sh ;;
        esac
        echo "<response>DONE</response>""#,
    ..ASKED
};

/// The same without a judge: the checks are compared with copies.
pub(crate) const ASKED_IN_PLACE: Preset = Preset {
    prepare: |env| {
        let tests = "test_one() {\n  assertEquals 1 \"$(cat one)\"\n}\ntest_two() {\n  assertEquals 2 \"$(cat two)\"\n}\n";
        env.write("tests/test_code.sh", tests);
        env.git(&["add", "tests"]);
        env.git(&["commit", "--quiet", "-m", "a check"]);
        env.commits().guardrails(&["test -e code"]).settings(json!({"verify": {"checkout": "never"}}))
    },
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        echo good >code
        case "$prompt" in
            *"choose one of two things"*) git checkout --quiet HEAD~1 -- tests ;;
            *) sed -i '/test_two/,$d' tests/test_code.sh ;;
        esac
        echo "<response>DONE</response>""#,
    ..ASKED
};

fn weakened(env: Env) -> Env {
    env.write("code", "good\n");
    env.write("tests/run.sh", "grep -q good code\n");
    env.git(&["add", "code", "tests"]);
    env.git(&["commit", "--quiet", "-m", "a check"]);
    env.commits().guardrails(&["sh tests/run.sh"])
}

/// The first agent is not there: another stands in for it in every process of the run, and needs what failed before.
pub(super) const RELAYED: Preset = Preset {
    prepare: |env| {
        env.commits().guardrails(&["test -e fixed"]).settings(json!({
            "agents": {"main": {"command": "nobody-is-called-so"}, "second": {"command": "worker"}},
            "roles": {"work": ["main", "second"]},
        }))
    },
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"
        case "$prompt" in *'"test -e fixed" failed'*) echo yes >fixed; echo "<response>DONE</response>";; esac
        echo Well."#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// A reviewer asks for changes and does some itself, which are undone; then it approves, and says that the task is fixed.
pub(super) const REVIEWED: Preset = Preset {
    prepare: |env| {
        env.commits().settings(json!({
            "agents": {"main": {"command": "worker"}, "second": {"command": "worker"}},
            "roles": {"work": ["main"], "review": ["second"]},
            "guardrails": [{"command": "test -e part-1"}, {"review": "second", "of": "claim"}],
            "verify": {"look": "always"},
        }))
    },
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$RALPH_ROLE" in
            message) echo "Do part $RALPH_ITERATION"; exit ;;
            review)
                case "$prompt" in *"<look>"*) echo '<look>{"fixes": "task", "reason": "it does"}</look>'; exit ;; esac
                if [ "$RALPH_ITERATION" = 1 ]; then
                    echo bad >part-1; echo bad >added; git add -A; git commit --quiet -m bad
                    echo '<review>{"verdict": "reject", "comments": ["one more part"]}</review>'
                else
                    echo '<review>{"verdict": "approve", "summary": "both parts are there"}</review>'
                fi
                exit ;;
        esac
        echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"; echo "<response>DONE</response>""#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// The agent changes the settings that it is judged by: whenever ralph dies, its guardrail stays what it was.
pub(crate) const TAMPERED: Preset = Preset {
    prepare: |env| env.guardrails(&["test -e fixed"]),
    args: &["run", "-p", "Do it."],
    agent: r#"
        sed -i 's/test -e fixed/true/' .ralph/settings.json
        test "$RALPH_ITERATION" = 1 || touch fixed
        echo "<response>DONE</response>""#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// The only review asks for changes: ralph approves at the cap, which a person must look at.
pub(crate) const CAPPED: Preset = Preset {
    args: &["stories", "--review-cap", "1"],
    agent: r#"
        change() { sed -i "$1" ralph/tasks.json; }
        case "$prompt" in
            *"Mode: implement"*) echo code >code; change 's/"reviewStatus": null/"reviewStatus": "needs_review"/' ;;
            *"Mode: review"*)
                change 's/needs_review/changes_requested/; s/"reviewCount": 0/"reviewCount": 1/; s/"reviewFeedback": ""/"reviewFeedback": "More."/' ;;
        esac
        git add code ralph && git commit --quiet -m work; echo Well."#,
    code: 7,
    ..STORIES
};

pub(crate) const PLAN: Preset = Preset {
    prepare: |env| {
        env.write("specs/sums.md", "It adds numbers.\n");
        env
    },
    args: &["plan", "2"],
    agent: r#"seq "$RALPH_ITERATION" >implementation_plan.md; echo "More to come.""#,
    kind: Agent::Worker,
    code: 0,
    outcome: "exhausted",
    cut: Cut::IsRepeated,
};

/// The first try of the first task fails its test, and the second one needs to know why.
pub(crate) const BUILD: Preset = Preset {
    prepare: |env| {
        env.write("specs/sums.md", "It adds numbers.\n");
        env.write("implementation_plan.md", "- [ ] Add numbers\n- [ ] Show sums\n");
        env.write("AGENTS.md", "TEST_COMMAND=\"grep right work-*\"\n");
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "-m", "plan"]);
        env
    },
    args: &["build"],
    agent: r#"
        case "$RALPH_ITERATION$prompt" in
            2* | *"grep right work-"*failed*) echo right >"work-$RALPH_ITERATION" ;;
            *) echo wrong >"work-$RALPH_ITERATION" ;;
        esac
        sed -i "${RALPH_ITERATION}s/ \]/x]/" implementation_plan.md
        case $RALPH_ITERATION in
            1) echo "One of two." ;;
            2) echo "<promise>COMPLETE</promise>" ;;
        esac"#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

pub(crate) const PROMPT: Preset = Preset {
    prepare: |env| {
        env.write("ask.md", "Look around.");
        env
    },
    args: &["prompt", "ask.md"],
    agent: "echo seen >notes.md; echo Well.",
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// A reviewer that forgets its verdict once, and touches what it was to judge.
pub(crate) const REVIEW: Preset = Preset {
    prepare: |env| {
        env.write("kept.txt", "as it was\n");
        env.commit_all();
        env.write("new.txt", "a line to judge\n");
        env.commit_all();
        env.settings(json!({"retryDelay": "10ms"}))
    },
    args: &["review", "HEAD~1"],
    agent: r#"
        echo touched >kept.txt
        case "$prompt" in
            *"had no verdict"*) echo '<review>{"verdict": "approve", "summary": "does it"}</review>' ;;
            *) echo "I like it." ;;
        esac"#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// Tests have no attempts left and the run gives up: a resume must come to the same verdict.
pub(crate) const HOPELESS: Preset = Preset {
    prepare: |env| (BUILD.prepare)(env).settings(json!({"retries": 1})),
    args: &["build"],
    agent: "echo wrong >work-1; echo Hm.",
    kind: Agent::Worker,
    code: 3,
    outcome: "gave_up",
    cut: Cut::IsRepeated,
};

/// The first DONE comes too early and is put aside.
pub(crate) const TASK: Preset = Preset {
    prepare: |env| {
        env.guardrails(&["test -e part-2"])
            .settings(json!({"task": {"restartDelay": "10ms", "pollInterval": "10ms"}}))
    },
    args: &["task", "run", "--task", "t", "-p", "Do it."],
    agent: r#"echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"; echo working
        if test "$RALPH_ITERATION" = 2 || ! test -e "$TASK_FOLDER/DONE.refuted-1"; then
            echo done >"$TASK_FOLDER/DONE"
        fi"#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::Counts,
};

/// A part of a task, started by a person.
pub(crate) const JOB: Preset = Preset {
    prepare: |env| {
        env.write(".ralph/tasks/t/TASK.md", "Do it.\n");
        env
    },
    args: &["job", "--task", "t", "-p", "Do a part."],
    agent: "echo part >part; echo Well.",
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// One conversation that goes on, with a fresh process where the old one was killed.
pub(crate) const SESSION: Preset = Preset {
    prepare: |env| env,
    args: &["session", "run", "-m", "9", "Do it."],
    agent: r#"
        if ! test -e part-1; then echo 1 >part-1; answer "One of two."
        elif ! test -e part-2; then echo 2 >part-2; answer "Two of two."
        else answer "<promise>DONE</promise>"; fi"#,
    kind: Agent::Claude,
    code: 0,
    outcome: "done",
    cut: Cut::Counts,
};

/// Implemented, sent back, mended, approved; each turn commits its own work.
pub(crate) const STORIES: Preset = Preset {
    prepare: |env| {
        let stories = crate::stories::list(&[crate::stories::story("US-1")]);
        env.write("ralph/tasks.json", &stories);
        env.write("ralph/prd.md", "# What is wanted\n");
        env.write("ralph/prompt.md", "Work on {{STORY_ID}}.\n");
        env.write("ralph/progress.txt", "# Log\n");
        env.git(&["add", "ralph"]);
        env.git(&["commit", "--quiet", "-m", "stories"]);
        env
    },
    args: &["stories", "--guardrail", "test -e code"],
    agent: r#"
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
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::Counts,
};

/// An agent that submits a story before its check passes.
pub(crate) const UNREADY: Preset = Preset {
    prepare: |env| {
        let env = (STORIES.prepare)(env.settings(json!({"sandbox": "none"})));
        let stories = [crate::stories::story("US-1")];
        env.write("ralph/tasks.json", &crate::stories::verified(&stories, &["test -e code"]));
        env.git(&["commit", "--quiet", "--all", "-m", "verified"]);
        env
    },
    args: &["stories", "--no-baseline"],
    agent: r#"
        change() { sed -i "$1" ralph/tasks.json; }
        case "$prompt" in
            *"Mode: implement"*) did=implement
                test -e ../tried && echo code >code; touch ../tried
                change 's/null/"needs_review"/' ;;
            *"Mode: review"*) did=review
                change 's/needs_review/approved/; s/"passes": false/"passes": true/; s/"reviewCount": 0/"reviewCount": 1/' ;;
        esac
        git add -A && git commit --quiet -m "$did"; echo Well."#,
    ..STORIES
};

/// An agent that approves its own story once, and a reviewer that once changes what it approves.
pub(crate) const CHEATS: Preset = Preset {
    // It remembers outside of the project what it has done.
    prepare: |env| (STORIES.prepare)(env.settings(json!({"sandbox": "none"}))),
    agent: r#"
        change() { sed -i "$1" ralph/tasks.json; }
        once() { test ! -e "../$1" && touch "../$1"; }
        approve='s/needs_review/approved/; s/"passes": false/"passes": true/'
        case "$prompt" in
            *"Mode: implement"*) did=implement
                if once cheated; then change 's/null/"approved"/; s/"passes": false/"passes": true/; s/"reviewCount": 0/"reviewCount": 1/'
                else echo code >code; change 's/null/"needs_review"/'; fi ;;
            *"Mode: review"*) did=review
                if once meddled; then echo better >code; change "$approve; "'s/"reviewCount": 0/"reviewCount": 1/'
                else change "$approve; "'s/"reviewCount": 1/"reviewCount": 2/'; fi ;;
        esac
        git add -A && git commit --quiet -m "$did"; echo Well."#,
    ..STORIES
};

/// The agent cannot continue: it ends once its work is committed.
pub(crate) const BLOCKED: Preset = Preset {
    prepare: |env| env.commits().guardrails(&["true"]),
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do a part"; exit;; esac
        echo part >part; echo "<response>BLOCKED: no key</response>""#,
    kind: Agent::Worker,
    code: 6,
    outcome: "stopped",
    cut: Cut::Counts,
};

/// The first story is one for a person, and the second is done.
pub(crate) const BLOCKED_STORY: Preset = Preset {
    prepare: |env| {
        let env = (STORIES.prepare)(env);
        let stories = ["US-1", "US-2"].map(crate::stories::story);
        env.write("ralph/tasks.json", &crate::stories::list(&stories));
        env.git(&["commit", "--quiet", "-am", "two"]);
        env
    },
    args: &["stories"],
    agent: r#"
        change() { sed -i "$1" ralph/tasks.json; }
        case "$prompt" in
            *"Story: US-1"*) echo "<promise>BLOCKED: no key</promise>"; exit ;;
            *"Mode: implement"*) did=implement; echo code >code; change '/"US-2"/,$ s/"reviewStatus": null/"reviewStatus": "needs_review"/' ;;
            *"Mode: review"*) did=review
                change 's/needs_review/approved/; /"US-2"/,$ s/"reviewCount": 0/"reviewCount": 1/; /"US-2"/,$ s/"passes": false/"passes": true/' ;;
        esac
        git add code ralph && git commit --quiet -m "$did"; echo Well."#,
    kind: Agent::Worker,
    code: 6,
    outcome: "stopped",
    cut: Cut::Counts,
};

/// The first claim comes while a task is open, and the last task is marked as done without a word.
pub(crate) const COUNTED: Preset = Preset {
    agent: r#"
        echo right >"work-$RALPH_ITERATION"
        sed -i "${RALPH_ITERATION}s/ \]/x]/" implementation_plan.md
        case "$RALPH_ITERATION$prompt" in
            1*) echo "<promise>COMPLETE</promise>" ;;
            2*"1 of 2 tasks of implementation_plan.md is open"*"- Show sums"*) echo told >told; echo Well. ;;
        esac"#,
    ..BUILD
};

/// A person says something while the first turn claims that all is done, takes one note back, and pauses and continues the run.
pub(crate) const SAID: Preset = Preset {
    prepare: |env| env.commits().guardrails(&["true"]),
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do part $RALPH_ITERATION"; exit;; esac
        requests=$(echo "$RALPH_STATE_DIR"/*/runs/"$RALPH_RUN_ID")/requests
        leave() { test -e "$requests/$1.json" || { echo "$2" >"$requests/$1.new"; mv "$requests/$1.new" "$requests/$1.json"; }; }
        echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"
        if test "$RALPH_ITERATION" = 1; then
            mkdir -p "$requests"
            leave 1 '{"say": {"text": "Mind the docs."}}'
            leave 2 '{"say": {"text": "Mind the gap.", "keep": true}}'
            leave 3 '{"say": {"text": "Never mind."}}'
            leave 4 '{"withdraw": {"note": 3}}'
            leave 5 '"pause"'
            leave 6 '"go_on"'
        fi
        case "$prompt" in
            *"Never mind."*) echo wrong >"wrong-$RALPH_ITERATION" ;;
            *"Mind the docs."*"Mind the gap."*) echo both >"told-$RALPH_ITERATION" ;;
            *"Mind the gap."*) echo one >"told-$RALPH_ITERATION"; echo "<response>DONE</response>"; exit ;;
            *) echo "<response>DONE</response>"; exit ;;
        esac
        echo Well."#,
    kind: Agent::Worker,
    code: 0,
    outcome: "done",
    cut: Cut::IsRepeated,
};

/// The agent types a command that is for a person.
pub(crate) const TYPED: Preset = Preset {
    prepare: |env| {
        env.program("ralph", &format!("exec {} \"$@\"", crate::env::RALPH));
        env.commits().guardrails(&["true"])
    },
    args: &["run", "-p", "Do it."],
    agent: r#"
        case "$prompt" in *"commit message"*) echo "Do a part"; exit;; esac
        ralph accept; echo part >part; echo "<response>DONE</response>""#,
    kind: Agent::Worker,
    code: 7,
    outcome: "done",
    cut: Cut::IsRepeated,
};
