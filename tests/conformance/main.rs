//! Real agents under ralph, with a scripted model behind them: does ralph's idea of an agent still hold?
//!
//! `cargo xtask agents` installs the agents and runs this; `cargo test --test conformance claude` runs the cases
//! of one. An agent that is not installed is skipped by name; on a build server that is a failure for those
//! that the test command promises.

mod agents;
mod cases;
mod cheat_cases;
mod claude_cases;
mod codex_cases;
mod hook_cases;
mod installed;
mod outcome;
mod processes;
mod role_cases;
mod session_cases;
mod story_cases;
mod terminal;
mod terminal_cases;
mod tool_cases;
mod world;

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;
use std::{env, io};

use serde_json::json;

use agents::Agent;
use installed::Program;
use world::Ground;

/// Agents that a build server must test.
const PROMISED: [&str; 2] = ["claude", "codex"];
/// How many agents run at once: each is a large program, and the limits of the cases are wall clock.
const AT_ONCE: usize = 2;

/// One test for each case that all agents have in common and for those of the agent's own.
macro_rules! conformance {
    ($($agent:ident { $($case:path as $name:ident),* $(,)? })+) => { $(
        mod $agent {
            use crate::{agents, cases, check};

            conformance!(@test $agent,
                cases::completes_a_loop as completes_a_loop,
                cases::mends_what_a_guardrail_refuses as mends_what_a_guardrail_refuses,
                cases::is_committed_with_its_own_message as is_committed_with_its_own_message,
                cases::counts_what_the_server_sent as counts_what_the_server_sent,
                cases::takes_a_prompt_of_200_kb as takes_a_prompt_of_200_kb,
                cases::gives_up_at_once_on_401 as gives_up_at_once_on_401,
                cases::tries_again_after_an_error as tries_again_after_an_error,
                cases::does_not_believe_a_cut_stream as does_not_believe_a_cut_stream,
                cases::does_not_believe_an_empty_reply as does_not_believe_an_empty_reply,
                cases::leaves_nothing_after_sigint as leaves_nothing_after_sigint,
                cases::leaves_nothing_after_sigterm as leaves_nothing_after_sigterm,
                cases::leaves_nothing_when_ralph_is_killed as leaves_nothing_when_ralph_is_killed,
                cases::leaves_nothing_that_a_tool_detached as leaves_nothing_that_a_tool_detached,
                crate::tool_cases::every_tool_has_a_judgement as every_tool_has_a_judgement,
                $($case as $name,)*
            );
        }
    )+ };
    (@test $agent:ident, $($case:path as $name:ident,)*) => { $(
        #[test]
        fn $name() {
            check(&agents::$agent(), stringify!($name), $case);
        }
    )* };
}

conformance! {
    claude {
        cases::plans_and_builds as plans_and_builds,
        cases::waits_longer_on_429 as waits_longer_on_429,
        cases::waits_longer_on_500 as waits_longer_on_500,
        cases::waits_longer_on_529 as waits_longer_on_529,
        cases::shows_the_todo_list as shows_the_todo_list,
        crate::story_cases::works_through_three_stories as works_through_three_stories,
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        crate::claude_cases::mentions_stay_text as mentions_stay_text,
        crate::claude_cases::commands_reach_the_model as commands_reach_the_model,
        crate::claude_cases::a_used_up_quota_waits_for_its_reset as a_used_up_quota_waits_for_its_reset,
        crate::claude_cases::keeps_to_the_budget as keeps_to_the_budget,
        cases::is_ended_at_its_tokens as is_ended_at_its_tokens,
        crate::claude_cases::subagents_are_counted_and_not_believed as subagents_are_counted_and_not_believed,
        crate::cheat_cases::no_kind_of_cheat_passes as no_kind_of_cheat_passes,
        crate::cheat_cases::honest_work_passes as honest_work_passes,
        crate::hook_cases::own_files_are_refused as own_files_are_refused,
        crate::hook_cases::a_destructive_call_is_denied as a_destructive_call_is_denied,
        crate::hook_cases::taking_the_hook_away_stops_the_run as taking_the_hook_away_stops_the_run,
        crate::tool_cases::a_command_is_judged_whatever_runs_it as a_command_is_judged_whatever_runs_it,
        crate::hook_cases::the_context_is_announced as the_context_is_announced,
        crate::hook_cases::a_turn_that_commits_nothing_is_held as a_turn_that_commits_nothing_is_held,
        crate::hook_cases::a_file_of_the_projects_switches_no_hook_off as a_file_of_the_projects_switches_no_hook_off,
        crate::hook_cases::tools_without_the_hook_stop_the_run as tools_without_the_hook_stop_the_run,
        crate::session_cases::a_plugin_loop_stops_on_the_promise as a_plugin_loop_stops_on_the_promise,
        crate::session_cases::a_plugin_loop_ends_at_its_limit as a_plugin_loop_ends_at_its_limit,
        crate::session_cases::more_than_eight_stops_in_a_row_are_held as more_than_eight_stops_in_a_row_are_held,
        crate::session_cases::the_installed_plugin_has_its_commands as the_installed_plugin_has_its_commands,
        crate::session_cases::other_prompts_start_nothing as other_prompts_start_nothing,
        crate::session_cases::goes_on_with_one_conversation as goes_on_with_one_conversation,
        crate::session_cases::guardrails_check_the_promise as guardrails_check_the_promise,
        crate::session_cases::neither_a_save_nor_an_announcement_ends_a_loop as neither_a_save_nor_an_announcement_ends_a_loop,
        crate::session_cases::a_guardrail_without_end_refuses_the_promise as a_guardrail_without_end_refuses_the_promise,
        crate::terminal_cases::a_cancel_that_waits_in_the_queue_ends_the_loop as a_cancel_that_waits_in_the_queue_ends_the_loop,
        crate::terminal_cases::a_cancel_that_is_taken_back_ends_nothing as a_cancel_that_is_taken_back_ends_nothing,
        crate::terminal_cases::esc_and_cancel_end_the_loop_at_once as esc_and_cancel_end_the_loop_at_once,
        crate::role_cases::is_reviewed_by_the_other as is_reviewed_by_the_other,
        crate::role_cases::is_stood_in_for_at_its_limit as is_stood_in_for_at_its_limit,
    }
    codex {
        cases::plans_and_builds as plans_and_builds,
        cases::waits_longer_on_429 as waits_longer_on_429,
        cases::waits_longer_on_500 as waits_longer_on_500,
        cases::shows_the_todo_list as shows_the_todo_list,
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        crate::codex_cases::a_used_up_quota_is_no_overload as a_used_up_quota_is_no_overload,
        crate::codex_cases::a_used_up_subscription_is_waited_for as a_used_up_subscription_is_waited_for,
        crate::cheat_cases::no_kind_of_cheat_passes as no_kind_of_cheat_passes,
        crate::cheat_cases::honest_work_passes as honest_work_passes,
        crate::hook_cases::own_files_are_refused as own_files_are_refused,
        crate::hook_cases::a_destructive_call_is_denied as a_destructive_call_is_denied,
        crate::hook_cases::taking_the_hook_away_stops_the_run as taking_the_hook_away_stops_the_run,
        crate::hook_cases::a_turn_that_commits_nothing_is_held as a_turn_that_commits_nothing_is_held,
        crate::session_cases::goes_on_with_one_conversation as goes_on_with_one_conversation,
        crate::session_cases::guardrails_check_the_promise as guardrails_check_the_promise,
        crate::session_cases::a_plugin_loop_stops_on_the_promise as a_plugin_loop_stops_on_the_promise,
        crate::session_cases::a_plugin_loop_ends_at_its_limit as a_plugin_loop_ends_at_its_limit,
        crate::session_cases::more_than_eight_stops_in_a_row_are_held as more_than_eight_stops_in_a_row_are_held,
        crate::session_cases::other_prompts_start_nothing as other_prompts_start_nothing,
        crate::session_cases::neither_a_save_nor_an_announcement_ends_a_loop as neither_a_save_nor_an_announcement_ends_a_loop,
        crate::session_cases::a_guardrail_without_end_refuses_the_promise as a_guardrail_without_end_refuses_the_promise,
        crate::terminal_cases::a_cancel_typed_into_codex_ends_the_loop as a_cancel_typed_into_codex_ends_the_loop,
        crate::terminal_cases::esc_and_cancel_end_the_loop_at_once as esc_and_cancel_end_the_loop_at_once,
        crate::role_cases::is_reviewed_by_the_other as is_reviewed_by_the_other,
        crate::role_cases::is_stood_in_for_at_its_limit as is_stood_in_for_at_its_limit,
    }
    copilot {
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        cases::waits_longer_on_429 as waits_longer_on_429,
        cases::waits_longer_on_500 as waits_longer_on_500,
    }
    gemini {
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        cases::waits_longer_on_429 as waits_longer_on_429,
        cases::waits_longer_on_500 as waits_longer_on_500,
        cases::shows_the_todo_list as shows_the_todo_list,
    }
    opencode {
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        cases::is_ended_at_its_tokens as is_ended_at_its_tokens,
        cases::waits_longer_on_429 as waits_longer_on_429,
        cases::is_ended_when_it_retries_500_without_end as is_ended_when_it_retries_500_without_end,
        cases::shows_the_todo_list as shows_the_todo_list,
    }
    pi {
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        cases::is_ended_at_its_tokens as is_ended_at_its_tokens,
        cases::waits_longer_on_429 as waits_longer_on_429,
        cases::waits_longer_on_500 as waits_longer_on_500,
    }
    qwen {
        cases::completes_a_loop_in_a_sandbox as completes_a_loop_in_a_sandbox,
        cases::is_ended_when_it_retries_429_without_end as is_ended_when_it_retries_429_without_end,
        cases::is_ended_when_it_retries_500_without_end as is_ended_when_it_retries_500_without_end,
        cases::shows_the_todo_list as shows_the_todo_list,
    }
}

/// Runs one case on one agent, if it is installed, and writes down how it went.
fn check(agent: &Agent, case: &str, body: fn(Ground)) {
    let Some(program) = Program::find(agent.name) else {
        let name = agent.name;
        let skipped = format!("skipped: {name} is not installed (cargo xtask agents --install-only {name})");
        let must = env::var("CI").is_ok_and(|ci| ci == "true") && PROMISED.contains(&name);
        assert!(!must, "{skipped}");
        let _ = writeln!(io::stderr(), "{skipped}");
        return;
    };
    let _turn = Turn::take();
    let _finding =
        Finding { agent: agent.name, version: program.version.clone(), case, began: Instant::now() };
    body(Ground::new(agent.clone(), program));
}

/// The right to run an agent; given back when dropped.
struct Turn;

static RUNNING: Mutex<usize> = Mutex::new(0);
static FREE: Condvar = Condvar::new();

impl Turn {
    fn take() -> Self {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running =
            FREE.wait_while(running, |running| *running >= AT_ONCE).unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREE.notify_one();
    }
}

/// A line for `cargo xtask agents`, written when the case is over.
struct Finding<'a> {
    agent: &'a str,
    version: String,
    case: &'a str,
    began: Instant,
}

impl Drop for Finding<'_> {
    fn drop(&mut self) {
        let Some(path) = env::var_os("RALPH_TEST_RESULTS") else { return };
        let line = json!({
            "agent": self.agent,
            "version": self.version,
            "case": self.case,
            "ok": !std::thread::panicking(),
            "ms": u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        // One write, so that lines of several threads do not mix.
        let file = OpenOptions::new().append(true).create(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}
