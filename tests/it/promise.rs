//! One promise in every loop: an agent only claims, and ralph verifies.

mod blocked;
mod counts;
mod guardrails;
mod stuck;

use crate::{
    env::{Env, Output},
    stories::{list, story},
};

/// One kind of loop, with an agent that claims at once that everything is done.
struct Kind {
    args: &'static [&'static str],
    prepare: fn(Env) -> Env,
    /// What its agent does to claim, in the language of the shell.
    claim: &'static str,
    /// Whether its agent takes itself for Claude Code, with one call of a tool in each turn.
    is_claude: bool,
}

impl Kind {
    /// A world in which its agent does this in each turn; `claim` is a function that claims, `say` one that says.
    fn env(&self, script: &str) -> Env {
        let env = (self.prepare)(Env::new().with_git().settings(serde_json::json!({
            "task": {"restartDelay": "1ms", "pollInterval": "1ms", "maxRestarts": 4},
            "sandbox": "none",
        })));
        let say = if self.is_claude { SAY_AS_CLAUDE } else { "say() { printf '%s\\n' \"$1\"; }" };
        // A conversation goes on in the same process, or in the next one.
        let read = "case \" $* \" in *' --input-format '*) read -r prompt ;; *) prompt=$(cat) ;; esac";
        let script = format!(
            "{read}\nprintf '%s\\n---\\n' \"$prompt\" >>../prompts\nturn=$(grep -c ^---$ ../prompts)\n\
             {say}\nclaim() {{ {}\n}}\n{script}",
            self.claim
        );
        env.agent(if self.is_claude { "claude" } else { "worker" }, &script)
    }

    #[track_caller]
    fn run(&self, env: &Env, flags: &[&str]) -> Output {
        env.ralph(&[self.args, flags].concat())
    }
}

/// What the agent was told, turn by turn.
fn prompts(env: &Env) -> Vec<String> {
    let text = std::fs::read_to_string(env.root().join("prompts")).unwrap_or_default();
    let mut prompts: Vec<String> = text.split("\n---\n").map(str::to_owned).collect();
    prompts.pop();
    prompts
}

const SAY_AS_CLAUDE: &str = r#"say() {
    echo '{"type":"system","subtype":"init","session_id":"s-1"}'
    echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"parent_tool_use_id":null}'
    printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]},"parent_tool_use_id":null}\n' "$1"
    echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","usage":{"input_tokens":3,"output_tokens":2}}'
}"#;

const RUN: Kind = Kind {
    args: &["run", "Do it."],
    prepare: |env| env,
    claim: "say '<response>DONE</response>'",
    is_claude: false,
};

const PLAN: Kind = Kind {
    args: &["plan", "4"],
    prepare: |env| {
        env.write("specs/sums.md", "It adds numbers.\n");
        env
    },
    claim: "echo '- [ ] Add' >implementation_plan.md; say '<promise>COMPLETE</promise>'",
    is_claude: false,
};

const BUILD: Kind = Kind {
    args: &["build", "4"],
    prepare: |env| {
        env.write("specs/sums.md", "It adds numbers.\n");
        env.write("implementation_plan.md", "- [ ] Add numbers\n");
        env.write("AGENTS.md", "TEST_COMMAND=\"true\"\n");
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "-m", "plan"]);
        env
    },
    claim: "echo '- [x] Add numbers' >implementation_plan.md; say '<promise>COMPLETE</promise>'",
    is_claude: false,
};

const PROMPT: Kind = Kind {
    args: &["prompt", "ask.md"],
    prepare: |env| {
        env.write("ask.md", "Look around.");
        env
    },
    claim: "echo seen >notes.md; say 'Well.'",
    is_claude: false,
};

const TASK: Kind = Kind {
    args: &["task", "run", "--task", "t", "-p", "Do it."],
    prepare: |env| env,
    claim: "echo done >\"$TASK_FOLDER/DONE\"; say 'Well.'",
    is_claude: false,
};

const SESSION: Kind = Kind {
    args: &["session", "run", "-m", "4", "Do it."],
    prepare: |env| env,
    claim: "say '<promise>DONE</promise>'",
    is_claude: true,
};

/// Whatever mode it is in, its agent hands the story over.
const STORIES: Kind = Kind {
    args: &["stories", "-n", "4"],
    prepare: |env| {
        env.write("ralph/tasks.json", &list(&[story("US-1")]));
        env.write("ralph/prd.md", "# What is wanted\n");
        env.write("ralph/prompt.md", "Work on {{STORY_ID}}.\n");
        env.write(".gitignore", ".ralph/\n");
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "-m", "stories"]);
        env
    },
    claim: r#"
        change() { sed -i "$1" ralph/tasks.json; }
        case "$prompt" in
            *"Mode: implement"*) echo "$turn" >code; change 's/"reviewStatus": null/"reviewStatus": "needs_review"/' ;;
            *"Mode: review"*) change 's/needs_review/approved/; s/"reviewCount": 0/"reviewCount": 1/; s/"passes": false/"passes": true/' ;;
        esac
        git add code ralph && git commit --quiet -m work; say '<promise>COMPLETE</promise>'"#,
    is_claude: false,
};

/// The loops in which the guardrails of the settings are checks.
const GUARDED: [&Kind; 6] = [&RUN, &BUILD, &PROMPT, &STORIES, &TASK, &SESSION];
