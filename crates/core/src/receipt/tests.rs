//! What receipts say and what follows from them, as tables.

mod compose;
mod landing;
mod policy;
mod read;
mod rerun;
mod verdict;

use serde_json::{Value, json};

use super::{
    sha256,
    statement::{PREDICATE_TYPE, STATEMENT_TYPE, Statement},
    verdict::{ReceiptVerdict, VerdictItem},
};

/// The id of a commit or a tree that is called so.
fn id(name: &str) -> String {
    sha256(name.as_bytes())[..40].to_owned()
}

/// A statement with nothing against it, and with changes by their JSON pointers.
fn statement(changes: &[(&str, Value)]) -> Statement {
    let passed =
        json!({"passed": true, "exitCode": 0, "ms": 5, "tests": {"passed": 3, "failed": 0, "skipped": 0}});
    let mut statement = json!({
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": "commit", "digest": {"gitCommit": id("tip")}},
            {"name": "tree", "digest": {"gitTree": id("files")}},
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "run": {
                "id": "20261116-000335-42bf", "preset": "run", "outcome": "done", "exitCode": 0,
                "began": "2026-11-16T00:03:35Z", "ended": "2026-11-16T00:04:00Z",
            },
            "base": {"commit": id("base"), "tree": id("files before")},
            "result": {"commit": id("tip"), "tree": id("files")},
            "plan": sha256(b"plan"),
            "guardrails": [
                {"kind": "command", "command": "make test", "sha256": sha256(b"make test"), "inProject": passed, "inJudge": passed},
                {"kind": "rule", "command": "clean tree", "inProject": {"passed": true, "exitCode": 0, "ms": 0}},
            ],
            "protected": {"files": 2, "base": sha256(b"checks"), "result": sha256(b"checks")},
            "findings": [],
            "caveats": [],
            "containment": {
                "sandbox": "embedded", "gatesInside": true, "guard": true, "refused": 0, "hosts": [], "hostsRefused": [],
                "keyReachable": false,
            },
            "agents": [{"name": "claude", "models": ["opus"], "roles": ["work"]}],
            "spent": {"iterations": 1, "turns": 1, "ms": 25000, "tokens": 10},
            "tools": {"ralph": "0.1.0", "platform": "linux-x86_64"},
            "journal": {"lines": 9, "chain": "00112233aabbccdd", "sha256": sha256(b"journal")},
        },
    });
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = statement.pointer_mut(parent).expect("a place");
        match parent {
            Value::Array(list) => list[key.parse::<usize>().expect("an index")] = value.clone(),
            other => other[key] = value.clone(),
        }
    }
    Statement::read(statement.to_string().as_bytes()).expect("a statement")
}

/// The verdicts and texts of some items, one line each.
fn lines(items: &[VerdictItem]) -> Vec<String> {
    let mark = |verdict| match verdict {
        ReceiptVerdict::Holds => '+',
        ReceiptVerdict::DoesNotHold => '-',
        ReceiptVerdict::CannotTell => '?',
    };
    items.iter().map(|item| format!("{} {}", mark(item.verdict), item.text)).collect()
}
