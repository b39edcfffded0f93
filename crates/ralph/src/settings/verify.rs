//! The settings of the judge: how a claim is verified.

use std::path::{Component, Path};

use ralph_core::{
    located::{fields::Fields, node::Node, report::Report},
    setup::JudgeSetup,
    verify::rules::{
        Bite, CheckoutWhen, ChecksSetup, GuardrailKind, LookWhen, OnFinding, OnLook, RunsWhere, SeenAt,
    },
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::layers::position_of;
use super::value::{boolean, choice, filled, size_limit, string};
use super::{Guardrail, Settings, read::commands};

/// What a judge may take on the disk.
const MAX_DISK: u64 = 20_000_000_000;

/// How claims are verified in a clean clone of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct VerifySettings {
    /// The commands that install what the guardrails need in the clone, or `auto`: what the project's files ask for, such
    /// as `npm ci`.
    #[serde(serialize_with = "auto_or_list")]
    #[schemars(schema_with = "super::schema::auto_or_commands")]
    pub(crate) prepare: Option<Vec<String>>,
    /// What else stays in the clone from one claim to the next, in addition to what ralph detects: `.cache`,
    /// `**/build`.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(crate) keep: Vec<String>,
    /// Files that git ignores and the guardrails need: `.env.test`, `data/`. `.worktreeinclude` is read as well.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(crate) carry: Vec<String>,
    /// When a loop decides in the clone: at a `claim`, `always`, `never`; `require` never lets the working tree decide
    /// instead.
    #[schemars(schema_with = "super::schema::checkout_when")]
    pub(crate) checkout: CheckoutWhen,
    /// Where the guardrails see the clone: at the project's own `path`, or in its own `folder`.
    #[schemars(schema_with = "super::schema::seen_at")]
    pub(crate) at: SeenAt,
    /// Which files are checks, or `auto`: tests, fixtures, configuration of runners and linters, CI, by the names
    /// that common tools use. What a guardrail runs is always a check. In a list, `auto` means all of these.
    #[serde(serialize_with = "auto_or_list")]
    #[schemars(schema_with = "super::schema::auto_or_commands")]
    pub(crate) protect: Option<Vec<String>>,
    /// Checks that the agent may change freely: `tests/golden/**`.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(crate) may_change: Vec<String>,
    /// Whether the agent may change tests, fixtures and snapshots freely, because that is the task.
    pub(crate) tests_may_change: bool,
    /// What follows when the agent weakened its checks: `ask` it once and then a person, `refuse` the claim, `restore` the
    /// files, or `report` it.
    #[schemars(schema_with = "super::schema::on_finding")]
    pub(crate) on_finding: OnFinding,
    /// Whether guardrails run once more when a claim would count, with the new tests and the old code: if all pass, the
    /// summary says that the tests are `unproven`.
    #[schemars(schema_with = "super::schema::bite")]
    pub(crate) bite: Bite,
    /// When an agent of the role `review` is asked whether a claimed change fixes the task or only its checks: at a
    /// claim with a `finding`, `always`, or never (`off`). Its answer is a line in the summary, the report and the
    /// receipt. If no agent has the role, ralph does not ask.
    #[schemars(schema_with = "super::schema::look")]
    pub(crate) look: LookWhen,
    /// What follows when the reviewer does not say that the change fixes the task: `report` it, or `withhold` completion until a
    /// person accepts it.
    #[schemars(schema_with = "super::schema::on_look")]
    pub(crate) on_look: OnLook,
}

/// The clones in which claims are verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct JudgeSettings {
    /// How much disk space a judge may use, in bytes or as `500MB`. Beyond that, ralph removes its caches. `0` is no
    /// limit.
    #[serde(serialize_with = "super::or_zero")]
    #[schemars(schema_with = "super::schema::size")]
    pub(crate) max_disk: Option<u64>,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self { max_disk: Some(MAX_DISK) }
    }
}

pub(super) fn read(fields: &mut Fields<'_, '_>, verify: &mut VerifySettings) {
    verify.prepare = if fields.is_array("prepare") {
        commands(fields, "prepare")
    } else {
        fields.take("prepare", auto);
        None
    };
    verify.keep = fields.each("keep", a_pattern).unwrap_or_default();
    verify.carry = fields.each("carry", a_pattern).unwrap_or_default();
    fields.set("checkout", &mut verify.checkout, |node| choice(node, &CheckoutWhen::NAMES));
    fields.set("at", &mut verify.at, |node| choice(node, &SeenAt::NAMES));
    verify.protect = if fields.is_array("protect") {
        fields.each("protect", a_pattern)
    } else {
        fields.take("protect", auto_patterns);
        None
    };
    verify.may_change = fields.each("mayChange", a_pattern).unwrap_or_default();
    fields.set("testsMayChange", &mut verify.tests_may_change, boolean);
    fields.set("onFinding", &mut verify.on_finding, |node| choice(node, &OnFinding::NAMES));
    fields.set("bite", &mut verify.bite, |node| choice(node, &Bite::NAMES));
    fields.set("look", &mut verify.look, |node| choice(node, &LookWhen::NAMES));
    fields.set("onLook", &mut verify.on_look, |node| choice(node, &OnLook::NAMES));
}

pub(super) fn read_judge(fields: &mut Fields<'_, '_>, judge: &mut JudgeSettings) {
    fields.set("maxDisk", &mut judge.max_disk, size_limit);
}

/// What a guardrail says about the judge.
pub(super) fn read_guardrail(fields: &mut Fields<'_, '_>, guardrail: &mut Guardrail) {
    fields.set("where", &mut guardrail.runs_where, |node| choice(node, &RunsWhere::NAMES));
    fields.set("repeat", &mut guardrail.repeat, boolean);
    guardrail.kind = fields.take("kind", |node| choice(node, &GuardrailKind::NAMES));
    guardrail.junit = fields.take("junit", a_report);
}

/// No file that an agent can read says what the agent must not know.
pub(super) fn refuse_hidden(node: &Node, report: &mut Report) {
    if node.member("hiddenGuardrails").is_some() {
        report.problem(
            position_of(node, &["hiddenGuardrails"]),
            "hiddenGuardrails",
            "the agent can read this file: name them with --hidden-guardrail, or in ~/.config/ralph/hidden.json",
        );
    }
}

fn auto(node: &Node) -> Result<(), String> {
    match string(node)?.trim() {
        "auto" => Ok(()),
        _ => Err("expected \"auto\" or an array of commands".to_owned()),
    }
}

/// A file of the project.
fn a_report(node: &Node) -> Result<String, String> {
    let path = filled(node, "a path")?;
    let is_below =
        Path::new(&path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_below { Ok(path) } else { Err("expected a path inside the project".to_owned()) }
}

fn auto_patterns(node: &Node) -> Result<(), String> {
    auto(node).map_err(|_| "expected \"auto\" or an array of patterns".to_owned())
}

fn a_pattern(node: &Node) -> Result<String, String> {
    filled(node, "a path")
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn auto_or_list<S: Serializer>(commands: &Option<Vec<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    match commands {
        Some(commands) => serializer.collect_seq(commands),
        None => serializer.serialize_str("auto"),
    }
}
impl Settings {
    /// The judge that the settings want.
    pub(crate) fn judge_setup(&self) -> JudgeSetup {
        let VerifySettings { prepare, keep, carry, at, protect, may_change, tests_may_change, .. } =
            self.verify.clone();
        let checks = ChecksSetup { protect, may_change, tests_may_change };
        JudgeSetup { prepare, keep, carry, at, max_disk: self.judge.max_disk, in_place: None, checks }
    }
}
