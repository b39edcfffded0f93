//! What only Codex does.

use scripted_model::{HttpError, Script, Step};

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
