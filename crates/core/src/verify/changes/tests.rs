//! What is a check, and what became of it.

use super::*;

const MAKEFILE: &str = "all: build\n\nbuild:\n\tcc a.c\n\ntest: build\n\tsh ci/run.sh\n";

fn read(path: &str) -> Option<String> {
    match path {
        "Makefile" => Some(MAKEFILE.to_owned()),
        "ci/run.sh" => Some("./a.out\n".to_owned()),
        "verify" => Some("#!/bin/sh\n./a.out\n".to_owned()),
        "serve" => Some("#!/usr/bin/env python3\nprint(1)\n".to_owned()),
        "notes.txt" | "app.py" => Some("x".to_owned()),
        _ => None,
    }
}

/// Files with what they said and say, `-` for nothing: the checks among them, with what can be laid over.
#[track_caller]
fn check(setup: &ChecksSetup, files: &[(&str, &str, &str)], expected: &str) {
    let commands =
        ["make test", "grep -q x notes.txt", "python3 app.py", "./verify", "./serve"].map(str::to_owned);
    let what = WhatJudges::new(setup, "", &commands, &read);
    let text = |text: &str| (text != "-").then(|| text.to_owned());
    let files: Vec<ChangedFile> = files
        .iter()
        .map(|(path, old, new)| ChangedFile {
            path: (*path).to_owned(),
            change: Some(match (*old, *new) {
                ("-", _) => FileChange::Added,
                (_, "-") => FileChange::Deleted,
                _ => FileChange::Changed,
            }),
            old: text(old),
            new: text(new),
        })
        .collect();
    let compared = what.compare(&files);
    let mut all: Vec<String> = compared
        .facts
        .iter()
        .map(|fact| {
            let marks = [
                (!fact.check.worse.is_empty(), "-"),
                (!fact.is_laid, "?"),
                (fact.excuse.is_some(), "~"),
                (fact.may_change, "*"),
                (fact.addition == Some(Addition::ReachesOthers), "!"),
            ];
            let marks: String = marks.iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| *mark).collect();
            format!("{}{marks}", fact.check.file)
        })
        .collect();
    all.extend(compared.has_other_changes.then(|| "+other".to_owned()));
    assert_eq!(all.join(" "), expected);
}

fn auto() -> ChecksSetup {
    ChecksSetup::default()
}

#[test]
fn tests_are_checks_and_sources_are_not() {
    let test = "def test_a():\n    assert f(1) == 1\n    assert f(2) == 2\n";
    let less = "def test_a():\n    assert f(1) == 1\n";
    check(&auto(), &[("tests/test_a.py", test, less)], "tests/test_a.py-");
    check(&auto(), &[("tests/test_a.py", test, "-")], "tests/test_a.py-");
    check(&auto(), &[("tests/test_a.py", "-", test), ("a.py", "1", "2")], "tests/test_a.py +other");
    check(&auto(), &[("README.md", "1", "2"), ("Cargo.lock", "1", "2")], "");
    // Moved, it is the same test.
    check(
        &auto(),
        &[("tests/test_a.py", test, "-"), ("tests/test_b.py", "-", test)],
        "tests/test_a.py tests/test_b.py",
    );
}

#[test]
fn tests_among_the_code_count_when_they_got_worse() {
    let old = "fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert_eq!(f(1), 1);\n        assert_eq!(f(2), 2);\n    }\n}\n";
    let new = old.replace("        assert_eq!(f(2), 2);\n", "");
    check(&auto(), &[("src/lib.rs", old, &new)], "src/lib.rs-");
    check(&auto(), &[("src/lib.rs", old, &format!("{old}\n// x\n"))], "+other");
}

#[test]
fn what_a_guardrail_runs_is_a_check_in_its_parts() {
    let other = MAKEFILE.replace("cc a.c", "cc -O2 a.c");
    check(&auto(), &[("Makefile", MAKEFILE, &other)], "Makefile");
    let unrelated = format!("{MAKEFILE}\nclean:\n\trm -f a.out\n");
    check(&auto(), &[("Makefile", MAKEFILE, &unrelated)], "+other");
    let weaker = MAKEFILE.replace("sh ci/run.sh", "sh ci/run.sh || true");
    check(&auto(), &[("Makefile", MAKEFILE, &weaker)], "Makefile");
    check(&auto(), &[("ci/run.sh", "./a.out\n", "true\n")], "ci/run.sh");
    // What is looked at, or is the program itself, is the work.
    check(&auto(), &[("notes.txt", "x", "y")], "");
    check(&auto(), &[("app.py", "x", "y")], "+other");
    // A script for a shell is a check wherever it is; one for something else may be the program.
    check(&auto(), &[("verify", "#!/bin/sh\n./a.out\n", "#!/bin/sh\ntrue\n")], "verify");
    check(&auto(), &[("serve", "1", "2")], "+other");
}

#[test]
fn manifests_count_by_their_parts() {
    let old = r#"{"scripts": {"test": "node --test"}}"#;
    check(&auto(), &[("package.json", old, r#"{"scripts": {"test": "true"}}"#)], "package.json");
    check(
        &auto(),
        &[("package.json", old, r#"{"name": "a", "scripts": {"test": "node --test"}}"#)],
        "+other",
    );
    check(&auto(), &[("pom.xml", "<a/>", "<skipTests>true</skipTests>")], "pom.xml?");
}

#[test]
fn snapshots_and_ci_are_not_laid_over() {
    for path in ["tests/a.snap", "tests/a.golden", "src/__snapshots__/a.txt", "tests/a.approved.txt"] {
        check(&auto(), &[(path, "1", "2")], &format!("{path}?"));
    }
    check(&auto(), &[(".github/workflows/ci.yml", "1", "2")], ".github/workflows/ci.yml?");
    let ci = ("uses: actions/checkout@v4", "uses: actions/checkout@v5");
    check(&auto(), &[(".github/workflows/ci.yml", ci.0, ci.1)], "+other");
    check(&auto(), &[("tests/fixtures/a.json", "1", "2")], "tests/fixtures/a.json");
}

#[test]
fn a_new_test_is_laid_over_unless_the_code_needs_it() {
    let rust = "#[test]\nfn t() { assert!(f()); }\n";
    check(&auto(), &[("src/parser/tests.rs", "-", rust)], "src/parser/tests.rs?");
    check(&auto(), &[("tests/parser.rs", "-", rust)], "tests/parser.rs");
    check(&auto(), &[("src/test_a.py", "-", "def test_a():\n    assert f()\n")], "src/test_a.py");
}

#[test]
fn checks_and_files_with_tests_among_their_code_are_read() {
    let setup = auto();
    let what = WhatJudges::new(&setup, "", &[], &read);
    for (path, expected) in
        [("tests/test_a.py", true), ("src/lib.rs", true), ("app.py", false), ("README.md", false)]
    {
        assert_eq!(what.is_read(path), expected, "{path}");
    }
}

#[test]
fn patterns_and_commands_are_relative_to_the_project() {
    let setup = ChecksSetup { protect: Some(vec!["contracts/**".to_owned()]), ..auto() };
    for prefix in ["app/", "app"] {
        let what = WhatJudges::new(&setup, prefix, &["make test".to_owned()], &read);
        for (path, expected) in [
            ("app/contracts/a.yml", Some(Role::Test)),
            ("contracts/a.yml", Some(Role::Test)),
            ("other/contracts/a.yml", None),
            ("appcontracts/a.yml", None),
            ("app/ci/run.sh", Some(Role::Runner)),
            ("ci/run.sh", None),
        ] {
            assert_eq!(what.role(path), expected, "{path}");
        }
    }
}

#[test]
fn tests_among_the_code_are_laid_over_without_it() {
    let code =
        "fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(f(), 1); }\n}\n";
    let other = code.replace("f(), 1", "f(), 2");
    // Only the tests; the code, too; only the code.
    check(&auto(), &[("src/lib.rs", code, &other)], "src/lib.rs");
    check(&auto(), &[("src/lib.rs", code, &other.replace("{ 1 }", "{ 2 }"))], "src/lib.rs +other");
    check(&auto(), &[("src/lib.rs", code, &code.replace("{ 1 }", "{ 2 }"))], "+other");
}

#[test]
fn a_test_that_goes_with_what_it_tested_is_excused() {
    let test = "from basket import total\n\ndef test_a():\n    assert total([1]) == 1\n";
    check(
        &auto(),
        &[("tests/test_basket.py", test, "-"), ("basket.py", "def total(x): ...\n", "-")],
        "tests/test_basket.py-~ +other",
    );
    check(
        &auto(),
        &[("tests/test_basket.py", test, "-"), ("other.py", "x", "-")],
        "tests/test_basket.py- +other",
    );
    // One that stays is not: it still tests something, and less than before.
    let less = test.replace("    assert total([1]) == 1\n", "    pass\n");
    check(
        &auto(),
        &[("tests/test_basket.py", test, &less), ("basket.py", "def total(x): ...\n", "-")],
        "tests/test_basket.py- +other",
    );
    // So short a name is found anywhere.
    let test = test.replace("basket", "io");
    check(
        &auto(),
        &[("tests/test_basket.py", &test, "-"), ("io.py", "x", "-")],
        "tests/test_basket.py- +other",
    );
}

#[test]
fn a_test_that_is_called_like_a_source_that_is_gone_is_excused() {
    let test = "func TestOld(t *testing.T) {\n\tif Old() != 1 {\n\t\tt.Error()\n\t}\n}\n";
    check(&auto(), &[("old_test.go", test, "-"), ("old.go", "x", "-")], "old_test.go-~ +other");
    check(&auto(), &[("old_test.go", test, "-"), ("new.go", "x", "-")], "old_test.go- +other");
}

#[test]
fn a_new_file_that_reaches_for_other_tests_is_told_apart() {
    let main = "func TestMain(m *testing.M) {\n\tm.Run()\n}\n";
    check(&auto(), &[("main_test.go", "-", main)], "main_test.go!");
    check(&auto(), &[("main_test.go", main, main)], "main_test.go");
}

#[test]
fn the_settings_say_what_is_a_check_and_what_may_change() {
    let protect = |patterns: &[&str]| ChecksSetup {
        protect: Some(patterns.iter().map(|pattern| (*pattern).to_owned()).collect()),
        ..ChecksSetup::default()
    };
    let files = [("contracts/a.yml", "1", "2"), ("conftest.py", "1", "2")];
    check(&protect(&["contracts/**"]), &files, "contracts/a.yml +other");
    check(&protect(&["auto", "contracts/**"]), &files, "contracts/a.yml conftest.py");
    let may = ChecksSetup { may_change: vec!["conftest.py".to_owned()], ..ChecksSetup::default() };
    check(&may, &[("conftest.py", "1", "2"), ("pytest.ini", "1", "2")], "conftest.py?* pytest.ini");
    let tests = ChecksSetup { tests_may_change: true, ..ChecksSetup::default() };
    let test = "def test_a():\n    assert f(1) == 1\n";
    check(
        &tests,
        &[("tests/test_a.py", test, "-"), ("pytest.ini", "1", "2")],
        "tests/test_a.py-?* pytest.ini",
    );
}

#[test]
fn a_check_that_only_follows_a_file_with_another_name_is_the_same() {
    let test = "test \"$(sh price.sh 2)\" = 4 || exit 1\n";
    let follows = test.replace("price.sh", "cost.sh");
    let (old, new) = ("echo \"price.sh: $1\"\n", "echo \"cost.sh: $1\"\n");
    let renamed = [("price.sh", old, "-"), ("cost.sh", "-", new)];
    let with = |test_now: &str, renamed: [(&str, &str, &str); 2], expected: &str| {
        check(&auto(), &[("tests/run.sh", test, test_now), renamed[0], renamed[1]], expected);
    };
    with(&follows, renamed, "tests/run.sh?~ +other");
    // Code may change with its name.
    with(&follows, [("price.sh", old, "-"), ("cost.sh", "-", "echo 4\n")], "tests/run.sh?~ +other");
    // It also expects something else; another kind of file is new; its name is a word like others.
    with(&follows.replace("= 4", "= 5"), renamed, "tests/run.sh +other");
    let program = [("price.sh", old, "-"), ("cost.py", "-", new)];
    with(&test.replace("price.sh", "cost.py"), program, "tests/run.sh +other");
    with(&test.replace("= 4", "!= 4"), [("=", "x", "-"), ("!=", "-", "x")], "tests/run.sh +other");
    // What a guardrail runs may be renamed with it; what a runner finds by its name may not.
    let make = "test:\n\tsh ci/run.sh\n";
    check(
        &auto(),
        &[
            ("Makefile", make, &make.replace("run.sh", "all.sh")),
            ("ci/run.sh", "exit 1\n", "-"),
            ("ci/all.sh", "-", "exit 1\n"),
        ],
        "Makefile?~ ci/run.sh?~ +other",
    );
    check(
        &auto(),
        &[
            ("Makefile", make, &make.replace("run.sh", "all.sh")),
            ("ci/run.sh", "exit 1\n", "-"),
            ("ci/all.sh", "-", "exit 0\n"),
        ],
        "Makefile ci/run.sh +other",
    );
    let python = "def test_a():\n    assert 1 + 1 == 2\n";
    check(
        &auto(),
        &[("tests/test_a.py", python, "-"), ("tests/aside.py", "-", python)],
        "tests/test_a.py tests/aside.py",
    );
}

#[test]
fn a_test_that_uses_a_source_that_is_gone_is_excused_by_the_whole_name() {
    let uses = |line: &str, expected: &str| {
        let test = format!("{line}\n\ndef test_a():\n    assert total([1]) == 1\n");
        let files = [("tests/test_all.py", test.as_str(), "-"), ("price.py", "x", "-")];
        check(&auto(), &files, &format!("tests/test_all.py{expected} +other"));
    };
    for line in ["from price import total", "import price", "import  shop.price as p", "use price;"] {
        uses(line, "-~");
    }
    for line in ["import price_list", "import my-price", "import prices", "x = price", "import other"] {
        uses(line, "-");
    }
}

#[test]
fn a_source_that_is_gone_with_its_tests_is_told() {
    let old = "fn f() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert_eq!(f(), 1);\n    }\n}\n";
    check(&auto(), &[("src/a.rs", old, "-"), ("src/b.rs", "1", "2")], "src/a.rs-? +other");
}

/// The checks that are only longer than they were, and whether new tests were found.
fn additions(path: &str, old: &str, new: &str) -> (bool, bool) {
    let setup = auto();
    let what = WhatJudges::new(&setup, "", &[], &read);
    let file = ChangedFile {
        path: path.to_owned(),
        change: Some(FileChange::Changed),
        old: Some(old.to_owned()),
        new: Some(new.to_owned()),
    };
    let compared = what.compare(&[file]);
    let longer = compared.facts.iter().any(|fact| fact.addition == Some(Addition::Longer));
    (longer, !compared.new_tests.laid.is_empty())
}

#[test]
fn a_test_file_with_more_in_it_is_longer_unless_something_keeps_a_test_from_judging() {
    let test = "def test_a():\n    assert f(1) == 1\n";
    let more = format!("{test}\ndef test_b():\n    assert f(2) == 2\n");
    assert_eq!(additions("tests/test_a.py", test, &more), (true, true));
    assert_eq!(additions("tests/test_a.py", test, &test.replace("== 1", "== 2")), (false, true));
    let skipped = format!("import pytest\n@pytest.mark.skip\n{test}");
    assert_eq!(additions("tests/test_a.py", test, &skipped), (false, true));
    // Only of tests it is known that more is more.
    assert!(!additions("tests/__snapshots__/a.snap", "a\n", "a\nb\n").0);
    assert!(!additions("Makefile", MAKEFILE, &MAKEFILE.replace("\tsh ci", "\ttrue\n\tsh ci")).0);
}
