//! What a user has begun in a repository and not ended. A commit of ralph would conclude it, or get lost in it.

use super::Git;

/// Something that git has begun.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// Where it leaves its mark, in git's own folder.
    mark: &'static str,
    pub(crate) what: &'static str,
    /// What ends it well, and what undoes it.
    pub(crate) ends: [&'static str; 2],
}

/// The first that is found counts: a rebase stops in the middle of a cherry-pick.
const ALL: [Unfinished; 7] = [
    Unfinished {
        mark: "rebase-apply/applying",
        what: "an `am`",
        ends: ["git am --continue", "git am --abort"],
    },
    Unfinished {
        mark: "rebase-merge",
        what: "a rebase",
        ends: ["git rebase --continue", "git rebase --abort"],
    },
    Unfinished {
        mark: "rebase-apply",
        what: "a rebase",
        ends: ["git rebase --continue", "git rebase --abort"],
    },
    Unfinished {
        mark: "CHERRY_PICK_HEAD",
        what: "a cherry-pick",
        ends: ["git cherry-pick --continue", "git cherry-pick --abort"],
    },
    Unfinished {
        mark: "REVERT_HEAD",
        what: "a revert",
        ends: ["git revert --continue", "git revert --abort"],
    },
    Unfinished { mark: "MERGE_HEAD", what: "a merge", ends: ["git commit", "git merge --abort"] },
    Unfinished { mark: "BISECT_LOG", what: "a bisect", ends: ["git bisect reset", "git bisect reset"] },
];

impl Git {
    /// What is begun and not ended, if anything is.
    pub(crate) fn unfinished(&self) -> Option<Unfinished> {
        let dir = self.dir()?;
        ALL.into_iter().find(|it| dir.join(it.mark).exists())
    }
}
