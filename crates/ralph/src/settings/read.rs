//! Reads the settings out of one layer, or out of all of them merged. This is the list of all keys.

use ralph_agents::Permissions;
use ralph_core::fail_action::FailAction;
use ralph_core::located::{
    fields::{At, Fields, Manner, Null, Unknown, read_root},
    node::Node,
    report::Report,
};
use ralph_core::setup::Guard;
use ralph_core::setup::Price;
use ralph_core::setup::ScmTask;

use super::value::{
    boolean, choice, command, dollar_limit, duration, filled, link, notify, percent_limit, positive, price,
    string, time_limit, until, whole, whole_limit, words, wrong_type,
};
use super::{
    AgentSettings, BuildSettings, Contract, FleetSettings, Guardrail, Leftovers, Limits, OnBlocked, Output,
    PlanSettings, PromptVia, Scm, Settings, StoriesSettings, TaskSettings,
};
use super::{reviews, roles, sandbox, verify};
use crate::term::ColorWhen;

pub(super) const PERMISSIONS: [(&str, Permissions); 2] =
    [("agent", Permissions::Agent), ("skip", Permissions::Skip)];

/// A null takes a key away, and a key that no one knows is a slip of the user's.
pub(super) const MANNER: Manner = Manner {
    null: Null::Absence,
    unknown: Unknown::Problem,
    at: At::Key,
    wrong: wrong_type,
    renamed: &RENAMED,
};

/// Keys that had another name in version 0.1, each as the path of the old and of the new one. Both are read.
pub(super) const RENAMED: [(&str, &str); 5] = [
    ("limits.totalTime", "limits.maxTime"),
    ("limits.maxCostUsd", "limits.maxCost"),
    ("limits.iterationCostUsd", "limits.maxIterationCost"),
    ("limits.iterationTokens", "limits.maxIterationTokens"),
    ("stories.dir", "stories.ralphDir"),
];

/// Reads what is there; the rest keeps its default.
pub(super) fn read(root: &Node, report: &mut Report) -> Settings {
    let mut settings = Settings::default();
    let unknown = if is_for_newer(root) { Unknown::Warning } else { MANNER.unknown };
    read_root(&Manner { unknown, ..MANNER }, root, report, |fields| read_settings(fields, &mut settings));
    settings
}

/// Whether the settings are written for a newer ralph, by the version in the address of their schema. What this one
/// does not know is no slip there.
fn is_for_newer(root: &Node) -> bool {
    let named = root.get("$schema").and_then(Node::string).and_then(version);
    named.is_some_and(|named| Some(named) > version(env!("CARGO_PKG_VERSION")))
}

/// The version in a text: two or three numbers with dots between them.
fn version(text: &str) -> Option<[u32; 3]> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|part| {
        let numbers: Option<Vec<u32>> = part.trim_matches('.').split('.').map(|it| it.parse().ok()).collect();
        match numbers?[..] {
            [major, minor] => Some([major, minor, 0]),
            [major, minor, patch] => Some([major, minor, patch]),
            _ => None,
        }
    })
}

/// Keys that had another name, each with its path then and its path now.
#[cfg(test)]
pub(crate) fn renamed() -> impl Iterator<Item = (&'static str, &'static str)> {
    RENAMED.into_iter()
}

/// The paths of all settings, such as `agent.command` and `guardrails[].hint`.
#[cfg(test)]
pub(crate) fn keys() -> std::collections::BTreeSet<String> {
    let keys =
        ralph_core::located::fields::keys(&MANNER, |fields| read_settings(fields, &mut Settings::default()));
    keys.into_iter().chain(RENAMED.map(|(old, _)| old.to_owned())).collect()
}

fn read_settings(fields: &mut Fields<'_, '_>, settings: &mut Settings) {
    fields.take("$schema", |_| Ok(()));
    fields.set("maximumIterations", &mut settings.maximum_iterations, |node| positive(node).map(Some));
    fields.set("completionResponse", &mut settings.completion_response, |node| filled(node, "a response"));
    fields.set("contract", &mut settings.contract, |node| choice(node, &Contract::NAMES));
    fields.set("blocked", &mut settings.blocked, |node| choice(node, &OnBlocked::NAMES));
    fields.set("outputTruncateChars", &mut settings.output_truncate_chars, whole);
    fields.object("prompt", |fields| fields.set("tail", &mut settings.prompt.tail, whole));
    settings.guardrail_env = fields.map("guardrailEnv", read_variable).unwrap_or_default();
    fields.set("streamAgentOutput", &mut settings.stream_agent_output, boolean);
    fields.set("includeIterationCountInPrompt", &mut settings.include_iteration_count_in_prompt, boolean);
    fields.object("agent", |fields| read_agent(fields, &mut settings.agent));
    roles::read(fields, settings);
    settings.guardrails = fields.objects("guardrails", read_guardrail).unwrap_or_default();
    fields.set("baseline", &mut settings.baseline, boolean);
    settings.scm = fields.object("scm", read_scm);
    fields.set("retries", &mut settings.retries, whole);
    fields.set("retryDelay", &mut settings.retry_delay, duration);
    fields.object("limits", |fields| read_limits(fields, &mut settings.limits));
    settings.prices = fields.map("prices", read_price).unwrap_or_default();
    fields.set("leftovers", &mut settings.leftovers, |node| choice(node, &Leftovers::NAMES));
    fields.set("guard", &mut settings.guard, |node| choice(node, &Guard::NAMES));
    fields.object("plan", |fields| read_plan(fields, &mut settings.plan));
    fields.object("build", |fields| read_build(fields, &mut settings.build));
    fields.object("stories", |fields| read_stories(fields, &mut settings.stories));
    fields.object("fleet", |fields| read_fleet(fields, &mut settings.fleet));
    settings.notify = fields.take("notify", notify);
    settings.notify_link = fields.take("notifyLink", link);
    fields.set("keepAwake", &mut settings.keep_awake, boolean);
    fields.object("task", |fields| read_task(fields, &mut settings.task));
    sandbox::read(fields, &mut settings.sandbox);
    fields.object("verify", |fields| verify::read(fields, &mut settings.verify));
    fields.object("judge", |fields| verify::read_judge(fields, &mut settings.judge));
    fields.object("output", |fields| read_output(fields, &mut settings.output));
    fields.set("retention", &mut settings.retention, time_limit);
}

pub(super) fn read_agent(fields: &mut Fields<'_, '_>, agent: &mut AgentSettings) {
    fields.set("command", &mut agent.command, command);
    agent.model = fields.take("model", |node| filled(node, "the name of a model"));
    let flags = if fields.is_array("flags") {
        fields.each("flags", words).map(|words| words.concat())
    } else {
        fields.take("flags", words_of_line)
    };
    agent.flags = flags.unwrap_or_default();
    agent.env = fields.map("env", read_variable).unwrap_or_default();
    fields.set("promptVia", &mut agent.prompt_via, |node| choice(node, &PromptVia::NAMES));
    agent.permissions = fields.take("permissions", |node| choice(node, &PERMISSIONS));
}

fn words_of_line(node: &Node) -> Result<Vec<String>, String> {
    if node.string().is_some() { words(node) } else { Err(wrong_type("an array of strings", node)) }
}

fn read_variable(name: &str, value: &Node) -> Result<String, String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err("expected the name of an environment variable".to_owned());
    }
    string(value).map(str::to_owned)
}

fn read_price(name: &str, value: &Node) -> Result<Price, String> {
    if name.trim().is_empty() {
        return Err("expected the beginning of a model's name".to_owned());
    }
    price(value)
}

fn read_guardrail(fields: &mut Fields<'_, '_>) -> Guardrail {
    if !fields.is_there("review") {
        fields.require("command");
    }
    let mut guardrail = Guardrail {
        command: fields.take("command", command).unwrap_or_default(),
        fail_action: fields.take("failAction", |node| choice(node, &FailAction::NAMES)).unwrap_or_default(),
        hint: fields
            .take("hint", |node| string(node).map(str::to_owned))
            .filter(|hint| !hint.trim().is_empty()),
        ..Guardrail::default()
    };
    verify::read_guardrail(fields, &mut guardrail);
    reviews::read_review(fields, &mut guardrail);
    guardrail
}

/// Commands, one after the other.
pub(super) fn commands(fields: &mut Fields<'_, '_>, key: &'static str) -> Option<Vec<String>> {
    fields.each(key, command)
}

fn read_scm(fields: &mut Fields<'_, '_>) -> Scm {
    Scm {
        command: fields.take("command", command).unwrap_or_else(|| "git".to_owned()),
        tasks: fields
            .each("tasks", |node| filled(node, "a task such as commit").map(ScmTask::from))
            .unwrap_or_default(),
        branch: fields.take("branch", |node| filled(node, "a name such as ralph/{name}")),
        base: fields.take("base", |node| filled(node, "a branch such as main")),
    }
}

fn read_limits(fields: &mut Fields<'_, '_>, limits: &mut Limits) {
    fields.set("iterationTimeout", &mut limits.iteration_timeout, time_limit);
    fields.set("idleTimeout", &mut limits.idle_timeout, time_limit);
    fields.set("startTimeout", &mut limits.start_timeout, time_limit);
    fields.set("gateTimeout", &mut limits.gate_timeout, time_limit);
    fields.set("maxTime", &mut limits.max_time, time_limit);
    fields.set("maxWait", &mut limits.max_wait, time_limit);
    fields.set("maxCost", &mut limits.max_cost, dollar_limit);
    fields.set("maxTokens", &mut limits.max_tokens, whole_limit);
    fields.set("maxIterationCost", &mut limits.max_iteration_cost, dollar_limit);
    fields.set("maxIterationTokens", &mut limits.max_iteration_tokens, whole_limit);
    fields.set("until", &mut limits.until, until);
    fields.set("leaveQuota", &mut limits.leave_quota, percent_limit);
    fields.set("stuckAfter", &mut limits.stuck_after, whole_limit);
}

fn read_plan(fields: &mut Fields<'_, '_>, plan: &mut PlanSettings) {
    plan.prompt = fields.take("prompt", a_path);
    if let Some(patterns) = fields.each("mayTouch", a_path) {
        plan.may_touch = patterns;
    }
}

fn read_task(fields: &mut Fields<'_, '_>, task: &mut TaskSettings) {
    fields.set("maxRestarts", &mut task.max_restarts, positive);
    fields.set("restartDelay", &mut task.restart_delay, duration);
    fields.set("childWaitTimeout", &mut task.child_wait_timeout, duration);
    fields.set("pollInterval", &mut task.poll_interval, duration);
    fields.set("keepChildren", &mut task.keep_children, boolean);
}

fn read_build(fields: &mut Fields<'_, '_>, build: &mut BuildSettings) {
    build.prompt = fields.take("prompt", a_path);
    build.test_command = fields.take("testCommand", command);
    build.plan_file = fields.take("planFile", a_path);
    fields.set("specsDir", &mut build.specs_dir, a_path);
}

fn read_stories(fields: &mut Fields<'_, '_>, stories: &mut StoriesSettings) {
    fields.set("ralphDir", &mut stories.ralph_dir, a_path);
    fields.set("reviewCap", &mut stories.review_cap, positive);
    fields.set("skipReview", &mut stories.skip_review, boolean);
    fields.set("verifyEachTurn", &mut stories.verify_each_turn, boolean);
}

fn read_fleet(fields: &mut Fields<'_, '_>, fleet: &mut FleetSettings) {
    fleet.lanes = fields.take("lanes", positive);
    fields.set("evictions", &mut fleet.evictions, whole);
}

fn a_path(node: &Node) -> Result<String, String> {
    filled(node, "a path")
}

fn read_output(fields: &mut Fields<'_, '_>, output: &mut Output) {
    fields.set("emoji", &mut output.emoji, |node| boolean(node).map(Some));
    fields.set("color", &mut output.color, |node| choice(node, &ColorWhen::NAMES));
    fields.set("timestamps", &mut output.timestamps, boolean);
    fields.set("maxLines", &mut output.max_lines, whole);
    fields.set("maxChars", &mut output.max_chars, whole);
}
