//! The tables of the settings reference, out of the schema.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

/// The name that the outermost object has here.
const ROOT: &str = "root";

/// The objects that need a table.
pub(super) fn objects(schema: &Value) -> Vec<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let nested = properties.filter(|(_, property)| object_of(schema, property).is_some());
    [ROOT.to_owned()].into_iter().chain(nested.map(|(key, _)| key.clone())).collect()
}

/// The keys of an object, with type, default and meaning.
pub(super) fn table(schema: &Value, object: &str) -> Result<String> {
    let (node, prefix) = if object == ROOT {
        (schema, String::new())
    } else {
        let property = &schema["properties"][object];
        let many = if property.get("items").is_some() { "[]" } else { "" };
        let node = object_of(schema, property).with_context(|| format!("there is no object `{object}`"))?;
        (node, format!("{object}{many}."))
    };
    let mut text = "| key | type | default | meaning |\n|---|---|---|---|\n".to_owned();
    for (key, property) in node["properties"].as_object().into_iter().flatten() {
        if object_of(schema, property).is_some() {
            continue;
        }
        let required =
            node["required"].as_array().is_some_and(|keys| keys.contains(&Value::from(key.as_str())));
        let kind = kind(property);
        let default = if required { "required".to_owned() } else { default(property, &kind) };
        let meaning = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        writeln!(text, "| `{prefix}{key}` | {kind} | {default} | {meaning} |")?;
    }
    Ok(text)
}

/// The object that a property is, or is a list of.
fn object_of<'a>(schema: &'a Value, property: &'a Value) -> Option<&'a Value> {
    let item = property.get("items").unwrap_or(property);
    let reference = item.get("$ref").or_else(|| item["anyOf"].get(0)?.get("$ref"))?;
    let node = schema.pointer(reference.as_str()?.strip_prefix('#')?)?;
    node.get("properties").map(|_| node)
}

/// What may stand there, in words.
fn kind(property: &Value) -> String {
    if let Some(title) = property["title"].as_str() {
        return title.to_owned();
    }
    if let Some(choices) = property["anyOf"].as_array() {
        let choices: Vec<String> = choices
            .iter()
            .filter(|choice| choice["type"] != "null" && choice.get("pattern").is_none())
            .map(kind)
            .collect();
        return choices.join(", or ");
    }
    if let Some(names) = property["enum"].as_array() {
        return names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    }
    if property.get("$ref").is_some() {
        return "duration".to_owned();
    }
    let kind = property["type"].as_str().or_else(|| property["type"][0].as_str()).unwrap_or("any");
    match (kind, property["minimum"].as_f64()) {
        ("integer", Some(least)) if 0.0 < least => format!("whole number, {least} or more"),
        ("integer", _) => "whole number".to_owned(),
        ("string", _) => "text".to_owned(),
        ("array", _) if property["items"]["type"] == "integer" => "array of whole numbers".to_owned(),
        ("array", _) => "array of strings".to_owned(),
        ("object", _) if property.pointer("/additionalProperties/properties").is_some() => {
            "object of prices".to_owned()
        }
        ("object", _) if property.pointer("/additionalProperties/anyOf").is_some() => {
            "object of agents".to_owned()
        }
        ("object", _) => "object of strings".to_owned(),
        (other, _) => other.to_owned(),
    }
}

fn default(property: &Value, kind: &str) -> String {
    match (property.get("default"), kind) {
        (None, _) => "none".to_owned(),
        (Some(seconds), "duration") => match seconds.as_u64() {
            Some(0) | None => format!("`{seconds}`"),
            Some(seconds) if seconds % 60 == 0 => format!("`\"{}m\"`", seconds / 60),
            Some(seconds) => format!("`\"{seconds}s\"`"),
        },
        (Some(number), "number") => format!("`{}`", number.as_f64().unwrap_or_default()),
        (Some(default), _) => format!("`{default}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(property: &Value, expected: (&str, &str)) {
        let kind = kind(property);
        let default = default(property, &kind);
        assert_eq!((kind.as_str(), default.as_str()), expected, "{property}");
    }

    #[test]
    fn types_and_defaults_are_told_in_words() {
        check(&json!({"type": ["integer", "null"], "minimum": 1}), ("whole number, 1 or more", "none"));
        check(&json!({"type": ["integer", "null"], "minimum": 0, "default": 5}), ("whole number", "`5`"));
        check(&json!({"title": "time", "anyOf": [{"const": 0}], "default": 0}), ("time", "`0`"));
        check(&json!({"type": ["number", "null"], "default": 0.0}), ("number", "`0`"));
        check(&json!({"type": "string", "default": "DONE"}), ("text", "`\"DONE\"`"));
        let named = json!([{"enum": ["kill", "keep"]}, {"type": "string", "pattern": "x"}, {"type": "null"}]);
        check(&json!({"anyOf": named, "default": "kill"}), ("`\"kill\"`, `\"keep\"`", "`\"kill\"`"));
        let duration = json!([{"$ref": "#/$defs/Duration"}, {"type": "null"}]);
        check(&json!({"anyOf": duration, "default": 1800}), ("duration", "`\"30m\"`"));
        check(&json!({"anyOf": duration, "default": 0}), ("duration", "`0`"));
        let flags = json!([{"type": "array"}, {"type": "string"}]);
        check(&json!({"anyOf": flags, "default": []}), ("array of strings, or text", "`[]`"));
        let agents = json!({"anyOf": [{"$ref": "#/$defs/Agent"}, {"type": "null"}]});
        check(&json!({"type": "object", "additionalProperties": agents}), ("object of agents", "none"));
        check(&json!({"description": "x"}), ("any", "none"));
    }

    #[test]
    fn every_object_has_a_table() {
        let schema = json!({
            "$defs": {"A": {"properties": {"x": {"type": "string"}}, "required": ["x"]}, "D": {"type": "number"}},
            "properties": {
                "a": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
                "many": {"type": "array", "items": {"$ref": "#/$defs/A"}},
                "time": {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}], "description": "How long."},
            },
        });
        assert_eq!(objects(&schema), ["root", "a", "many"]);
        let head = "| key | type | default | meaning |\n|---|---|---|---|\n";
        let tables = ["root", "a", "many"].map(|object| table(&schema, object).expect("a table"));
        assert_eq!(tables[0], format!("{head}| `time` | duration | none | How long. |\n"));
        assert_eq!(tables[1], format!("{head}| `a.x` | text | required |  |\n"));
        assert_eq!(tables[2], format!("{head}| `many[].x` | text | required |  |\n"));
        assert!(table(&schema, "b").is_err());
    }
}
