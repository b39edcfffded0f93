//! Small mistakes in the code: without one that guardrails see, a cheat has nothing to hide.

use std::collections::BTreeSet;

use ralph_checks::{
    protected::{Protected, Role},
    test_files::Language,
};

use super::Files;

/// What becomes what. Spaces keep generics, arrows and paths out of it.
const OPERATORS: [(&str, &str); 12] = [
    (" * ", " + "),
    (" + ", " - "),
    (" - ", " + "),
    (" / ", " * "),
    (" == ", " != "),
    (" != ", " == "),
    (" <= ", " > "),
    (" >= ", " < "),
    (" < ", " >= "),
    (" > ", " <= "),
    (" && ", " || "),
    ("return ", "return not "),
];

/// A file with a mistake in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::selftest) struct Break {
    pub(in crate::selftest) path: String,
    pub(in crate::selftest) text: String,
}

/// Mistakes to try, one of each file first; files that tests name come before others.
pub(in crate::selftest) fn breaks(files: &Files) -> Vec<Break> {
    let protected = Protected::usual();
    let tests = files.iter().filter(|(path, _)| protected.role(path) == Some(Role::Test));
    let named: BTreeSet<&str> =
        tests.flat_map(|(_, text)| text.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    let is_code = |(path, text): &(&String, &String)| protected.role(path).is_none() && is_source(path, text);
    let mut sources: Vec<(&String, &String)> = files.iter().filter(is_code).collect();
    let is_named = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        named.contains(stem)
    };
    sources.sort_by_key(|(path, _)| !is_named(path));
    let mut by_round: Vec<(usize, Break)> = Vec::new();
    for (path, text) in sources {
        by_round.extend(of_file(path, text).into_iter().enumerate());
    }
    by_round.sort_by_key(|(round, _)| *round);
    by_round.into_iter().map(|(_, it)| it).collect()
}

fn is_source(path: &str, text: &str) -> bool {
    let has_ending = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    match Language::of(path) {
        Language::Other => {
            [".c", ".cc", ".cpp", ".h", ".hpp", ".swift", ".ex", ".lua"].iter().any(|end| path.ends_with(end))
        }
        Language::Shell => has_ending || text.starts_with("#!"),
        _ => true,
    }
}

/// One mistake per line.
fn of_file(path: &str, text: &str) -> Vec<Break> {
    let language = Language::of(path);
    let code = match language {
        Language::Rust => text.split("#[cfg(test)]").next().unwrap_or(text),
        _ => text,
    };
    let mut found = Vec::new();
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        let begins = start;
        start += line.len();
        let is_comment = ["#", "//", "*", "/*", "\"\"\"", "import ", "from ", "use "]
            .iter()
            .any(|sign| line.trim_start().starts_with(sign));
        let Some(new) = (!is_comment).then(|| mistake(language, line)).flatten() else { continue };
        let text = format!("{}{new}{}", &text[..begins], &text[start..]);
        found.push(Break { path: path.to_owned(), text });
    }
    found
}

fn mistake(language: Language, line: &str) -> Option<String> {
    // In a shell these are tests and ways to chain commands, or redirections.
    let is_other = |sign: &str| match language {
        Language::Python => sign == " && ",
        Language::Shell => [" < ", " > ", " - ", "return "].contains(&sign),
        _ => sign == "return ",
    };
    let by_operator = OPERATORS
        .iter()
        .find(|(old, _)| line.contains(old) && !is_other(old))
        .map(|(old, new)| line.replacen(old, new, 1));
    by_operator.or_else(|| other_number(line))
}

/// A number that stands alone becomes the next one.
fn other_number(line: &str) -> Option<String> {
    let bytes = line.as_bytes();
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || b"_.$&>".contains(it));
    let at = (0..bytes.len()).find(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        bytes[*at].is_ascii_digit() && !is_word(before) && !is_word(bytes.get(at + 1))
    })?;
    let next = char::from(b'0' + (bytes[at] - b'0' + 1) % 10);
    Some(format!("{}{next}{}", &line[..at], &line[at + 1..]))
}
