//! Tests among the code: the new code with the tests that stood in it before.

use super::{Language, Unit, rust, source::Source};

/// A module of tests in a source of Rust: where what is between its brackets begins and ends.
struct Module<'a> {
    name: &'a str,
    tokens: (usize, usize),
    text: (usize, usize),
}

/// The new text with the tests of the old one, where they were changed and not only added to.
///
/// ```
/// use ralph_checks::test_files::inline::with_old_tests;
///
/// let old = "fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(super::f(), 1); }\n}\n";
/// let new = old.replace("{ 1 }", "{ 2 }").replace("f(), 1", "f(), 2");
/// assert_eq!(with_old_tests(old, &new), Some(old.replace("{ 1 }", "{ 2 }")));
/// ```
pub fn with_old_tests(old: &str, new: &str) -> Option<String> {
    let syntax = Language::Rust.syntax();
    let (old_source, new_source) = (Source::new(old, syntax), Source::new(new, syntax));
    let new_modules = modules(&new_source, new);
    let mut text = new.to_owned();
    let mut is_changed = false;
    // From the end, so that what is replaced moves nothing that is still to be replaced.
    for module in new_modules.iter().rev() {
        let before = modules(&old_source, old).into_iter().find(|it| it.name == module.name);
        let Some(before) = before else { continue };
        if is_only_longer((&old_source, &before), (&new_source, module)) {
            continue;
        }
        text.replace_range(module.text.0..module.text.1, &old[before.text.0..before.text.1]);
        is_changed = true;
    }
    is_changed.then_some(text)
}

/// Whether every function of a module is in the other one, to the letter.
fn is_only_longer(old: (&Source<'_>, &Module<'_>), new: (&Source<'_>, &Module<'_>)) -> bool {
    let kept = functions(new);
    functions(old).iter().all(|function| kept.contains(function))
}

fn functions<'a>((source, module): (&Source<'a>, &Module<'_>)) -> Vec<Vec<&'a str>> {
    let (from, to) = module.tokens;
    let is_inside = |unit: &Unit| from < unit.to && unit.to < to;
    let units = rust::units(source).into_iter().filter(is_inside);
    // The attributes of the module are taken for those of its first function.
    let tokens = |unit: Unit| &source.tokens[unit.from.max(from + 1)..=unit.to];
    let words = |unit: Unit| tokens(unit).iter().map(|token| token.text).collect();
    units.map(words).collect()
}

/// The modules below `#[cfg(test)]`.
fn modules<'a>(source: &Source<'a>, text: &str) -> Vec<Module<'a>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let is_test =
            ["#", "[", "cfg", "(", "test", ")", "]"].iter().zip(at..).all(|(sign, at)| source.is(at, sign));
        if !is_test {
            at += 1;
            continue;
        }
        at += 7;
        while source.is(at, "#") && source.is(at + 1, "[") {
            at = source.closing(at + 1) + 1;
        }
        if source.word(at) != "mod" || !source.is(at + 2, "{") {
            continue;
        }
        let (open, close) = (at + 2, source.closing(at + 2));
        let (Some(from), Some(to)) = (place(source, open, text), place(source, close, text)) else {
            continue;
        };
        found.push(Module { name: source.word(at + 1), tokens: (open, close), text: (from + 1, to) });
        at = close;
    }
    found
}

/// Where in the text a token stands.
fn place(source: &Source<'_>, at: usize, text: &str) -> Option<usize> {
    let token = source.tokens.get(at)?.text;
    (token.as_ptr() as usize).checked_sub(text.as_ptr() as usize).filter(|place| *place < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "pub fn f() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn t() {\n        \
                        assert_eq!(f(), 1); // }\n    }\n}\n\npub fn g() {}\n";

    #[track_caller]
    fn check(new: &str, expected: Option<&str>) {
        assert_eq!(with_old_tests(CODE, new).as_deref(), expected, "{new}");
    }

    #[test]
    fn changed_tests_are_as_they_were_and_the_code_is_new() {
        let broken = CODE.replace("{ 1 }", "{ 2 }");
        for (old, new) in [
            ("f(), 1", "f(), 2"),
            ("assert_eq!(f(), 1)", "assert!(f() < 9)"),
            ("    #[test]\n", "    #[test]\n    #[should_panic]\n"),
            ("        assert_eq", "        return;\n        assert_eq"),
            ("fn t()", "fn renamed()"),
        ] {
            check(&broken.replace(old, new), Some(&broken));
        }
    }

    #[test]
    fn what_is_only_added_stays() {
        check(CODE, None);
        check(&CODE.replace("{ 1 }", "{ 2 }"), None);
        check(
            &CODE
                .replace("    use super::*;\n", "    use super::*;\n\n    #[test]\n    fn more() { f(); }\n"),
            None,
        );
        let bare = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(f(), 1); }\n}\n";
        assert_eq!(with_old_tests(bare, &bare.replace("f(), 1", "f(), 2")).as_deref(), Some(bare));
        // Tests that are elsewhere now.
        check("pub fn f() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests;\n", None);
        check("#[cfg(test)]\nmod other { #[test] fn t() {} }\n", None);
        check("#[cfg(test)]\nmod tests {", None);
    }
}
