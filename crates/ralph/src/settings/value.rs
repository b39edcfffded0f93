//! Reads single values. Every failure says what was expected and what was found.

use std::time::Duration;

use ralph_core::duration::{from_seconds, parse_duration};
use ralph_core::located::node::{Content, Member, Node};
use ralph_core::{notify::NotifyTarget, setup::Price, until::Until};
use serde_json::Value;

/// Says that a value has another type than it should.
pub(super) fn wrong_type(expected: &str, node: &Node) -> String {
    let found = match &node.content {
        Content::Scalar(Value::String(text)) if text.is_empty() => "an empty string".to_owned(),
        Content::Scalar(Value::String(_)) => format!("the string {}", shown(node)),
        Content::Scalar(Value::Number(_)) => format!("the number {}", shown(node)),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => shown(node),
    };
    format!("expected {expected}, found {found}")
}

/// Says that a value has the right type, but is not one that makes sense.
pub(super) fn wrong_value(expected: &str, node: &Node) -> String {
    format!("expected {expected}, found {}", shown(node))
}

fn shown(node: &Node) -> String {
    if node.is_array() { "an array".to_owned() } else { node.shown() }
}

/// Reads true or false.
pub(super) fn boolean(node: &Node) -> Result<bool, String> {
    match &node.content {
        Content::Scalar(Value::Bool(value)) => Ok(*value),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => Err(wrong_type("true or false", node)),
    }
}

/// Reads a whole number that is not negative.
pub(super) fn whole<T: TryFrom<u64>>(node: &Node) -> Result<T, String> {
    let expected = up_to::<T>("a whole number", node);
    number(node, &expected, |number| T::try_from(number.as_u64()?).ok())
}

/// What is expected; where a number is too large, with the largest.
fn up_to<T>(expected: &str, node: &Node) -> String {
    let largest = u64::MAX >> (64 - 8 * size_of::<T>());
    match &node.content {
        #[expect(clippy::cast_precision_loss, reason = "only how large it is matters")]
        Content::Scalar(Value::Number(number)) if number.as_f64().is_some_and(|it| largest as f64 <= it) => {
            format!("{expected} of at most {largest}")
        }
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => expected.to_owned(),
    }
}

/// Reads a whole number above zero.
pub(super) fn positive(node: &Node) -> Result<u32, String> {
    let expected = up_to::<u32>("a positive whole number", node);
    number(node, &expected, |number| u32::try_from(number.as_u64()?).ok().filter(|value| *value > 0))
}

/// Reads a limit that is a whole number; zero switches it off.
pub(super) fn whole_limit<T: TryFrom<u64> + Default + PartialEq>(node: &Node) -> Result<Option<T>, String> {
    whole(node).map(|limit| Some(limit).filter(|limit| *limit != T::default()))
}

/// Reads a limit in US dollars; zero switches it off.
pub(super) fn dollar_limit(node: &Node) -> Result<Option<f64>, String> {
    let dollars = number(node, "a number of US dollars", |number| {
        number.as_f64().filter(|value| value.is_finite() && *value >= 0.0)
    })?;
    Ok(Some(dollars).filter(|dollars| *dollars > 0.0))
}

/// Reads what tokens cost.
pub(super) fn price(node: &Node) -> Result<Price, String> {
    const EXPECTED: &str = "a price such as {\"input\": 1.25, \"cached\": 0.125, \"output\": 10}";
    let Content::Object(members) = &node.content else { return Err(wrong_type(EXPECTED, node)) };
    let is_known = |key: &str| matches!(key, "input" | "cached" | "output");
    if let Some(Member { key, .. }) = members.iter().find(|member| !is_known(&member.key)) {
        return Err(format!("expected {EXPECTED}, found the key {key:?}"));
    }
    let dollars = |key: &str| match node.get(key).filter(|node| !node.is_null()) {
        Some(node) => dollar_limit(node).map(|dollars| Some(dollars.unwrap_or(0.0))),
        None => Ok(None),
    };
    let (Some(input), Some(output)) = (dollars("input")?, dollars("output")?) else {
        return Err(format!("expected {EXPECTED}, found no input or no output"));
    };
    Ok(Price { input, cached: dollars("cached")?, output })
}

/// Reads a duration.
pub(super) fn duration(node: &Node) -> Result<Duration, String> {
    let duration = match &node.content {
        Content::Scalar(Value::Number(number)) => from_seconds(number.as_f64().unwrap_or(f64::NAN)),
        Content::Scalar(Value::String(text)) => parse_duration(text),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => parse_duration(""),
    };
    duration.map_err(|expected| format!("{expected}, found {}", shown(node)))
}

/// Reads a limit that is a duration; zero switches it off.
pub(super) fn time_limit(node: &Node) -> Result<Option<Duration>, String> {
    duration(node).map(|limit| Some(limit).filter(|limit| !limit.is_zero()))
}

/// Reads a limit that is a number of bytes, or a number with a unit; zero switches it off.
pub(super) fn size_limit(node: &Node) -> Result<Option<u64>, String> {
    let bytes = match &node.content {
        Content::Scalar(Value::Number(number)) => number.as_u64(),
        Content::Scalar(Value::String(text)) => bytes(text),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => None,
    };
    let bytes = bytes.ok_or_else(|| wrong_value("a size such as \"500MB\" or a number of bytes", node))?;
    Ok(Some(bytes).filter(|bytes| *bytes != 0))
}

fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 6] = [
        ("", 1),
        ("b", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
    ];
    let text = text.trim().to_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim())?.1;
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Reads the moment of a run's end; zero switches it off.
pub(super) fn until(node: &Node) -> Result<Option<Until>, String> {
    let text = match &node.content {
        Content::Scalar(Value::Number(number)) => number.to_string(),
        Content::Scalar(Value::String(text)) => text.clone(),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => String::new(),
    };
    Until::parse(&text).map_err(|advice| format!("{advice}, found {}", shown(node)))
}

/// Reads a part of a hundred, with or without its sign; zero switches it off.
pub(super) fn percent_limit(node: &Node) -> Result<Option<u32>, String> {
    let percent = match &node.content {
        Content::Scalar(Value::Number(number)) => percent(&number.to_string()),
        Content::Scalar(Value::String(text)) => percent(text),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => percent(""),
    };
    let percent = percent.map_err(|expected| format!("{expected}, found {}", shown(node)))?;
    Ok(Some(percent).filter(|percent| *percent != 0))
}

/// Reads `20` or `20%`. All of it cannot be left: then nothing could ever begin.
pub(crate) fn percent(text: &str) -> Result<u32, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let percent = number.parse().ok().filter(|percent| is_number && *percent < 100);
    percent.ok_or_else(|| "expected a whole number of percent from 0 to 99".to_owned())
}

/// Reads any string that can be handed to a process.
pub(super) fn string(node: &Node) -> Result<&str, String> {
    match &node.content {
        // The system ends a string at NUL, so it could not arrive whole.
        Content::Scalar(Value::String(text)) if text.contains('\0') => {
            Err(wrong_value("a string without NUL characters", node))
        }
        Content::Scalar(Value::String(text)) => Ok(text),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => Err(wrong_type("a string", node)),
    }
}

/// Reads a string that says something, without the white space around it.
pub(super) fn filled(node: &Node, expected: &str) -> Result<String, String> {
    let text = string(node)?.trim();
    if text.is_empty() { Err(wrong_value(expected, node)) } else { Ok(text.to_owned()) }
}

/// Reads a command.
pub(super) fn command(node: &Node) -> Result<String, String> {
    filled(node, "a command")
}

/// Reads who is told.
pub(super) fn notify(node: &Node) -> Result<String, String> {
    let text = command(node)?;
    // The value itself may be a secret.
    NotifyTarget::parse(&text).map_err(|wanted| format!("expected {wanted}")).map(|_| text)
}

/// Reads an address for people. A token in it would go to everyone who is told the address.
pub(super) fn link(node: &Node) -> Result<String, String> {
    let text = filled(node, "an address")?;
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    if !is_address || text.contains(char::is_whitespace) {
        return Err(wrong_value("an address (`http://...`)", node));
    }
    if text.contains("token=") {
        return Err("expected an address without a token: it is sent to others".to_owned());
    }
    Ok(text)
}

/// Reads a string and splits it as a shell would.
pub(super) fn words(node: &Node) -> Result<Vec<String>, String> {
    shell_words::split(string(node)?).map_err(|_| wrong_value("closed quotes", node))
}

/// Reads one of several names, in any case.
pub(super) fn choice<T: Copy>(node: &Node, names: &[(&str, T)]) -> Result<T, String> {
    let Content::Scalar(Value::String(text)) = &node.content else {
        return Err(wrong_type(&alternatives(names), node));
    };
    let known = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim()));
    known.map(|(_, value)| *value).ok_or_else(|| wrong_value(&alternatives(names), node))
}

fn alternatives<T>(names: &[(&str, T)]) -> String {
    let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some(_) | None => names.concat(),
    }
}

fn number<T>(
    node: &Node,
    expected: &str,
    convert: impl FnOnce(&serde_json::Number) -> Option<T>,
) -> Result<T, String> {
    match &node.content {
        Content::Scalar(Value::Number(number)) => convert(number).ok_or_else(|| wrong_value(expected, node)),
        Content::Scalar(_) | Content::Array(_) | Content::Object(_) => Err(wrong_type(expected, node)),
    }
}
