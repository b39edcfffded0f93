//! The settings as a JSON Schema, for editors and for the reference.
//!
//! Invariant: what the reader takes without a word, the schema takes. What the reader warns of or refuses, the
//! schema refuses, as far as a schema can say it.

use std::borrow::Cow;

use ralph_core::{
    containment::{level::Choice, wanted::GatesRun},
    located::fields::EXTENSION,
    verify::rules::{Bite, CheckoutWhen, GuardrailKind, LookWhen, OnFinding, OnLook, RunsWhere, SeenAt},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};

use super::{
    Contract, FailAction, Guard, Leftovers, NamedAgent, OnBlocked, PromptVia, ReviewOf, SandboxSettings,
    Settings,
    read::{PERMISSIONS, RENAMED},
};
use crate::term::ColorWhen;

/// The schema of a settings file.
pub(crate) fn schema() -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Settings>().to_value();
    schema["title"] = json!("Settings of ralph");
    schema["description"] = json!("`.ralph/settings.json` and `.ralph/settings.local.json` of a project.");
    schema["properties"]["$schema"] = json!({"description": "For editors. If it names a newer version of ralph, unknown keys are warnings."});
    add_old_names(&mut schema);
    close(&mut schema);
    schema
}

/// A duration, as [`ralph_core::duration::parse_duration`] reads it.
struct Span;

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = r"[0-9]+(\.[0-9]*)?";
        let units = ["d", "h", "m", "s", "ms"].map(|unit| format!(r"{number}\s*{unit}\s*"));
        let optional = units.each_ref().map(|unit| format!("({unit})?"));
        // At least one unit, the largest first.
        let spans: Vec<String> = (1..)
            .zip(&units)
            .map(|(after, first)| format!("{first}{}", optional[after..].concat()))
            .collect();
        let pattern = format!(r"^\s*({number}|{})\s*$", spans.join("|"));
        json_schema!({
            "description": "`\"500ms\"`, `\"90s\"`, `\"30m\"`, `\"1h30m\"`, `\"2d\"`, or a number of seconds.",
            "examples": ["30m", "1h30m", "90s", "2d", 90],
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": pattern},
            ],
        })
    }
}

pub(super) fn duration(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Span>()
}

/// A moment, as [`ralph_core::until::Until`] reads it.
pub(super) fn until(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "title": "time",
        "examples": ["07:00", "2026-11-18T07:00", 0],
        "anyOf": [
            {"type": "null"},
            {"type": "integer", "const": 0},
            {"type": "string", "pattern": r"^\s*(0|([0-9-]+[Tt ]\s*)?[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?([Zz]|[+-][0-9:]+)?)\s*$"},
        ],
    })
}

/// A whole number of percent, with or without its sign.
pub(super) fn percent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "examples": [20, "20%"],
        "anyOf": [
            {"type": "null"},
            {"type": "integer", "minimum": 0, "maximum": 99},
            {"type": "string", "pattern": r"^\s*[0-9]{1,2}\s*%*\s*$"},
        ],
    })
}

pub(super) fn flags(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]})
}

/// Agents by name.
pub(super) fn agents(generator: &mut SchemaGenerator) -> Schema {
    let agent = generator.subschema_for::<NamedAgent>();
    json_schema!({
        "type": "object",
        "propertyNames": {"pattern": r"\S"},
        "additionalProperties": {"anyOf": [agent, {"type": "null"}]},
    })
}

pub(super) fn names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "pattern": r"\S"}})
}

pub(super) fn variables(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": {"pattern": "^[^=]+$"},
        "additionalProperties": {"type": ["string", "null"]},
    })
}

pub(super) fn prices(_: &mut SchemaGenerator) -> Schema {
    let dollars = json!({"type": "number", "minimum": 0});
    json_schema!({
        "type": "object",
        "propertyNames": {"pattern": r"\S"},
        "additionalProperties": {
            "type": ["object", "null"],
            "properties": {"input": dollars, "cached": {"type": ["number", "null"], "minimum": 0}, "output": dollars},
            "required": ["input", "output"],
            "additionalProperties": false,
        },
    })
}

pub(super) fn fail_action(_: &mut SchemaGenerator) -> Schema {
    choice(&FailAction::NAMES)
}

pub(super) fn prompt_via(_: &mut SchemaGenerator) -> Schema {
    choice(&PromptVia::NAMES)
}

pub(super) fn permissions(_: &mut SchemaGenerator) -> Schema {
    choice(&PERMISSIONS)
}

pub(super) fn blocked(_: &mut SchemaGenerator) -> Schema {
    choice(&OnBlocked::NAMES)
}

pub(super) fn contract(_: &mut SchemaGenerator) -> Schema {
    choice(&Contract::NAMES)
}

pub(super) fn leftovers(_: &mut SchemaGenerator) -> Schema {
    choice(&Leftovers::NAMES)
}

pub(super) fn guard(_: &mut SchemaGenerator) -> Schema {
    choice(&Guard::NAMES)
}

pub(super) fn color(_: &mut SchemaGenerator) -> Schema {
    choice(&ColorWhen::NAMES)
}

pub(super) fn sandbox_level(_: &mut SchemaGenerator) -> Schema {
    choice(&Choice::NAMES)
}

pub(super) fn hosts(_: &mut SchemaGenerator) -> Schema {
    let pattern = r"^\s*(\*\.)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\s*$";
    json_schema!({"type": "array", "items": {"type": "string", "pattern": pattern}})
}

pub(super) fn variable_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*\*?$"}})
}

pub(super) fn gates_run(_: &mut SchemaGenerator) -> Schema {
    choice(&GatesRun::NAMES)
}

pub(super) fn checkout_when(_: &mut SchemaGenerator) -> Schema {
    choice(&CheckoutWhen::NAMES)
}

pub(super) fn on_finding(_: &mut SchemaGenerator) -> Schema {
    choice(&OnFinding::NAMES)
}

pub(super) fn bite(_: &mut SchemaGenerator) -> Schema {
    choice(&Bite::NAMES)
}

/// A guardrail is a command or a review, and has only the keys of what it is.
pub(super) fn guardrail_forms() -> Value {
    let without = |keys: &[&str]| -> Value {
        keys.iter().map(|key| ((*key).to_owned(), json!({"type": "null"}))).collect::<Map<_, _>>().into()
    };
    let form = |key: &str, mut properties: Value| {
        properties[key] = json!({"type": "string"});
        json!({"required": [key], "properties": properties})
    };
    json!([
        form("command", without(&["review", "of", "rounds"])),
        form("review", without(&["command", "where", "repeat", "kind", "junit"])),
    ])
}

pub(super) fn look(_: &mut SchemaGenerator) -> Schema {
    choice(&LookWhen::NAMES)
}

pub(super) fn on_look(_: &mut SchemaGenerator) -> Schema {
    choice(&OnLook::NAMES)
}

pub(super) fn review_of(_: &mut SchemaGenerator) -> Schema {
    choice(&ReviewOf::NAMES)
}

pub(super) fn seen_at(_: &mut SchemaGenerator) -> Schema {
    choice(&SeenAt::NAMES)
}

pub(super) fn runs_where(_: &mut SchemaGenerator) -> Schema {
    choice(&RunsWhere::NAMES)
}

pub(super) fn guardrail_kind(_: &mut SchemaGenerator) -> Schema {
    choice(&GuardrailKind::NAMES)
}

/// Commands, or that they are detected.
pub(super) fn auto_or_commands(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [
        {"type": "string", "pattern": r"^\s*auto\s*$"},
        {"type": "array", "items": {"type": "string", "pattern": r"\S"}},
    ]})
}

/// Bytes, or a number with a unit.
pub(super) fn size(_: &mut SchemaGenerator) -> Schema {
    let pattern = r"^\s*[0-9]+\s*([kKmMgGtT]?[bB])?\s*$";
    json_schema!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": pattern}]})
}

/// A level alone, or an object.
pub(super) fn sandbox(generator: &mut SchemaGenerator) -> Schema {
    let object = generator.subschema_for::<SandboxSettings>();
    json_schema!({"anyOf": [object, choice(&Choice::NAMES)]})
}

/// Names, which editors offer as they are and accept in any case, as the reader does.
fn choice<T>(names: &[(&str, T)]) -> Schema {
    let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let in_any_case = |name: &&str| -> String {
        name.chars().flat_map(|c| ['[', c.to_ascii_uppercase(), c.to_ascii_lowercase(), ']']).collect()
    };
    let pattern = names.iter().map(in_any_case).collect::<Vec<_>>().join("|");
    json_schema!({"anyOf": [
        {"enum": names},
        {"type": "string", "pattern": format!(r"^\s*({pattern})\s*$")},
    ]})
}

/// Describes keys by their old names too, so that editors accept what the reader does.
fn add_old_names(schema: &mut Value) {
    for (old, new) in RENAMED {
        let (Some((above, old)), Some((_, new))) = (old.rsplit_once('.'), new.rsplit_once('.')) else {
            continue;
        };
        let place = schema["properties"][above]["$ref"].as_str().map(|reference| reference[1..].to_owned());
        let Some(object) = place.and_then(|place| schema.pointer_mut(&place)) else { continue };
        let mut property = object["properties"][new].clone();
        property["description"] = json!(format!("The old name of `{new}`."));
        property["deprecated"] = json!(true);
        if let Some(property) = property.as_object_mut() {
            property.remove("default");
        }
        object["properties"][old] = property;
    }
}

/// Lets every object have only the keys that it knows, and lets null stand for a key that is not there.
fn close(schema: &mut Value) {
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions.values_mut().for_each(close);
    }
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |key: &str| required.as_array().is_some_and(|keys| keys.contains(&json!(key)));
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (key, property) in properties {
        let Value::Object(property) = property else { continue };
        property.retain(|name, value| name != "default" || is_telling(value));
        if !is_required(key) {
            allow_null(property);
        }
    }
    schema["additionalProperties"] = json!(false);
    schema["patternProperties"] = json!({format!("^{EXTENSION}"): true});
}

/// Whether a default says more than that there is none, or more than the defaults of its own members.
fn is_telling(default: &Value) -> bool {
    match default {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => true,
    }
}

fn allow_null(property: &mut Map<String, Value>) {
    let null = json!({"type": "null"});
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        if !choices.contains(&null) {
            choices.push(null);
        }
    } else if let Some(reference) = property.remove("$ref") {
        property.insert("anyOf".to_owned(), json!([{"$ref": reference}, {"type": "null"}]));
    } else if let Some(kind) = property.get("type").and_then(Value::as_str).map(str::to_owned) {
        property.insert("type".to_owned(), json!([kind, "null"]));
    }
}
