//! The guardrails once more: in a fresh clone, in a sandbox, by what the verifier trusts.

use std::fs;

use serde_json::json;

use super::{GUARDRAIL, Machines, project, signed_by, statement_of, with_statement};
use crate::{
    contained::works,
    env::{done, shell},
};

#[test]
fn twenty_times_give_the_same_verdict() {
    if !works("embedded") {
        return;
    }
    let machines = Machines::new();
    let mut verdicts: Vec<String> = (0..20)
        .map(|_| {
            let mut verdict = machines.verdict(&["--rerun"]);
            assert_eq!(verdict["verdict"], "holds", "{verdict:#}");
            verdict.as_object_mut().expect("an object").remove("statement").expect("a statement").to_string()
                + &verdict.to_string()
        })
        .collect();
    verdicts.dedup();
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    // Nothing of the clones is left, and nothing of the project was touched.
    let state = machines.there.root().join("state");
    let left = fs::read_dir(state)
        .expect("a folder")
        .flatten()
        .flat_map(|it| fs::read_dir(it.path()).into_iter().flatten());
    let left: Vec<_> =
        left.flatten().filter(|it| it.file_name().to_string_lossy().starts_with("verify-")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(machines.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_receipt_that_lies_is_found_out() {
    if !works("embedded") {
        return;
    }
    let machines = Machines::new();
    // The author signs that the wrong answer passes.
    machines.git(&["checkout", "--quiet", "-b", "lie"]);
    fs::write(machines.clone.join("answer"), "wrong too\n").expect("a file");
    machines.git(&["commit", "--quiet", "-am", "a lie"]);
    let mut statement = statement_of(&machines.envelope_of("origin/main"));
    statement["subject"][0]["digest"]["gitCommit"] = json!(machines.git(&["rev-parse", "HEAD"]).trim());
    statement["subject"][1]["digest"]["gitTree"] = json!(machines.git(&["rev-parse", "HEAD^{tree}"]).trim());
    let lie = with_statement(&machines.envelope_of("origin/main"), &statement);
    let lie =
        machines.file(&signed_by(&machines.there, &lie, &super::key_of(&machines.here), "ralph-receipt"));
    machines.verify(&[&lie]).exits(0);
    machines.verify(&[&lie, "--rerun"]).exits(1).prints("`sh test.sh` exited with 1; the receipt says 0");
}

#[test]
fn guardrails_are_those_of_the_base_and_not_of_the_branch() {
    if !works("embedded") {
        return;
    }
    // The branch exchanges its guardrail before the run begins.
    let here = project();
    here.git(&["checkout", "--quiet", "-b", "branch"]);
    let here = here.guardrails(&["true"]).turns(json!([[shell("echo half >answer"), done()]]));
    here.git(&["commit", "--quiet", "-am", "an easier guardrail"]);
    here.run(&[]).exits(0);
    let machines = Machines::around(here);
    machines.git(&["checkout", "--quiet", "origin/branch"]);
    machines.verify(&[]).exits(0);
    // The base that the author chose is not one that everyone has.
    machines.verify(&["--rerun"]).exits(2).prints("is not in origin/HEAD").prints("--base origin/main");
    let found = machines.verify(&["--rerun", "--base", "origin/main"]).exits(1);
    assert!(found.stdout.contains(&format!("`{GUARDRAIL}` exited with 1")), "{}", found.stdout);
    assert!(found.stdout.contains("`true` is named by the author alone"), "{}", found.stdout);
    // A policy can name it, too.
    let policy = machines.policy(json!({"guardrails": ["sh test.sh"]}));
    machines.verify(&["--rerun", "--policy", &policy]).exits(1);
}

#[test]
fn a_guardrail_that_only_the_author_names_proves_nothing() {
    if !works("embedded") {
        return;
    }
    let here = project();
    here.run(&["--guardrail", "true"]).exits(0);
    let machines = Machines::around(here);
    machines.verify(&["--rerun"]).exits(2).prints("`true` is named by the author alone");
    let policy = machines.policy(json!({"guardrails": ["true"]}));
    machines.verify(&["--rerun", "--policy", &policy]).exits(0);
}

#[test]
fn secrets_are_not_shown_to_code_of_others() {
    if !works("embedded") {
        return;
    }
    let mut machines = Machines::new();
    machines.there = machines.there.variable("DEPLOY_TOKEN", "x");
    machines.verify(&["--rerun"]).exits(2).says("DEPLOY_TOKEN").says("--allow-env");
    machines.verify(&["--rerun", "--allow-env", "DEPLOY_TOKEN"]).exits(0);
    machines.verify(&[]).exits(0);
}
