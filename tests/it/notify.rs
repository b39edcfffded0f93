//! The user's own program is told what happens.

use serde_json::{Value, json};

use crate::env::{Env, done, say};

/// What the program was told, in order.
fn told(env: &Env) -> Vec<Value> {
    let text = env.read("told.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn notified(turns: Value) -> Env {
    Env::new().turns(turns).settings(json!({"notify": "cat >>told.jsonl", "retries": 0}))
}

#[test]
fn the_end_is_told() {
    let env = notified(json!([[done()]]));
    env.run(&[]).exits(0);
    let told = told(&env);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["event"], "done");
    assert_eq!(told[0]["run"], env.run_id());
    assert_eq!(told[0]["project"], json!(env.project()));
    assert!(told[0]["text"].as_str().is_some_and(|text| text.starts_with("Complete")), "{told:?}");

    let env = notified(json!([[say("Oh."), {"exit": 1}]]));
    env.run(&[]).exits(4);
    assert_eq!(self::told(&env)[0]["event"], "failed");

    let env = notified(json!([[say("Going on.")]]));
    env.run(&["-m", "1"]).exits(1);
    let told = self::told(&env);
    assert_eq!(
        (&told[0]["event"], &told[0]["exit_code"], &told[0]["iteration"]),
        (&json!("limit"), &json!(1), &json!(1))
    );
}

#[test]
fn waits_and_standstills_are_told() {
    let limit = json!({"event": {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1}}});
    let refused = json!({"result": {"is_error": true, "api_error_status": 429, "result": "Come back later"}});
    let env = notified(json!([[limit, refused], [done()]]));
    env.run(&[]).exits(0);
    let told: Vec<Value> = self::told(&env).iter().map(|it| it["event"].clone()).collect();
    assert_eq!(told, ["waiting", "done"]);

    let env = notified(json!([[say("Hm.")]])).guardrails(&["echo week_53; false"]);
    env.run(&[]).exits(6);
    let told = self::told(&env);
    let text = told[0]["text"].as_str().unwrap_or_default();
    assert_eq!(
        (told.len(), &told[0]["event"], &told[0]["exit_code"]),
        (1, &json!("needs_person"), &json!(6))
    );
    assert!(text.contains("no progress since iteration 1") && text.contains("week_53"), "{text}");

    let expensive = json!({"result": {"usage": {"input_tokens": 5000, "output_tokens": 1}}});
    let env = notified(json!([[say("Hm."), expensive]]));
    env.run(&["--max-tokens", "1000"]).exits(1);
    assert_eq!(self::told(&env)[0]["event"], "limit");
}

#[test]
fn a_program_that_asks_is_told_the_end() {
    let env = Env::new().turns(json!([[done()]]));
    let env = env.settings(json!({"notify": format!("'{}' status --json >status.json", crate::env::RALPH)}));
    env.run(&[]).exits(0);
    assert!(env.read("status.json").contains("\"standing\":\"complete\""), "{}", env.read("status.json"));
}

#[test]
fn a_program_that_fails_is_only_warned_of() {
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": "echo no bell >&2; exit 1"}));
    env.run(&[]).exits(0).says("the notify command failed: no bell");
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": "exit 3"}));
    env.run(&[]).exits(0).says("the notify command failed: exit status: 3");
    env.nothing_left();
}
