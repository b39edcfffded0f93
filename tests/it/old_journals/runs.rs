//! The recorded runs, and what is known of each.

use super::worlds;
use crate::env::Env;

/// A run that version 0.1 recorded.
pub(super) struct Recorded {
    pub(super) name: &'static str,
    /// What it began with.
    pub(super) world: fn() -> Env,
    /// How it stands: the word, the exit code, and the numbers of the iteration, the turns and the commits.
    pub(super) stands: &'static str,
    /// What its log says, among other things.
    pub(super) says: &'static [&'static str],
    /// The limit that a resume raises, and how it ends.
    pub(super) resumed: (&'static [&'static str], i32),
}

/// There is nothing to resume.
const REFUSED: (&[&str], i32) = (&[], 2);

pub(super) const RUNS: &[Recorded] = &[
    Recorded {
        name: "run-done",
        world: worlds::run,
        stands: "complete 0: 3 4 2",
        says: &[
            "Already failing: echo looking; test -e fixed (exit code 1, 3ms)",
            "❌ Guardrail failed: echo looking; test -e fixed (exit code 1, 2ms, PREPEND)",
            "\n  ⎿  looking\n  It was already failing before the first iteration.\n",
            "❌ The agent failed: exited with code 1 (connection reset)",
            "✅ Committed d579c1a Do part 3",
        ],
        resumed: REFUSED,
    },
    Recorded {
        name: "run-killed-in-baseline",
        world: worlds::run,
        stands: "killed -: 1 0 0",
        says: &["Already failing: echo looking"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-killed-in-gates",
        world: worlds::run,
        stands: "killed -: 1 1 0",
        says: &["❌ Guardrail failed: echo looking; test -e fixed (exit code 1, "],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-killed-in-turn",
        world: worlds::run,
        stands: "killed -: 2 1 0",
        says: &["It was already failing before the first iteration."],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-killed-in-wait",
        world: worlds::run,
        stands: "killed -: 2 2 0",
        says: &["The agent failed: exited with code 1 (connection reset)"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-killed-at-commit",
        world: worlds::run,
        stands: "killed -: 2 3 0",
        says: &["✅ Guardrail passed: echo looking; test -e fixed ("],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-exhausted",
        world: worlds::gates,
        stands: "limit 1: 2 1 0",
        says: &[
            "seq 200; exit 3 (exit code 3, 2ms, APPEND)",
            "\n  ⎿  ...\n  ⎿  6\n",
            "kill -9 $$ (was ended, 1ms, APPEND)",
            "sleep 60 (was ended, 100ms, REPLACE)",
            "Maximum iterations reached (1)",
        ],
        resumed: (&["-m", "2"], 1),
    },
    Recorded {
        name: "run-stuck",
        world: worlds::stuck,
        stands: "stopped 6: 5 4 0",
        says: &[
            "Stopped: no progress since iteration 1: `echo 1 test failed: week_53; exit 2` fails in the same way each time",
        ],
        resumed: (&[], 6),
    },
    Recorded {
        name: "run-quota",
        world: worlds::quota,
        stands: "stopped 6: 1 2 0",
        says: &["Stopped: Come back in a hundred years"],
        resumed: (&[], 6),
    },
    Recorded {
        name: "run-unguarded",
        world: worlds::unguarded,
        stands: "stopped 6: 1 1 0",
        says: &["Stopped: the turn changed what can take ralph's guard away: .claude/settings.local.json"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-tampered",
        world: worlds::tampered,
        stands: "stopped 6: 1 1 0",
        says: &["Stopped: protected files were changed: .claude/settings.json"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "run-contained",
        world: worlds::contained,
        stands: "limit 1: 2 1 0",
        says: &[
            "touch ../outside (exit code 1, inside the sandbox, 16ms, APPEND)",
            "⎿  touch: cannot touch '../outside': Read-only file system\n  It was already failing before the first iteration.",
        ],
        resumed: (&["-m", "2"], 1),
    },
    Recorded {
        name: "run-project-gone",
        world: worlds::gone,
        stands: "stopped 6: 2 1 0",
        says: &["Stopped: the project folder ", " is gone"],
        resumed: (&[], 6),
    },
    Recorded {
        name: "run-gave-up",
        world: worlds::failing,
        stands: "gave up 4: 1 2 0",
        says: &["Gave up: the agent kept failing: exited with code 7 (no such model)"],
        resumed: (&[], 4),
    },
    Recorded {
        name: "run-over-budget",
        world: worlds::expensive,
        stands: "limit 1: 2 1 0",
        says: &["Maximum cost reached"],
        resumed: (&["--max-cost", "0.5"], 1),
    },
    Recorded {
        name: "run-interrupted",
        world: worlds::waiting,
        stands: "interrupted 130: 2 2 0",
        says: &["The agent was ended.", "Interrupted"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "plan-exhausted",
        world: worlds::plan,
        stands: "limit 0: 3 2 2",
        says: &["Maximum iterations reached (2)"],
        resumed: (&["-m", "3"], 0),
    },
    Recorded {
        name: "plan-killed",
        world: worlds::plan,
        stands: "killed -: 2 1 1",
        says: &["✅ Committed "],
        resumed: (&[], 0),
    },
    Recorded {
        name: "build-done",
        world: worlds::build,
        stands: "complete 0: 2 3 2",
        says: &["Guardrail failed: grep right work-*", "Complete: the agent said so"],
        resumed: REFUSED,
    },
    Recorded {
        name: "build-killed",
        world: worlds::build,
        stands: "killed -: 1 1 0",
        says: &["Guardrail failed: grep right work-*"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "build-gave-up",
        world: worlds::hopeless,
        stands: "gave up 3: 1 2 0",
        says: &["Gave up: the guardrails kept failing: the gates did not pass"],
        resumed: (&[], 3),
    },
    Recorded {
        name: "prompt-done",
        world: worlds::prompt,
        stands: "complete 0: 1 1 1",
        says: &["Complete: the turn has ended"],
        resumed: REFUSED,
    },
    Recorded {
        name: "prompt-killed",
        world: worlds::prompt,
        stands: "killed -: 1 0 0",
        says: &["Iteration 1 of 1"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "task-done",
        world: worlds::task,
        stands: "complete 0: 2 2 0",
        says: &["restarting (attempt 2/100)", "Guardrail passed: child runs have ended"],
        resumed: REFUSED,
    },
    Recorded {
        name: "task-waits",
        world: worlds::task_that_waits,
        stands: "stopped 6: 1 1 0",
        says: &["Stopped: the agent waits for someone outside"],
        resumed: (&[], 6),
    },
    Recorded {
        name: "task-killed",
        world: worlds::task,
        stands: "killed -: 2 1 0",
        says: &["restarting (attempt 2/100)"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "job-done",
        world: worlds::job,
        stands: "complete 0: 1 1 0",
        says: &["Complete: the turn has ended"],
        resumed: REFUSED,
    },
    Recorded {
        name: "stories-done",
        world: worlds::stories,
        stands: "complete 0: 4 4 0",
        says: &["Complete: every story is done, by the agent's own reviews; nothing else checked it"],
        resumed: REFUSED,
    },
    Recorded {
        name: "stories-killed",
        world: worlds::stories,
        stands: "killed -: 1 0 0",
        says: &["US-1"],
        resumed: (&[], 0),
    },
    Recorded {
        name: "stories-broken",
        world: worlds::cheating,
        stands: "limit 1: 2 1 0",
        says: &["Guardrail failed: ", "Maximum iterations reached (1)"],
        resumed: (&["-m", "2"], 1),
    },
    Recorded {
        name: "stories-blocked",
        world: worlds::blocked,
        stands: "stopped 6: 1 0 0",
        says: &["Stopped: no story can be worked on: US-1 is for a person; US-2 waits for US-1"],
        resumed: (&[], 6),
    },
    Recorded {
        name: "session-done",
        world: worlds::session,
        stands: "complete 0: 3 3 0",
        says: &["Complete: the agent said so"],
        resumed: REFUSED,
    },
    Recorded {
        name: "session-killed",
        world: worlds::session,
        stands: "killed -: 2 1 0",
        says: &["One of two."],
        resumed: (&[], 0),
    },
    Recorded {
        name: "session-in-agent",
        world: worlds::in_session,
        stands: "killed -: 2 1 0",
        says: &["Iteration 2 of 9"],
        resumed: REFUSED,
    },
];
