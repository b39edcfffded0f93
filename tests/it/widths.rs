//! Whatever a person reads fits the terminal: lines are broken between words, at any width.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::{
    env::{Env, RALPH, done, say, shell},
    pty::Pty,
    stories::{list, project, story, with},
};

const WIDTHS: [u16; 4] = [60, 80, 120, 200];

/// What a command shows in a terminal of that width.
fn shown(env: &Env, args: &[&str], columns: u16) -> String {
    let mut command = env.command(RALPH);
    command.args(args).env("NO_COLOR", "1").env("TERM", "xterm").env("LANG", "C.UTF-8");
    let mut terminal = Pty::sized(&mut command, columns);
    terminal.ends();
    terminal.screen().replace('\r', "")
}

/// Whether a line may be wider: it is one word, or something to copy that follows a short label.
fn is_to_copy(line: &str) -> bool {
    // Without its mark.
    let text = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !"/.".contains(c));
    let text = text.strip_prefix("in ").unwrap_or(text);
    let text = text.split_once(": ").map_or(text, |(_, command)| command);
    let is_command = ["ralph ", "git "].iter().any(|program| text.starts_with(program));
    is_command || !text.trim_end_matches(['.', ',']).contains(' ')
}

/// Checks that what a command shows at every width is the same words, and fits.
#[track_caller]
fn check(env: &Env, args: &[&str]) {
    let whole: Vec<String> = words(&shown(env, args, 2000));
    assert!(!whole.is_empty(), "{args:?} shows nothing");
    for columns in WIDTHS {
        let screen = shown(env, args, columns);
        for line in screen.lines() {
            let is_wide = usize::from(columns) < line.width();
            assert!(!is_wide || is_to_copy(line), "{args:?} at {columns}: {line:?}\n{screen}");
        }
        let broken: Vec<String> = words(&screen).into_iter().filter(|word| !whole.contains(word)).collect();
        assert!(broken.is_empty(), "{args:?} at {columns} breaks {broken:?}:\n{screen}");
    }
}

/// The words of a screen, without what was cut, what is drawn, and what is different each time.
fn words(screen: &str) -> Vec<String> {
    let is_word = |word: &&str| {
        word.chars().any(char::is_alphabetic)
            && !word.contains('…')
            && !word.chars().any(|c| c.is_ascii_digit())
    };
    screen.split_whitespace().filter(is_word).map(str::to_owned).collect()
}

const LONG: &str = "Rewrite the tokenizer so that it understands nested comments, raw strings with any number of \
                    hashes, and numbers with underscores, without being slower than the present one is.";

/// A run with a long prompt, long words of the agent, a guardrail that fails at length, and no commit.
fn world() -> Env {
    let env = Env::new().with_git().turns(json!([
        [
            say(&format!("I begin. {LONG}\n\nThe plan:\n- {LONG}\n")),
            {"tool": {"name": "Bash", "input": {"command": format!("echo {LONG}")}, "output": LONG}},
            {"write": {"path": "new-file-with-a-long-name.txt", "text": "x"}},
            say("All of it is done now.")
        ],
        [done()]
    ]));
    env.guardrails(&[&format!("echo '{LONG}'; test -e fixed")])
}

#[test]
fn what_is_said_about_runs_fits() {
    let env = world();
    env.ralph(&["run", "-m", "2", "-p", LONG]).exits(1);
    for args in [
        &["status"][..],
        &["status", "--all"],
        &["logs"],
        &["logs", "--verbose"],
        &["doctor"],
        &["sandbox", "check"],
        &["guard", "rules"],
        &["guard", "check", "git push --force origin main"],
        &["session", "status"],
        &["plugin", "status"],
        &["resume", "nothing-of-this-name"],
        &["stopp"],
        &["run", "--max-iteration", "3", "x"],
        &["run", "--color", "sometimes", "x"],
    ] {
        check(&env, args);
    }
}

#[test]
fn findings_fit() {
    // What only a person may type.
    let env = Env::new().turns(json!([[shell(&format!("{RALPH} accept x; true")), done()]]));
    env.ralph(&["run", "-p", LONG]).exits(7).prints("Needs attention");
    for args in [&["status"][..], &["logs"]] {
        check(&env, args);
        assert!(shown(&env, args, 60).contains("ralph accept"), "{args:?}");
    }
}

#[test]
fn help_fits() {
    let env = Env::new();
    for args in
        [&["--help"][..], &["run", "--help"], &["stories", "--help"], &["task", "run", "--help"], &["help"]]
    {
        check(&env, args);
    }
}

#[test]
fn lists_fit() {
    let long = with(
        "US-a-story-with-a-name-that-nobody-can-remember",
        &json!({"title": LONG, "dependsOn": ["US-1"]}),
    );
    let env = project(&list(&[story("US-1"), long]));
    check(&env, &["stories", "list"]);
    check(&env, &["stories", "check"]);
    env.write(".ralph/tasks/tokens/TASK.md", LONG);
    check(&env, &["task", "list"]);
    check(&env, &["task", "list", "--tree"]);
    let table = shown(&env, &["stories", "list"], 60);
    assert!(table.contains("US-a-story-wit…"), "{table}");
}
