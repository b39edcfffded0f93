//! How each language writes comments and strings, as data for the lexer.

/// Where comments and strings begin and end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syntax {
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// The longest opening quote first.
    pub(super) quotes: &'static [Quote],
    /// Comments nest, `'a` is a lifetime and `'a'` a character, and `r#"..."#` is a string.
    pub(super) is_rust: bool,
    /// A slash can begin a regular expression.
    pub(super) has_regexes: bool,
    pub(super) heredoc: Heredoc,
}

/// A kind of string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) escape: Escape,
    /// It may go over several lines.
    pub(super) is_multiline: bool,
    /// What begins code inside the string, with the brackets that end it.
    pub(super) code: Option<(&'static str, u8, u8)>,
}

/// How a closing quote is written inside a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    Backslash,
    Doubled,
    None,
}

/// Strings that go up to a line with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heredoc {
    None,
    /// `<<EOF`, `<<-'EOF'`, `<<~EOF`
    Shell,
    /// `<<<EOF`
    Php,
}

const fn quote(open: &'static str) -> Quote {
    Quote { open, close: open, escape: Escape::Backslash, is_multiline: false, code: None }
}

const fn multiline(open: &'static str) -> Quote {
    Quote { open, close: open, escape: Escape::Backslash, is_multiline: true, code: None }
}

const NOTHING: Syntax = Syntax {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &[quote("\""), quote("'")],
    is_rust: false,
    has_regexes: false,
    heredoc: Heredoc::None,
};

pub(super) const PYTHON: Syntax = Syntax {
    line_comments: &["#"],
    block_comment: None,
    quotes: &[multiline("\"\"\""), multiline("'''"), quote("\""), quote("'")],
    ..NOTHING
};

pub(super) const JAVASCRIPT: Syntax = Syntax {
    quotes: &[
        Quote {
            open: "`",
            close: "`",
            escape: Escape::Backslash,
            is_multiline: true,
            code: Some(("${", b'{', b'}')),
        },
        quote("\""),
        quote("'"),
    ],
    has_regexes: true,
    ..NOTHING
};

pub(super) const RUST: Syntax = Syntax { quotes: &[multiline("\"")], is_rust: true, ..NOTHING };

pub(super) const GO: Syntax = Syntax {
    quotes: &[
        Quote { open: "`", close: "`", escape: Escape::None, is_multiline: true, code: None },
        quote("\""),
        quote("'"),
    ],
    ..NOTHING
};

pub(super) const JAVA: Syntax = Syntax { quotes: &[multiline("\"\"\""), quote("\""), quote("'")], ..NOTHING };

pub(super) const CSHARP: Syntax = Syntax {
    quotes: &[
        Quote { open: "\"\"\"", close: "\"\"\"", escape: Escape::None, is_multiline: true, code: None },
        Quote { open: "$@\"", close: "\"", escape: Escape::Doubled, is_multiline: true, code: None },
        Quote { open: "@$\"", close: "\"", escape: Escape::Doubled, is_multiline: true, code: None },
        Quote { open: "@\"", close: "\"", escape: Escape::Doubled, is_multiline: true, code: None },
        Quote {
            open: "$\"",
            close: "\"",
            escape: Escape::Backslash,
            is_multiline: false,
            code: Some(("{", b'{', b'}')),
        },
        quote("\""),
        quote("'"),
    ],
    ..NOTHING
};

pub(super) const PHP: Syntax = Syntax {
    line_comments: &["//", "#"],
    quotes: &[multiline("\""), multiline("'")],
    heredoc: Heredoc::Php,
    ..NOTHING
};

pub(super) const RUBY: Syntax = Syntax {
    line_comments: &["#"],
    block_comment: Some(("=begin", "=end")),
    quotes: &[
        Quote {
            open: "\"",
            close: "\"",
            escape: Escape::Backslash,
            is_multiline: true,
            code: Some(("#{", b'{', b'}')),
        },
        multiline("'"),
        quote("`"),
    ],
    has_regexes: true,
    heredoc: Heredoc::Shell,
    ..NOTHING
};

pub(super) const SHELL: Syntax = Syntax {
    line_comments: &["#"],
    block_comment: None,
    quotes: &[
        Quote {
            open: "\"",
            close: "\"",
            escape: Escape::Backslash,
            is_multiline: true,
            code: Some(("$(", b'(', b')')),
        },
        Quote { open: "'", close: "'", escape: Escape::None, is_multiline: true, code: None },
    ],
    heredoc: Heredoc::Shell,
    ..NOTHING
};

/// C and what looks like it.
pub(super) const C: Syntax = NOTHING;
