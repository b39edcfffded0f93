//! Whether the judge can be believed when a guardrail fails there: only if it showed that it can run that guardrail.

/// How a guardrail ended at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The exit code; nothing if it was ended by a signal or a limit of time.
    pub code: Option<i32>,
    /// What two failures for the same reason have in common.
    pub signature: Option<String>,
}

impl Ending {
    /// Whether the guardrail passed.
    pub fn passed(&self) -> bool {
        self.code == Some(0)
    }
}

/// What one commit, checked at both places, says about the judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The guardrail works in the judge.
    Proven,
    /// It passes in the working tree and fails in the judge: something is missing there.
    FailsInJudge,
    /// It fails at both places, but not for the same reason.
    FailsOtherwise,
}

/// Compares how a guardrail ended in the working tree and in the judge, for the same commit.
pub fn prove(in_place: &Ending, in_judge: &Ending) -> Proof {
    match (in_place.passed(), in_judge.passed()) {
        (_, true) => Proof::Proven,
        (true, false) => Proof::FailsInJudge,
        (false, false) if in_place == in_judge => Proof::Proven,
        (false, false) => Proof::FailsOtherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(in_place: (Option<i32>, &str), in_judge: (Option<i32>, &str), expected: Proof) {
        let ending =
            |(code, signature): (Option<i32>, &str)| Ending { code, signature: Some(signature.to_owned()) };
        assert_eq!(prove(&ending(in_place), &ending(in_judge)), expected, "{in_place:?} {in_judge:?}");
    }

    #[test]
    fn a_pass_proves_and_so_does_the_same_failure() {
        check((Some(0), ""), (Some(0), "other output"), Proof::Proven);
        check((Some(1), "a"), (Some(0), "b"), Proof::Proven);
        check((Some(1), "a"), (Some(1), "a"), Proof::Proven);
        check((Some(0), "a"), (Some(1), "a"), Proof::FailsInJudge);
        check((Some(0), "a"), (None, "a"), Proof::FailsInJudge);
        check((Some(1), "a"), (Some(2), "a"), Proof::FailsOtherwise);
        check((Some(1), "a"), (Some(1), "b"), Proof::FailsOtherwise);
        check((Some(1), "a"), (None, "a"), Proof::FailsOtherwise);
        check((None, "a"), (None, "a"), Proof::Proven);
    }
}
