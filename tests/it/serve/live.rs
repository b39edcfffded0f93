//! The page in a real browser: sees a run live, loses the connection and finds it again, decides, speaks.

use std::fs;

use serde_json::json;

use super::{browser::Browser, serve, serve_again};
use crate::{
    env::{Env, done, meet, poll, say},
    stories::{leaves, list, project, sent_back, story, submitted},
};

/// The lines of the stream that the page shows.
const LINES: &str = "[...document.querySelectorAll('.stream li')].map(it => it.textContent)";

fn go(env: &Env, name: &str) {
    fs::write(env.path(&format!("{name}.go")), "").expect("a file");
}

#[test]
fn a_browser_sees_a_run_live_and_comes_back_after_a_break() {
    let [met, wait] = meet("one");
    let [met_two, wait_two] = meet("two");
    let [met_three, wait_three] = meet("three");
    let env = Env::new().with_git().guardrails(&["test -e right"]).turns(json!([
        [say("First words"), met, wait, say("Second words"), met_two, wait_two, say("Words in the dark"), done()],
        [say("Another turn in the dark"), met_three, wait_three, say("Last words"), {"write": {"path": "right", "text": "x"}}, done()],
    ]));
    let Some(mut browser) = Browser::start(&env) else { return };
    let run = env.start(&["run", "-p", "Show <b>me</b> live"]);
    env.await_file("one");
    let served = serve(&env, &[]);
    browser.look(1280, 800, false);
    browser.open(&served.link);
    // The token is out of the address at once.
    browser.until("location.hash === ''");
    assert_eq!(browser.eval("document.cookie"), "", "no script reads the cookie");
    browser.sees("Show <b>me</b> live");
    browser.sees("First words");
    browser.sees("read-only");
    go(&env, "one");
    browser.sees("Second words");
    env.await_file("two");

    let port = served.port;
    served.running.kill_9();
    browser.sees("reconnecting");
    go(&env, "two");
    env.await_file("three");
    let again = serve_again(&env, port, &[]);
    browser.sees("Another turn in the dark");
    go(&env, "three");
    browser.sees("Last words");
    run.wait().exits(0);
    browser.sees("complete");
    let lines = browser.eval(LINES);
    let words: Vec<&str> = lines.as_array().expect("lines").iter().filter_map(|it| it.as_str()).collect();
    for expected in [
        "Iteration 1",
        "First words",
        "Second words",
        "Words in the dark",
        "Iteration 2",
        "Another turn in the dark",
        "Last words",
    ] {
        assert_eq!(words.iter().filter(|line| line.contains(expected)).count(), 1, "{expected}: {words:?}");
    }
    let order: Vec<usize> = ["First", "Second", "dark", "Another", "Last"]
        .map(|word| words.iter().position(|line| line.contains(word)).expect("a line"))
        .to_vec();
    assert!(order.is_sorted(), "{words:?}");
    drop(again);
}

#[test]
fn a_browser_accepts_a_finding_with_the_code_of_the_terminal() {
    let env = project(&list(&[story("US-1")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[sent_back("US-1", 1, "Week 53 is missing.")])),
        [say("Well.")],
    ]));
    let Some(mut browser) = Browser::start(&env) else { return };
    env.ralph(&["stories", "--review-cap", "1"]).exits(7);
    let served = serve(&env, &["--allow"]);
    browser.look(390, 844, false);
    browser.open(&served.link);
    browser.sees("1 finding to accept or reject");
    browser.press("finding to accept");
    browser.press("Findings");
    browser.sees("approved at the review cap");
    browser.press("Stories");
    browser.sees("Title of US-1");
    browser.press("Accept…");
    browser.sees("shows a code");
    browser.submit("#asked", "00000000");
    browser.sees("not the code");
    assert!(env.events("accepted").is_empty());
    let said = served.running.said();
    let code = said.split("into the page: ").nth(1).and_then(|rest| rest.lines().next());
    browser.submit("#asked", code.unwrap_or_else(|| panic!("{said}")));
    poll("the journal", || (env.events("accepted").len() == 1).then_some(()));
    browser.sees("complete");
}

#[test]
fn a_browser_says_a_word_and_stops_a_run() {
    let env = Env::new().turns(json!([meet("met"), [say("Going on."), done()]]));
    let Some(mut browser) = Browser::start(&env) else { return };
    let run = env.start(&["run", "-p", "Do it."]);
    env.await_file("met");
    let served = serve(&env, &["--allow"]);
    browser.look(1280, 800, true);
    browser.open(&served.link);
    browser.sees("Do it.");
    browser.submit("#say", "Mind <script>the gap</script>");
    poll("the word", || (env.events("note_said").len() == 1).then_some(()));
    go(&env, "met");
    run.wait();
    assert!(env.prompts()[1].contains("Mind <script>the gap</script>"), "{:?}", env.prompts());
}

#[test]
fn keys_do_what_they_say() {
    let env = Env::new().with_git().guardrails(&["true"]).turns(json!([[say("Hello"), done()]]));
    let Some(mut browser) = Browser::start(&env) else { return };
    for prompt in ["The first task", "The second task"] {
        env.ralph(&["run", "-p", prompt]).exits(0);
    }
    let served = serve(&env, &[]);
    browser.look(1280, 800, false);
    browser.open(&served.link);
    // The newest is open from the start.
    browser.until("document.querySelector('h2.asked')?.textContent === 'The second task'");
    browser.key("j");
    browser.key("j");
    browser.until("document.activeElement.textContent.includes('The first task')");
    browser.eval("document.activeElement.click()");
    browser.until("document.querySelector('h2.asked')?.textContent === 'The first task'");
    browser.key("2");
    browser.until("!!document.querySelector('.grid .dot.passed')");
    browser.key("/");
    browser.until("document.activeElement.type === 'search'");
    browser.key("Escape");
    browser.key("?");
    browser.sees("search the stream");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
