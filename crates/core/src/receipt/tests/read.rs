//! What is read as a statement, and what of it is taken over.

use serde_json::{Value, json};

use super::statement;
use crate::receipt::{
    envelope::Unreadable,
    statement::{PREDICATE_TYPE, STATEMENT_TYPE, Statement, TestCounts},
};

#[test]
fn both_types_must_be_known() {
    let whole = serde_json::to_value(statement(&[])).expect("a value");
    let read = |changes: &[(&str, &str)]| {
        let mut statement = whole.clone();
        for (key, value) in changes {
            statement[*key] = Value::from(*value);
        }
        Statement::read(statement.to_string().as_bytes())
    };
    assert_eq!(
        (whole["_type"].as_str(), whole["predicateType"].as_str()),
        (Some(STATEMENT_TYPE), Some(PREDICATE_TYPE))
    );
    assert!(read(&[]).is_ok());
    for changes in [
        &[("_type", "other")][..],
        &[("predicateType", "other")],
        &[("_type", "other"), ("predicateType", "other")],
    ] {
        assert!(matches!(read(changes), Err(Unreadable::Unknown(_))), "{changes:?}");
    }
    assert!(matches!(Statement::read(json!({}).to_string().as_bytes()), Err(Unreadable::Broken(_))));
}

#[test]
fn counts_are_those_of_the_runners() {
    let counts = ralph_checks::counts::Counts { passed: 1, failed: 2, skipped: 3 };
    assert_eq!(TestCounts::from(counts), TestCounts { passed: 1, failed: 2, skipped: 3 });
}
