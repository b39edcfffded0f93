//! What a file for continuous integration runs, without the versions of what it uses.
//!
//! Robots change versions every week. What is judged by is what runs, and under which conditions.

/// The lines that judge: without comments, empty lines, and the versions of actions, hooks and images.
pub fn judging_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| without_version(without_comment(line))).filter(|line| !line.is_empty()).collect()
}

/// A comment begins a line, or follows a blank.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') {
        return "";
    }
    // In quotes it may be a part of a command.
    match line.find(" #") {
        Some(at) if !line[..at].contains(['"', '\'']) => line[..at].trim_end(),
        Some(_) | None => line,
    }
}

/// `uses: actions/checkout@v4`, `rev: v1.2`, `image: node:20` name what is used; the version judges nothing.
fn without_version(line: &str) -> String {
    let plain = line.trim_start_matches("- ");
    let Some((key, value)) = plain.split_once(": ") else { return line.to_owned() };
    let value = value.trim_matches(['"', '\'', ' ']);
    let name = match key {
        "uses" => value.split('@').next().unwrap_or_default(),
        "rev" => "",
        "image" => value.rsplit_once(':').map_or(value, |(name, _)| name),
        _ => return line.to_owned(),
    };
    format!("{key}: {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, is_same: bool) {
        assert_eq!(judging_lines(old) == judging_lines(new), is_same, "{old:?} {new:?}");
    }

    #[test]
    fn versions_and_comments_judge_nothing() {
        check("- uses: actions/checkout@v3\n", "- uses: actions/checkout@1a2b3c # v4\n", true);
        check("  rev: v1.0\n", "  rev: v1.1\n\n", true);
        check("image: node:18\n", "# newer\nimage: \"node:20\"\n", true);
        check("uses: a/b@v1\n", "uses: a/c@v1\n", false);
    }

    #[test]
    fn what_runs_and_when_does() {
        check("- run: npm test\n", "- run: npm test || true\n", false);
        check("- run: npm test\n", "", false);
        check("on: push\n", "on: workflow_dispatch\n", false);
        check("- run: echo ' # no comment'\n", "- run: echo '\n", false);
        check("continue-on-error: false\n", "continue-on-error: true\n", false);
    }
}
