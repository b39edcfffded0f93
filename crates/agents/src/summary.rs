//! Says in a few words what a long text is about.

/// How many characters a summary has at most.
pub(super) const MAX: usize = 160;

/// Returns the first line of a text that has something in it, cut to [`MAX`] characters.
pub(super) fn short(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
