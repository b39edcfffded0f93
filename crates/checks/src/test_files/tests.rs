//! Tables of small files, and properties of all of them.

use proptest::prelude::*;

use super::{
    Language, Marker, TestFile,
    compare::{Comparison, Versions, Worse, compare},
    read, work,
};

/// One line for each test: its name, how often it asserts, and what is special.
fn describe(file: &TestFile) -> Vec<String> {
    let describe = |test: &super::Test| {
        let mut words = vec![format!("{}: {}", test.id, test.assertions)];
        words.extend((test.trivial > 0).then(|| format!("trivial {}", test.trivial)));
        words.extend((test.cases > 1).then(|| format!("cases {}", test.cases)));
        words.extend(test.markers.iter().map(|marker| format!("{marker:?}")));
        words.join(" ")
    };
    file.tests.iter().map(describe).collect()
}

#[track_caller]
fn check(language: Language, text: &str, expected: &[&str]) {
    assert_eq!(describe(&read(language, text)), expected, "{text}");
}

mod languages;
mod versions;

#[test]
fn languages_are_told_by_the_ending() {
    let cases = [
        ("tests/test_a.py", Language::Python),
        ("a.test.tsx", Language::JavaScript),
        ("src/lib.rs", Language::Rust),
        ("a_test.go", Language::Go),
        ("src/test/java/ATest.java", Language::Java),
        ("ATest.kt", Language::Java),
        ("spec/a_spec.rb", Language::Ruby),
        ("tests/ATest.php", Language::Php),
        ("ATests.cs", Language::CSharp),
        ("test/a.bats", Language::Shell),
        ("tests/run", Language::Shell),
        ("tests/a.c", Language::Other),
    ];
    for (path, language) in cases {
        assert_eq!(Language::of(path), language, "{path}");
    }
}

const ALL: [Language; 10] = [
    Language::Python,
    Language::JavaScript,
    Language::Rust,
    Language::Go,
    Language::Java,
    Language::Ruby,
    Language::Php,
    Language::CSharp,
    Language::Shell,
    Language::Other,
];

/// What files are made of, as far as the readers care.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "def test_a():\n",
        "class TestA:\n",
        "    assert x == 1\n",
        "@pytest.mark.skip\n",
        "it(\"a\", () => {",
        "});\n",
        "describe(",
        "expect(a).toBe(b);",
        "#[test]\n",
        "fn a() {\n",
        "assert_eq!(1, 2);",
        "func TestA(t *testing.T) {\n",
        "t.Fatal(\"x\")\n",
        "}\n",
        "@Test void a() {",
        "\"",
        "'",
        "`",
        "\\",
        "/*",
        "*/",
        "//",
        "#",
        "\n",
        "    ",
        "<<EOF\n",
        "EOF\n",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "${",
        "#{",
        "/",
        "it \"a\" do\n",
        "end\n",
        "r#\"",
        "\"\"\"",
        "é",
        "=begin\n",
        "=end\n",
        "$(",
    ])
}

proptest! {
    #[test]
    fn any_text_can_be_read(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        for language in ALL {
            read(language, &text);
        }
    }

    #[test]
    fn any_characters_can_be_read(text in "\\PC{0,120}") {
        for language in ALL {
            read(language, &text);
        }
    }

    #[test]
    fn a_file_compared_with_itself_is_not_worse(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        for path in ["tests/test_a.py", "a.test.js", "tests/a.rs", "a_test.go", "ATest.java", "a_spec.rb", "ATest.php", "a.bats"] {
            let comparison = compare(&[Versions { path, old: Some(&text), new: Some(&text) }]);
            prop_assert_eq!(comparison, Comparison::default());
        }
    }

    #[test]
    fn what_is_added_is_never_worse(
        before in prop::collection::vec(0_u32..6, 1..8), after in prop::collection::vec(6_u32..12, 0..8),
    ) {
        let test = |n: &u32| format!("def test_{n}():\n    value = run({n}, \"{n}\")\n    assert value == {n}\n\n\n");
        let old: String = before.iter().collect::<std::collections::BTreeSet<_>>().into_iter().map(test).collect();
        let added: String = after.iter().collect::<std::collections::BTreeSet<_>>().into_iter().map(test).collect();
        let new = format!("{added}{old}");
        let comparison = compare(&[Versions { path: "test_a.py", old: Some(&old), new: Some(&new) }]);
        prop_assert!(comparison.worse.is_empty(), "{:?}", comparison);
    }

    #[test]
    fn a_test_that_is_deleted_is_missed(count in 1_usize..8, gone in 0_usize..8) {
        let gone = gone % count;
        let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
        let test = |n: usize| format!(
            "def test_{0}():\n    {0} = make_{0}({0}_input, {0}_mode)\n    assert {0}.{0}_value == {0}_expected\n\n\n", words[n]
        );
        let old: String = (0..count).map(test).collect();
        let new: String = (0..count).filter(|n| *n != gone).map(test).collect();
        let comparison = compare(&[Versions { path: "test_a.py", old: Some(&old), new: Some(&new) }]);
        let expected = Worse::Vanished { test: format!("test_{}", words[gone]) };
        let worse: Vec<_> = comparison.worse.into_values().flatten().collect();
        prop_assert_eq!(worse, vec![expected]);
    }
}

#[test]
fn time_grows_with_the_length() {
    // Openings without an end are what a careless reader looks for again and again.
    for opening in [
        "'\\",
        "\"\\",
        "/",
        "`",
        "(",
        "{",
        "[",
        "/*",
        "<<EOF ",
        "r#\"",
        "fn a ",
        "it(",
        "def test(\n",
        "assert (",
        "@a\n",
        "#[a\n",
    ] {
        let short = opening.repeat(800);
        let long = opening.repeat(3_200);
        for language in ALL {
            let steps = |text: &str| work::of(|| drop(read(language, text)));
            let (first, second) = (steps(&short), steps(&long));
            assert!(second < first * 6 + 1_000, "{language:?} {opening:?}: {first} steps, {second} steps");
        }
    }
}

#[test]
fn markers_are_serialized_by_name() {
    let name = serde_json::to_string(&Marker::ExpectedFailure).expect("a marker is text");
    assert_eq!(name, "\"expected-failure\"");
}
