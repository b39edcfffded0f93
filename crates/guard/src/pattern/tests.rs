//! What patterns mean, and which are refused.

use super::*;
use crate::{context::Context, flatten};

fn means(pattern: &str, command_line: &str) -> bool {
    let ctx = Context::new("/home/dev/proj", "/home/dev");
    let flattened = flatten::flatten(command_line, &ctx);
    flattened.commands.iter().any(|command| any_means(&[pattern], command))
}

#[track_caller]
fn check(pattern: &str, meant: &[&str], others: &[&str]) {
    assert_eq!(fault(pattern), None, "{pattern}");
    for command_line in meant {
        assert!(means(pattern, command_line), "{pattern}: {command_line}");
    }
    for command_line in others {
        assert!(!means(pattern, command_line), "{pattern}: {command_line}");
    }
}

#[test]
fn parts_of_patterns() {
    check("git push", &["git push", "sudo git -C x push -f", "sh -c 'git push'"], &["git pull", "gitx push"]);
    check("git|hub push|send-pack -f|--force", &["git push -uf a", "hub push --forc"], &["git push"]);
    check("a !b", &["a", "a c", "a -x c"], &["a b"]);
    check("a ?* !?*", &["a b", "a -x b"], &["a", "a b c"]);
    check("a !-n|--dry-run", &["a b"], &["a -n", "a --dry-run"]);
    check("a --pid=host", &["a --pid=host", "a --pid host"], &["a --pid x", "a host"]);
    check("a -X=delete", &["a -X DELETE", "a -XDELETE"], &["a -X GET"]);
    check("a ~*.sock", &["a x --y z.sock"], &["a sock"]);
    check("a @xargs", &["ls | xargs a"], &["a"]);
    check("a >*kill*", &["a | b | xargs kill"], &["a | b", "kill | a"]);
    check("a <*flush*", &["echo FLUSHALL | a"], &["echo x | a", "a"]);
    check("mk* -t", &["mkfs -t x", "mkfs.ext4 -t x"], &["mount -t x"]);
    check("* --force-all", &["x --force-all", "x --forc"], &["x --fast"]);
    check("env - ?*", &["env - ls"], &["env ls"]);
}

#[test]
fn sums_let_no_program_slip() {
    const PATTERNS: Patterns = Patterns::new(&["git|hub push", "7z"]);
    let named = |program: &str| Command {
        program: program.to_owned(),
        args: vec!["push".to_owned()],
        ..Command::default()
    };
    let means =
        |patterns: &Patterns, program| patterns.mean(&named(program), CommandSums::of(&named(program)));
    assert!(["git", "hub", "7z"].iter().all(|program| means(&PATTERNS, program)));
    assert!(!means(&PATTERNS, "svn") && !means(&PATTERNS, ""));
    assert!(means(&Patterns::new(&["a", "mk* push"]), "mkfs"));
}

#[test]
fn sums_let_no_word_slip() {
    const PATTERNS: Patterns =
        Patterns::new(&["git -f|--force Push|send-pack ~x", "git !~y @xargs stash drop"]);
    let says = |patterns: &Patterns, line: &str| {
        let ctx = Context::new("/home/dev/proj", "/home/dev");
        let flattened = flatten::flatten(line, &ctx);
        flattened.commands.iter().any(|command| patterns.mean(command, CommandSums::of(command)))
    };
    for line in ["git -C a push -f x", "git SEND-PACK x --force", "ls | xargs git stash drop"] {
        assert!(says(&PATTERNS, line.replace("push", "Push").as_str()), "{line}");
    }
    assert!(!says(&PATTERNS, "git status -f x") && PATTERNS.wordless == 0);
    // What is about no word, about what is no word, or about any.
    for (pattern, line) in [
        ("a", "a b"),
        ("a -f", "a b -f"),
        ("a !b c", "a d c"),
        ("a - c", "a - c"),
        ("a !-n", "a b"),
        ("a b* c", "a bb c"),
        ("a [b] c", "a b c"),
        ("a ?* c", "a b c"),
        ("a ~b", "a c b"),
        ("cargo publish", "cargo +nightly publish"),
    ] {
        let all: &'static [&'static str] = Box::leak(Box::new([pattern]));
        assert!(says(&Patterns::new(all), line), "{pattern}: {line}");
    }
}

#[test]
fn variables() {
    assert!(means_variable("A|B=?*", "B", "x") && !means_variable("A|B=?*", "B", ""));
    assert!(means_variable("A=!|true", "A", "x") && !means_variable("A=!|true", "A", ""));
    assert!(means_variable("R_*=*", "R_X", "") && !means_variable("R_*=*", "Q", ""));
}

#[test]
fn what_is_no_pattern() {
    for pattern in ["", " a", "a  b", "-f", "/bin/rm x", "a|", "a !", "a ~", "!a b"] {
        assert!(fault(pattern).is_some(), "{pattern}");
    }
}
