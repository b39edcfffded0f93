//! The report on a run.

pub(crate) mod browser;

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::env::{Env, done, say, shell, write};

/// A run that is refused once and then completes.
fn finished() -> Env {
    let env = Env::new().with_git().commits().guardrails(&["grep -q right result"]).script(json!({
        "turns": [[write("result", "wrong\n"), done()], [write("result", "right\n"), done()]],
        "text": [[say("Write <the> result")]],
    }));
    env.run(&[]).exits(0);
    env
}

#[test]
fn a_report_is_written_beside_the_record() {
    let env = finished();
    let printed = env.ralph(&["report"]).exits(0).stdout;
    let path = env.newest_run().join("report.html");
    assert_eq!(printed.trim(), path.display().to_string());
    let page = fs::read_to_string(path).expect("a report");
    for expected in [
        "badge good\">complete",
        "said that it was done when it was not: 1 time",
        "Write &lt;the&gt; result",
        "<code>result</code>",
        "git revert --no-edit",
        "Do it.",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
}

#[test]
fn a_report_goes_where_it_is_wanted() {
    let env = finished();
    let id = env.run_id();
    env.ralph(&["report", &id[..17], "--file", "morning.html"]).exits(0).prints("morning.html");
    let written = env.read("morning.html");
    assert_eq!(env.ralph(&["report", "-f", "-"]).exits(0).stdout, written);
    env.ralph(&["report", "-f", "no/such/folder.html"]).exits(2).says("cannot write the report");
    env.ralph(&["report", "2000"]).exits(2).says("there is no run `2000`");
    assert!(!Path::new(&env.path(".ralph/report.html")).exists());
}

#[test]
fn a_run_that_was_killed_says_how_to_go_on() {
    let env = Env::new().turns(json!([crate::env::meet("met")]));
    let running = env.start(&["run", "-p", "Do it."]);
    env.await_file("met");
    running.kill_9();
    env.nothing_left();
    env.ralph(&["report", "-f", "-"]).exits(0).prints("badge bad\">killed").prints("ralph resume");
}

/// The same figures everywhere, and what was changed also where nothing was committed.
#[test]
fn summary_status_and_report_agree_without_a_commit() {
    let turn = json!([write("new.txt", "x\n"), shell("echo more >>README.md"), done()]);
    let env = Env::new().with_git().turns(json!([turn]));
    env.write("mine.txt", "There before.\n");
    let summary = env.ralph(&["run", "-p", "Do it."]).exits(0).stdout;
    let status = env.ralph(&["status"]).exits(0).stdout;
    let page = env.ralph(&["report", "-f", "-"]).exits(0).stdout;
    let command = format!("git diff {}; git status", &env.git(&["rev-parse", "HEAD"])[..12]);
    for shown in [&summary, &status] {
        assert!(shown.contains("2 files changed, not committed"), "{shown}");
    }
    for shown in [&summary, &status, &page] {
        assert!(shown.contains(&command), "no {command} in {shown}");
    }
    assert!(page.contains("new.txt") && page.contains("+1</span>"), "{page}");
    assert!(!page.contains("mine.txt"), "{page}");
    let time = summary.lines().find_map(|line| line.trim().strip_prefix("1 turn, ")?.split(", ").next());
    let time = time.expect("how long it took");
    assert!(status.contains(&format!(" · {time} · ")), "{time} {status}");
    assert!(page.contains(&format!("<b>{time}</b>")), "{time} {page}");
    let changes: Value =
        serde_json::from_str(&env.ralph(&["status", "--json"]).exits(0).stdout).expect("JSON");
    assert_eq!(changes["changes"]["left"], json!(["README.md", "new.txt"]), "{changes}");
    // Heads of tables are words, and words are not broken.
    assert!(
        !page.contains("td, th { overflow-wrap") && page.contains("td { overflow-wrap: anywhere"),
        "{page}"
    );
}
