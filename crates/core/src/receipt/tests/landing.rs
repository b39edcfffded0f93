//! The statement about a commit that a fleet lands.

use serde_json::json;

use super::{id, statement};
use crate::receipt::{
    landing::{LandingFacts, landed},
    statement::{GuardrailFacts, Remark, Revision},
};

fn remark(kind: &str) -> Remark {
    Remark { kind: kind.to_owned(), text: format!("because of {kind}") }
}

#[test]
fn what_judged_the_merged_tree_takes_the_place_of_what_judged_the_lane() {
    let revision = |name: &str| Revision { commit: id(name), tree: id("tree") };
    let caveats = json!([remark("judged-in-place"), remark("offline"), remark("own")]);
    let lane = statement(&[("/predicate/caveats", caveats), ("/predicate/uncommitted", json!(2))]);
    let command = |statement: &crate::receipt::statement::Statement| -> Vec<GuardrailFacts> {
        statement.predicate.guardrails.iter().filter(|it| it.kind.is_command()).cloned().collect()
    };
    let merged: Vec<GuardrailFacts> =
        command(&lane).into_iter().map(|it| GuardrailFacts { in_project: None, ..it }).collect();
    let said = landed(
        lane.clone(),
        LandingFacts {
            base: revision("tip"),
            result: revision("merged"),
            protected: None,
            guardrails: merged.clone(),
            caveats: vec![remark("offline"), remark("new")],
        },
    );
    let names: Vec<&str> = said.predicate.guardrails.iter().filter_map(|it| it.command.as_deref()).collect();
    assert_eq!((names, command(&said)), (vec!["clean tree", "make test"], merged));
    let kinds: Vec<&str> = said.predicate.caveats.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["offline", "own", "new"]);
    assert_eq!(said.predicate.base, Some(revision("tip")));
    assert_eq!((said.predicate.result, said.predicate.uncommitted), (Some(revision("merged")), 0));
}
