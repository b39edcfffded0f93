//! Paths that code puts together from texts and variables: `open(p, 'w')`, `os.path.join(d, 'x')`, `d + '/x'`.

use super::{
    FunctionCall,
    given::{Names, length_of_text, split_arguments},
    string_literals,
};

/// A variable that was given another one, and so on, is followed so far.
const MAX_VARIABLES: usize = 4;

/// Functions that put a path together, or leave it as it is.
const KEEPS_PATH: [&str; 12] = [
    "join",
    "Path",
    "PurePath",
    "resolve",
    "str",
    "abspath",
    "realpath",
    "fspath",
    "String",
    "normalize",
    "new",
    "joinpath",
];

/// Letters before a text that say what kind of text it is.
const PREFIXES: [&str; 6] = ["f", "r", "b", "u", "rf", "fr"];

/// The paths among the first arguments of a call that name a variable.
pub(crate) fn paths_of_variables(call: &FunctionCall, names: &Names<'_>, count: usize) -> Vec<String> {
    let arguments = split_arguments(&call.inside).into_iter().take(count);
    arguments.filter_map(|argument| path_of(without_name(argument), names, MAX_VARIABLES)).collect()
}

/// The path that stands first in a call, as a text or in variables.
pub(crate) fn first_path(call: &FunctionCall, names: &Names<'_>) -> Option<String> {
    let argument = without_name(split_arguments(&call.inside).first()?);
    path_of(argument, names, MAX_VARIABLES).or_else(|| {
        let texts = string_literals(argument);
        texts.into_iter().next().filter(|_| argument.starts_with(['"', '\'', '`']))
    })
}

/// `file=p` is `p`, and `$p or die` is `$p`.
fn without_name(argument: &str) -> &str {
    let argument =
        [" or ", " || "].iter().fold(argument, |rest, or| rest.split(or).next().unwrap_or(rest)).trim();
    let value = argument.split_once('=').filter(|(name, value)| {
        name.trim().chars().all(|next| next.is_alphanumeric() || next == '_') && !value.starts_with('=')
    });
    value.map_or(argument, |(_, value)| value.trim())
}

/// What an expression of texts and variables says, if all of it is known and there is a variable in it.
fn path_of(expression: &str, names: &Names<'_>, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut pieces: Vec<String> = Vec::new();
    let mut has_variable = false;
    let mut rest = expression.trim();
    if 256 < rest.len() {
        return None;
    }
    loop {
        let end = rest.find(['"', '\'', '`']).unwrap_or(rest.len());
        let (between, quoted) = rest.split_at(end);
        for name in variables_in(between, !quoted.is_empty())? {
            pieces.push(known_path(name, names, depth)?);
            has_variable = true;
        }
        let Some(mark) = quoted.chars().next() else { break };
        let length = length_of_text(quoted, mark);
        let literal = string_literals(&quoted[..length]).pop().unwrap_or_default();
        let is_template = mark == '`' || between.ends_with('f');
        let (filled, is_filled) = with_variables(&literal, is_template, names, depth);
        has_variable |= is_filled;
        pieces.push(filled);
        rest = &quoted[length..];
    }
    let joins =
        expression.contains("join") || expression.contains("Path(") || expression.contains("resolve(");
    let joins =
        joins || expression.contains(") / ") || expression.contains(" / ") || expression.contains(")/");
    let whole = pieces.join(if joins { "/" } else { "" });
    has_variable.then_some(whole).filter(|whole| !whole.is_empty() && whole.len() < 256)
}

/// The path that a variable was given, also where no other variable is in it.
fn known_path(name: &str, names: &Names<'_>, depth: usize) -> Option<String> {
    let assigned = names.assigned_to(name)?;
    let assigned = split_arguments(assigned).first()?.trim();
    path_of(assigned, names, depth).or_else(|| {
        let texts = string_literals(assigned);
        let is_plain = variables_in(assigned.split(['"', '\'', '`']).next()?, true)?.is_empty();
        let ends = assigned.ends_with(['"', '\'', '`', ')']);
        (is_plain && ends && !texts.is_empty() && has_only_path_calls(assigned)).then(|| texts.join("/"))
    })
}

/// Whether all that is called in an expression leaves a path a path: what `open("x").read()` gives is none.
fn has_only_path_calls(expression: &str) -> bool {
    expression.match_indices('(').all(|(at, _)| {
        let before = &expression[..at];
        let name =
            before.rsplit(|next: char| !next.is_alphanumeric() && next != '_').next().unwrap_or_default();
        name.is_empty() || KEEPS_PATH.contains(&name)
    })
}

/// The variables between texts; nothing where something is called of which it is not known what it gives.
fn variables_in(between: &str, is_before_text: bool) -> Option<Vec<&str>> {
    let is_name = |next: char| next.is_alphanumeric() || "_$@".contains(next);
    let (mut names, mut rest) = (Vec::new(), between);
    while let Some(start) = rest.find(is_name) {
        let is_method = rest[..start].ends_with(['.', ':']);
        let found = &rest[start..];
        let end = found.find(|next| !is_name(next)).unwrap_or(found.len());
        let (name, after) = found.split_at(end);
        rest = after;
        if after.starts_with('(') {
            if !KEEPS_PATH.contains(&name) {
                return None;
            }
        } else if after.starts_with('.') && after[1..].starts_with(|next: char| next.is_alphabetic())
            || after.starts_with("::")
            || is_method
            || name == "new"
            || name == "my"
            || is_before_text && after.is_empty() && PREFIXES.contains(&name)
        {
            // A module, a method, or how a text is written.
        } else {
            names.push(name);
        }
    }
    Some(names)
}

/// A text with the variables in it: `{d}/x`, `${d}/x`, `#{d}/x`, `$d/x`.
fn with_variables(literal: &str, is_template: bool, names: &Names<'_>, depth: usize) -> (String, bool) {
    let marks: &[&str] = if is_template { &["${", "#{", "{", "$"] } else { &["${", "#{", "$"] };
    for mark in marks {
        let Some((before, after)) = literal.split_once(mark) else { continue };
        let end = after.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(after.len());
        let (name, rest) = after.split_at(end);
        let sigil = format!("${name}");
        let known = known_path(name, names, depth).or_else(|| known_path(&sigil, names, depth));
        if let Some(value) = known {
            let rest = if mark.ends_with('{') { rest.strip_prefix('}').unwrap_or(rest) } else { rest };
            return (format!("{before}{value}{rest}"), true);
        }
    }
    (literal.to_owned(), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::function_calls;

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        let calls = function_calls(code).expect("calls");
        let call = calls.iter().rfind(|call| call.name == "f").expect("a call of f");
        assert_eq!(paths_of_variables(call, &Names::new(code), 1), expected, "{code}");
    }

    #[test]
    fn paths_in_variables() {
        check("p = 'a/b'; f(p, 'w')", &["a/b"]);
        check("const p = 'a/b', q = 'c'; f(q)", &["c"]);
        check("my $p = 'a/b'; f($p)", &["a/b"]);
        check("d = 'a'; f(d + '/b')", &["a/b"]);
        check("d = 'a'; f(f'{d}/b')", &["a/b"]);
        check("d = 'a'; f(\"#{d}/b\")", &["a/b"]);
        check("$d = 'a'; f(\">$d/b\")", &[">a/b"]);
        check("d = 'a'; f(os.path.join(d, 'b'))", &["a/b"]);
        check("d = 'a'; p = os.path.join(d, 'b'); f(p)", &["a/b"]);
        check("p = Path('a') / 'b'; f(p)", &["a/b"]);
        check("$p = 'a'; f($p || die)", &["a"]);
        check("p = path.join('a', 'b'); f(file=p)", &["a/b"]);
        // Texts alone stand in the call, and what is read from a file is no path.
        for code in
            ["f('a')", "s = open('a').read(); f(s)", "f(p)", "p = g('a'); f(p)", "p = 'a'; f(p.read())"]
        {
            check(code, &[]);
        }
    }
}
