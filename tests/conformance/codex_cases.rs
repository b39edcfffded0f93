//! What only Codex does.

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

/// A subscription's quota comes back by itself; Codex does not say when in a way that can be relied on.
pub(crate) fn a_used_up_subscription_is_waited_for(ground: Ground) {
    let error = HttpError {
        status: 429,
        kind: Some("usage_limit_reached".to_owned()),
        code: None,
        message: "The usage limit has been reached".to_owned(),
    };
    let refused = Step { error: Some(error), ..Step::default() };
    let world = ground.steps([refused, Step::text("All is well. <response>DONE</response>")]);
    let outcome = world.run("Try.");
    outcome.expect("done", 0, 2);
    outcome.expect_failure("limited");
    assert_eq!(outcome.of("wait_started")[0]["why"], "usage_limit", "{outcome}");
    let iterations: Vec<&Value> = outcome.of("turn_started").iter().map(|turn| &turn["iteration"]).collect();
    assert_eq!(iterations, [1, 1], "a wait is no iteration\n{outcome}");
}
