//! Patterns for the places of files, as in `.gitignore`: `*`, `?`, `**`, `{a,b}`, and a name without a slash anywhere.

mod pairs;

use pairs::Pairs;

/// So many patterns may come out of the braces of one.
const MAX_ALTERNATIVES: usize = 256;

/// A pattern for the places of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    alternatives: Vec<Alternative>,
}

/// One of the patterns that the braces stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Alternative {
    /// The parts of the path.
    parts: Vec<String>,
    wanted: Pairs,
}

/// A path, for a caller that asks many patterns about it.
pub(crate) struct AskedPath<'a> {
    names: Vec<&'a str>,
    pairs: Pairs,
}

impl<'a> AskedPath<'a> {
    /// A path that is relative, with slashes.
    pub(crate) fn new(path: &'a str) -> Self {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        Self { pairs: Pairs::of_names(&names), names }
    }
}

impl Glob {
    /// Reads a pattern. Every text is one.
    pub fn new(pattern: &str) -> Self {
        let mut alternatives = vec![String::new()];
        expand(pattern, &mut alternatives);
        let read = |text: &String| {
            let parts = parts(text);
            Alternative { wanted: Pairs::wanted_by(&parts), parts }
        };
        Self { alternatives: alternatives.iter().map(read).collect() }
    }

    /// Whether a path, relative and with slashes, is meant. What lies below a folder that is meant is meant, too.
    pub fn matches(&self, path: &str) -> bool {
        self.means(&AskedPath::new(path))
    }

    /// The same, of a path that many patterns are asked about.
    pub(crate) fn means(&self, path: &AskedPath<'_>) -> bool {
        let is_meant = |it: &Alternative| path.pairs.has(&it.wanted) && is_path(&it.parts, &path.names);
        self.alternatives.iter().any(is_meant)
    }
}

/// A pattern as parts; without a slash inside, it may stand anywhere.
fn parts(text: &str) -> Vec<String> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_anchored = text.trim_end_matches('/').contains('/');
    let anywhere = (!is_anchored).then(|| "**".to_owned());
    let parts = text.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
    anywhere.into_iter().chain(parts).collect()
}

/// Appends a text to all alternatives; braces multiply them.
fn expand(text: &str, alternatives: &mut Vec<String>) {
    let Some((before, inside, after)) = braces(text) else {
        append(alternatives, text);
        return;
    };
    append(alternatives, before);
    let mut all = Vec::new();
    for choice in choices(inside) {
        let mut copies = alternatives.clone();
        expand(choice, &mut copies);
        all.append(&mut copies);
        all.truncate(MAX_ALTERNATIVES);
    }
    *alternatives = all;
    expand(after, alternatives);
}

fn append(alternatives: &mut [String], text: &str) {
    for one in alternatives {
        one.push_str(text);
    }
}

/// The first pair of braces, with what stands before, inside and after it.
fn braces(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find('{')?;
    let mut depth = 0_usize;
    for (at, letter) in text[open..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..open], &text[open + 1..open + at], &text[open + at + 1..]));
        }
    }
    None
}

/// The parts between the commas that are in no further braces.
fn choices(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0_usize, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[from..]);
    all
}

fn is_path(parts: &[String], names: &[&str]) -> bool {
    match parts {
        // A name that may stand anywhere, as most patterns are.
        [any, part] if any == "**" && part != "**" => names.iter().any(|name| is_name(part, name)),
        [first, ..] if first != "**" && !names.first().is_some_and(|name| is_name(first, name)) => false,
        _ => is_long_path(parts, names),
    }
}

fn is_long_path(parts: &[String], names: &[&str]) -> bool {
    // Which parts can come next, after the names so far: no pattern takes more than parts times names.
    let mut next = vec![false; parts.len() + 1];
    next[0] = true;
    for name in names {
        if next[parts.len()] {
            return true;
        }
        let mut after = vec![false; parts.len() + 1];
        for (at, part) in parts.iter().enumerate() {
            if part == "**" {
                next[at + 1] |= next[at];
                after[at] |= next[at];
                // At the end it means whatever is inside.
                after[at + 1] |= next[at] && at + 1 == parts.len();
            } else if next[at] && is_name(part, name) {
                after[at + 1] = true;
            }
        }
        next = after;
    }
    next[parts.len()]
}

/// Whether one name of a path is meant by one part of a pattern.
fn is_name(part: &str, name: &str) -> bool {
    let (part, bytes) = (part.as_bytes(), name.as_bytes());
    // How long the letter is that begins here.
    let letter = |to: usize| name[to..].chars().next().map_or(1, char::len_utf8);
    let (mut at, mut to, mut star) = (0, 0, None);
    while to < bytes.len() {
        match part.get(at) {
            Some(b'*') => {
                star = Some((at, to));
                at += 1;
            }
            Some(b'?') => (at, to) = (at + 1, to + letter(to)),
            Some(byte) if *byte == bytes[to] => (at, to) = (at + 1, to + 1),
            _ => {
                // The last star takes a letter more.
                let Some((from, taken)) = star else { return false };
                let taken = taken + letter(taken);
                star = Some((from, taken));
                (at, to) = (from + 1, taken);
            }
        }
    }
    part[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let glob = Glob::new(pattern);
        for path in matching {
            assert!(glob.matches(path), "{pattern}: {path}");
        }
        for path in others {
            assert!(!glob.matches(path), "{pattern}: {path}");
        }
    }

    #[test]
    fn names_match_anywhere_and_paths_from_the_top() {
        check("conftest.py", &["conftest.py", "a/b/conftest.py"], &["conftest.pyc", "my_conftest.py"]);
        check("test_*.py", &["test_.py", "a/test_x.py"], &["a/xtest_x.py", "test_x.py2"]);
        check(".cargo/config.toml", &[".cargo/config.toml"], &["a/.cargo/config.toml", "config.toml"]);
        check(
            "**/.cargo/config.toml",
            &[".cargo/config.toml", "a/b/.cargo/config.toml"],
            &["cargo/config.toml"],
        );
        check("src/**/*.snap", &["src/a.snap", "src/a/b/c.snap"], &["a.snap", "src/a.snap2"]);
        check("a?c", &["abc", "x/aéc"], &["ac", "abbc"]);
    }

    #[test]
    fn what_lies_below_a_folder_is_meant_too() {
        check("tests/", &["tests/a.py", "x/tests/b/c.txt"], &["test/a.py"]);
        check("spec/**", &["spec/a", "spec/a/b"], &["spec", "xspec/a"]);
        check(".github/workflows", &[".github/workflows/ci.yml"], &[".github/dependabot.yml"]);
    }

    #[test]
    fn braces_are_alternatives() {
        check("*.{test,spec}.{js,ts}", &["a.test.js", "x/a.spec.ts"], &["a.test.py", "a.js"]);
        check("a{b,c{d,e}}f", &["abf", "acdf", "acef"], &["af", "acf"]);
        check("a{b", &["a{b"], &["ab"]);
        check("}{", &["}{"], &[]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_and_stars_mean_everything(pattern in "[a{},*?/.]{0,40}", path in "[a/.é]{1,40}") {
            let _ = Glob::new(&pattern).matches(&path);
            prop_assert!(Glob::new("**").matches(&path) || path.chars().all(|c| c == '/' || c == '.'));
        }
    }

    proptest! {
        /// What is looked at first refuses nothing that a closer look finds.
        #[test]
        fn no_path_is_refused_too_early(pattern in "[ab{},*?/.]{0,20}", path in "[ab/.*?é]{1,20}") {
            let (glob, asked) = (Glob::new(&pattern), AskedPath::new(&path));
            let closely = glob.alternatives.iter().any(|it| is_path(&it.parts, &asked.names));
            prop_assert_eq!(glob.means(&asked), closely);
        }
    }

    #[test]
    fn most_paths_need_no_closer_look() {
        let asked = AskedPath::new("folder-12/file-7");
        for pattern in ["conftest.py", "tests/", "*.snap", "**/golden/**", "*.test.ts"] {
            let glob = Glob::new(pattern);
            assert!(!glob.alternatives.iter().any(|it| asked.pairs.has(&it.wanted)), "{pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = format!("{}b", "*a".repeat(200));
        assert!(!Glob::new(&pattern).matches(&"a".repeat(2_000)));
        let deep = format!("{}x", "**/a/".repeat(100));
        assert!(!Glob::new(&deep).matches(&"a/".repeat(2_000)));
        assert!(Glob::new(&"{a,b}".repeat(30)).matches(&"a".repeat(30)));
    }
}
