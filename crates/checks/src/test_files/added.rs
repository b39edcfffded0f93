//! Whether a test file only became longer: everything that it said is still there, in the same order.

/// Whether nothing but lines came, apart from what is imported.
pub fn only_adds(old: &str, new: &str) -> bool {
    let lines = |text: &'_ str| -> Vec<String> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !is_import(line))
            .map(str::to_owned)
            .collect()
    };
    let new = lines(new);
    let mut rest = new.iter();
    lines(old).iter().all(|line| rest.any(|other| other == line))
}

/// Whether a line only names what a file uses; new tests need more of it.
fn is_import(line: &str) -> bool {
    ["import ", "from ", "use ", "#include "].iter().any(|word| line.starts_with(word))
        || line.contains("require(") && ["const ", "let ", "var "].iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_is_there_in_the_same_order() {
        let old = "import a\n\ndef test_a():\n    assert a.f(1) == 1\n";
        for (new, expected) in [
            (
                "import a, b\n\ndef test_a():\n    assert a.f(1) == 1\n\ndef test_b():\n    assert b.g()\n",
                true,
            ),
            ("import a\ndef test_0():\n    assert 1\n\ndef test_a():\n    assert a.f(1) == 1\n", true),
            ("import a\n\ndef test_a():\n    assert a.f(1) == 2\n", false),
            ("import a\n\ndef test_b():\n    assert a.f(1) == 1\n", false),
            ("import a\n    assert a.f(1) == 1\ndef test_a():\n", false),
            ("", false),
        ] {
            assert_eq!(only_adds(old, new), expected, "{new}");
        }
        assert!(only_adds("const a = require('a')\nt(a)\n", "const { a } = require('./a')\nt(a)\nt(b)\n"));
        assert!(!only_adds("const want = 3\nt(want)\n", "const want = 4\nt(want)\n"));
    }
}
