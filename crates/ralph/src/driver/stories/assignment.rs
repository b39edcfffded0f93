//! The words that ralph adds to the prompt of a stories loop.

use ralph_core::{
    engine::event::Turn,
    setup::StoriesSetup,
    stories::{MAX_ID_LEN, MAX_TITLE_LEN, Mode, Story, UNCOUNTED, one_line, quoted_lines},
};

use super::commits::ReviewedCommits;
use crate::project::git::Change;

/// How many files are named when the tree is not clean.
const MAX_NAMED_FILES: usize = 20;

/// What the turn is to do, before everything else in the prompt.
pub(super) fn text(
    turn: &Turn,
    of: u32,
    story: Option<&Story>,
    commits: &ReviewedCommits,
    setup: &StoriesSetup,
) -> String {
    let mut lines = vec![
        format!("Ralph Loop, iteration {} of {of}.", turn.iteration),
        format!("Mode: {}", turn.mode.name()),
    ];
    match story {
        Some(story) => {
            let (id, title) = (one_line(&story.id, MAX_ID_LEN), one_line(&story.title, MAX_TITLE_LEN));
            lines.push(format!("Story: {id} - {title}"));
            lines.extend(of_story(turn, story, commits, setup));
        }
        None => lines.push(
            "Story: none. Every story is done, but ralph's own checks did not pass; their output is at the end of this \
             prompt. Fix what they found and commit it. Change no review field; add a story for what is more than a \
             small repair."
                .to_owned(),
        ),
    }
    if setup.skip_review {
        lines.push(
            "Reviews are switched off: set passes to true yourself when the story is done and verified, and leave \
             reviewStatus null."
                .to_owned(),
        );
    }
    format!("{}\n\n---\n\n", lines.join("\n"))
}

/// The variables of the prompt that are about the story.
pub(super) fn variables(
    turn: &Turn,
    story: Option<&Story>,
    setup: &StoriesSetup,
) -> Vec<(&'static str, String)> {
    let shown = |story: &Story| (one_line(&story.id, MAX_ID_LEN), one_line(&story.title, MAX_TITLE_LEN));
    let (id, title) = story.map(shown).unwrap_or_default();
    let dir = setup.ralph_dir.display().to_string();
    vec![("MODE", turn.mode.name().to_owned()), ("STORY_ID", id), ("STORY_TITLE", title), ("RALPH_DIR", dir)]
}

fn of_story(turn: &Turn, story: &Story, commits: &ReviewedCommits, setup: &StoriesSetup) -> Vec<String> {
    match turn.mode {
        Mode::Review => {
            let number = story.review_count + 1;
            let mut lines = vec![format!("This is review {number}; the cap is {}.", setup.review_cap)];
            lines.extend(to_review(commits));
            if story.review_feedback.starts_with(UNCOUNTED) {
                lines.push(
                    "The last review of this story changed files itself, so its approval did not count. Review those \
                     changes too, and change nothing."
                        .to_owned(),
                );
            }
            lines
        }
        Mode::Fix => {
            vec![format!("What the review wants changed:\n{}", quoted_lines(&story.review_feedback))]
        }
        Mode::Implement | Mode::Work => Vec::new(),
    }
}

/// Which commits a review is about.
fn to_review(ReviewedCommits { ranges, lost }: &ReviewedCommits) -> Vec<String> {
    let head = match (ranges.is_empty(), lost) {
        (true, false) => "Commits to review: not recorded; find them with git log.",
        (true, true) => "Commits to review: find them with git log.",
        (false, _) => "Commits to review:",
    };
    let commands = ranges.iter().map(|(from, to)| {
        format!("- git log --oneline {from}..{to}, and their changes: git diff {from} {to}")
    });
    let missing = lost.then(|| {
        "Some commits that were recorded for this story are not in the history of HEAD: they were rebased, reset, or \
         made on another branch. If they were replaced, review what replaced them."
            .to_owned()
    });
    std::iter::once(head.to_owned()).chain(commands).chain(missing).collect()
}

/// What a turn is told that left something uncommitted.
pub(super) fn unclean(changes: &[Change], setup: &StoriesSetup) -> Option<String> {
    let named = changes.iter().take(MAX_NAMED_FILES).map(|change| {
        let path = change.path.to_string_lossy();
        format!("- {}", one_line(&path, usize::MAX))
    });
    let mut lines: Vec<String> = named.collect();
    if MAX_NAMED_FILES < changes.len() {
        lines.push(format!("- and {} more", changes.len() - MAX_NAMED_FILES));
    }
    let dir = setup.ralph_dir.display();
    (!lines.is_empty()).then(|| {
        format!(
            "The last iteration left changes that are not committed:\n{}\nBefore you stop:\n1. Write into \
             {dir}/progress.txt what was done and what was learned.\n2. Think about whether something of it is a lasting \
             rule for CLAUDE.md or .claude/rules/.\n3. Commit ALL changes, progress.txt and tasks.json included.",
            lines.join("\n")
        )
    })
}
