//! The honest way out: an agent that cannot continue says so, and why, alone on the last line of its last message.

use super::Claim;

/// The word.
const WORD: &str = "BLOCKED";

/// As much of a reason as anyone reads.
const MAX_REASON_CHARS: usize = 500;

/// What an agent says that gives no reason.
const NO_REASON: &str = "it gives no reason";

/// How it is written in a loop that waits for these claims, with a place for the reason.
pub fn marker(claims: &[Claim]) -> String {
    let name = claims.iter().find_map(Claim::tag);
    let name = name.unwrap_or("response");
    format!("<{name}>{WORD}: reason</{name}>")
}

/// Whether a claim is made in that word.
pub(super) fn is_waited_for(claim: &Claim) -> bool {
    matches!(claim, Claim::Tag { text, .. } if text.trim().to_ascii_uppercase().starts_with(WORD))
}

/// The reason in a line that has nothing else in it.
pub(super) fn reason(line: &str) -> Option<String> {
    let is_response = |open: &str, close: &str| {
        open.eq_ignore_ascii_case("<response>") && close.eq_ignore_ascii_case("</response>")
    };
    let is_promise = |open: &str, close: &str| open == "<promise>" && close == "</promise>";
    let begin = line.find('>')? + 1;
    let end = line.rfind('<').filter(|end| begin <= *end)?;
    let (open, said, close) = (&line[..begin], line[begin..end].trim(), &line[end..]);
    let word = said.get(..WORD.len())?;
    let is_said = match () {
        () if is_response(open, close) => word.eq_ignore_ascii_case(WORD),
        () if is_promise(open, close) => word == WORD,
        () => false,
    };
    let is_alone = !said.to_ascii_lowercase().contains(&close.to_ascii_lowercase());
    let reason = match said[WORD.len()..].trim_start() {
        "" => "",
        rest => rest.strip_prefix(':')?.trim(),
    };
    let reason = if reason.is_empty() { NO_REASON } else { reason };
    (is_said && is_alone).then(|| reason.chars().take(MAX_REASON_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::{super::tests::scanners, *};
    use crate::engine::{plan::Plan, presets};

    #[track_caller]
    fn check(plan: &Plan, messages: &[&str], expected: Option<&str>) {
        let [whole, cut] = scanners(&plan.claims, messages);
        let expected = expected.map(str::to_owned);
        assert_eq!((whole.blocked(), cut.blocked()), (expected.clone(), expected), "{messages:?}");
    }

    #[test]
    fn it_stands_alone_on_the_last_line_of_the_last_message() {
        let run = presets::run("DONE", vec![]);
        for plan in
            [&run, &presets::build("plan.md", vec![]), &presets::prompt(), &presets::task("D", "W", vec![])]
        {
            for line in [
                "<response>BLOCKED: no key</response>",
                "<Response> blocked :  no key </RESPONSE>",
                "<promise>BLOCKED: no key</promise>",
            ] {
                check(plan, &[line], Some("no key"));
                check(plan, &["At work.", &format!("I tried.\n\n  {line}  \n\n")], Some("no key"));
                check(plan, &[line, " \n"], Some("no key"));
                check(
                    plan,
                    &["<response>DONE</response>\n<promise>COMPLETE</promise>", line],
                    Some("no key"),
                );
                check(plan, &[&format!("<response>DONE</response>\n{line}")], Some("no key"));
                check(plan, &[&format!("Well: {line}")], None);
                check(plan, &[&format!("`{line}`")], None);
                check(plan, &[&format!("{line} Bye.")], None);
                check(plan, &[&format!("{line}\nOr not.")], None);
                check(plan, &[line, "Or not."], None);
                check(plan, &[&format!("{line}{line}")], None);
            }
        }
        check(&run, &["<response>BLOCKED</response>"], Some(NO_REASON));
        check(&run, &["<response>BLOCKED:</response>"], Some(NO_REASON));
        check(&run, &["<response>BLOCKED: a Vec<u8> is missing</response>"], Some("a Vec<u8> is missing"));
        check(&run, &["<promise>blocked: x</promise>"], None);
        check(&run, &["<promise> BLOCKED: x</promise>"], Some("x"));
        check(&run, &["<response>BLOCKEDNESS: x</response>"], None);
        check(&run, &["<response>BLOCKED: x</promise>"], None);
        check(&run, &["<response>BLOCKED: x"], None);
        check(&run, &["BLOCKED: x"], None);
        check(&run, &["<answer>BLOCKED: x</answer>"], None);
        check(&run, &["", "<>", "><"], None);
        let long = "é".repeat(600);
        check(&run, &[&format!("<response>BLOCKED: {long}</response>")], Some(&long[..1000]));
        check(&run, &[&format!("<response>BLOCKED: {}</response>", "x".repeat(9000))], None);
        // Who waits for that word means it.
        check(&presets::run("BLOCKED", vec![]), &["<response>BLOCKED</response>"], None);
    }

    #[test]
    fn it_is_written_in_the_tag_of_the_loop() {
        assert_eq!(marker(&presets::run("DONE", vec![]).claims), "<response>BLOCKED: reason</response>");
        assert_eq!(marker(&presets::plan().claims), "<promise>BLOCKED: reason</promise>");
        assert_eq!(marker(&presets::prompt().claims), "<response>BLOCKED: reason</response>");
    }
}
