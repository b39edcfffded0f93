//! How long a judgement of the guard takes.

use std::time::Duration;

use anyhow::Result;

use super::{
    Effort,
    clock::{self, interleave},
    place::Place,
    table::Table,
};

/// As long as a command line may be.
const MAX_COMMAND_LINE_LEN: usize = 64 * 1024;

/// Command lines that are as much work as their length allows: many commands, many expansions, deep nesting, long code.
const HARD: [(&str, &str); 5] = [
    ("commands", "a;"),
    ("substitutions", "echo $(a) \"$x\" `b`;"),
    ("brackets", "$(( ${a:-"),
    ("loops", "for x in {1..99}; do rm -rf $x; done;"),
    ("here-documents", "sh <<'E'\nls | grep x\nE\n"),
];

/// Measures a short judgement against a program that does nothing, and the hardest against a short one.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let short = ["guard", "check", "git status --short | head -20"];
    let ([noop, ralph], note) = interleave(
        effort.rounds(400),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("ralph guard check", Box::new(|| clock::run(place.ralph()?.args(short), 0))),
        ],
    )?;
    table.ratio("ralph guard check, against a static no-op", noop.seconds, ralph.seconds, 5.0);
    table.note(format!("the guard, {note}"));
    for (name, piece) in HARD {
        let file = place.path("hard.sh");
        fs_err::write(&file, piece.repeat(MAX_COMMAND_LINE_LEN / piece.len()))?;
        let hard = ["guard", "check", "--file", &file.display().to_string()].map(str::to_owned);
        let ([easy, worst], _) = interleave(
            effort.rounds(40),
            [
                ("short", Box::new(|| clock::run(place.ralph()?.args(short), 0))),
                ("hard", Box::new(|| clock::run(place.ralph()?.args(&hard), 1))),
            ],
        )?;
        let judgement = (worst.seconds - easy.seconds).max(0.0);
        table.time(&format!("guard judgement, 64 KiB of {name}"), judgement, Duration::from_millis(5));
    }
    Ok(())
}
