//! What counts as a claim, and what does not.

use proptest::prelude::*;

use super::*;

fn response() -> Claim {
    let (name, text) = ("response".to_owned(), "DONE".to_owned());
    Claim::Tag { name, text, matching: Matching::FirstIgnoringCase }
}

fn promise() -> Claim {
    let (name, text) = ("promise".to_owned(), "COMPLETE".to_owned());
    Claim::Tag { name, text, matching: Matching::Exact }
}

fn last() -> Claim {
    let (name, text) = ("promise".to_owned(), "COMPLETE".to_owned());
    Claim::Tag { name, text, matching: Matching::ExactInLastMessage }
}

fn claims(claim: Claim, pieces: &[&str]) -> bool {
    let mut scanner = Scanner::new(&[claim]);
    for piece in pieces {
        scanner.push(piece, true);
    }
    scanner.claimed()
}

#[track_caller]
fn check(claim: Claim, text: &str, expected: bool) {
    assert_eq!(claims(claim.clone(), &[text]), expected, "whole: {text:?}");
    let letters: Vec<String> = text.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(claims(claim, &letters), expected, "letter by letter: {text:?}");
}

#[test]
fn response_takes_the_first_tag() {
    check(response(), "<response>DONE</response>", true);
    check(response(), "well: <RESPONSE> done </RESPONSE>.", true);
    check(response(), "<response>\nDone\n</response>", true);
    check(response(), "<response>no</response><response>DONE</response>", false);
    check(response(), "<response>DONE</response><response>no</response>", true);
    check(response(), "DONE", false);
    check(response(), "<response>DONE", false);
    check(response(), "<response>NOT DONE</response>", false);
    check(response(), "<respons<response>done</response>", true);
    check(response(), "ÄÖ<response>done</response>€", true);
    check(response(), "<response></response>", false);
}

#[test]
fn promise_is_exact() {
    check(promise(), "<promise>COMPLETE</promise>", true);
    check(promise(), "<promise>no</promise> then <promise>COMPLETE</promise>", true);
    check(promise(), "<promise>complete</promise>", false);
    check(promise(), "<promise> COMPLETE</promise>", false);
    check(promise(), "COMPLETE", false);
    check(promise(), "€<promise>COMPLETE</promise>ü", true);
}

#[test]
fn messages_do_not_join() {
    let mut scanner = Scanner::new(&[promise(), response()]);
    scanner.push("<promise>COMP", false);
    scanner.push("LETE</promise>", false);
    scanner.push("<response>", false);
    scanner.push("DONE</response>", false);
    assert!(!scanner.claimed());
    scanner.push("<response>DONE", false);
    scanner.push("</response>", true);
    assert!(scanner.claimed());
}

#[test]
fn a_later_message_takes_an_announcement_back() {
    check(last(), "I will say <promise>COMPLETE</promise>.", true);
    for (messages, expected) in [
        (&["I will say <promise>COMPLETE</promise>.", "Not yet."][..], false),
        (&["I will say <promise>COMPLETE</promise>.", " Not yet."], false),
        (&["<promise>COMPLETE</promise>", " \n", ""], true),
        (&["No.", "Yes. <promise>COMPLETE</promise>"], true),
        (&["<promise>COMP", "LETE</promise>"], false),
    ] {
        let (mut whole, mut cut) = (Scanner::new(&[last()]), Scanner::new(&[last()]));
        for message in messages {
            whole.push(message, false);
            cut.push("", false);
            message.chars().for_each(|letter| cut.push(&letter.to_string(), true));
        }
        assert_eq!((whole.claimed(), cut.claimed()), (expected, expected), "{messages:?}");
    }
}

#[test]
fn endless_content_is_no_claim() {
    let mut scanner = Scanner::new(&[response()]);
    scanner.push("<response>", true);
    for _ in 0..100 {
        scanner.push(&" ".repeat(10_000), true);
    }
    scanner.push("DONE</response>", true);
    assert!(!scanner.claimed());
}

#[test]
fn content_of_just_the_greatest_length_is_a_claim_however_it_is_cut() {
    let padded = |len: usize| format!("<response>DONE{}</response>", " ".repeat(len - "DONE".len()));
    for (len, expected) in [(65_536, true), (65_537, false)] {
        let text = padded(len);
        assert_eq!(claims(response(), &[&text]), expected, "{len} bytes in one piece");
        let (most, end) = text.split_at(text.len() - 20);
        let letters = (0..end.len()).map(|at| &end[at..=at]);
        let pieces: Vec<&str> = [most].into_iter().chain(letters).collect();
        assert_eq!(claims(response(), &pieces), expected, "{len} bytes, the last ones letter by letter");
    }
}

#[test]
fn a_tag_may_begin_at_the_end_of_a_long_piece() {
    let before = "I have looked at all of it, twice, and every check passes. ";
    for (claim, tag) in
        [(response(), "<response>DONE</response>"), (promise(), "<promise>COMPLETE</promise>")]
    {
        for cut in 1..tag.len() {
            let pieces = [before, &format!("{before}{}", &tag[..cut]), &tag[cut..]];
            assert!(claims(claim.clone(), &pieces), "{pieces:?}");
        }
    }
}

#[test]
fn what_a_scanner_remembers_of_endless_talk_is_bounded() {
    for piece in ["x", "é", "<", "a few words, ", &"more words than any tag has ".repeat(10)] {
        let mut scanner = Scanner::new(&[response(), promise(), last()]);
        let size = |scanner: &Scanner| format!("{:?}", scanner.tags).len();
        let empty = size(&scanner);
        for _ in 0..2000 {
            scanner.push(piece, true);
        }
        assert!(size(&scanner) < empty + 100, "{:?}", scanner.tags);
    }
}

proptest! {
    #[test]
    fn cutting_changes_nothing(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "<promise>", "COMPLETE", "</promise>", "<response>", "done", "</response>", "<", "é", " ", "x",
            ]),
            0..12,
        ),
        cuts in prop::collection::vec(0usize..200, 0..6),
    ) {
        let text = words.concat();
        let mut at: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        let pieces: Vec<&str> = at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        for claim in [promise(), response()] {
            // The oracle reads the whole text at once. The other loop's tag counts where there is nothing else.
            let is_done = |said: &str| said.trim().eq_ignore_ascii_case("done");
            let alone = text.trim();
            let expected = match &claim {
                Claim::Tag { matching: Matching::Exact, .. } => {
                    let other = alone.strip_prefix("<response>").and_then(|it| it.strip_suffix("</response>"));
                    text.contains("<promise>COMPLETE</promise>") || other.is_some_and(is_done)
                }
                _ => first_tag(&text, "response").is_some_and(is_done) || alone == "<promise>COMPLETE</promise>",
            };
            prop_assert_eq!(claims(claim, &pieces), expected, "{:?}", pieces);
        }
    }
}

/// Scanners that have read these messages: each as a whole, and letter by letter.
pub(super) fn scanners(claims: &[Claim], messages: &[&str]) -> [Scanner; 2] {
    let (mut whole, mut cut) = (Scanner::new(claims), Scanner::new(claims));
    for message in messages {
        whole.push(message, false);
        for (at, letter) in message.char_indices() {
            cut.push(&message[at..at + letter.len_utf8()], 0 < at);
        }
    }
    [whole, cut]
}
