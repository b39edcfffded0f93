//! Names that mean one thing: no two public types of one name in a crate, and limits that say what they limit.

use std::{collections::BTreeMap, fs, path::Path};

use super::{is_test, sources, without_tests};

/// Words for a limit that do not say whether it is a size, a time or a count.
const VAGUE: [&str; 11] = [
    "MOST", "LONGEST", "LARGEST", "SHORTEST", "DEEPEST", "FEWEST", "ENOUGH", "PATIENCE", "PAUSE", "GRACE",
    "NAP",
];

/// The public types of a file: what stands behind `pub`, however far it reaches.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    without_tests(text).lines().filter_map(|line| {
        let (visibility, rest) = line.trim_start().split_once(' ')?;
        let is_public = visibility == "pub" || visibility.starts_with("pub(");
        let (kind, rest) = rest.split_once(' ').filter(|_| is_public)?;
        let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_').next()?;
        ["struct", "enum", "trait", "type"].contains(&kind).then_some(name)
    })
}

/// The constants of a file with their types.
fn constants(text: &str) -> impl Iterator<Item = (&str, &str)> {
    without_tests(text).lines().filter_map(|line| {
        let declared = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        let declared = declared.trim_start_matches("pub ");
        let rest = declared.strip_prefix("const ").or_else(|| declared.strip_prefix("static "))?;
        let (name, rest) = rest.split_once(':')?;
        let kind = rest.split(['=', ';']).next()?.trim();
        name.chars()
            .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
            .then_some((name, kind))
    })
}

/// Whether a constant says what it limits: `MAX_…`, `…_TIMEOUT`, `…_INTERVAL`.
fn says_what_it_limits(name: &str, kind: &str) -> bool {
    let is_named = name.starts_with("MAX_") || name.starts_with("MIN_");
    let is_timed = is_named || name.ends_with("_TIMEOUT") || name.ends_with("_INTERVAL");
    name.split('_').all(|word| !VAGUE.contains(&word)) && (kind != "Duration" || is_timed)
}

#[test]
fn every_name_means_one_thing() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    let mut wrong = Vec::new();
    for one in fs::read_dir(crates).expect("the crates") {
        let one = one.expect("a crate").path();
        let mut files = Vec::new();
        sources(&one.join("src"), &mut files);
        files.sort();
        let mut types = BTreeMap::<String, Vec<String>>::new();
        for file in files.iter().filter(|file| !is_test(&file.display().to_string())) {
            let (text, name) = (fs::read_to_string(file).expect("a source file"), file.display().to_string());
            for found in public_types(&text) {
                types.entry(found.to_owned()).or_default().push(name.clone());
            }
            let vague = constants(&text).filter(|(constant, kind)| !says_what_it_limits(constant, kind));
            wrong.extend(vague.map(|(constant, kind)| format!("{name}: {constant}: {kind}")));
        }
        let twice = types.into_iter().filter(|(_, files)| 1 < files.len());
        wrong.extend(twice.map(|(found, files)| format!("{found}: {}", files.join(", "))));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn types_and_constants_are_found() {
    let text = "pub struct A<'a> {\npub(crate) enum B {\n    pub(super) trait C: D {\nstruct E;\npub fn f() {\npub type G = H;";
    assert_eq!(public_types(text).collect::<Vec<_>>(), ["A", "B", "C", "G"]);
    let text = "const A: u8 = 1;\n    pub(crate) static B_2: Duration = x;\nlet c: u8 = 1;\npub const D: &str = \"x\";";
    assert_eq!(constants(text).collect::<Vec<_>>(), [("A", "u8"), ("B_2", "Duration"), ("D", "&str")]);
    for (name, kind, good) in [
        ("MAX_LINE_LEN", "usize", true),
        ("MOST", "usize", false),
        ("LONGEST_LINE", "usize", false),
        ("LOCK_TIMEOUT", "Duration", true),
        ("POLL_INTERVAL", "Duration", true),
        ("MAX_SLEEP", "Duration", true),
        ("TICK", "Duration", false),
        ("SNAPSHOT", "&str", true),
    ] {
        assert_eq!(says_what_it_limits(name, kind), good, "{name}: {kind}");
    }
}
