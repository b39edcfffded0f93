//! What the lexer makes of the odd corners of each language.

use super::{
    super::syntax::{self, Syntax},
    Kind, tokens,
};

#[track_caller]
fn check(text: &str, syntax: &Syntax, expected: &[&str]) {
    let found: Vec<String> = tokens(text, syntax)
        .iter()
        .map(|token| match token.kind {
            Kind::Text => format!("<{}>", token.text),
            Kind::Word | Kind::Sign => token.text.to_owned(),
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn comments_are_gone_and_strings_are_whole() {
    check("a # b\nc", &syntax::PYTHON, &["a", "c"]);
    check("x = \"a # b\" # c", &syntax::PYTHON, &["x", "=", "<a # b>"]);
    check("\"\"\"a\n# 'b\"\"\" c", &syntax::PYTHON, &["<a\n# 'b>", "c"]);
    check("'a\\'b' c", &syntax::PYTHON, &["<a\\'b>", "c"]);
    check("don't\nstop", &syntax::JAVASCRIPT, &["don", "'", "t", "stop"]);
    check("`a ${b ? `c` : \"}\"} d` e", &syntax::JAVASCRIPT, &["<a ${b ? `c` : \"}\"} d>", "e"]);
    check("a /* b */ c // d", &syntax::JAVASCRIPT, &["a", "c"]);
    check("x = /[/'\"]/g; y", &syntax::JAVASCRIPT, &["x", "=", "<[/'\"]>", "g", ";", "y"]);
    check("a / b / c", &syntax::JAVASCRIPT, &["a", "/", "b", "/", "c"]);
    check("/* a /* b */ c */ d", &syntax::RUST, &["d"]);
    check("r#\"a \"b\" \\\"# c", &syntax::RUST, &["<a \"b\" \\>", "c"]);
    check(
        "&'a str, 'b', '\\'', 'é'",
        &syntax::RUST,
        &["&", "'", "a", "str", ",", "<b>", ",", "<\\'>", ",", "<é>"],
    );
    check("`a\\` b", &syntax::GO, &["<a\\>", "b"]);
    check("@\"a\"\"b\" c", &syntax::CSHARP, &["<a\"\"b>", "c"]);
    check("$\"a {f(\"b\")} c\" d", &syntax::CSHARP, &["<a {f(\"b\")} c>", "d"]);
    check("#[Test]\n# no\n", &syntax::PHP, &["#", "[", "Test", "]"]);
    check("\"a #{b[\"c\"]} d\" e", &syntax::RUBY, &["<a #{b[\"c\"]} d>", "e"]);
    check("x = <<~EOS\n  it \"a\" do\n  EOS\ny", &syntax::RUBY, &["x", "=", "<  it \"a\" do\n>", "y"]);
    check("cat <<'EOF' | sh\n# a '\nEOF\nb", &syntax::SHELL, &["cat", "|", "sh", "<# a '\n>", "b"]);
    check("echo $# a#b # c", &syntax::SHELL, &["echo", "$", "#", "a", "#", "b"]);
    check("x = <<<EOT\n a \"\n EOT;\ny", &syntax::PHP, &["x", "=", "< a \"\n>", ";", "y"]);
    check("list << value", &syntax::RUBY, &["list", "<", "<", "value"]);
}

#[test]
fn what_is_not_closed_does_not_swallow_the_next_line() {
    check("'a\nb", &syntax::JAVASCRIPT, &["'", "a", "b"]);
    check("\"a\nb", &syntax::PYTHON, &["\"", "a", "b"]);
    check("/* a\nb", &syntax::C, &[]);
    check("`a\nb", &syntax::JAVASCRIPT, &["<a\nb>"]);
}
