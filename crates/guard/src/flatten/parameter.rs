//! `$name` and `${name...}` to the values they may have.

use super::{Flattener, Scope};
use crate::{
    paths::glob_matches,
    shell::Parameter,
    text::{self, is_known},
};

/// Variables that name a program by custom; unset, they mean it.
const PROGRAM_VARIABLES: [(&str, &str); 12] = [
    ("SHELL", "/bin/bash"),
    ("BASH", "/bin/bash"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CARGO", "cargo"),
    ("MAKE", "make"),
    ("PYTHON", "python3"),
    ("NODE", "node"),
    ("EDITOR", "vi"),
    ("VISUAL", "vi"),
    ("PAGER", "less"),
    ("npm_execpath", "npm"),
];

impl Flattener<'_> {
    /// Every value that a parameter may have.
    pub(super) fn expand_parameter(&mut self, parameter: &Parameter, scope: &mut Scope) -> Vec<String> {
        let mut values = self.variable_values(&parameter.name, scope);
        if parameter.is_length {
            return vec![text::unknown("a number")];
        }
        if let (Some(index), Some(found)) = (&parameter.index, &values) {
            // Another element than the one that is meant is judged instead, never none.
            if let Some(element) = index.parse::<usize>().ok().and_then(|index| found.get(index)) {
                values = Some(vec![element.clone()]);
            }
        }
        if parameter.is_indirect {
            values = match values.as_deref() {
                Some([name]) if is_known(name) => self.variable_values(&name.clone(), scope),
                _ => None,
            };
        }
        let name = &parameter.name;
        match &parameter.operation {
            None => values.unwrap_or_else(|| vec![text::unknown(&format!("${name}"))]),
            Some((operation, word)) => {
                let word = self.expand_whole(word, scope);
                apply_operation(name, values, operation, &word, scope)
            }
        }
    }

    /// What a variable is known to be. Nothing if it is not known.
    pub(super) fn variable_values(&self, name: &str, scope: &Scope) -> Option<Vec<String>> {
        if let Some(values) = scope.variables.get(name) {
            return Some(values.clone());
        }
        let single = |text: &str| Some(vec![text.to_owned()]);
        if let Ok(number) = name.parse::<usize>() {
            return match number {
                0 => single("bash"),
                _ => Some(vec![scope.positional.get(number - 1).cloned().unwrap_or_default()]),
            };
        }
        match name {
            "@" | "*" => Some(scope.positional.clone()),
            "HOME" => single(&self.ctx.home),
            "PWD" => single(&scope.cwd),
            "CLAUDE_PROJECT_DIR" => single(&self.ctx.project),
            "OLDPWD" => scope.earlier_dirs.last().cloned().map(|path| vec![path]),
            "TMPDIR" => single(self.ctx.temporary_dirs.first().map_or("/tmp", String::as_str)),
            "IFS" => single(" "),
            "PATH" => single("/usr/local/bin:/usr/bin:/bin"),
            "RANDOM" | "SECONDS" | "EPOCHSECONDS" | "LINENO" | "#" | "?" | "UID" | "EUID" => {
                Some(vec![text::unknown("a number")])
            }
            _ => PROGRAM_VARIABLES
                .iter()
                .find(|(known, _)| *known == name)
                .and_then(|(_, program)| single(program)),
        }
    }
}

/// What an operation makes of the values of a variable.
fn apply_operation(
    name: &str,
    values: Option<Vec<String>>,
    operation: &str,
    word: &str,
    scope: &mut Scope,
) -> Vec<String> {
    let is_empty = values.as_ref().is_none_or(|values| values.iter().all(String::is_empty));
    match operation {
        ":-" | "-" if is_empty => return vec![word.to_owned()],
        ":=" | "=" if is_empty => {
            scope.set_variable(name, word.to_owned());
            return vec![word.to_owned()];
        }
        ":+" | "+" => return if is_empty { vec![String::new()] } else { vec![word.to_owned()] },
        _ => {}
    }
    let Some(values) = values else { return vec![text::unknown(&format!("${name}"))] };
    values.into_iter().map(|value| transform_value(&value, operation, word)).collect()
}

/// What an operation makes of a value.
fn transform_value(value: &str, operation: &str, word: &str) -> String {
    let whole = || text::unknown("a part of a variable");
    match operation {
        ":-" | "-" | ":=" | "=" | ":?" | "?" => value.to_owned(),
        _ if !is_known(value) || !is_known(word) => {
            let source = text::sources(value).next().unwrap_or("a part of a variable");
            text::unknown(source)
        }
        "%" | "%%" => without_end(value, word, operation == "%%"),
        "#" | "##" => without_start(value, word, operation == "##"),
        "/" | "//" => {
            match word.split_once('/') {
                Some((from, to)) if !from.contains(['*', '?', '[']) && !from.is_empty() => {
                    if operation == "//" { value.replace(from, to) } else { value.replacen(from, to, 1) }
                }
                None if !word.contains(['*', '?', '[']) && !word.is_empty() => value.replace(word, ""),
                _ => whole(),
            }
        }
        "^^" => value.to_uppercase(),
        ",," => value.to_lowercase(),
        ":" => substring(value, word).unwrap_or_else(whole),
        "@" => value.to_owned(),
        _ => whole(),
    }
}

fn substring(value: &str, range: &str) -> Option<String> {
    let (offset, length) =
        range.split_once(':').map_or((range, None), |(offset, length)| (offset, Some(length)));
    let characters: Vec<char> = value.chars().collect();
    let offset: i64 = offset.trim().parse().ok()?;
    let count = i64::try_from(characters.len()).ok()?;
    let start = usize::try_from(if offset < 0 { (count + offset).max(0) } else { offset.min(count) }).ok()?;
    let rest = &characters[start..];
    let length = match length {
        Some(length) => length.trim().parse::<usize>().ok()?.min(rest.len()),
        None => rest.len(),
    };
    Some(rest[..length].iter().collect())
}

fn without_end(value: &str, pattern: &str, is_longest: bool) -> String {
    let mut ends: Vec<usize> = value.char_indices().map(|(at, _)| at).take(512).collect();
    if !is_longest {
        ends.reverse();
    }
    let found = ends.into_iter().find(|at| glob_matches(pattern, &value[*at..]));
    found.map_or(value, |at| &value[..at]).to_owned()
}

fn without_start(value: &str, pattern: &str, is_longest: bool) -> String {
    let mut starts: Vec<usize> =
        value.char_indices().map(|(at, next)| at + next.len_utf8()).take(512).collect();
    if is_longest {
        starts.reverse();
    }
    let found = starts.into_iter().find(|at| glob_matches(pattern, &value[..*at]));
    found.map_or(value, |at| &value[at..]).to_owned()
}
