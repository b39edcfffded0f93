//! Usage limits: when the quota of an agent is back, and what is left of it.

use serde_json::json;

use crate::env::Env;

/// A Codex that is refused at its first call and answers at the second. Its record of the conversation says that the
/// short window is full and begins anew `resets_at`, a shell expression.
pub(crate) fn codex(env: Env, home: &str, resets_at: &str) -> Env {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures");
    let calls = env.root().join("calls");
    let script = format!(
        "cat >/dev/null; echo x >>{calls}; test $(wc -l <{calls}) = 1 || exec cat {fixtures}/codex/text.ndjson\n\
         mkdir -p {home}/sessions/2026/11/17 {home}/sessions/2026/11/16\n\
         sed \"s/1794917362/$(({resets_at}))/g\" {fixtures}/records/codex.jsonl \
           >{home}/sessions/2026/11/16/rollout-2026-11-16T23-59-59-01a1e932-d558-7aa2-b7e7-fc811ef38a3f.jsonl\n\
         echo >{home}/sessions/2026/11/17/rollout-2026-11-17T00-00-01-11111111-1111-1111-1111-111111111111.jsonl\n\
         cat {fixtures}/codex/quota_reset.ndjson; exit 1",
        calls = calls.display(),
    );
    env.agent("codex", &script).settings(json!({"limits": {"maxWait": "50ms"}}))
}

#[test]
fn the_reset_of_codex_is_read_from_its_record() {
    // One that has just passed; by the record under the user's home, and where the agent's own variable names another.
    let env = codex(Env::new(), "$HOME/.codex", "$(date +%s)");
    env.run(&["-m", "1"]).exits(1).says("The usage limit is reached").prints("Maximum iterations");
    let failure = env.events("turn_ended")[0]["end"].clone();
    let resets_at = failure["kind"]["limited"]["resets_at"].as_i64().expect("a reset");
    let until_ms = env.events("wait_started")[0]["until_ms"].as_i64().expect("a moment");
    assert!((until_ms - resets_at * 1000).abs() < 20_000, "{failure} {until_ms}");
    let env = codex(Env::new(), "$CODEX_HOME", "$(date +%s)");
    let home = env.root().join("elsewhere");
    let env = env.settings(json!({"agent": {"env": {"CODEX_HOME": home}}}));
    env.run(&["-m", "1"]).exits(1).prints("Maximum iterations");
    assert!(env.events("turn_ended")[0]["end"]["kind"]["limited"]["resets_at"].is_i64());
    // What its message says in words does not count.
    let env = codex(Env::new(), "/dev/null/nowhere", "0");
    env.run(&["-m", "1"]).exits(1).prints("Maximum iterations");
    assert_eq!(env.events("turn_ended")[0]["end"]["kind"]["limited"]["resets_at"], json!(null));
}
