//! As much of JSON Schema as the schemas of ralph use. A keyword that it does not know fails the test.

use regex_lite::Regex;
use serde_json::Value;

/// Whether `value` is what the schema `root` describes.
pub(super) fn accepts(root: &Value, value: &Value) -> bool {
    Validator { root }.accepts(root, value)
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let Value::Object(keywords) = schema else {
            return schema.as_bool().expect("a schema is an object or a boolean");
        };
        keywords.iter().all(|(keyword, argument)| self.keyword(schema, keyword, argument, value))
    }

    fn keyword(&self, schema: &Value, keyword: &str, argument: &Value, value: &Value) -> bool {
        let any = |value: &Value| -> usize {
            list(argument).iter().filter(|choice| self.accepts(choice, value)).count()
        };
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" | "examples" | "format"
            | "deprecated" => true,
            "$ref" => {
                let pointer = argument.as_str().and_then(|reference| reference.strip_prefix('#'));
                let target = self.root.pointer(pointer.expect("a reference into this schema"));
                self.accepts(target.expect("a definition"), value)
            }
            "type" => match argument {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
                kind => is_a(value, kind),
            },
            "const" => value == argument,
            "enum" => list(argument).contains(value),
            "anyOf" => 0 < any(value),
            "oneOf" => any(value) == 1,
            "minimum" => value.as_f64().is_none_or(|value| argument.as_f64().expect("a number") <= value),
            "maximum" => value.as_f64().is_none_or(|value| value <= argument.as_f64().expect("a number")),
            "pattern" => value.as_str().is_none_or(|text| pattern(argument).is_match(text)),
            "items" => value.as_array().is_none_or(|items| items.iter().all(|i| self.accepts(argument, i))),
            "required" => value.as_object().is_none_or(|members| {
                list(argument).iter().all(|key| members.contains_key(key.as_str().expect("a key")))
            }),
            "properties" => members(value)
                .all(|(key, member)| argument.get(key).is_none_or(|property| self.accepts(property, member))),
            "additionalProperties" => members(value)
                .filter(|(key, _)| schema["properties"].get(key).is_none() && !is_matched(schema, key))
                .all(|(_, member)| self.accepts(argument, member)),
            "patternProperties" => members(value).all(|(key, member)| {
                let mut matching =
                    members(argument).filter(|(name, _)| pattern(&Value::from(name.as_str())).is_match(key));
                matching.all(|(_, property)| self.accepts(property, member))
            }),
            "propertyNames" => {
                members(value).all(|(key, _)| self.accepts(argument, &Value::from(key.as_str())))
            }
            unknown => panic!("the validator does not know `{unknown}`"),
        }
    }
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("there is no type `{unknown}`"),
    }
}

fn pattern(argument: &Value) -> Regex {
    Regex::new(argument.as_str().expect("a pattern")).expect("a good pattern")
}

fn list(argument: &Value) -> &[Value] {
    argument.as_array().expect("a list")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Whether a pattern of the schema says what this key may be.
fn is_matched(schema: &Value, key: &str) -> bool {
    members(&schema["patternProperties"]).any(|(name, _)| pattern(&Value::from(name.as_str())).is_match(key))
}
