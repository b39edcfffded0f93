//! What only Codex does.

use std::time::{SystemTime, UNIX_EPOCH};

use scripted_model::{HttpError, Script, Step};
use serde_json::Value;

use crate::world::Ground;

/// A spent budget has the status of a request that came too fast; the code tells them apart.
pub(crate) fn a_used_up_quota_is_no_overload(ground: Ground) {
    let error = HttpError {
        status: 429,
        kind: Some("insufficient_quota".to_owned()),
        code: Some("insufficient_quota".to_owned()),
        message: "You exceeded your current quota".to_owned(),
    };
    let world = ground.with(Script::always(Step { error: Some(error), ..Step::default() }));
    let outcome = world.run("Try.");
    outcome.expect_failure("permanent");
    outcome.expect("gave_up", 4, 1);
}

/// A subscription's quota comes back by itself. Codex tells people when; as a figure it is in its record alone.
pub(crate) fn a_used_up_subscription_is_waited_for(ground: Ground) {
    let error = HttpError {
        status: 429,
        kind: Some("usage_limit_reached".to_owned()),
        code: None,
        message: "The usage limit has been reached".to_owned(),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let refused = Step { error: Some(error), ..Step::default() }
        .header("x-codex-primary-used-percent", "100")
        .header("x-codex-primary-window-minutes", "300")
        .header("x-codex-primary-reset-at", now.to_string())
        .header("x-codex-secondary-used-percent", "40")
        .header("x-codex-secondary-window-minutes", "10080")
        .header("x-codex-secondary-reset-at", (now + 86_400).to_string());
    let world = ground.steps([refused, Step::text("All is well. <response>DONE</response>")]);
    let outcome = world.run("Try.");
    outcome.expect("done", 0, 2);
    outcome.expect_failure("limited");
    assert_eq!(outcome.of("wait_started")[0]["why"], "usage_limit", "{outcome}");
    let resets_at = &outcome.of("turn_ended")[0]["end"]["kind"]["limited"]["resets_at"];
    assert_eq!(resets_at.as_u64(), Some(now), "the record says when\n{outcome}");
    let iterations: Vec<&Value> = outcome.of("turn_started").iter().map(|turn| &turn["iteration"]).collect();
    assert_eq!(iterations, [1, 1], "a wait is no iteration\n{outcome}");
}
