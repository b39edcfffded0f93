//! The judge as a whole: labelled commands, hostile input, file tools, the allow-list.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Context, Decision, ToolCall,
    corpus::{self, Measurement},
    judge,
    rules::{self, Category},
};

fn ctx() -> Context {
    Context::new("/home/dev/proj", "/home/dev")
}

fn judged(command_line: &str) -> super::Verdict {
    judge(&ToolCall::Shell { command_line: command_line.to_owned() }, &ctx())
}

/// Categories that must be caught almost without exception.
const STRICT: [&str; 4] = ["fs_destroy", "git_history", "disk_device", "harness_tamper"];

fn measured(text: &str) -> Measurement {
    corpus::measure(&corpus::parse(text).expect("a corpus"), &ctx())
}

const CORPORA: [&str; 2] = [include_str!("../fixtures/corpus.tsv"), include_str!("../fixtures/more.tsv")];

#[track_caller]
fn check(text: &str) {
    let measure = measured(text);
    assert!(250 < measure.all.dangerous + measure.all.harmless);
    let wrong: Vec<String> =
        measure.wrong.iter().map(|(sample, rule)| format!("{sample:?} {rule:?}")).collect();
    let (recall, false_positives) = (measure.all.recall(), measure.all.false_positives());
    let figures =
        format!("recall {recall:.1} %, false positives {false_positives:.1} %\n{}", wrong.join("\n"));
    assert!(95.0 <= recall && false_positives <= 1.5, "{figures}");
    for category in STRICT {
        assert!(98.0 <= measure.categories[category].recall(), "{category}: {figures}");
    }
}

#[test]
fn the_sample_corpus() {
    check(CORPORA[0]);
}

#[test]
fn more_commands() {
    check(CORPORA[1]);
}

/// Corpora that were judged before anything was changed for them; their first lines say how well.
const UNSEEN: [&str; 26] = [
    include_str!("../fixtures/unseen-1.tsv"),
    include_str!("../fixtures/unseen-2.tsv"),
    include_str!("../fixtures/unseen-3.tsv"),
    include_str!("../fixtures/unseen-4.tsv"),
    include_str!("../fixtures/unseen-5.tsv"),
    include_str!("../fixtures/unseen-6.tsv"),
    include_str!("../fixtures/unseen-7.tsv"),
    include_str!("../fixtures/unseen-8.tsv"),
    include_str!("../fixtures/unseen-9.tsv"),
    include_str!("../fixtures/unseen-10.tsv"),
    include_str!("../fixtures/unseen-11.tsv"),
    include_str!("../fixtures/unseen-12.tsv"),
    include_str!("../fixtures/unseen-13.tsv"),
    include_str!("../fixtures/unseen-14.tsv"),
    include_str!("../fixtures/unseen-15.tsv"),
    include_str!("../fixtures/unseen-16.tsv"),
    include_str!("../fixtures/unseen-17.tsv"),
    include_str!("../fixtures/unseen-18.tsv"),
    include_str!("../fixtures/unseen-19.tsv"),
    include_str!("../fixtures/unseen-20.tsv"),
    include_str!("../fixtures/unseen-21.tsv"),
    include_str!("../fixtures/unseen-22.tsv"),
    include_str!("../fixtures/unseen-23.tsv"),
    include_str!("../fixtures/unseen-24.tsv"),
    include_str!("../fixtures/unseen-25.tsv"),
    include_str!("../fixtures/unseen-26.tsv"),
];

/// A home may lie in a folder for temporary files, and is a home all the same.
#[test]
fn commands_that_were_once_unseen() {
    for (text, home) in UNSEEN.into_iter().flat_map(|text| [(text, "/home/dev"), (text, "/tmp/home/dev")]) {
        let samples = corpus::parse(text).expect("a corpus");
        let measure = corpus::measure(&samples, &Context::new(&format!("{home}/proj"), home));
        let core = STRICT.map(|category| measure.categories[category]);
        let missed: usize = core.iter().map(|count| count.dangerous - count.caught).sum();
        assert!(98.0 <= measure.all.recall() && missed == 0, "{home}: {:?}", measure.wrong);
        assert!(measure.all.false_positives() <= 1.0, "{home}: {:?}", measure.wrong);
    }
}

#[test]
fn no_way_to_hide_a_command_helps() {
    let measure = measured(include_str!("../fixtures/hidden.tsv"));
    assert!(200 < measure.all.dangerous && measure.wrong.is_empty(), "{:?}", measure.wrong);
}

/// What is typed into a session later is judged by no one, so none may begin; what ends by itself may.
#[test]
fn no_session_waits_for_what_is_typed_later() {
    let measure = measured(include_str!("../fixtures/sessions.tsv"));
    assert!(160 < measure.all.dangerous && 80 < measure.all.harmless);
    assert!(measure.wrong.is_empty(), "{:?}", measure.wrong);
}

/// Figures in a text go stale when nothing compares them.
#[test]
fn the_readme_has_the_figures() {
    let readme = include_str!("../README.md").replace('\n', " ");
    let categories: BTreeSet<Category> = rules::all().map(|rule| rule.category).collect();
    let [first, second] = CORPORA.map(|text| measured(text).all);
    for figure in [
        format!("{} rules in {} categories", rules::all().count(), categories.len()),
        format!(
            "blocks {} of {} and {} of {} dangerous",
            first.caught, first.dangerous, second.caught, second.dangerous
        ),
        format!("none of {} and {} harmless", first.harmless, second.harmless),
    ] {
        assert!(readme.contains(&figure), "{figure}");
    }
    assert_eq!((first.false_alarms, second.false_alarms), (0, 0));
}

#[test]
fn a_corpus_that_is_broken_names_the_line() {
    assert_eq!(corpus::parse("allow\ta\tb\nmaybe\ta\tb\n").expect_err("not a label"), 2);
    assert_eq!(corpus::parse("allow\ta\n").expect_err("no command"), 1);
}

#[track_caller]
fn check_tool(name: &str, input: &Value, expected: Option<&str>) {
    let verdict = judge(&ToolCall::from_hook(name, input), &ctx());
    let found = verdict.reason().map(|finding| &*finding.rule);
    assert_eq!(found, expected, "{name} {input}: {verdict:?}");
}

#[test]
fn file_tools_are_judged_by_the_same_rules() {
    check_tool("Write", &json!({"file_path": "/home/dev/proj/src/a.rs"}), None);
    check_tool("Write", &json!({"file_path": "src/../.ralph-active"}), Some("harness-files"));
    check_tool(
        "Edit",
        &json!({"file_path": "/home/dev/proj/.claude/settings.local.json"}),
        Some("harness-files"),
    );
    check_tool("MultiEdit", &json!({"file_path": "/etc/hosts"}), Some("write-system"));
    check_tool("NotebookEdit", &json!({"notebook_path": "a.ipynb"}), None);
    check_tool("Write", &json!({"file_path": "/home/dev/.bashrc"}), Some("start-files"));
    check_tool("Write", &json!({"file_path": "/home/dev/proj/.git/hooks/pre-commit"}), Some("delete-git"));
    let patch = "*** Begin Patch\n*** Update File: .codex/config.toml\n@@\n-a\n+b\n*** End Patch\n";
    check_tool("apply_patch", &json!({"command": patch}), Some("harness-files"));
    check_tool("Read", &json!({"file_path": "/home/dev/proj/.env"}), Some("read-secret"));
    check_tool("Read", &json!({"file_path": "/home/dev/proj/.env.example"}), None);
    check_tool("Read", &json!({"file_path": "/home/dev/.ssh/id_ed25519"}), Some("read-secret"));
    check_tool("Bash", &json!({"command": "rm -rf /"}), Some("delete-outside"));
    check_tool("shell", &json!({"command": ["bash", "-lc", "rm -rf /"]}), Some("delete-outside"));
    check_tool("WebSearch", &json!({"query": "rm -rf /"}), None);
}

#[test]
fn the_user_can_switch_rules_off() {
    let mut ctx = ctx();
    let call = ToolCall::Shell { command_line: "npm publish".to_owned() };
    assert_eq!(judge(&call, &ctx).decision, Decision::Block);
    ctx.allowed_rules.push("publish".to_owned());
    let verdict = judge(&call, &ctx);
    assert_eq!(verdict.decision, Decision::Allow);
    assert!(verdict.findings[0].is_allowed && verdict.reason().is_none());
}

#[test]
fn warnings_let_pass_and_messages_say_what_to_do() {
    let verdict = judged("echo hi > ~/notes.txt");
    assert_eq!(verdict.decision, Decision::Warn);
    let message = judged("git push -f").message().expect("a message");
    assert!(message.starts_with("blocked by ralph's guard (git-push-force): `git push -f`."), "{message}");
    assert!(message.contains("Push without force"), "{message}");
}

#[test]
fn another_working_directory() {
    let ctx = Context { cwd: "/home/dev/proj/src".to_owned(), ..ctx() };
    let decide =
        |command_line: &str| judge(&ToolCall::Shell { command_line: command_line.to_owned() }, &ctx).decision;
    assert_eq!(decide("rm -rf ../dist"), Decision::Allow);
    assert_eq!(decide("rm -rf *"), Decision::Allow);
    assert_eq!(decide("rm -rf .."), Decision::Block);
    assert_eq!(decide("rm -f ../.ralph-active"), Decision::Block);
}

#[test]
fn what_is_too_long_or_unreadable_is_blocked() {
    assert_eq!(judged(&"x".repeat(70_000)).decision, Decision::Block);
    assert_eq!(judged("echo 'x").decision, Decision::Block);
    assert_eq!(judged(&"(".repeat(65_000)).decision, Decision::Block);
    assert_eq!(judged("echo \u{e000}rm\u{e001} -rf /").decision, Decision::Allow);
    assert_eq!(judged("").decision, Decision::Allow);
}

/// Pieces that shell text is made of.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "rm",
        "-rf",
        "/",
        "~",
        "$HOME",
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "\\",
        "${x:-",
        "}",
        "{",
        "((",
        "))",
        "[[",
        "]]",
        "|",
        "||",
        "&&",
        "&",
        ";",
        "\n",
        "<<E",
        "E\n",
        "<<<",
        "<(",
        ">",
        ">>",
        "2>&1",
        "if",
        "then",
        "fi",
        "for x in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        ";;",
        "f()",
        "eval",
        "sh -c",
        "xargs",
        "find . -exec",
        "sudo",
        "env A=1",
        "git -c alias.x=",
        "python3 -c",
        "os.system(",
        "*",
        "?",
        "[a-",
        "{a,b}",
        "{1..9}",
        "$'\\x41'",
        "$IFS",
        "=",
        "x=",
        "x=(",
        "@(",
        "#",
        " ",
        "\t",
        "..",
        ".git",
        ".ralph",
        "awk",
        "base64 -d",
        "tr a-z b",
        "é",
        "\u{0}",
        "\u{e000}",
    ];
    prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_owned), "[a-z/.$-]{1,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes, a judgement comes back.
    #[test]
    fn any_text_is_judged(text in any::<String>()) {
        judged(&text);
    }

    #[test]
    fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        judged(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn anything_like_shell_is_judged(pieces in proptest::collection::vec(piece(), 0..60), spaced in any::<bool>()) {
        judged(&pieces.join(if spaced { " " } else { "" }));
    }

    /// Long input, repeated: nothing is quadratic enough to hang.
    #[test]
    fn long_text_is_judged(pieces in proptest::collection::vec(piece(), 1..6), count in 50_usize..150) {
        judged(&pieces.join(" ").repeat(count));
    }

    /// A command is judged the same however it is wrapped.
    #[test]
    fn wrapping_hides_nothing(target in "(/|/etc|~|~/[a-z]{1,8}|/srv/[a-z]{1,8}|\\.\\.|/usr/[a-z]{1,5})", wraps in proptest::collection::vec(0_usize..14, 0..5), spelling in 0_usize..8) {
        let program = ["rm", "r\"\"m", "\\rm", "'r'm", "$'\\x72m'", "$(echo rm)", "command rm", "/bin/rm"][spelling];
        let mut command_line = format!("{program} -rf {target}");
        for (depth, wrap) in wraps.into_iter().enumerate() {
            command_line = match wrap {
                0 => format!("sh -c '{}'", command_line.replace('\'', "'\\''")),
                1 => format!("eval '{}'", command_line.replace('\'', "'\\''")),
                2 => format!("( {command_line} )"),
                3 => format!("if true; then {command_line}; fi"),
                4 => format!("echo x; {command_line} && echo y"),
                5 => format!("x='{}'; bash -c \"$x\"", command_line.replace('\'', "'\\''")),
                6 => format!("bash <<'END'\n{command_line}\nEND\n"),
                7 => format!("f() {{ {command_line}\n}}; f"),
                8 => format!("alias a{depth}='{}'; a{depth}", command_line.replace('\'', "'\\''")),
                9 => format!("echo {}; {command_line}; : {}", "x ".repeat(40), "y ".repeat(40)),
                10 => format!("timeout 5 nice -n 3 setsid -w sh -c '{}'", command_line.replace('\'', "'\\''")),
                11 => format!("find . -maxdepth 0 -exec sh -c '{}' \\;", command_line.replace('\'', "'\\''")),
                12 => format!("echo '{}' | sh", command_line.replace('\'', "'\\''")),
                _ => format!("echo $( {command_line} )"),
            };
        }
        prop_assert_eq!(judged(&command_line).decision, Decision::Block, "{}", command_line);
    }
}
