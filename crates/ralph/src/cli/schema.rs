//! `ralph schema`: what ralph reads and writes, as JSON Schema.

use clap::{Args, ValueEnum};
use ralph_core::{
    engine::event::Event,
    fleet::FleetEvent,
    receipt::{
        policy::ReceiptPolicy,
        statement::{PREDICATE_TYPE, STATEMENT_TYPE, Statement},
    },
    stories::TaskList,
};
use ralph_guard::UserRules;
use ralph_sys::error::Result;
use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, Transform},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::print;
use crate::settings;

/// Print the JSON Schema of what ralph reads and writes
///
/// Editors that know the schema of the settings complete and check them while you type.
///
/// Example: ralph schema settings >.ralph/settings.schema.json
#[derive(Args, Debug)]
pub(super) struct SchemaArgs {
    /// What to describe
    of: Of,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Of {
    /// The settings files
    Settings,
    /// The task list of `ralph stories`
    Tasks,
    /// One line of the journal, which is also one line of `--output json`
    Event,
    /// One line of the journal of a fleet, which is also one line of `ralph fleet --output json`
    FleetEvent,
    /// Your own rules for the guard: `~/.config/ralph/guard.json`
    Guard,
    /// What a receipt says, without its envelope
    Receipt,
    /// What `ralph verify --policy` asks for
    Policy,
}

/// Prints the schema.
pub(super) fn main(args: &SchemaArgs) -> Result<u8> {
    print(&match args.of {
        Of::Settings => settings_schema(),
        Of::Tasks => tasks_schema(),
        Of::Event => event_schema(),
        Of::FleetEvent => fleet_event_schema(),
        Of::Guard => guard_schema(),
        Of::Receipt => receipt_schema(),
        Of::Policy => policy_schema(),
    })?;
    Ok(0)
}

/// The schema of a settings file, as the text of a file.
pub(crate) fn settings_schema() -> String {
    text(&settings::schema())
}

/// The schema of a task list, as the text of a file.
fn tasks_schema() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<TaskList>().to_value();
    schema["title"] = json!("Task list of ralph");
    schema["properties"]["$schema"] = json!({"description": "For editors. Ralph ignores it."});
    text(&schema)
}

/// The schema of a user's own rules for the guard, as the text of a file.
fn guard_schema() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<UserRules>().to_value();
    schema["title"] = json!("Rules of a user for ralph's guard");
    text(&schema)
}

/// The schema of a line of the journal, as the text of a file.
fn event_schema() -> String {
    // What is written, not what is read: old journals may lack keys that all new ones have.
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Line>().to_value();
    schema["title"] = json!("Event of ralph");
    schema["description"] = json!(
        "One line of a journal, and of `ralph run --output json`. Newer versions may have more kinds of events \
         and more keys: ignore those that you do not know."
    );
    text(&schema)
}

/// The schema of an event of a fleet, as the text of a file.
fn fleet_event_schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<FleetLine>().to_value();
    schema["title"] = json!("Event of a fleet of ralph");
    schema["description"] = json!(
        "One line of the journal of a fleet, and of `ralph fleet --output json`. Newer versions may have more kinds of \
         events and more keys: ignore those that you do not know."
    );
    text(&schema)
}

/// The schema of what a receipt says, as the text of a file.
fn receipt_schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Statement>().to_value();
    schema["title"] = json!("Receipt of ralph");
    schema["description"] = json!(
        "An in-toto Statement v1 about a commit and its tree: the payload of the DSSE envelope in `receipt.json` and in \
         `refs/notes/ralph`."
    );
    schema["properties"]["_type"]["const"] = json!(STATEMENT_TYPE);
    schema["properties"]["predicateType"]["const"] = json!(PREDICATE_TYPE);
    text(&schema)
}

/// The schema of a policy, as the text of a file.
fn policy_schema() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<ReceiptPolicy>().to_value();
    schema["title"] = json!("Policy of `ralph verify`");
    text(&schema)
}

/// A line of the journal, as [`ralph_core::engine::entry::Entry`] writes it.
#[derive(JsonSchema, Serialize)]
struct Line {
    /// When it was recorded: RFC 3339, in UTC, with milliseconds.
    #[schemars(extend("format" = "date-time"))]
    at: String,
    #[serde(flatten)]
    event: Event,
    /// In a journal: a number made from the line and from the one before it. `docs/record.md` says how.
    #[schemars(regex(pattern = r"^[0-9a-f]{16}$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<String>,
}

/// A line of the journal of a fleet, as [`ralph_core::fleet::FleetEntry`] writes it.
#[derive(JsonSchema, Serialize)]
struct FleetLine {
    /// The number of the line, from 1. That of a claim is its lease.
    n: u64,
    /// When it was recorded: RFC 3339, in UTC, with milliseconds.
    #[schemars(extend("format" = "date-time"))]
    at: String,
    #[serde(flatten)]
    event: FleetEvent,
}

/// Without the names of Rust's number types, which other programs do not know as formats.
fn text(schema: &Value) -> String {
    let mut schema = schema.clone();
    let mut strip = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("format").is_some_and(|format| format != "date-time") {
            schema.remove("format");
        }
    });
    if let Ok(schema) = <&mut Schema>::try_from(&mut schema) {
        strip.transform(schema);
    }
    format!("{schema:#}\n")
}

#[cfg(test)]
mod tests;
