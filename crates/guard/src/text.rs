//! Text that is only partly known: what a command line says once its variables and substitutions are filled in.
//!
//! A part that cannot be known stands between two marks, with where it comes from: `build/‹$name›`.

const BEGIN: char = '\u{e000}';
const END: char = '\u{e001}';

/// A part that is not known, with where it comes from.
pub(crate) fn unknown(source: &str) -> String {
    format!("{BEGIN}{}{END}", source.replace([BEGIN, END], ""))
}

/// Without characters that would pass for marks.
pub(crate) fn without_marks(text: &str) -> String {
    text.replace([BEGIN, END], "\u{fffd}")
}

/// Whether every part is known.
pub(crate) fn is_known(text: &str) -> bool {
    !text.contains(BEGIN)
}

/// Whether it begins with an unknown part.
pub(crate) fn starts_unknown(text: &str) -> bool {
    text.starts_with(BEGIN)
}

/// Where the unknown parts come from.
pub(crate) fn sources(text: &str) -> impl Iterator<Item = &str> {
    text.split(BEGIN).skip(1).map(|rest| rest.split(END).next().unwrap_or_default())
}

/// The text with its unknown parts in brackets, for people.
pub(crate) fn for_display(text: &str) -> String {
    text.replace(BEGIN, "‹").replace(END, "›")
}

/// The known text before the first unknown part.
pub(crate) fn known_start(text: &str) -> &str {
    text.split(BEGIN).next().unwrap_or_default()
}

/// The text without its unknown parts.
pub(crate) fn known_parts(text: &str) -> String {
    let mut parts = known_start(text).to_owned();
    for rest in text.split(BEGIN).skip(1) {
        parts.push_str(rest.split_once(END).map_or("", |(_, after)| after));
    }
    parts
}

/// Splits at white space (or the given separators) that is known; unknown parts stay whole.
pub(crate) fn split<'a>(text: &'a str, separators: &str) -> Vec<&'a str> {
    let (mut pieces, mut start, mut is_inside) = (Vec::new(), None, false);
    for (at, next) in text.char_indices() {
        is_inside = (is_inside || next == BEGIN) && next != END;
        if !is_inside && separators.contains(next) {
            pieces.extend(start.take().map(|start: usize| &text[start..at]));
        } else if start.is_none() {
            start = Some(at);
        }
    }
    pieces.extend(start.map(|start| &text[start..]));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parts_are_kept_apart() {
        let text = format!("a/{} b", unknown("$x y"));
        assert!(!is_known(&text));
        assert_eq!(sources(&text).collect::<Vec<_>>(), ["$x y"]);
        assert_eq!(for_display(&text), "a/‹$x y› b");
        assert_eq!(split(&text, " ").len(), 2);
        assert_eq!(known_start(&text), "a/");
        assert_eq!(known_parts(&text), "a/ b");
        assert!(is_known(&without_marks(&text)));
    }
}
