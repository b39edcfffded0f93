//! Scripts of `sed`: the commands of a shell that they run.

use crate::text;

/// How far the end of a set is looked for.
const MAX_PATTERN_LEN: usize = 256;

/// What a script runs: the texts of its `e` commands, and what its `s///e` commands turn lines into. Reading ends where the
/// script cannot be understood.
pub(crate) fn commands_in_sed(script: &str) -> Vec<String> {
    let mut reader = Reader { rest: script, commands: Vec::new() };
    while reader.commands.len() < 32 && reader.read_command().is_some() {}
    reader.commands
}

struct Reader<'a> {
    rest: &'a str,
    commands: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Reads one command with its addresses; nothing at the end.
    fn read_command(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start_matches(|next: char| next.is_whitespace() || ";{}".contains(next));
        self.skip_addresses()?;
        match self.next_char()? {
            's' => self.read_substitution()?,
            'y' => {
                let delimiter = self.next_char()?;
                self.read_part(delimiter)?;
                self.read_part(delimiter)?;
            }
            'e' => {
                let code = self.read_until("\n").trim();
                let code = if code.is_empty() { unknown_line() } else { code.to_owned() };
                self.commands.push(code);
            }
            'a' | 'i' | 'c' => while self.read_until("\n").ends_with('\\') {},
            'r' | 'R' | 'w' | 'W' | '#' => {
                self.read_until("\n");
            }
            ':' | 'b' | 't' | 'T' => {
                self.read_until(";\n}");
            }
            _ => {}
        }
        Some(())
    }

    /// `3`, `$`, `/x/I`, `\,x,`, `1~2`, `,+3`, `!`.
    fn skip_addresses(&mut self) -> Option<()> {
        loop {
            let known = |next: char| next.is_ascii_digit() || "$,+~! \t".contains(next);
            self.rest = self.rest.trim_start_matches(known);
            let delimiter = match self.rest.chars().next()? {
                '/' => self.next_char()?,
                '\\' => {
                    self.next_char();
                    self.next_char()?
                }
                _ => return Some(()),
            };
            self.read_pattern(delimiter)?;
            self.rest = self.rest.trim_start_matches(['I', 'M']);
        }
    }

    fn read_substitution(&mut self) -> Option<()> {
        let delimiter = self.next_char()?;
        let pattern = self.read_pattern(delimiter)?;
        let replacement = self.read_part(delimiter)?;
        let end = self.rest.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (flags, rest) = self.rest.split_at(end);
        let (flags, writes) = flags.split_once('w').map_or((flags, false), |(flags, _)| (flags, true));
        self.rest = rest;
        if writes {
            self.read_until("\n");
        }
        if flags.contains('e') {
            self.commands.push(substituted_line(pattern, replacement));
        }
        Some(())
    }

    fn next_char(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.rest = rest.as_str();
        next
    }

    /// The pattern before the next delimiter, which means itself in `[...]`.
    fn read_pattern(&mut self, delimiter: char) -> Option<&'a str> {
        let (mut escaped, mut set) = (false, None);
        for (at, next) in self.rest.char_indices().take(MAX_PATTERN_LEN) {
            match set {
                // A bracket right after the start is one of the set.
                Some(start) if next == ']' && !self.rest[start..at].trim_start_matches('^').is_empty() => {
                    set = None;
                }
                Some(_) => {}
                None if next == delimiter && !escaped => return Some(self.take_part(at, next)),
                None if next == '[' && !escaped => set = Some(at + 1),
                None => escaped = next == '\\' && !escaped,
            }
        }
        self.read_part(delimiter)
    }

    /// What stands before the next delimiter.
    fn read_part(&mut self, delimiter: char) -> Option<&'a str> {
        let mut escaped = false;
        for (at, next) in self.rest.char_indices() {
            if next == delimiter && !escaped {
                return Some(self.take_part(at, next));
            }
            escaped = next == '\\' && !escaped;
        }
        None
    }

    fn take_part(&mut self, at: usize, delimiter: char) -> &'a str {
        let part = &self.rest[..at];
        self.rest = &self.rest[at + delimiter.len_utf8()..];
        part
    }

    /// What stands before any of these, which is passed over too.
    fn read_until(&mut self, ends: &str) -> &'a str {
        let at = self.rest.find(|next| ends.contains(next)).unwrap_or(self.rest.len());
        let (before, after) = self.rest.split_at(at);
        self.rest = after.get(1..).unwrap_or_default();
        before
    }
}

/// A line of the input, which no one has seen.
fn unknown_line() -> String {
    text::unknown("a line")
}

/// What a line becomes: the replacement, with the rest of the line around it unless the pattern takes all of it.
fn substituted_line(pattern: &str, replacement: &str) -> String {
    let mut code = String::new();
    if !pattern.starts_with(['^']) && !pattern.starts_with(".*") {
        code.push_str(&unknown_line());
    }
    let mut rest = replacement.chars();
    while let Some(next) = rest.next() {
        match next {
            '&' => code.push_str(&unknown_line()),
            '\\' => match rest.next() {
                Some(digit) if digit.is_ascii_digit() => code.push_str(&unknown_line()),
                Some('n') => code.push('\n'),
                other => code.extend(other),
            },
            _ => code.push(next),
        }
    }
    if !pattern.ends_with('$') && !pattern.ends_with(".*") {
        code.push_str(&unknown_line());
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
            let found: Vec<String> =
                commands_in_sed(script).iter().map(|code| text::for_display(code)).collect();
            assert_eq!(found.join(" "), expected, "{script}");
        }
    }
}
