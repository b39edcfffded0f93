//! The receipt of a commit that a fleet lands: what the run in the lane says about itself, and the guardrails as they ended
//! on the merged tree.

use super::{
    compose::subjects,
    statement::{GuardrailFacts, ProtectedFacts, Remark, Revision, Statement},
};

/// What a lane says about the place where its own guardrails ran. The merged tree is judged elsewhere.
const IN_PLACE: &str = "judged-in-place";

/// What the lander knows of a commit that is about to land.
#[derive(Clone, Debug)]
pub struct LandingFacts {
    /// The tip that it was merged onto.
    pub base: Revision,
    /// The commit.
    pub result: Revision,
    /// The checks of the project in both.
    pub protected: Option<ProtectedFacts>,
    /// Every command that decided, as it ended in a clean clone of the commit.
    pub guardrails: Vec<GuardrailFacts>,
    /// What weakens that judgement.
    pub caveats: Vec<Remark>,
}

/// The statement about a commit that lands, from that of the run that made the candidate.
pub fn landed(mut statement: Statement, landing: LandingFacts) -> Statement {
    let LandingFacts { base, result, protected, guardrails, caveats } = landing;
    statement.subject = subjects(Some(&result), true, &statement.predicate.journal);
    let predicate = &mut statement.predicate;
    // What ralph checked in the lane itself is about the lane's work, and stays.
    predicate.guardrails.retain(|it| !it.kind.is_command());
    predicate.guardrails.extend(guardrails);
    predicate.caveats.retain(|it| it.kind != IN_PLACE);
    for caveat in caveats {
        if !predicate.caveats.contains(&caveat) {
            predicate.caveats.push(caveat);
        }
    }
    (predicate.base, predicate.result, predicate.protected) = (Some(base), Some(result), protected);
    predicate.uncommitted = 0;
    statement
}
