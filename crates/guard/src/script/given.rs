//! What a call in code is given to run: texts that are put together, texts in variables, lists of words.

use std::cell::Cell;

use super::{FunctionCall, ScriptCommand, place::HOMES, string_literals};
use crate::text;

/// So many names are looked for in the code: what people and agents write has a few.
const MAX_LOOKUPS: usize = 64;

/// Lists in lists are looked into so deep.
const MAX_LISTS: usize = 4;

/// What stands in a shell for a part that only the code knows.
const UNKNOWN: &str = "\"$CODE\"";

/// Letters before a text that say what kind of text it is.
const PREFIXES: [&str; 11] = ["f", "r", "b", "u", "rb", "br", "fr", "rf", "q", "s", "L"];

/// Code, and what its variables were given.
pub(crate) struct Names<'a> {
    code: &'a str,
    lookups_left: Cell<usize>,
}

/// An argument of a call, with the texts that it is put together from.
#[derive(Debug, PartialEq, Eq)]
struct Argument {
    text: String,
    in_list: bool,
    /// It names no text and no variable that was given one.
    is_unknown: bool,
}

impl<'a> Names<'a> {
    pub(crate) fn new(code: &'a str) -> Self {
        Self { code, lookups_left: Cell::new(MAX_LOOKUPS) }
    }

    /// A text with the variables in it that were given one text.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut parts = text.split("${");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let known = part.split_once('}').and_then(|(name, rest)| Some((self.known_text(name)?, rest)));
            match known {
                Some((value, rest)) => filled.extend([&value, rest]),
                None => filled.extend(["${", part]),
            }
        }
        filled
    }

    /// The text that a variable was given.
    fn known_text(&self, name: &str) -> Option<String> {
        let assigned = self.assigned_to(name).filter(|assigned| assigned.starts_with(['"', '\'']))?;
        let mut texts = string_literals(assigned);
        texts.pop().filter(|_| texts.is_empty())
    }

    /// The expression that a variable was given, if it is made of texts.
    pub(super) fn assigned_to(&self, name: &str) -> Option<&'a str> {
        let is_part = |next: char| next.is_alphanumeric() || "_$@".contains(next);
        let name = name.trim_start_matches(['*', '.', '@']);
        if name.is_empty()
            || !name.chars().all(is_part)
            || name.starts_with(|next: char| next.is_ascii_digit())
        {
            return None;
        }
        self.lookups_left.set(self.lookups_left.get().checked_sub(1)?);
        let code = self.code;
        let assigned = code.match_indices(name).take(64).find_map(|(at, _)| {
            let rest = code[at + name.len()..].trim_start();
            let rest = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('='))?;
            let is_whole = !code[..at].ends_with(is_part);
            (is_whole && !rest.starts_with(['=', '>', '~'])).then_some(rest)
        })?;
        let statement = super::first_statement(assigned).trim();
        (!string_literals(statement).is_empty()).then_some(statement)
    }
}

/// The command that a call runs, as far as it is known.
pub(super) fn given(call: &FunctionCall, names: &Names<'_>) -> Option<ScriptCommand> {
    let mut arguments = arguments_of(&call.inside, names, MAX_LISTS);
    // What stands before the program, such as `os.P_WAIT`, is no part of the command.
    let start = arguments.iter().position(|argument| !argument.is_unknown)?;
    arguments.drain(..start);
    let names_home = HOMES.iter().any(|home| call.inside.contains(home));
    if let [first, ..] = &arguments[..]
        && !first.in_list
        && (arguments.len() == 1 || first.text.contains(' '))
    {
        let home = if names_home { " ~" } else { "" };
        return Some(ScriptCommand::ShellText(format!("{}{home}", first.text)));
    }
    let mut words: Vec<String> = arguments.into_iter().map(Argument::into_word).collect();
    words.extend(names_home.then(|| "~".to_owned()));
    if call.name.starts_with("execl") || call.name.starts_with("execv") {
        words.remove(0);
    }
    Some(match &words[..] {
        [only] => ScriptCommand::ShellText(only.clone()),
        _ => ScriptCommand::Arguments(words),
    })
}

/// The command in a variable that stands behind the name of a function.
pub(super) fn in_variable(statement: &str, names: &Names<'_>) -> Option<ScriptCommand> {
    let name = statement.trim().split([' ', ')', ';']).next()?;
    let assigned = names.assigned_to(name)?;
    let inside = assigned.to_owned();
    let call = FunctionCall { name: String::new(), receiver: String::new(), texts: Vec::new(), inside };
    given(&call, names)
}

impl Argument {
    /// As a word that no shell reads any more.
    fn into_word(self) -> String {
        self.text.replace(UNKNOWN, &text::unknown("$CODE"))
    }
}

/// The arguments in the brackets of a call; the elements of a list are arguments as well. Settings (`shell=True`,
/// `{stdio: "inherit"}`) are none.
fn arguments_of(inside: &str, names: &Names<'_>, depth: usize) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for part in split_arguments(inside) {
        let part = part.trim();
        let list =
            part.strip_prefix('[').or_else(|| part.strip_prefix('(')).or_else(|| part.strip_prefix('&'));
        if let Some(list) = list.filter(|_| 0 < depth) {
            let elements = arguments_of(list.trim_end_matches([']', ')', ',', ' ']), names, depth - 1);
            arguments.extend(elements.into_iter().map(|element| Argument { in_list: true, ..element }));
            continue;
        }
        if part.is_empty() || part.starts_with('{') || is_setting(part) {
            continue;
        }
        if depth == MAX_LISTS
            && let Some(assigned) = names.assigned_to(part)
        {
            arguments.extend(arguments_of(assigned, names, depth - 1));
            continue;
        }
        let text = whole_text(part, names);
        arguments.push(Argument { is_unknown: text == UNKNOWN, text, in_list: false });
    }
    arguments
}

/// `shell=True`, `stdin_data: x`.
fn is_setting(part: &str) -> bool {
    let name = part.trim_start_matches(|next: char| next.is_alphanumeric() || next == '_');
    let rest = name.trim_start();
    name.len() < part.len()
        && (rest.starts_with('=') && !rest.starts_with("==")
            || rest.starts_with(": ")
            || rest.starts_with("=>"))
}

/// The parts between commas that stand in no quotes and no brackets.
pub(super) fn split_arguments(inside: &str) -> Vec<&str> {
    let (mut parts, mut start, mut level, mut quote, mut escaped) = (Vec::new(), 0, 0_usize, None, false);
    for (at, next) in inside.char_indices() {
        match (quote, next) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), other) if mark == other => quote = None,
            (None, mark @ ('"' | '\'' | '`')) => quote = Some(mark),
            (None, '(' | '[' | '{') => level += 1,
            (None, ')' | ']' | '}') => level = level.saturating_sub(1),
            (None, ',') if level == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if 64 < parts.len() {
            return parts;
        }
    }
    parts.push(&inside[start..]);
    parts
}

/// The text that an expression puts together. What only the code knows is marked, as a shell would write it.
fn whole_text(expression: &str, names: &Names<'_>) -> String {
    let mut whole = String::new();
    let mut rest = expression;
    let formats = expression.contains(".format(");
    let prints = expression.contains("printf") || expression.contains("format(") || has_percent(expression);
    loop {
        let end = rest.find(['"', '\'', '`']).unwrap_or(rest.len());
        let (between, quoted) = rest.split_at(end);
        if let Some(name) = unknown_in(between, !quoted.is_empty()) {
            whole.push_str(&names.known_text(name).unwrap_or_else(|| UNKNOWN.to_owned()));
        }
        let Some(mark) = quoted.chars().next() else { return whole };
        let length = length_of_text(quoted, mark);
        let literal = string_literals(&quoted[..length]).pop().unwrap_or_default();
        let is_template = mark != '`' && between.ends_with(['f', 'F']);
        let mut literal = literal.replace("#{", "${");
        if is_template {
            literal = literal.replace("${", "{").replace('{', "${");
        }
        if formats {
            literal = literal.replace("{}", UNKNOWN).replace("{0}", UNKNOWN);
        }
        if prints {
            literal = literal.replace("%s", UNKNOWN).replace("%q", UNKNOWN);
        }
        whole.push_str(&names.filled(&literal));
        rest = &quoted[length..];
    }
}

/// `"rm %s" % path`.
fn has_percent(expression: &str) -> bool {
    let parts = expression.match_indices('%');
    parts.into_iter().any(|(at, _)| expression[..at].trim_end().ends_with(['"', '\'']))
}

/// How many bytes a text takes with its quotes.
pub(super) fn length_of_text(quoted: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, next) in quoted.char_indices().skip(1) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if next == mark => return at + 1,
            _ => {}
        }
    }
    quoted.len()
}

/// The first name between texts that stands for a part of the whole. Functions that a text is given to leave it as it is.
fn unknown_in(between: &str, is_before_text: bool) -> Option<&str> {
    let is_name = |next: char| next.is_alphanumeric() || "_$@".contains(next);
    let mut rest = between;
    while let Some(start) = rest.find(is_name) {
        let is_method = rest[..start].ends_with('.');
        let found = &rest[start..];
        let end = found.find(|next| !is_name(next)).unwrap_or(found.len());
        let (name, after) = found.split_at(end);
        rest = after;
        let is_called = after.trim_start().starts_with('(');
        let is_prefix =
            is_before_text && after.is_empty() && PREFIXES.contains(&name.to_lowercase().as_str());
        // `os.sep` names one thing, `shlex.quote(x)` another.
        let is_module = after.starts_with('.') || after.starts_with("::");
        if !is_called && !is_prefix && !is_method && !is_module {
            return Some(name);
        }
        if is_method && !is_called && !after.starts_with('.') {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::function_calls;

    #[track_caller]
    fn check(code: &str, expected: &str) {
        let calls = function_calls(code).expect("calls");
        let names = Names::new(code);
        let shown = match given(calls.first().expect("a call"), &names) {
            Some(ScriptCommand::ShellText(text)) => text,
            Some(ScriptCommand::Arguments(words)) => text::for_display(&words.join("|")),
            None => String::new(),
        };
        assert_eq!(shown, expected, "{code}");
    }

    #[test]
    fn texts_lists_and_variables() {
        check("system('ls -l')", "ls -l");
        check("run('ls -l', shell=True, cwd='/x')", "ls -l");
        check("run(['ls', '-l', p])", "ls|-l|‹$CODE›");
        check("spawn('ls', ['-l'], {stdio: 'inherit'})", "ls|-l");
        check("c = 'ls -l'; system(c)", "ls -l");
        check("c = ['ls', '-l']; run(c, check=True)", "ls|-l");
        check("p = '/x'; system('ls ' + p)", "ls /x");
        check("p = '/x'; system(f'ls {p}/y')", "ls /x/y");
        check("system('ls ' .. p)", "ls \"$CODE\"");
        check("system('ls %s' % p)", "ls \"$CODE\"\"$CODE\"");
        check("system('ls {}'.format(p))", "ls \"$CODE\"\"$CODE\"");
        check("execvp('ls', ['ls', '-l'])", "ls|-l");
        check("spawnlp(os.P_WAIT, 'ls', '-l')", "ls|-l");
        check("system(f(x))", "");
        // However deep it is, it is read.
        let deep = format!("run({}'x'", "[".repeat(20_000));
        assert!(given(&function_calls(&deep).expect("calls")[0], &Names::new(&deep)).is_some());
    }
}
