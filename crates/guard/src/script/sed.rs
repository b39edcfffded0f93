//! Scripts of `sed`: the commands of a shell that they run.

use crate::text;

/// How far the end of a set is looked for.
const MAX_PATTERN_LEN: usize = 256;

/// What a script runs: the texts of its `e` commands, and what its `s///e` commands turn lines into. Reading ends where the
/// script cannot be understood.
pub(crate) fn commands(script: &str) -> Vec<String> {
    let mut reader = Reader { rest: script, runs: Vec::new() };
    while reader.runs.len() < 32 && reader.command().is_some() {}
    reader.runs
}

struct Reader<'a> {
    rest: &'a str,
    runs: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Reads one command with its addresses; nothing at the end.
    fn command(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start_matches(|next: char| next.is_whitespace() || ";{}".contains(next));
        self.addresses()?;
        match self.next()? {
            's' => self.substitute()?,
            'y' => {
                let delimiter = self.next()?;
                self.part(delimiter)?;
                self.part(delimiter)?;
            }
            'e' => {
                let code = self.until("\n").trim();
                let code = if code.is_empty() { line() } else { code.to_owned() };
                self.runs.push(code);
            }
            'a' | 'i' | 'c' => while self.until("\n").ends_with('\\') {},
            'r' | 'R' | 'w' | 'W' | '#' => {
                self.until("\n");
            }
            ':' | 'b' | 't' | 'T' => {
                self.until(";\n}");
            }
            _ => {}
        }
        Some(())
    }

    /// `3`, `$`, `/x/I`, `\,x,`, `1~2`, `,+3`, `!`.
    fn addresses(&mut self) -> Option<()> {
        loop {
            let known = |next: char| next.is_ascii_digit() || "$,+~! \t".contains(next);
            self.rest = self.rest.trim_start_matches(known);
            let delimiter = match self.rest.chars().next()? {
                '/' => self.next()?,
                '\\' => {
                    self.next();
                    self.next()?
                }
                _ => return Some(()),
            };
            self.pattern(delimiter)?;
            self.rest = self.rest.trim_start_matches(['I', 'M']);
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.next()?;
        let pattern = self.pattern(delimiter)?;
        let replacement = self.part(delimiter)?;
        let end = self.rest.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (flags, rest) = self.rest.split_at(end);
        let (flags, writes) = flags.split_once('w').map_or((flags, false), |(flags, _)| (flags, true));
        self.rest = rest;
        if writes {
            self.until("\n");
        }
        if flags.contains('e') {
            self.runs.push(substituted(pattern, replacement));
        }
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.rest = rest.as_str();
        next
    }

    /// The pattern before the next delimiter, which means itself in `[...]`.
    fn pattern(&mut self, delimiter: char) -> Option<&'a str> {
        let (mut escaped, mut set) = (false, None);
        for (at, next) in self.rest.char_indices().take(MAX_PATTERN_LEN) {
            match set {
                // A bracket right after the start is one of the set.
                Some(start) if next == ']' && !self.rest[start..at].trim_start_matches('^').is_empty() => {
                    set = None;
                }
                Some(_) => {}
                None if next == delimiter && !escaped => return Some(self.take(at, next)),
                None if next == '[' && !escaped => set = Some(at + 1),
                None => escaped = next == '\\' && !escaped,
            }
        }
        self.part(delimiter)
    }

    /// What stands before the next delimiter.
    fn part(&mut self, delimiter: char) -> Option<&'a str> {
        let mut escaped = false;
        for (at, next) in self.rest.char_indices() {
            if next == delimiter && !escaped {
                return Some(self.take(at, next));
            }
            escaped = next == '\\' && !escaped;
        }
        None
    }

    fn take(&mut self, at: usize, delimiter: char) -> &'a str {
        let part = &self.rest[..at];
        self.rest = &self.rest[at + delimiter.len_utf8()..];
        part
    }

    /// What stands before any of these, which is passed over too.
    fn until(&mut self, ends: &str) -> &'a str {
        let at = self.rest.find(|next| ends.contains(next)).unwrap_or(self.rest.len());
        let (before, after) = self.rest.split_at(at);
        self.rest = after.get(1..).unwrap_or_default();
        before
    }
}

/// A line of the input, which nobody has seen.
fn line() -> String {
    text::unknown("a line")
}

/// What a line becomes: the replacement, with the rest of the line around it unless the pattern takes all of it.
fn substituted(pattern: &str, replacement: &str) -> String {
    let mut code = String::new();
    if !pattern.starts_with(['^']) && !pattern.starts_with(".*") {
        code.push_str(&line());
    }
    let mut rest = replacement.chars();
    while let Some(next) = rest.next() {
        match next {
            '&' => code.push_str(&line()),
            '\\' => match rest.next() {
                Some(digit) if digit.is_ascii_digit() => code.push_str(&line()),
                Some('n') => code.push('\n'),
                other => code.extend(other),
            },
            _ => code.push(next),
        }
    }
    if !pattern.ends_with('$') && !pattern.ends_with(".*") {
        code.push_str(&line());
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_is_found() {
        for (script, expected) in [
            ("1e ls -l", "ls -l"),
            ("/a/,$ e ls", "ls"),
            ("s/.*/ls/e", "ls"),
            ("p;s|^a$|ls|gep", "ls"),
            ("/x/{s/a/b/;e ls\n}", "ls"),
            ("e", "‹a line›"),
            ("s/a/e/g", ""),
            ("y/abc/xye/", ""),
            ("1i e ls", ""),
            ("s/a/b/we", ""),
            (":e;N;be", ""),
            ("/e/d", ""),
            ("s/a/e", ""),
            ("s/[/]/e/;s/[]/]x/e/", ""),
            ("s/[^/]*/ls/;1e ls", "ls"),
            ("s/\\[/ls/;1e ls", "ls"),
        ] {
            let found: Vec<String> = commands(script).iter().map(|code| text::shown(code)).collect();
            assert_eq!(found.join(" "), expected, "{script}");
        }
    }
}
