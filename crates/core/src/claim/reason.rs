//! Why the agent changed what checks its work, in the message in which it repeats its claim.

/// As much of a reason as anyone reads.
const MAX_REASON_CHARS: usize = 500;

const OPEN: &str = "<reason>";
const CLOSE: &str = "</reason>";

/// The last reason in the end of a message, in one line.
pub(super) fn reason(tail: &str) -> Option<String> {
    let end = tail.rfind(CLOSE)?;
    let begin = tail[..end].rfind(OPEN)? + OPEN.len();
    let words: Vec<&str> = tail[begin..end].split_whitespace().collect();
    let reason: String = words.join(" ").chars().take(MAX_REASON_CHARS).collect();
    (!reason.is_empty()).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::super::tests::scanners;
    use crate::engine::presets;

    #[track_caller]
    fn check(messages: &[&str], expected: Option<&str>) {
        let [whole, cut] = scanners(&presets::run("DONE", vec![]).claims, messages);
        let expected = expected.map(str::to_owned);
        assert_eq!((whole.reason(), cut.reason()), (expected.clone(), expected), "{messages:?}");
    }

    #[test]
    fn it_stands_anywhere_in_the_last_message() {
        check(&["<reason>the API changed</reason>\n<response>DONE</response>"], Some("the API changed"));
        check(&["<response>DONE</response> <reason>\n  two\nlines </reason> bye"], Some("two lines"));
        check(&["<reason>a</reason> no, <reason>b</reason>"], Some("b"));
        check(&["<reason>before</reason>", "<response>DONE</response>"], None);
        check(&["<reason></reason>"], None);
        check(&["</reason><reason>"], None);
        check(&["no reason"], None);
        let long = format!("<reason>{}</reason>", "x".repeat(600));
        check(&[&long], Some(&"x".repeat(500)));
    }
}
