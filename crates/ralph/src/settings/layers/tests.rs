//! The merge against a plain oracle: who wins at a path is decided path by path, without merging anything.

use proptest::prelude::*;
use ralph_core::located::text;
use serde_json::{Map, json};

use super::*;

fn merged(layers: &[Value]) -> Value {
    let mut node = nothing();
    for layer in layers {
        merge(&mut node, of_flags(layer.clone()));
    }
    node.into_value()
}

#[track_caller]
fn check(layers: &[Value], expected: &Value) {
    assert_eq!(&merged(layers), expected);
}

#[test]
fn objects_merge_and_everything_else_replaces() {
    check(
        &[
            json!({"agent": {"command": "claude", "flags": ["--model opus"]}}),
            json!({"agent": {"flags": ["--verbose"]}}),
        ],
        &json!({"agent": {"command": "claude", "flags": ["--verbose"]}}),
    );
    check(&[json!({"a": 1, "b": 2}), json!({"b": "x"})], &json!({"a": 1, "b": "x"}));
    check(&[json!({"a": [1, 2, 3]}), json!({"a": []})], &json!({"a": []}));
    check(&[json!({"a": [{"b": 1}]}), json!({"a": [{"c": 2}]})], &json!({"a": [{"c": 2}]}));
    check(&[json!({"a": {"b": 1}}), json!({"a": 2})], &json!({"a": 2}));
    check(&[json!({"a": 2}), json!({"a": {"b": 1}})], &json!({"a": {"b": 1}}));
}

#[test]
fn null_takes_a_key_away() {
    check(&[json!({"a": 1, "b": 2}), json!({"a": null})], &json!({"b": 2}));
    check(&[json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": null}})], &json!({"a": {"c": 2}}));
    check(&[json!({"a": {"b": 1}}), json!({"a": null}), json!({"a": {"c": 2}})], &json!({"a": {"c": 2}}));
    check(&[json!({"a": null, "b": {"c": null}})], &json!({"b": {}}));
    check(&[json!({"a": [null]})], &json!({"a": [null]}));
}

#[test]
fn every_leaf_knows_its_origin() {
    let text = "{\n\"a\": {\n\"b\": 1,\n\"c\": 1},\n\"d\": 1}";
    let mut sources = Sources::default();
    let mut node = text::parse(text, sources.next()).expect("JSON");
    sources.add("base", Lines::of(text));
    merge(&mut node, of_flags(json!({"a": {"c": [2]}, "e": true})));
    let origins = sources.origins(&node);
    let shown: Vec<String> = origins.iter().map(|(path, origin)| format!("{path} {origin}")).collect();
    assert_eq!(shown, ["a.b base:3", "a.c command line", "d base:5", "e command line"]);
}

/// What one layer says about a path.
enum Says<'a> {
    Nothing,
    Members,
    Removed,
    Leaf(&'a Value),
}

fn says<'a>(layer: &'a Value, path: &[String]) -> Says<'a> {
    let mut at = layer;
    for key in path {
        match at {
            Value::Object(members) => match members.get(key) {
                Some(member) => at = member,
                None => return Says::Nothing,
            },
            // Something that is no object stands where the path goes through.
            _ => return Says::Removed,
        }
    }
    match at {
        Value::Null => Says::Removed,
        Value::Object(_) => Says::Members,
        leaf => Says::Leaf(leaf),
    }
}

/// The last layer that says anything decides. An object hides a leaf below it, and the paths through it.
fn oracle(layers: &[Value], path: &[String]) -> Option<Value> {
    for layer in layers.iter().rev() {
        match says(layer, path) {
            Says::Nothing => {}
            Says::Members | Says::Removed => return None,
            Says::Leaf(leaf) => return Some(leaf.clone()),
        }
    }
    None
}

fn leaves(value: &Value, path: &[String], found: &mut BTreeMap<Vec<String>, Value>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                leaves(member, &[path, std::slice::from_ref(key)].concat(), found);
            }
        }
        leaf => {
            found.insert(path.to_vec(), leaf.clone());
        }
    }
}

fn member() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..9_u8).prop_map(Value::from),
        Just(json!("x")),
        Just(json!([])),
        Just(json!([null, {"a": 1}])),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| object_of(inner).boxed())
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[abc]", inner, 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

fn layer() -> impl Strategy<Value = Value> {
    object_of(member())
}

proptest! {
    #[test]
    fn the_merge_agrees_with_the_oracle(layers in prop::collection::vec(layer(), 0..4)) {
        let mut paths = BTreeMap::new();
        for layer in &layers {
            leaves(layer, &[], &mut paths);
        }
        let expected: BTreeMap<_, _> =
            paths.into_keys().filter_map(|path| Some((path.clone(), oracle(&layers, &path)?))).collect();
        let mut actual = BTreeMap::new();
        leaves(&merged(&layers), &[], &mut actual);
        prop_assert_eq!(actual, expected);
    }

    #[test]
    fn nothing_on_either_side_changes_nothing(one in layer(), other in layer()) {
        let plain = merged(&[one.clone(), other.clone()]);
        prop_assert_eq!(&merged(&[json!({}), one.clone(), other.clone()]), &plain);
        prop_assert_eq!(&merged(&[one.clone(), json!({}), other.clone()]), &plain);
        prop_assert_eq!(&merged(&[one.clone(), other.clone(), json!({})]), &plain);
    }

    #[test]
    fn the_same_layer_twice_is_the_same_as_once(one in layer(), other in layer()) {
        prop_assert_eq!(merged(&[one.clone(), other.clone(), other.clone()]), merged(&[one, other]));
    }
}
