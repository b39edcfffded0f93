//! The reader: what it makes of shell text, and that nothing stalls or breaks it.

use super::{MAX_NESTING, MAX_NODES, ParseError, StageKind, WordPart, parse};

/// The words of the only simple command, with their quotes taken off.
fn words(text: &str) -> Vec<String> {
    let list = parse(text, 0).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    match &list[0].stages[0].kind {
        StageKind::Simple(simple) => {
            simple.words.iter().map(|word| word.as_literal().unwrap_or_else(|| "…".to_owned())).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn quotes_are_taken_off() {
    assert_eq!(words(r#"r\m "-r"'f' $'/\x68ome' a\ b"#), ["rm", "-rf", "/home", "a b"]);
    assert_eq!(words("echo a#b # c"), ["echo", "a#b"]);
    assert_eq!(words("echo \\\n  next"), ["echo", "next"]);
    assert_eq!(words("echo $'\\u0041\\101\\n'"), ["echo", "AA\n"]);
    assert_eq!(words("cat <(sort a) x"), ["cat", "…", "x"]);
    assert_eq!(words("ls @(a|b)*.rs"), ["ls", "@(a|b)*.rs"]);
}

#[test]
fn a_shell_would_read_these() {
    for text in [
        "",
        "# only a comment",
        "a; b & c && d || e",
        "a | b |& c",
        "! a",
        "time -p a",
        "{ a; }",
        "(a; b)",
        "((1 + 1))",
        "if a; then b; elif c; then d; else e; fi",
        "while a; do b; done",
        "until a\ndo\nb\ndone",
        "for x in a b; do c; done",
        "for x; do c; done",
        "for ((i=0; i<3; i++)); do c; done",
        "select x in a b; do break; done",
        "case $x in a|b) c;; (d) ;; *) e; esac",
        "f() { a; }; f",
        "function f { a; }",
        "function f() (a)",
        "[[ -f a && ( b == c* || $d =~ ^(x|y)$ ) ]]",
        "a=1 b+=2 c[1]=3 d=(1 2\n3) e",
        "declare -a x=(1 2)",
        "a >b 2>&1 <c >>d &>e 3<>f >|g {fd}>h <&- ",
        "cat <<A <<-'B'\nx $(y)\nA\n\tz\n\tB\necho",
        "a <<< \"b $c\"",
        "echo \"a $(b \"c $(d)\") `e \\`f\\`` ${g:-\"h\"} ${#i} ${!j} ${k[@]} ${l//x/y} $((1+$(m)))\"",
        "echo ${a:-${b:-c}} ${d%%.*} ${e:1:2} ${f^^} ${g@Q}",
        "coproc x { a; }",
        "echo $(case x in a) b;; esac)",
        "a &\nb &",
        "echo {a,b}{1..3}",
        "x=$(cat <<E\nhi\nE\n)",
        "if [ -f a ]; then :; fi >out 2>&1",
        "a && \\\n b",
        "echo $[1+1]",
        "echo a;",
        "while read -r x; do echo \"$x\"; done < <(ls)",
        "echo \"$\"",
        "echo $",
        "echo }",
        "echo { a",
    ] {
        assert!(parse(text, 0).is_ok(), "{text}: {:?}", parse(text, 0));
    }
}

#[test]
fn a_shell_would_refuse_these() {
    for text in [
        "'",
        "\"",
        "`",
        "$(",
        "${a",
        "(",
        "a (b)",
        ")",
        "{ a",
        "if a; then b",
        "for x in a; b; done",
        "case x in a) b",
        "a ||",
        "| a",
        "a | | b",
        "f() ;",
        "while a; done",
        "fi",
        ";; a",
        "a >",
        "[[ a",
        "x=(1 2",
        "echo \"$(ls\"",
    ] {
        assert!(matches!(parse(text, 0), Err(ParseError::Syntax(_))), "{text}: {:?}", parse(text, 0));
    }
}

#[test]
fn here_documents_count_as_words_do() {
    let line = "a <<E\nx\nE\n";
    assert!(parse(&line.repeat(MAX_NODES / 3), 0).is_ok());
    assert_eq!(parse(&line.repeat(MAX_NODES / 3 + 1), 0).err(), Some(ParseError::TooMuch));
}

#[test]
fn here_documents_belong_to_their_commands() {
    let list = parse("cat <<'A'; sh <<B\nrm $x\nA\n$y\nB\n", 0).expect("shell");
    let bodies: Vec<&super::Word> =
        list.iter().map(|pipeline| pipeline.stages[0].redirects[0].body.get().expect("a body")).collect();
    assert_eq!(bodies[0].as_literal().as_deref(), Some("rm $x\n"));
    assert!(matches!(bodies[1].parts[0], WordPart::Parameter(_)));
}

#[test]
fn a_line_may_end_anywhere() {
    let line = "a <<E\\ 2>&1 \"$(b ${c:-\\d} `e\\` $((1+2)) $'\\x41' \\\n f)\" {g}>h <<-'I'\n\ti\n[[ j ]] && k[1]=(l)";
    for length in 0..=line.len() {
        let _ = parse(&line[..length], 0);
    }
}

#[test]
fn nothing_nests_too_deep() {
    let pairs = [
        ("$(", ")"),
        ("\"$(", ")\""),
        ("(", ")"),
        ("( ", " )"),
        ("{ ", "; }"),
        ("$((", "))"),
        ("((", "))"),
        ("${a:-", "}"),
        ("\"${a:-", "}\""),
        ("<(", ")"),
        ("if a; then ", "; fi"),
        ("while a; do ", "; done"),
        ("case a in b) ", ";; esac"),
        ("f() { ", "; }"),
        ("for x in y; do ", "; done"),
        ("a=(", ")"),
        ("[[ ", " ]]"),
        ("@(", ")"),
        ("$[", "]"),
        ("`", "`"),
        ("{a,", "}"),
        ("! ", ""),
        ("time ", ""),
        ("coproc ", ""),
        ("cat <<A\n$(", ")\nA\n"),
    ];
    for (open, close) in pairs {
        for count in [2, MAX_NESTING - 2, MAX_NESTING * 2, 10_000] {
            // Closed, not closed, and only closed: none may recurse without end or take long.
            for text in [
                format!("{}x{}", open.repeat(count), close.repeat(count)),
                format!("echo {}x{}", open.repeat(count), close.repeat(count)),
                open.repeat(count),
                close.repeat(count),
            ] {
                let _ = parse(&text[..text.len().min(65_536)], 0);
            }
        }
    }
    assert!(matches!(parse(&"$(".repeat(60), 0), Err(ParseError::TooDeep)));
    assert!(matches!(
        parse(&format!("{}x{}", "$((".repeat(60), "))".repeat(60)), 0),
        Err(ParseError::TooDeep)
    ));
}
