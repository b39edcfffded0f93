//! Where a run decides about claims: whether it has a judge, and which branch its work is for.

use ralph_core::{
    engine::plan::{CommitRule, Gate, Plan},
    setup::Setup,
    verify::rules::CheckoutWhen,
};
use ralph_sys::error::{Error, Result};

use super::Preflight;
use crate::{
    driver::judge::RunJudge,
    project::git::{Git, NO_BRANCH},
    workspace::{Source, Workspace},
};

/// Why the working tree decides where there is nothing to clone.
pub(in crate::driver) const NO_REPOSITORY: &str = "the project is not in a git repository";

/// Refuses a run that wants a clean clone where there is nothing to clone.
pub(in crate::driver) fn not_in_a_repository() -> Error {
    Error::new(format!("claims cannot be decided in a clean clone: {NO_REPOSITORY}"))
        .hint("`git init` makes it one; `\"verify\": {\"checkout\": \"claim\"}` does without")
}

impl Preflight {
    /// Takes a judge of the project, if the plan wants one and there is something to decide in it. Returns the plan with
    /// what can be, and why the working tree decides alone where it does.
    pub(super) fn take_judge(&mut self, plan: Plan, setup: &Setup) -> Result<(Plan, Option<String>)> {
        let checked_out = self.git.as_ref().filter(|_| plan.commit != CommitRule::Never);
        let branch = checked_out.and_then(Git::checked_out).filter(|branch| branch != NO_BRANCH);
        if plan.checkout == CheckoutWhen::Never || !plan.gates.iter().any(Gate::is_for_judge) {
            return Ok((Plan { branch, ..plan }, None));
        }
        // Where it was looked for already, git need not be asked again.
        let is_known = plan.stuck_after.is_some() && self.repository.is_none();
        let source = if is_known { None } else { Source::find(&mut self.supervisor, &setup.project)? };
        let Some(source) = source else {
            if plan.checkout == CheckoutWhen::Require {
                return Err(not_in_a_repository());
            }
            let plan = Plan { checkout: CheckoutWhen::Never, branch, ..plan };
            let why = self.repository_refused.as_deref().and_then(|why| why.lines().next());
            return Ok((plan, Some(why.unwrap_or(NO_REPOSITORY).to_owned())));
        };
        let workspace = match Workspace::take(&setup.project, source, (&setup.judge).into()) {
            Err(error) if plan.checkout != CheckoutWhen::Require => {
                let plan = Plan { checkout: CheckoutWhen::Never, branch, ..plan };
                return Ok((plan, Some(error.to_string())));
            }
            taken => taken?,
        };
        self.locks.push(workspace.lock().try_clone()?);
        self.judge = Some(RunJudge::new(workspace));
        Ok((Plan { branch, ..plan }, None))
    }
}
