//! The walls as they are, and the reader that sees them.

use std::collections::BTreeSet;

use super::{
    Crate, between, circles, crates,
    modules::{Files, graph},
    paths::named,
};
use crate::cargo::root;

/// What each crate may know of the others.
const KNOWS: [(&str, &[&str]); 8] = [
    (
        "ralph",
        &[
            "ralph-agents",
            "ralph-board",
            "ralph-checks",
            "ralph-core",
            "ralph-guard",
            "ralph-sandbox",
            "ralph-sys",
        ],
    ),
    ("ralph-agents", &[]),
    ("ralph-board", &["ralph-core", "ralph-sys"]),
    ("ralph-checks", &[]),
    ("ralph-core", &["ralph-agents", "ralph-checks", "ralph-guard"]),
    ("ralph-guard", &[]),
    ("ralph-sandbox", &["ralph-agents", "ralph-core", "ralph-sys"]),
    ("ralph-sys", &[]),
];

/// Values in, values out.
const PURE: [&str; 4] = ["ralph-agents", "ralph-checks", "ralph-core", "ralph-guard"];

/// What pure crates may depend on: nothing that touches the world, except the clock of `jiff`, which clippy refuses.
const PURE_DEPENDENCIES: [&str; 9] =
    ["aho-corasick", "jiff", "memchr", "schemars", "serde", "serde_json", "sha2", "shell-words", "strsim"];

fn all() -> Vec<Crate> {
    let crates = crates().expect("the crates");
    assert!(KNOWS.len() <= crates.len(), "{crates:?}");
    crates
}

#[test]
fn nothing_goes_in_circles() {
    let crates = all();
    let modules: usize = crates.iter().map(|it| it.modules.nodes().count()).sum();
    assert!(80 < modules, "the sources were not read: {crates:#?}");
    assert_eq!(circles(&crates), [""; 0]);
}

#[test]
fn crates_know_those_below_them() {
    let crates = all();
    let graph = between(&crates);
    let found: Vec<(&str, Vec<&str>)> = graph.nodes().map(|node| (node, graph.of(node).collect())).collect();
    assert_eq!(found, KNOWS.map(|(name, knows)| (name, knows.to_vec())));
}

#[test]
fn pure_crates_are_fenced() {
    let crates = all();
    let folder = |it: &Crate| root().join("crates").join(it.name.trim_start_matches("ralph-"));
    let fence = |it: &Crate| fs_err::read_to_string(folder(it).join("clippy.toml")).expect("a fence");
    let fences: BTreeSet<String> = crates.iter().filter(|it| PURE.contains(&&*it.name)).map(fence).collect();
    assert_eq!(fences.len(), 1, "the fences differ");
    for it in crates.iter().filter(|it| PURE.contains(&&*it.name)) {
        let root = fs_err::read_to_string(folder(it).join("src/lib.rs")).expect("a root");
        assert!(root.contains("\n#![forbid(unsafe_code)]\n"), "{}", it.name);
        for dependency in &it.dependencies {
            let is_pure = PURE.contains(&&**dependency) || PURE_DEPENDENCIES.contains(&&**dependency);
            assert!(is_pure, "{} depends on {dependency}", it.name);
        }
    }
}

/// Threads that block on one thing each are simpler; the client of the board needs a runtime, and nothing else does.
#[test]
fn only_the_board_is_asynchronous() {
    for it in all().iter().filter(|it| it.name != "ralph-board") {
        for runtime in ["async-nats", "futures-util", "tokio"] {
            assert!(!it.dependencies.iter().any(|name| name == runtime), "{} depends on {runtime}", it.name);
        }
    }
}

/// The paths of a source, each with what an import calls it.
#[track_caller]
fn check_paths(source: &str, expected: &[&str]) {
    let found: Vec<String> = named(source)
        .paths
        .into_iter()
        .map(|path| {
            let alias = path.alias.map(|alias| format!(" as {alias}")).unwrap_or_default();
            format!("{}{alias}", path.parts.join("::"))
        })
        .collect();
    assert_eq!(found, expected, "{source}");
}

#[test]
fn imports_are_read_however_they_nest() {
    check_paths("use crate::a;", &["crate::a"]);
    check_paths(
        "use crate::{\n    a::{self, B, c::{D as E, f}},\n    g,\n};",
        &["crate::a", "crate::a::B", "crate::a::c::D as E", "crate::a::c::f", "crate::g"],
    );
    check_paths("pub(crate) use super::a::*;", &["super::a::*"]);
    check_paths("use {std::io, crate::a};", &["std::io", "crate::a"]);
    check_paths("use crate :: { a :: b , };", &["crate::a::b"]);
}

#[test]
fn paths_in_code_are_read() {
    check_paths(
        "fn f(x: crate::a::B<crate::c::D>) -> &'static super::E {}",
        &["crate::a::B", "crate::c::D", "super::E"],
    );
    check_paths("let x = crate::a::b::<u8>(1).c::<u8>();", &["crate::a::b"]);
    check_paths("x.map(crate::a::b)", &["crate::a::b"]);
    check_paths(
        "let c = 'x'; let d = '\\''; crate::a::b(\"crate::c::d\", r#\"\"crate::e::f\"#)",
        &["crate::a::b"],
    );
    check_paths("// crate::a::b\n/* crate::c /* crate::d::e */ */ crate::f::g", &["crate::f::g"]);
}

#[test]
fn tests_do_not_count() {
    for source in [
        "#[cfg(test)]\nmod tests {\n    use crate::a;\n    fn f() { crate::b::c() }\n}",
        "#[cfg(test)]\n#[expect(dead_code)]\nuse crate::a;",
        "#[cfg(all(test, unix))]\nfn f(x: [u8; 3]) { crate::a::b() }",
        "#[cfg(test)]\nconst X: [u8; 3] = crate::a::B;",
    ] {
        check_paths(&format!("{source}\nuse crate::z;"), &["crate::z"]);
    }
    check_paths("#[cfg(not(test))]\nuse crate::a;", &["crate::a"]);
    assert_eq!(named("#[cfg(test)]\nmod tests;\nmod other;").for_tests, ["tests"]);
}

/// The edges of a crate whose files have this in them.
#[track_caller]
fn check_graph(files: &[(&str, &str)], expected: &[&str]) {
    let read = |(module, source): &(&str, &str)| {
        (module.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect(), named(source))
    };
    let graph = graph("root", &files.iter().map(read).collect::<Files>());
    let edges: Vec<String> =
        graph.nodes().flat_map(|from| graph.of(from).map(move |to| format!("{from} {to}"))).collect();
    assert_eq!(edges, expected);
}

#[test]
fn files_belong_to_the_module_at_the_top() {
    let b = ("b", "");
    check_graph(&[("a/x/y", "use crate::b::C;"), b], &["a b"]);
    check_graph(&[("a", "use super::b;"), b], &["a b"]);
    check_graph(&[("a/x", "use super::super::b;"), b], &["a b"]);
    check_graph(&[("a/x", "use super::y; fn f() { super::z(); crate::a::w() }"), b], &[]);
    check_graph(&[("a", "mod inner { use super::x; use super::super::b; }"), b], &["a b"]);
    check_graph(&[("a", "#[cfg(test)]\nmod tests;"), ("a/tests", "use crate::b;"), b], &[]);
    check_graph(&[("a", "#[cfg(test)]\nmod tests;"), ("a/tests/more", "use crate::b;"), b], &[]);
}

#[test]
fn the_root_is_a_module_that_passes_things_on() {
    let (a, b) = (("a", "use crate::B;"), ("b", ""));
    check_graph(&[("", "mod a; mod b; pub use b::B;"), a, b], &["a b", "root b"]);
    check_graph(&[("", "mod a; mod b; pub use crate::b::C as B;"), a, b], &["a b", "root b"]);
    check_graph(&[("", "mod a; mod b; struct B(b::C);"), a, b], &["a root", "root b"]);
    check_graph(&[("", "use a::X; struct B;"), a], &["a root", "root a"]);
}

#[test]
fn circles_are_found_with_what_closes_them() {
    let read = |source: &str| named(source);
    let files: Files = [
        (vec!["a".to_owned()], read("use crate::b::X;")),
        (vec!["b".to_owned(), "deep".to_owned()], read("use crate::{c};")),
        (vec!["c".to_owned()], read("fn f() { crate::a::g() }")),
        (vec!["d".to_owned()], read("use crate::a;")),
    ]
    .into();
    let expected =
        ["a -> b: a names crate::b::X", "b -> c: b::deep names crate::c", "c -> a: c names crate::a::g"];
    assert_eq!(graph("root", &files).circles(), expected);
}
