//! The branch that a run works on: its name from a template, and when a new one is made.

/// The template where the settings name none.
pub const USUAL: &str = "ralph/{name}";

/// So many characters a name is made of.
const MAX_NAME_CHARS: usize = 48;

/// What a template is filled with.
#[derive(Clone, Copy, Debug)]
pub struct BranchValues<'a> {
    /// What is asked for, in a line.
    pub task: &'a str,
    /// The issue that asks for it.
    pub issue: Option<u64>,
    /// The kind of loop.
    pub preset: &'a str,
    /// Today: `2026-11-18`.
    pub date: &'a str,
}

/// What is done about the branch before the first turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchStep {
    /// The user is on a branch of their own.
    Stay,
    /// One is made of what is checked out.
    Make(String),
}

/// What is done about the branch, with what is checked out and the branches that must not be worked on.
pub fn step(current: Option<&str>, kept: &[&str], wanted: String) -> BranchStep {
    match current {
        Some(current) if !is_kept(current, kept) => BranchStep::Stay,
        Some(_) | None => BranchStep::Make(wanted),
    }
}

/// Whether a branch is one that others build on.
pub fn is_kept(branch: &str, kept: &[&str]) -> bool {
    ["main", "master"].contains(&branch) || kept.contains(&branch)
}

/// The name by a template.
pub fn named(template: &str, values: &BranchValues<'_>) -> Result<String, String> {
    let issue = values.issue.map(|issue| issue.to_string()).unwrap_or_default();
    let slug = slug(values.task);
    let name =
        [issue.as_str(), slug.as_str()].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("-");
    let name = if name.is_empty() { values.preset.to_owned() } else { name };
    let (mut filled, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, after)) = after.split_once('}') else {
            return Err(format!("`{template}`: a `}}` is missing"));
        };
        filled.push_str(before);
        filled.push_str(match key {
            "name" => &name,
            "issue" => &issue,
            "preset" => values.preset,
            "date" => values.date,
            _ => {
                return Err(format!(
                    "`{template}`: there is no {{{key}}}; use {{name}}, {{issue}}, {{preset}} or {{date}}"
                ));
            }
        });
        rest = after;
    }
    filled.push_str(rest);
    // What a run without an issue leaves behind.
    let filled = filled.trim_matches(['/', '-', '.']).replace("/-", "/").replace("-/", "/");
    if is_name(&filled) {
        Ok(filled)
    } else {
        Err(format!("`{template}` makes `{filled}`, which cannot be the name of a branch"))
    }
}

/// The first name that is free: this one, or with a number behind it.
pub fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u32..1000).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !is_taken(name))
        .unwrap_or_else(|| name.to_owned())
}

/// Words as a part of a name.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for char in text.chars() {
        if char.is_ascii_alphanumeric() {
            slug.push(char.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    if let Some((end, _)) = slug.char_indices().nth(MAX_NAME_CHARS) {
        // Whole words, where there are any.
        let end = slug[..end].rfind('-').filter(|at| 8 < *at).unwrap_or(end);
        slug.truncate(end);
    }
    slug.trim_matches('-').to_owned()
}

/// Whether git takes it for the name of a branch, and nothing takes it for an option.
pub fn is_name(name: &str) -> bool {
    let is_bad = |char: char| char.is_control() || char.is_whitespace() || "~^:?*[\\".contains(char);
    let is_good = |part: &str| {
        let is_lock = part.to_ascii_lowercase().ends_with(".lock");
        !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.') && !is_lock
    };
    name != "HEAD"
        && name != "@"
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(is_bad)
        && name.split('/').all(is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: BranchValues<'static> =
        BranchValues { task: "Accept ISO weeks!", issue: None, preset: "run", date: "2026-11-18" };

    #[test]
    fn names_come_from_a_template() {
        #[track_caller]
        fn check(template: &str, values: &BranchValues<'_>, expected: &str) {
            assert_eq!(named(template, values).as_deref(), Ok(expected));
        }
        let issue = BranchValues { issue: Some(12), ..VALUES };
        check(USUAL, &VALUES, "ralph/accept-iso-weeks");
        check(USUAL, &issue, "ralph/12-accept-iso-weeks");
        check("{preset}/{issue}/{date}", &issue, "run/12/2026-11-18");
        check("work/{issue}-{name}", &VALUES, "work/accept-iso-weeks");
        check("fixed", &VALUES, "fixed");
        check(USUAL, &BranchValues { task: "../../etc; rm -rf ~ $(x)", ..VALUES }, "ralph/etc-rm-rf-x");
        check(USUAL, &BranchValues { task: "漢字", ..VALUES }, "ralph/run");
        let long = BranchValues { task: &"a long task ".repeat(20), ..VALUES };
        check(USUAL, &long, "ralph/a-long-task-a-long-task-a-long-task-a-long-task");
        check("{name}", &BranchValues { task: &"x".repeat(90), ..VALUES }, &"x".repeat(48));
    }

    #[test]
    fn a_wrong_template_is_named() {
        #[track_caller]
        fn check(template: &str, expected: &str) {
            let error = named(template, &VALUES).expect_err(template);
            assert!(error.contains(expected), "{error}");
        }
        check("ralph/{title}", "there is no {title}");
        check("ralph/{name", "is missing");
        check("a b", "cannot be the name");
        check("a..b", "cannot be the name");
        check("HEAD", "cannot be the name");
        check("", "cannot be the name");
        check("a/b.lock", "cannot be the name");
    }

    #[test]
    fn no_one_works_on_what_others_build_on() {
        #[track_caller]
        fn check(current: Option<&str>, kept: &[&str], stays: bool) {
            let expected = if stays { BranchStep::Stay } else { BranchStep::Make("new".to_owned()) };
            assert_eq!(step(current, kept, "new".to_owned()), expected, "{current:?} {kept:?}");
        }
        check(Some("main"), &[], false);
        check(Some("master"), &[], false);
        check(Some("develop"), &["develop"], false);
        check(Some("develop"), &["trunk"], true);
        check(Some("ralph/x"), &["main"], true);
        check(None, &[], false);
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        assert_eq!(free("a", |_| false), "a");
        assert_eq!(free("a", |name| ["a", "a-2"].contains(&name)), "a-3");
    }

    #[test]
    fn a_long_name_ends_with_a_whole_word_unless_little_is_left() {
        let long = "x".repeat(MAX_NAME_CHARS);
        assert_eq!(slug(&format!("123456789 {long}")), "123456789");
        let cut: String = format!("12345678-{long}").chars().take(MAX_NAME_CHARS).collect();
        assert_eq!(slug(&format!("12345678 {long}")), cut);
    }
}
