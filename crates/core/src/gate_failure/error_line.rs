//! Which line of an output looks most like the reason for a failure. For people only: nothing is concluded from it.

/// How much of a line is kept.
const MAX_LINE_LEN: usize = 300;

/// The line that looks most like the reason: the first that names an error, or else the first that speaks of a failure.
pub fn error_line(output: &str) -> Option<&str> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let found =
        lines().find(|line| names_error(line)).or_else(|| lines().find(|line| speaks_of_failure(line)))?;
    Some(&found[..found.floor_char_boundary(MAX_LINE_LEN)])
}

/// As compilers, test runners and interpreters say it.
fn names_error(line: &str) -> bool {
    let begins =
        ["error:", "error[", "fatal:", "fatal error:", "E   ", "FAIL:", "--- FAIL", "not ok ", "✗ ", "× "];
    let contains = [
        " panicked at ",
        ": error:",
        ": error TS",
        ": fatal error:",
        "Error: ",
        "Exception: ",
        "AssertionError",
    ];
    begins.iter().any(|begin| line.starts_with(begin)) || contains.iter().any(|part| line.contains(part))
}

fn speaks_of_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_count_of_none =
        ["0 error", "0 fail", "no error", "no fail"].iter().any(|none| lower.contains(none));
    !is_count_of_none
        && ["error", "fail", "not found", "no such file", "denied"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found() {
        for (output, expected) in [
            (
                "Compiling a\nerror[E0308]: mismatched types\n --> a.rs\nerror: could not compile `a`",
                "error[E0308]: mismatched types",
            ),
            (
                "test a ... FAILED\n\nthread 'a' panicked at src/lib.rs:3:5:\nboom",
                "thread 'a' panicked at src/lib.rs:3:5:",
            ),
            ("..F\n    def test():\nE   assert 1 == 2\n1 failed", "E   assert 1 == 2"),
            ("Traceback:\n  File x\nValueError: no\n", "ValueError: no"),
            ("src/a.ts(1,2): error TS2322: no", "src/a.ts(1,2): error TS2322: no"),
            ("ok 1\nnot ok 2 - week 53", "not ok 2 - week 53"),
            ("0 errors\nmake: *** [all] Failed", "make: *** [all] Failed"),
            ("sh: pytest: not found", "sh: pytest: not found"),
        ] {
            assert_eq!(error_line(output), Some(expected));
        }
        for silent in ["", "12 passed, 0 failed\nno errors", "1\n2\n3"] {
            assert_eq!(error_line(silent), None);
        }
        assert_eq!(error_line(&format!("error: {}", "é".repeat(1000))).map(str::len), Some(299));
    }
}
