//! What a file for continuous integration runs, without the versions of what it uses.
//!
//! Robots change versions every week. What is judged by is what runs, and under which conditions.

/// The lines that judge: without comments, empty lines, the versions of actions, hooks, images and languages, and what a token
/// may do. A workflow that runs nothing which judges has none.
pub fn judging_lines(text: &str) -> Vec<String> {
    let lines: Vec<String> = without_permissions(text)
        .map(|line| without_version(without_comment(line)))
        .filter(|line| !line.is_empty())
        .collect();
    if is_idle_workflow(&lines) { Vec::new() } else { lines }
}

/// What the token of a workflow may do is a block of its own.
fn without_permissions(text: &str) -> impl Iterator<Item = &str> {
    let mut depth: Option<usize> = None;
    text.lines().filter(move |line| {
        let indent = line.len() - line.trim_start().len();
        if depth.is_some_and(|depth| line.trim().is_empty() || depth < indent) {
            return false;
        }
        let begins = line.trim_start().starts_with("permissions:");
        depth = begins.then_some(indent);
        !begins
    })
}

/// Whether a workflow of GitHub only labels, greets or publishes: it runs no command, and no action that tests or reads code.
fn is_idle_workflow(lines: &[String]) -> bool {
    let judges = |line: &String| {
        let plain = line.trim_start_matches("- ");
        match plain.strip_prefix("uses: ") {
            Some(action) => {
                let action = action.replace("checkout", "").to_lowercase();
                [
                    "test", "lint", "check", "cov", "scan", "audit", "analy", "codeql", "review", ".yml",
                    ".yaml",
                ]
                .iter()
                .any(|word| action.contains(word))
            }
            None => plain.starts_with("run:"),
        }
    };
    lines.iter().any(|line| line == "jobs:")
        && lines.iter().any(|line| line.trim_start_matches("- ").starts_with("uses: "))
        && !lines.iter().any(judges)
}

/// Whether a value is nothing but versions: `1.20.x`, `["3.11", 3.12]`, `stable`.
fn is_versions(value: &str) -> bool {
    let mut words = value.split([',', ' ', '[', ']', '"', '\'']).filter(|word| !word.is_empty()).peekable();
    let is_version = |word: &str| {
        let plain = word.trim_start_matches(['v', '^', '~', '>', '=', '<']);
        plain.starts_with(|letter: char| letter.is_ascii_digit())
            && plain.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter))
            && plain.contains('.')
    };
    words.peek().is_some() && words.all(|word| is_version(word) || word == "stable" || word == "oldstable")
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
    if line.starts_with("- ") && is_versions(plain) {
        return String::new();
    }
    let Some((key, value)) = plain.split_once(": ") else { return line.to_owned() };
    if is_versions(value) {
        return format!("{key}:");
    }
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
        check("go-version: [1.19, 1.20]\n", "go-version: ['1.19', 1.20.x, \"1.21\"]\n", true);
        check("python:\n  - 3.11\n", "python:\n  - 3.11\n  - \"3.12\"\n", true);
        check("timeout: 10\n", "timeout: 20\n", false);
        check("os: [linux, mac]\n", "os: [linux]\n", false);
    }

    #[test]
    fn what_runs_no_check_judges_nothing() {
        let labels = "on: issues\njobs:\n  a:\n    steps:\n    - uses: actions/labeler@v4\n";
        check(labels, &labels.replace("issues", "pull_request"), true);
        check(labels, &format!("{labels}    - run: make test\n"), false);
        let tests = labels.replace("actions/labeler", "golangci/golangci-lint-action");
        check(&tests, &tests.replace("issues", "pull_request"), false);
        let build = "jobs:\n  a:\n    steps:\n    - run: make test\n";
        check(build, &format!("permissions:\n  contents: read\n\n{build}"), true);
        check(build, &build.replace("  a:", "  a:\n    permissions: read-all"), true);
        check(build, &build.replace("  a:", "  a:\n    if: false"), false);
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
