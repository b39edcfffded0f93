//! The page as text; a browser looks at it in the whole-program tests.

use ralph_core::{
    containment::{contact::Contact, level::Level},
    engine::{event::Event, judgement::Judgement},
};
use ralph_guard::Decision;

use super::*;
use crate::report::listing::tests::{checked, ended, folded, turn, turn_ended};

fn page(folded: &Folded) -> String {
    let files = vec![FileChange { path: "src/<b>.rs".to_owned(), added: Some(12), removed: None }];
    let page = Page {
        id: "20260101-000000-0001",
        folded,
        standing: Standing::of(false, &folded.run.state),
        asked: Some("Do <script>alert(1)</script> & \"more\"".to_owned()),
        checks_diff: Some("-<i>\n".to_owned()),
        commits: vec![("abc".to_owned(), "Do & undo".to_owned())],
        files,
        range: None,
        zone: TimeZone::UTC,
        receipt: None,
    };
    page.render()
}

#[test]
fn a_run_is_told() {
    use ralph_core::engine::outcome::Outcome;
    let run = folded(vec![
        turn(1),
        turn_ended(true),
        checked(0, Some(0)),
        checked(1, Some(2)),
        turn(2),
        turn_ended(true),
        checked(0, Some(0)),
        checked(1, Some(0)),
        ended(Outcome::Done),
    ]);
    let page = page(&run);
    for expected in [
        "class=\"badge good\">complete",
        "said that it was done when it was not: 1 time",
        "Iteration 1: failed",
        "Iteration 2: passed",
        "Claimed to be done; the guardrails refused it",
        "$1.20",
        "+12",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
}

#[test]
fn a_turn_that_was_cut_off_is_no_success() {
    let run = folded(vec![turn(1), turn_ended(false), turn(2)]);
    assert!(page(&run).contains("The agent failed: ralph was killed while it ran"));
    let run = folded(vec![turn(1), turn_ended(false)]);
    assert!(!page(&run).contains("ralph was killed while it ran"));
}

#[test]
fn whom_the_run_wanted_to_talk_to_is_told() {
    use ralph_core::{
        containment::{contact::Contact, level::Level},
        engine::event::Event,
    };
    let contact = |host: &str, refused: Option<&str>| Contact {
        host: host.to_owned(),
        refused: refused.map(str::to_owned),
    };
    let hosts =
        vec![contact("api.example.com:443", None), contact("<evil>:443", Some("not in the list of hosts"))];
    let sandboxed = Event::Sandboxed {
        level: Level::Embedded,
        uncovered: vec!["much & more".to_owned()],
        withheld: vec!["A_KEY".to_owned()],
    };
    let page =
        page(&folded(vec![sandboxed, Event::Contacted { hosts: hosts.clone() }, Event::Contacted { hosts }]));
    for expected in [
        "embedded. Not covered: much &amp; more.",
        "<p>Reached: <code>api.example.com:443</code>.</p>",
        "<code>connect to &lt;evil&gt;:443</code></td><td>not in the list of hosts",
    ] {
        assert_eq!(page.matches(expected).count(), 1, "{expected}\n{page}");
    }
}

#[test]
fn nothing_that_anyone_said_is_markup() {
    let page = page(&folded(vec![]));
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none';"), "{page}");
    assert!(page.contains("Do &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;"), "{page}");
    assert!(page.contains("src/&lt;b&gt;.rs"), "{page}");
    for loads in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert_eq!(escape("a\u{1b}[31m'\0"), "a&#39;\u{fffd}");
    assert_eq!(escape("a\u{202e}b"), "a‹U+202E›b");
}

#[test]
fn what_was_refused_is_listed_once() {
    let contact = |host: &str, refused: Option<&str>| Contact {
        host: host.to_owned(),
        refused: refused.map(str::to_owned),
    };
    let hosts =
        vec![contact("evil.example:443", Some("not <on> the list")), contact("good.example:443", None)];
    let call = |asked: &str, decision: Decision| Judgement {
        id: None,
        tool: "Bash".to_owned(),
        asked: asked.to_owned(),
        decision,
        rule: Some("delete-home".to_owned()),
        found: None,
    };
    let calls = vec![call("ls", Decision::Allow), call("rm -rf ~", Decision::Block)];
    let mut denied = turn_ended(false);
    if let Event::TurnEnded(ended) = &mut denied {
        ended.denials = vec!["WebFetch".to_owned()];
    }
    let run = folded(vec![
        Event::Sandboxed { level: Level::Embedded, uncovered: Vec::new(), withheld: Vec::new() },
        turn(1),
        Event::Contacted { hosts: hosts.clone() },
        turn_ended(false),
        turn(2),
        Event::Contacted { hosts },
        Event::ToolCallsJudged { calls },
        denied,
    ]);
    let page = page(&run);
    assert!(page.contains(" · sandbox embedded<"), "{page}");
    let row = "<td class=\"who\">the sandbox</td><td><code>connect to evil.example:443</code></td><td>not &lt;on&gt; the list</td>";
    assert_eq!(page.matches(row).count(), 1, "{page}");
    assert!(page.contains(">2 times<") && !page.contains("connect to good.example"), "{page}");
    assert!(page.contains("<td><code>Bash rm -rf ~</code></td><td>delete-home</td>"), "{page}");
    assert!(!page.contains("Bash ls"), "{page}");
    assert!(page.contains("rules</td><td><code>WebFetch</code></td>"), "{page}");
}

#[test]
fn of_a_long_prompt_the_beginning_is_seen() {
    let text = |lines: usize| vec!["line"; lines].join("\n");
    assert_eq!(asked(&text(12)), format!("<pre>{}</pre>", text(12)));
    let long = asked(&text(15));
    assert!(long.starts_with(&format!("<pre>{}</pre>\n<details>", text(12))), "{long}");
    assert!(long.ends_with(&format!("<pre>{}</pre></details>", text(3))), "{long}");
    let one_line = asked(&"ä".repeat(2000));
    assert_eq!(one_line.matches('ä').count(), 2000);
    assert!(one_line.contains("<details>"), "{one_line}");
}

#[test]
fn a_long_run_is_a_page_of_bearable_size() {
    let turns = (1..=10_000).flat_map(|iteration| [turn(iteration), turn_ended(false), checked(0, Some(0))]);
    let page = page(&folded(turns.collect()));
    assert!(page.len() < 400_000, "{}", page.len());
    assert!(page.contains("9600 more"), "the middle of the table is left out");
}
