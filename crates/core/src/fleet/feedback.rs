//! What a lane is told whose candidate did not land.

use std::fmt::Write;

use super::step::Refusal;

/// As much of what happened as a prompt has room for.
const MAX_LEN: usize = 16_000;

/// What happened, what landed since, and what to do.
pub fn feedback(refusal: &Refusal, landed: &[String]) -> String {
    let mut text = String::new();
    let _ = match refusal {
        Refusal::Conflict { files, hunks, .. } => writeln!(
            text,
            "Your work was merged with what others have landed meanwhile, and conflicts in: {}.\n\
             The files have conflict markers now (<<<<<<< is the target, >>>>>>> is your work). Resolve them so that both \
             changes keep working, remove all markers, and run the checks.\n\n{}",
            files.join(", "),
            cut(hunks)
        ),
        Refusal::Red { command, code, output, .. } => {
            let code = code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
            writeln!(
                text,
                "Your work passes its checks alone, but not together with what others have landed meanwhile: `{command}` \
                 fails on the merged tree{code}. That tree is checked out now. Fix it.\n\n{}",
                cut(output)
            )
        }
        Refusal::Unusable { reason } => writeln!(text, "Your work could not land: {reason}."),
    };
    if !landed.is_empty() {
        let _ = writeln!(text, "\nLanded since you began:\n{}", landed.join("\n"));
    }
    text
}

/// The end of a long text: where a command fails, that says why.
fn cut(text: &str) -> &str {
    let from = text.len().saturating_sub(MAX_LEN);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_told_what_to_do() {
        let conflict = Refusal::Conflict {
            tip: "t".to_owned(),
            files: vec!["a.txt".to_owned(), "b.txt".to_owned()],
            hunks: "+<<<<<<< ours".to_owned(),
        };
        let text = feedback(&conflict, &["c1 Do the other".to_owned()]);
        for part in
            ["conflicts in: a.txt, b.txt", "+<<<<<<< ours", "Landed since you began:\nc1 Do the other"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let output = format!("ä{}the end", "x".repeat(2 * MAX_LEN));
        let red = Refusal::Red { tip: String::new(), command: "make test".to_owned(), code: Some(2), output };
        let text = feedback(&red, &[]);
        assert!(text.contains("`make test` fails on the merged tree (exit code 2)"), "{text}");
        assert!(text.contains("the end") && text.len() < MAX_LEN + 1000 && !text.contains("Landed"));
        assert!(
            feedback(&Refusal::Unusable { reason: "nothing changed".to_owned() }, &[]).contains("nothing")
        );
    }
}
