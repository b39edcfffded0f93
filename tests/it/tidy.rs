//! Reads the sources and holds them to the rules that the compiler does not know.

mod names;

use std::{
    fs,
    path::{Path, PathBuf},
};

const SPAWNING: [&str; 3] = ["Command::new", "kill_process", "libc::kill"];

const PRINTING: [&str; 6] = ["stdout()", "stderr()", "println!", "eprintln!", "print!", "eprint!"];

const PRESETS: [&str; 8] = ["run", "plan", "build", "prompt", "task", "job", "stories", "session"];

/// The same words with another meaning: a script of npm, a thread, the ending of a file, a field of a message.
/// Settings are called as the commands are.
const NO_PRESETS: &[(&str, &str)] = &[
    ("core/detect.rs", "build"),
    ("core/verify/preparation.rs", "build"),
    ("core/verify/rules.rs", "run"),
    ("core/verify/rules.rs", "task"),
    ("driver/notify.rs", "run"),
    ("core/message.rs", "run"),
    ("core/message.rs", "task"),
    ("sys/process/spawn.rs", "prompt"),
    ("sandbox/docker.rs", "run"),
    ("sandbox/sbx.rs", "run"),
    ("sandbox/self_test.rs", "run"),
    ("fleet/lane.rs", "run"),
    ("fleet/lane.rs", "stories"),
    ("fleet/own_files.rs", "stories"),
    ("scripted.rs", "prompt"),
    ("selftest/trial.rs", "run"),
    ("settings/read.rs", "build"),
    ("settings/read.rs", "plan"),
    ("settings/read.rs", "prompt"),
    ("settings/read.rs", "task"),
    ("settings/read.rs", "stories"),
    ("settings/sandbox.rs", "run"),
];

/// Ways to write a file as a whole that follow links, or show others a half of it.
const WRITING: [&str; 8] = [
    "fs::write(",
    "fs_err::write(",
    "fs::rename(",
    "fs_err::rename(",
    "fs_err::copy(",
    "File::create",
    "tempfile_in",
    "NamedTempFile",
];

/// Those who write where no agent's files are: records, ralph's own folders, files that the user names or writes in an editor, the inside of a
/// sandbox, a repository that was made just now.
const WRITERS: &[&str] = &[
    "board/parcel.rs",
    "journal/crash_point.rs",
    "journal/run_dir.rs",
    "journal/hook_notes.rs",
    "journal/repair.rs",
    "receipt.rs",
    "receipt/facts.rs",
    "receipt/signature.rs",
    "receipt/signing.rs",
    "hooks/plugin.rs",
    "hooks/plugin/scopes.rs",
    "hooks/store.rs",
    "cli/demo.rs",
    "cli/doctor/selftest.rs",
    "cli/given_prompt.rs",
    "cli/man.rs",
    "cli/report.rs",
    "selftest/place.rs",
    "workspace.rs",
    "workspace/checkout.rs",
    "workspace/exposed.rs",
    "workspace/laid.rs",
    "workspace/lane.rs",
    "workspace/merge.rs",
    "workspace/snapshot.rs",
    "sandbox/embedded.rs",
    "sandbox/group.rs",
    "sandbox/lib.rs",
    "sandbox/mounts.rs",
    "sandbox/moved/enter.rs",
    "sandbox/self_test.rs",
    "sandbox/viewing.rs",
];

/// Ways to read a file that wait for a pipe, or read a device until the memory is full.
const READING: [&str; 6] =
    ["fs::read(", "fs_err::read(", "read_to_string(", "File::open(", "fs::copy(", "OpenOptions::new()"];

/// Those who read where no agent's files are: records, ralph's own folders, what the user names or has in the home, the kernel's files, the inside
/// of a sandbox; and what was seen to be a plain file of ralph's own copy.
const READERS: &[&str] = &[
    "board/feed.rs",
    "board/files.rs",
    "board/login.rs",
    "board/parcel.rs",
    "board/secret.rs",
    "cli/fleet/begin.rs",
    "cli/doctor/selftest.rs",
    "cli/guard.rs",
    "cli/job/inside.rs",
    "cli/session/start.rs",
    "cli/task/run.rs",
    "driver/spool.rs",
    "driver/hook_program.rs",
    "fleet/red.rs",
    "fleet/ledger.rs",
    "fleet/tail.rs",
    "hidden.rs",
    "hooks/plugin.rs",
    "hooks/plugin/scopes.rs",
    "hooks/store.rs",
    "journal.rs",
    "journal/local_time.rs",
    "journal/repair.rs",
    "receipt/facts.rs",
    "receipt/verify.rs",
    "project/lock.rs",
    "settings/guard.rs",
    "tasks.rs",
    "workspace/checkout.rs",
    "workspace/copy.rs",
    "workspace/exposed.rs",
    "workspace/lane.rs",
    "workspace/lfs.rs",
    "workspace/record.rs",
    "workspace/snapshot.rs",
    "workspace/store.rs",
    "sandbox/bwrap.rs",
    "sandbox/home.rs",
    "sandbox/group.rs",
    "sandbox/keeper.rs",
    "sandbox/lib.rs",
    "sandbox/login.rs",
    "sandbox/outside.rs",
    "sandbox/self_test.rs",
    "sandbox/spool.rs",
    "sandbox/survey.rs",
    "sys/process/guardian.rs",
    "sys/process/backend/linux.rs",
    "sys/process/printed_into/linux.rs",
    "sys/process/table/procfs.rs",
    "sys/process/spawn.rs",
];

/// The mark before an agent's todo list is none.
const UNFINISHED: [&str; 6] = ["// TODO", "//TODO", "todo!(", "FIXME", "#[ignore", "dbg!("];

/// As much as one reads in one go, without the tests.
const MAX_LINES: usize = 400;

/// What is wrong with a source file, each as `line: what`. `name` is relative to `src`.
fn problems(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.starts_with("//!") {
        problems.push("1: does not say what it is for (`//!`)".to_owned());
    }
    let code = without_tests(text);
    let lines = code.lines().count();
    if !is_test(name) && MAX_LINES < lines {
        problems.push(format!("{lines}: longer than {MAX_LINES} lines"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        let is_code = number <= lines && !is_test(name) && !line.trim_start().starts_with("//");
        let found = forbidden_anywhere(line).or_else(|| is_code.then(|| forbidden(name, line)).flatten());
        problems.extend(found.map(|what| format!("{number}: {what}")));
    }
    problems
}

fn forbidden_anywhere(line: &str) -> Option<String> {
    let word = UNFINISHED.into_iter().find(|word| line.contains(word))?;
    Some(format!("unfinished: {word}"))
}

/// What this line of code must not say in this file.
fn forbidden(name: &str, line: &str) -> Option<String> {
    let has = |words: &[&str]| words.iter().find(|word| line.contains(**word)).map(|word| (*word).to_owned());
    let rules: [(bool, Option<String>, &str); 6] = [
        // The scripted agent plays an agent, tools included; the demo only prepares what `process` runs. A sandbox
        // is the process that `process` started: it becomes, or starts, what runs inside. The guard reads code that starts
        // processes, and the compiler keeps it from starting any.
        (
            !is_part(name, &["sys", "sandbox", "scripted", "guard"]) && name != "cli/demo.rs",
            has(&SPAWNING),
            "only `process` starts and signals processes",
        ),
        // The keeper of a sandbox is a process of its own, which says on the agent's standard error why it ends it.
        (
            !is_part(name, &["report", "term", "cli", "scripted"])
                && !name.contains("/examples/")
                && name != "sandbox/keeper.rs",
            has(&PRINTING),
            "only `report`, `term` and `cli` print",
        ),
        (
            !name.starts_with("sys/files") && name != "scripted.rs" && !WRITERS.contains(&name),
            has(&WRITING),
            "files that an agent may have replaced are written by `sys/files.rs`",
        ),
        (
            !name.starts_with("sys/files") && name != "scripted.rs" && !READERS.contains(&name),
            has(&READING),
            "files that an agent may have replaced are read by `sys/files.rs`",
        ),
        // Commands have names too, and the words of agents and of other programs are their own.
        (
            !is_part(name, &["cli", "agents", "guard", "checks"]) && name != "core/engine/presets.rs",
            PRESETS
                .into_iter()
                .filter(|preset| !NO_PRESETS.contains(&(name, preset)))
                .map(|preset| format!("\"{preset}\""))
                .find(|preset| line.contains(preset)),
            "only `engine/presets.rs` knows the names of presets",
        ),
        (
            !["sys/error.rs", "core/engine/outcome.rs"].contains(&name),
            exit_code(line),
            "only `error.rs` and `engine/outcome.rs` know exit codes",
        ),
    ];
    rules.into_iter().find_map(|(applies, found, why)| {
        let found = found.filter(|_| applies)?;
        Some(format!("`{found}`: {why}"))
    })
}

/// A number that ends the program.
fn exit_code(line: &str) -> Option<String> {
    ["ExitCode::from(", "process::exit("].into_iter().find_map(|call| {
        let argument = line.split_once(call)?.1;
        argument.starts_with(|first: char| first.is_ascii_digit()).then(|| format!("{call}{argument}"))
    })
}

/// Whether a file belongs to one of these modules of the crate.
fn is_part(name: &str, modules: &[&str]) -> bool {
    let module = name.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    modules.contains(&module)
}

fn is_test(name: &str) -> bool {
    // The fence says everything that is forbidden, to see that it is.
    name.ends_with("tests.rs") || name.contains("tests/") || name == "core/fence.rs"
}

/// The file up to its test module, which stands last.
fn without_tests(text: &str) -> &str {
    let inline = "#[cfg(test)]\nmod tests {";
    text.find(inline).map_or(text, |at| &text[..at])
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn the_house_is_tidy() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    let mut files = Vec::new();
    sources(crates, &mut files);
    files.sort();
    assert!(50 < files.len(), "the sources were not found: {files:?}");
    let mut all = Vec::new();
    for file in files {
        let name = file.strip_prefix(crates).expect("a source file of a crate").display().to_string();
        let name = name.replacen("ralph/src/", "", 1).replacen("/src/", "/", 1);
        let text = fs::read_to_string(&file).expect("a source file");
        let file = file.display();
        all.extend(problems(&name, &text).into_iter().map(|problem| format!("{file}:{problem}")));
    }
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

/// A line of code in a file: this rule fires, or none does.
#[track_caller]
fn check(name: &str, line: &str, expected: Option<&str>) {
    let found = problems(name, &format!("//! A file.\n\n{line}\n"));
    match expected {
        None => assert_eq!(found, [""; 0]),
        Some(expected) => {
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("3: ") && found[0].contains(expected), "{found:?}");
        }
    }
}

#[test]
fn spawning_and_printing_are_watched() {
    for word in SPAWNING {
        check("gates.rs", &format!("    {word}(x);"), Some(word));
        check("sys/process/spawn.rs", &format!("    {word}(x);"), None);
    }
    check("scripted.rs", "    Command::new(\"sh\")", None);
    check("cli/demo.rs", "    Command::new(\"git\")", None);
    check("guard/script/chained.rs", "    [\"Command::new(\"]", None);
    check("cli/run.rs", "    Command::new(\"git\")", Some("Command::new"));
    for word in PRINTING {
        check("driver/turn.rs", &format!("    {word};"), Some("print"));
        check("report/json.rs", &format!("    {word};"), None);
        check("cli.rs", &format!("    {word};"), None);
        check("guard/examples/judge.rs", &format!("    {word};"), None);
        check("guard/judge.rs", &format!("    {word};"), Some("print"));
    }
}

#[test]
fn whole_files_are_written_in_one_place() {
    for word in WRITING {
        check("gates.rs", &format!("    {word}(path, x)?;"), Some("sys/files.rs"));
        check("sys/files/draft.rs", &format!("    {word}(path, x)?;"), None);
        check("journal/run_dir.rs", &format!("    {word}(path, x)?;"), None);
    }
}

#[test]
fn files_are_read_in_one_place() {
    for word in READING {
        check("gates.rs", &format!("    {word}(path)?;"), Some("sys/files.rs"));
        check("sys/files/draft.rs", &format!("    {word}(path)?;"), None);
        check("journal.rs", &format!("    {word}(path)?;"), None);
    }
}

#[test]
fn names_and_numbers_are_watched() {
    for preset in PRESETS {
        check("driver.rs", &format!("    if mode == \"{preset}\" {{"), Some(preset));
        check("core/engine/presets.rs", &format!("    mode: \"{preset}\""), None);
        check("cli/run.rs", &format!("    \"{preset}\""), None);
    }
    check("driver.rs", "    \"a plan\"", None);
    check("agents/opencode.rs", "    \"run\"", None);
    check("scripted.rs", "    \"prompt\"", None);
    check("scripted.rs", "    \"plan\"", Some("plan"));
    check("cli.rs", "    ExitCode::from(2)", Some("exit codes"));
    check("sys/signals.rs", "    std::process::exit(130)", Some("exit codes"));
    check("cli.rs", "    ExitCode::from(code)", None);
    check("sys/error.rs", "    ExitCode::from(2)", None);
}

#[test]
fn files_are_short_and_finished() {
    for word in UNFINISHED {
        check("project/git.rs", &format!("    {word} x)"), Some(word));
        check("agents/tests.rs", &format!("    {word}]"), Some(word));
    }
    check("report/human.rs", "        todo: \"[TODO]\",", None);
    assert_eq!(problems("project/git.rs", "use x;\n"), ["1: does not say what it is for (`//!`)"]);
    let code = "//! A file.\n".to_owned() + &"x();\n".repeat(MAX_LINES - 1);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    x();\n".repeat(MAX_LINES));
    assert_eq!(problems("project/git.rs", &code), [""; 0]);
    assert_eq!(problems("project/git.rs", &format!("{code}{tests}")), [""; 0]);
    assert_eq!(problems("agents/tests.rs", &format!("{code}{code}")), [""; 0]);
    assert_eq!(problems("project/git.rs", &format!("{code}x();\n")), ["401: longer than 400 lines"]);
}
