//! Every recording says in its head what is in it; the readers must see exactly that.

use std::{fs, path::PathBuf};

use proptest::prelude::*;

use super::{
    Counts, OutputReader, Runner, TestOutcome, TestReport, read_junit, read_output, stable_baseline,
};

/// The bytes of a recording.
#[expect(clippy::disallowed_methods, reason = "the recordings are files")]
fn recorded(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/runners");
    fs::read(folder.join(name)).expect("a recording")
}

/// The recordings: what is recorded, and the text below the line.
#[expect(clippy::disallowed_methods, reason = "the recordings are files")]
fn recordings() -> Vec<(String, String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/runners");
    let mut found = Vec::new();
    for runner in fs::read_dir(folder).expect("recordings are there") {
        for file in fs::read_dir(runner.expect("a folder").path()).expect("a folder") {
            let path = file.expect("a file").path();
            let bytes = fs::read(&path).expect("a recording");
            let mark = b"\n----\n";
            let at = bytes.windows(mark.len()).position(|part| part == mark).expect("a head");
            let head = String::from_utf8_lossy(&bytes[..at]);
            let expected =
                head.lines().find_map(|line| line.strip_prefix("expect: ")).expect("an expectation");
            found.push((path.display().to_string(), expected.to_owned(), bytes[at + mark.len()..].to_vec()));
        }
    }
    assert!(found.len() > 150, "{} recordings", found.len());
    found
}

/// Reports are read as files, everything else as output.
fn read(name: &str, bytes: &[u8]) -> TestReport {
    if name.contains("junit/") { read_junit(bytes) } else { read_output(bytes) }
}

fn describe(report: &TestReport) -> String {
    let Some(Counts { passed, failed, skipped }) = report.total() else {
        return match report.not_loaded.len() {
            0 => "no counts".to_owned(),
            count => format!("no counts, {count} not loaded"),
        };
    };
    format!(
        "{passed} passed, {failed} failed, {skipped} skipped, {} not loaded, {} named",
        report.not_loaded.len(),
        report.tests.len()
    )
}

#[test]
fn recordings_are_read_as_their_heads_say() {
    let mut wrong = Vec::new();
    for (name, expected, bytes) in recordings() {
        let report = read(&name, &bytes);
        let found = describe(&report);
        if found != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  found    {found}\n  {report:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[track_caller]
fn check(output: &str, expected: &[(Runner, u64, u64, u64)]) -> TestReport {
    let report = read_output(output.as_bytes());
    let found: Vec<_> = report
        .counts
        .iter()
        .map(|(runner, counts)| (*runner, counts.passed, counts.failed, counts.skipped))
        .collect();
    assert_eq!(found, expected, "{output}");
    report
}

#[test]
fn runs_side_by_side_add_up() {
    let cargo = "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; \
                 0 measured; 0 filtered out; finished in 0.00s\n";
    let unittest = format!("{}\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n", "-".repeat(70));
    check(&format!("{cargo}{cargo}"), &[(Runner::Cargo, 4, 0, 0)]);
    check(&format!("{cargo}{unittest}{unittest}"), &[(Runner::Cargo, 2, 0, 0), (Runner::Unittest, 4, 2, 0)]);
}

#[test]
fn what_a_test_prints_is_no_run() {
    let inner = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered \
                 out; finished in 0.00s\n";
    let pytest = format!(
        "===== test session starts =====\ncollected 1 item\n\n{inner}test_a.py .\n\n===== 1 passed in 0.01s =====\n"
    );
    let report = check(&pytest, &[(Runner::Pytest, 1, 0, 0)]);
    assert!(report.tests.is_empty(), "{report:?}");
}

#[test]
fn a_summary_without_its_run_does_not_count() {
    check("===== 7 passed in 0.01s =====\n", &[]);
    check("7 passed in 0.01s\n", &[]);
    check(
        "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        &[],
    );
    check("Ran 40 tests in 0.010s\n\nOK\n", &[]);
    check("Tests:       40 passed, 40 total\n", &[]);
    check("40 examples, 0 failures\n", &[]);
    check("OK (40 tests, 40 assertions)\n", &[]);
    check("ok 1 - not a test\n", &[]);
    check("Tests run: 40, Failures: 0, Errors: 0, Skipped: 0\n", &[]);
}

#[test]
fn a_run_that_was_cut_off_has_no_summary() {
    check("===== test session starts =====\ncollected 5 items\n\ntest_a.py ..", &[]);
    check("running 5 tests\ntest a ... ok\n", &[]);
}

#[test]
fn tests_have_ids_that_name_their_place() {
    let ids = |name: &str| {
        let report = read_output(&recorded(name));
        report.tests.into_iter().map(|(id, outcome)| format!("{id}: {outcome:?}")).collect::<Vec<_>>()
    };
    let check = |name: &str, expected: &str| {
        let found = ids(name);
        assert!(found.iter().any(|id| id == expected), "{name}: {found:?}");
    };
    check("pytest/pass_verbose.txt", "test_math.py::TestMul::test_many[1]: Passed");
    check("pytest/mixed_verbose.txt", "test_mixed.py::test_expected: Skipped");
    check("pytest/pass_xdist.txt", "test_math.py::test_add: Passed");
    check("unittest/pass_verbose.txt", "test_math.MathTest.test_documented: Passed");
    check("unittest/pass_39.txt", "test_math.MathTest.test_add: Passed");
    check("cargo/pass.txt", "pass tests::panics: Passed");
    check("cargo/pass.txt", "pass src/lib.rs - add: Passed");
    check("cargo/pass.txt", "whole whole: Passed");
    check("nextest/retries.txt", "fails tests::wrong: Failed");
    check("go/pass_verbose.txt", "example.com/pass.TestParts/one: Passed");
    check("go/pass_json.txt", "example.com/pass.TestSkipped: Skipped");
    check("go/pass.txt", "example.com/pass/sub: Passed");
    check("jest/pass_verbose.txt", "math.test.js › math › later: Skipped");
    check("jest/fail.txt", "fail.test.js › basket › is wrong: Failed");
    check("vitest/pass_verbose.txt", "math.test.js > math > some day: Skipped");
    check("mocha/pass.txt", "math is 1: Passed");
    check("mocha/fail.txt", "basket is wrong: Failed");
    check("node/pass.txt", "math > later: Skipped");
    check("node/tap.txt", "some day: Skipped");
    check("rspec/documentation.txt", "math comes later: Skipped");
    check("phpunit/testdox.txt", "Math Adds: Passed");
    check("ctest/pass.txt", "off: Skipped");
    check("surefire/fail.txt", "shop.ShopTest.wrong: Failed");
}

#[test]
fn only_loading_failed_is_told_from_an_assertion_that_failed() {
    let read_file = |name: &str| read(name, &recorded(name));
    for name in [
        "pytest/import_error.txt",
        "pytest/import_error_continue.txt",
        "pytest/fixture.txt",
        "pytest/syntax.txt",
        "pytest/conftest.txt",
        "unittest/import_error.txt",
        "cargo/compile.txt",
        "nextest/compile.txt",
        "go/build.txt",
        "go/build_json.txt",
        "go/setup.txt",
        "jest/load.txt",
        "jest/syntax.txt",
        "vitest/load.txt",
        "mocha/load.txt",
        "node/load.txt",
        "node/load_tap.txt",
        "rspec/load.txt",
        "phpunit/load.txt",
        "surefire/compile.txt",
        "dotnet/compile.txt",
        "junit/pytest_import.xml",
        "junit/pytest_fixture.xml",
        "junit/vitest_load.xml",
        "junit/node26_load.xml",
    ] {
        assert!(read_file(name).only_load_errors(), "{name}: {:?}", read_file(name));
    }
    for name in [
        "pytest/names.txt",
        "pytest/fail.txt",
        "unittest/names.txt",
        "cargo/fail.txt",
        "nextest/fail.txt",
        "go/fail.txt",
        "go/panic.txt",
        "jest/names.txt",
        "vitest/names.txt",
        "mocha/names.txt",
        "mocha/hook.txt",
        "node/names.txt",
        "rspec/names.txt",
        "phpunit/names.txt",
        "surefire/fail.txt",
        "junit/pytest_names.xml",
        "junit/surefire_fail.xml",
    ] {
        assert!(!read_file(name).only_load_errors(), "{name}: {:?}", read_file(name));
    }
}

#[test]
fn an_unstable_baseline_gives_no_counts() {
    let of = |passed| TestReport {
        counts: [(Runner::Pytest, Counts { passed, failed: 0, skipped: 0 })].into(),
        tests: [("a".to_owned(), TestOutcome::Passed)].into(),
        not_loaded: Vec::new(),
        other_failures: 0,
    };
    assert_eq!(stable_baseline(&of(3), &of(3)), Some(of(3)));
    assert_eq!(stable_baseline(&of(3), &of(4)), None);
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_output(&bytes);
        read_junit(&bytes);
    }

    #[test]
    fn spoilt_recordings_can_be_read_in_any_pieces(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        (at, byte) in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let mut all = recordings();
        let (_, _, mut bytes) = all.swap_remove(which.index(all.len()));
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let whole = read_output(&bytes);
        let cut = cut.index(bytes.len() + 1);
        let mut reader = OutputReader::default();
        reader.feed(&bytes[..cut]);
        reader.feed(&bytes[cut..]);
        prop_assert_eq!(whole, reader.finish());
        read_junit(&bytes);
    }
}
