//! Patterns of paths as people know them from ignore files.
//!
//! `*` and `?` stay inside one name, `**` is any number of folders, a folder means everything in it, and a pattern
//! without a slash means a name at any depth.

/// Whether a path, relative and with slashes, is meant by a pattern.
pub fn is_meant(path: &str, pattern: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    let is_anywhere = !pattern.trim_end_matches('/').contains('/');
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if pattern.is_empty() {
        return false;
    }
    let starts = if is_anywhere { path.len() } else { 1 };
    (0..starts).any(|start| begins_with(&path[start..], &pattern))
}

/// Whether the path, or a folder that it is in, is what the pattern says.
fn begins_with(path: &[&str], pattern: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return true };
    if *first == "**" {
        // What is in a folder, not the folder itself.
        return !path.is_empty()
            && (rest.is_empty() || (0..path.len()).any(|start| begins_with(&path[start..], rest)));
    }
    path.split_first().is_some_and(|(name, below)| is_name(name, first) && begins_with(below, rest))
}

/// Whether one name is what a pattern says, by going back to the last star only.
fn is_name(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) = (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut wanted) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(wanted) {
            Some('*') => {
                wanted += 1;
                star = Some((wanted, at));
            }
            Some(char) if *char == '?' || *char == name[at] => {
                at += 1;
                wanted += 1;
            }
            Some(_) | None => {
                let Some((after, from)) = &mut star else { return false };
                *from += 1;
                (wanted, at) = (*after, *from);
            }
        }
    }
    pattern[wanted..].iter().all(|char| *char == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, meant: &[&str], others: &[&str]) {
        for path in meant {
            assert!(is_meant(path, pattern), "{path} by {pattern}");
        }
        for path in others {
            assert!(!is_meant(path, pattern), "{path} by {pattern}");
        }
    }

    #[test]
    fn names_count_at_any_depth_and_paths_from_the_top() {
        check("AGENTS.md", &["AGENTS.md", "a/b/AGENTS.md"], &["AGENTS.mdx", "agents.md", "xAGENTS.md"]);
        check("*.md", &["a.md", ".md", "d/a.md"], &["a.mdx", "md"]);
        check("docs/a.md", &["docs/a.md"], &["x/docs/a.md", "docs/a.md.b", "docs"]);
        check("./docs/a.md", &["docs/a.md"], &["a.md"]);
        check("/a.md", &["a.md"], &["docs/a.md"]);
    }

    #[test]
    fn a_folder_means_what_is_in_it() {
        check("docs", &["docs/a", "docs/b/c", "x/docs/a"], &["docsx/a"]);
        check("docs/", &["docs/a", "docs/b/c"], &["docsx/a"]);
        check("a/docs/", &["a/docs/b"], &["docs/b", "x/a/docs/b"]);
        check("docs/**", &["docs/a", "docs/b/c"], &["docs", "x/docs/a"]);
        check("**/docs/*.md", &["docs/a.md", "x/y/docs/a.md"], &["docs/b/a.md"]);
        check("a/**/b", &["a/b", "a/x/b", "a/x/y/b/c"], &["a/x"]);
        check("**", &["a", "a/b"], &[]);
    }

    #[test]
    fn a_star_stays_inside_a_name() {
        check("a*b*c", &["abc", "axbxc", "abbcc"], &["ab", "axc", "abcd"]);
        check("a/*", &["a/b", "a/b/c"], &["b/a"]);
        check("?.rs", &["a.rs"], &["ab.rs", ".rs"]);
        check("", &[], &["a"]);
        check("/", &[], &["a"]);
        check(&"*a".repeat(40), &[], &[&"a".repeat(39), &"b".repeat(400)]);
    }
}
