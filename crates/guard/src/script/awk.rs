//! Programs of `awk`: the commands that they open pipes to or from.

/// A stretch of a program.
#[derive(Debug)]
enum Piece {
    Text(String),
    Code(String),
}

/// The commands in `"..." | getline`, `print | "..."` and their like with `|&`.
pub(crate) fn commands_in_awk(code: &str) -> Vec<String> {
    let pieces = split_texts(code);
    let mut commands = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let before = at.checked_sub(1).and_then(|before| pieces.get(before));
        let is_written = matches!(before, Some(Piece::Code(code)) if ends_with_pipe(code));
        let is_read = matches!(pieces.get(at + 1), Some(Piece::Code(code)) if is_getline(code));
        if is_written || is_read {
            commands.push(text.clone());
        }
    }
    commands
}

fn ends_with_pipe(code: &str) -> bool {
    let code = code.trim_end();
    let code = code.strip_suffix('&').filter(|code| code.ends_with('|')).unwrap_or(code);
    code.ends_with('|') && !code.ends_with("||")
}

fn is_getline(code: &str) -> bool {
    let rest = code.trim_start_matches([' ', '\t', ')']).strip_prefix('|');
    rest.is_some_and(|rest| rest.trim_start_matches('&').trim_start().starts_with("getline"))
}

/// Texts and what stands between them. Texts with nothing between them are one.
fn split_texts(code: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = code.chars();
    let mut between = String::new();
    while let Some(next) = rest.next() {
        if next != '"' {
            between.push(next);
            continue;
        }
        let mut text = String::new();
        while let Some(inner) = rest.next().filter(|inner| *inner != '"') {
            let plain = if inner == '\\' { rest.next() } else { Some(inner) };
            text.extend(plain);
        }
        match pieces.last_mut() {
            Some(Piece::Text(before)) if between.trim().is_empty() => before.push_str(&text),
            _ => {
                pieces.push(Piece::Code(std::mem::take(&mut between)));
                pieces.push(Piece::Text(text));
            }
        }
        between.clear();
    }
    pieces.push(Piece::Code(between));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_are_told_from_other_bars() {
        for (code, expected) in [
            ("{print | \"sort\"}", "sort"),
            ("{print $1, \"x\" |& \"sort -u\"}", "sort -u"),
            ("BEGIN{\"date\" | getline d}", "date"),
            ("(\"ls \" \"-l\") | getline", "ls -l"),
            ("$1 == \"a\" || \"b\" {print \"|\" \"c\"}", ""),
        ] {
            assert_eq!(commands_in_awk(code).join(","), expected, "{code}");
        }
    }
}
