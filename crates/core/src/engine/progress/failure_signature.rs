//! Whether two outputs say the same: a number made from a text, without what differs from run to run anyway.
//!
//! Times, places in a file, addresses, hashes and temporary names do not count, nor does the order of the lines, because
//! tests that run side by side print in any order. Every other number counts: 12 failures after 47 are progress.

/// More of a line than this does not matter.
const MAX_LINE_LEN: usize = 4096;

/// What may stand behind a number that is a time.
const UNITS: [&str; 13] =
    ["s", "ms", "us", "µs", "ns", "m", "h", "min", "sec", "secs", "second", "seconds", "minutes"];

/// Folders whose contents have names made up by chance.
const TEMPORARY: [&str; 3] = ["/tmp/", "/var/tmp/", "/var/folders/"];

/// Takes in a text piece by piece.
#[derive(Clone, Debug, Default)]
pub struct FailureSignature {
    sum: u64,
    line: Vec<u8>,
}

impl FailureSignature {
    /// Takes the next bytes, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let room = MAX_LINE_LEN.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") || part.ends_with(b"\r") {
                self.end_line();
            }
        }
    }

    /// The number, in hexadecimal.
    pub fn finish(mut self) -> String {
        self.end_line();
        format!("{:016x}", self.sum)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = without_chance(&String::from_utf8_lossy(&line));
        if !text.is_empty() {
            // A sum, so that the order does not matter.
            self.sum = self.sum.wrapping_add(hash(text.as_bytes()));
        }
    }
}

/// The number of a text that is at hand.
pub fn signature(text: &str) -> String {
    let mut signature = FailureSignature::default();
    signature.push(text.as_bytes());
    signature.finish()
}

/// FNV-1a, which is the same in every version.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A line with `#` in place of what differs from run to run.
fn without_chance(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if !text.is_empty() {
            text.push(' ');
        }
        let next = words.get(at + 1).map(|next| next.trim_end_matches(|char: char| !char.is_alphanumeric()));
        let is_number = word.trim_start_matches('(').chars().all(|char| char.is_ascii_digit() || char == '.');
        if is_number && next.is_some_and(|next| UNITS.contains(&next)) {
            text.push('#');
        } else {
            push_word(&mut text, word);
        }
    }
    text
}

fn push_word(text: &mut String, word: &str) {
    let temporary = TEMPORARY.iter().find_map(|folder| word.find(folder));
    let Some(start) = temporary else { return push_runs(text, word) };
    push_runs(text, &word[..start]);
    text.push('#');
    let rest = &word[start..];
    let end = rest.find([':', ',', ';', ')', ']', '\'', '"', '`']).unwrap_or(rest.len());
    // What follows a path is the place in it.
    push_runs(text, &format!("./{}", &rest[end..]));
}

/// Letters and digits side by side are one run; what stands around it says what it is.
fn push_runs(text: &mut String, word: &str) {
    let is_part = |char: char| char.is_alphanumeric();
    let mut rest = word;
    let mut before = "";
    while !rest.is_empty() {
        let run = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(run);
        if !run.is_empty() && is_chance(before, run, after) {
            text.push('#');
        } else {
            text.push_str(run);
        }
        let gap = after.find(is_part).unwrap_or(after.len());
        text.push_str(&after[..gap]);
        before = &word[..word.len() - after.len() + gap];
        rest = &after[gap..];
    }
}

/// Whether a run of letters and digits differs each time anyway.
fn is_chance(before: &str, run: &str, after: &str) -> bool {
    let digits = run.trim_end_matches(|char: char| !char.is_ascii_digit());
    // `16T00` and `35Z` are parts of a moment.
    let is_number = run.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z'))
        && run.bytes().any(|byte| byte.is_ascii_digit());
    let is_time = digits.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
        && UNITS.contains(&&run[digits.len()..]);
    let is_hex = run.bytes().all(|byte| byte.is_ascii_hexdigit())
        && run.bytes().any(|byte| byte.is_ascii_digit())
        && run.bytes().any(|byte| byte.is_ascii_alphabetic());
    if is_time || run.starts_with("0x") || (is_hex && 7 <= run.len()) {
        return true;
    }
    if !is_number {
        return false;
    }
    let starts = |mark: char| {
        after.strip_prefix(mark).is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
    };
    let ends = |mark: char| {
        before.strip_suffix(mark).is_some_and(|rest| rest.ends_with(|char: char| char.is_ascii_digit()))
    };
    // `0.52s`: the seconds before the point.
    let is_before_point = starts('.')
        && after[1..]
            .split(|char: char| !char.is_alphanumeric())
            .next()
            .is_some_and(|fraction| fraction.bytes().any(|byte| byte.is_ascii_alphabetic()));
    let is_clock = starts(':') || ends(':');
    let is_date = (run.len() == 4 && starts('-')) || (matches!(run.len(), 2 | 5) && ends('-'));
    let is_place = before.ends_with(':') && before.contains(['/', '.']);
    let is_enclosed = before.ends_with(['(', '[']) && after.starts_with([')', ']']) && 4 <= run.len();
    is_before_point || is_clock || is_date || is_place || is_enclosed || 9 <= run.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_same(one: &str, other: &str) {
        let shown = |text: &str| text.lines().map(without_chance).collect::<Vec<_>>();
        assert_eq!(signature(one), signature(other), "{:?} {:?}", shown(one), shown(other));
    }

    #[track_caller]
    fn check_other(one: &str, other: &str) {
        assert_ne!(signature(one), signature(other));
    }

    #[test]
    fn what_differs_anyway_does_not_count() {
        check_same("finished in 0.52s", "finished in 12.03s");
        check_same("finished in 0.52 seconds.", "finished in 3.1 seconds.");
        check_same("ok (12 ms)", "ok (7 ms)");
        check_same("took 6m7s", "took 12m59s");
        check_same("[00:03:35] error", "[23:59:01] error");
        check_same("2026-11-16T00:03:35Z failed", "2027-01-02T10:00:00Z failed");
        check_same("src/parse.rs:10:5: expected `;`", "src/parse.rs:112:17: expected `;`");
        check_same("at 0x7ffd8a, in main", "at 0x55aa01, in main");
        check_same("index 3f2a9bc..77e01ff", "index 0a1b2c3..9988aa7");
        check_same("no such file: '/tmp/x.Ab12/out.txt'", "no such file: '/tmp/x.Zz99/other.txt'");
        check_same("/tmp/aaa/t.py:3: boom", "/tmp/bbb/t.py:44: boom");
        check_same("thread 'main' (12345) panicked", "thread 'main' (9981) panicked");
        check_same("a\nb\n", "b\na");
        check_same("a\r\n\n  b", "a\nb\n");
    }

    #[test]
    fn what_tells_of_progress_counts() {
        check_other("47 failed", "12 failed");
        check_other("tests: 3 passed, 2 failed", "tests: 4 passed, 1 failed");
        check_other("failed: 5", "failed: 4");
        check_other("failures=5", "failures=4");
        check_other("expected 5, found 3", "expected 5, found 4");
        check_other("coverage 81.2%", "coverage 83.9%");
        check_other("src/a.rs:1:1: expected `;`", "src/b.rs:1:1: expected `;`");
        check_other("test week_53 failed", "test week_52 failed");
        check_other("a", "a\na");
        check_other("expected 1 23", "expected 12 3");
        check_other("undeclared name", "unresolved name");
        check_other("1234 failed", "1233 failed");
        check_other("1234567 bytes", "1234568 bytes");
        check_other("steps 7-8 failed", "steps 6-8 failed");
        check_other("failed:5", "failed:4");
        check_other("dist/5 is missing", "dist/4 is missing");
        check_other("found (12 errors)", "found (13 errors)");
        check_other("exit (2)", "exit (1)");
        check_other("at (x,1234)", "at (x,1235)");
        // Names with a number in them.
        check_other("config.toml:key1 is missing", "config.toml:key2 is missing");
        check_other("test release1 failed", "test release2 failed");
        check_other("case a1 failed", "case a2 failed");
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ -~é\n]{0,200}", cut in 0_usize..200) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut signature = FailureSignature::default();
            signature.push(&bytes[..cut]);
            signature.push(&bytes[cut..]);
            prop_assert_eq!(signature.finish(), super::signature(&text));
        }
    }
}
