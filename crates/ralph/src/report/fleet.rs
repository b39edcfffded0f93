//! What the processes of a fleet say, side by side: one line each, with the name of who says it.

use std::io::Write;

use crate::term::fit::one_line;

/// Prints one line.
pub(crate) fn line(who: &str, text: &str) {
    // Nobody is left to tell if this fails.
    let _ = writeln!(anstream::stderr().lock(), "{who} | {}", one_line(text));
}
