//! How the page looks: on a telephone and on a desk, by day and by night.

use serde_json::{Value, json};

use super::{browser::Browser, serve};
use crate::env::{Env, done, say};

fn finished() -> Env {
    let env = Env::new().with_git().commits().guardrails(&["test -e right", "true"]).script(json!({
        "turns": [
            [say("I try."), {"write": {"path": "wrong", "text": "x\n"}}, done()],
            [say(&"A long line of words without an end. ".repeat(20)), {"write": {"path": "right", "text": "x\n"}}, done()],
        ],
        "text": [[say("Try")], [say("Do it right")]],
    }));
    env.ralph(&["run", "-p", &format!("Make it right: {}", "averyveryverylongword".repeat(8))]).exits(0);
    env
}

/// The page needs no more room than it has, and what can be pressed is large enough for a thumb.
fn check_room(browser: &mut Browser, what: &str) {
    let facts = browser.eval(
        "({needs: document.documentElement.scrollWidth, has: document.documentElement.clientWidth,
           out: [...document.querySelectorAll('.card, .head > *, .tab, .panel > *:not(.grid)')].filter(it => it.offsetParent && !it.closest('.tabs') && (it.getBoundingClientRect().right > innerWidth + 1 || it.getBoundingClientRect().left < -1)).map(it => it.className)})",
    );
    assert_eq!(facts["needs"], facts["has"], "{what}: {facts}");
    assert_eq!(facts["out"], json!([]), "{what}");
}

fn background(browser: &mut Browser) -> Value {
    browser.eval("getComputedStyle(document.body).backgroundColor")
}

#[test]
fn a_telephone_and_a_desk_show_all_of_it() {
    let env = finished();
    let Some(mut browser) = Browser::start(&env) else { return };
    let served = serve(&env, &["--allow"]);
    browser.look(390, 844, false);
    browser.open(&served.link);
    browser.sees("Make it right");
    check_room(&mut browser, "the list");
    assert_eq!(background(&mut browser), "rgb(255, 255, 255)");
    browser.press("Make it right");
    for tab in ["Now", "Guardrails", "Diff", "Spend", "Findings"] {
        browser.press(tab);
        browser.until("!document.querySelector('.panel').innerText.includes('Loading')");
        check_room(&mut browser, tab);
    }
    assert_eq!(
        browser.eval("!!document.querySelector('nav').offsetParent"),
        json!(false),
        "one thing at a time"
    );
    browser.press("Guardrails");
    assert_eq!(browser.eval("document.querySelectorAll('.grid .dot.failed').length"), json!(1));
    assert_eq!(browser.eval("document.querySelectorAll('.grid .dot.passed').length"), json!(3));
    browser.press("Diff");
    browser.sees("right");
    browser.look(1280, 800, true);
    browser.until(
        "!!document.querySelector('nav').offsetParent && !!document.querySelector('main').offsetParent",
    );
    check_room(&mut browser, "a desk");
    assert_eq!(background(&mut browser), "rgb(20, 23, 29)");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
