//! A prompt that a user writes in an editor.

/// What the editor shows first: the prompt goes above it.
pub const TEMPLATE: &str = "\n\n<!-- ralph: Write above what the agent must do, save, and close the editor.\n\
                            Ralph adds how to finish. This comment is removed. Without a prompt, nothing is started. -->\n";

const OPEN: &str = "<!-- ralph:";
const CLOSE: &str = "-->";

/// The prompt in what the user saved; nothing if there is none.
pub fn written(saved: &str) -> Option<String> {
    let prompt = match saved.split_once(OPEN) {
        Some((before, rest)) => {
            let after = rest.split_once(CLOSE).map_or("", |(_, after)| after);
            format!("{}\n\n{}", before.trim(), after.trim())
        }
        None => saved.to_owned(),
    };
    let prompt = prompt.trim();
    (!prompt.is_empty()).then(|| prompt.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_is_no_prompt() {
        #[track_caller]
        fn check(saved: &str, expected: Option<&str>) {
            assert_eq!(written(saved).as_deref(), expected, "{saved:?}");
        }
        check(TEMPLATE, None);
        check("", None);
        check(" \n\n", None);
        check(&format!("Fix it.{TEMPLATE}"), Some("Fix it."));
        check(&format!("# Fix\n\n- all\n{TEMPLATE}"), Some("# Fix\n\n- all"));
        check(&format!("{TEMPLATE}\nFix it.\n"), Some("Fix it."));
        check(&format!("Above.{TEMPLATE}\nBelow."), Some("Above.\n\nBelow."));
        check("Fix it.\n<!-- a note of the user's -->", Some("Fix it.\n<!-- a note of the user's -->"));
        check("Fix it. <!-- ralph: cut off", Some("Fix it."));
    }
}
