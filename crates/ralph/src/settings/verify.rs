//! The settings of the judge: how a claim is verified.

use ralph_core::{
    located::{fields::Fields, node::Node},
    verify::rules::{CheckoutWhen, GuardrailKind, RunsWhere, SeenAt},
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::value::{boolean, choice, filled, size_limit, string};
use super::{Guardrail, read::commands};

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
    /// More that survives in the clone from one claim to the next, beside what is detected: `.cache`, `**/build`.
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
}

/// The clones in which claims are verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct JudgeSettings {
    /// How much one may take on the disk, in bytes or as `500MB`. Beyond that its caches are removed. `0` is no limit.
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
}

pub(super) fn read_judge(fields: &mut Fields<'_, '_>, judge: &mut JudgeSettings) {
    fields.set("maxDisk", &mut judge.max_disk, size_limit);
}

/// What a guardrail says about the judge.
pub(super) fn read_guardrail(fields: &mut Fields<'_, '_>, guardrail: &mut Guardrail) {
    fields.set("where", &mut guardrail.runs_where, |node| choice(node, &RunsWhere::NAMES));
    fields.set("repeat", &mut guardrail.repeat, boolean);
    guardrail.kind = fields.take("kind", |node| choice(node, &GuardrailKind::NAMES));
}

fn auto(node: &Node) -> Result<(), String> {
    match string(node)?.trim() {
        "auto" => Ok(()),
        _ => Err("expected \"auto\" or an array of commands".to_owned()),
    }
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
