//! What may become part of ralph, as `deny.toml` has it: licences, sources, and names that are refused.
//!
//! `cargo deny` reads the same file, and the texts of licences too, but is built for two minutes. It runs where advisories are looked up
//! (`cargo xtask ci --platforms`); this takes a second.

use std::{collections::BTreeSet, process::Stdio};

use anyhow::{Context, Result, ensure};

use crate::{
    cargo::{cargo, root},
    dist::TARGETS,
};

/// A crate that is compiled for some target, as `cargo tree` prints it.
#[derive(Debug, PartialEq, Eq)]
struct Crate {
    name: String,
    /// Nothing where it comes from crates.io; a folder, or an address.
    source: Option<String>,
    licence: String,
}

/// What the file allows.
struct Rules {
    licences: BTreeSet<String>,
    refused: BTreeSet<String>,
}

/// Fails with everything that may not be there.
pub(super) fn check() -> Result<()> {
    let rules = Rules::read(&fs_err::read_to_string(root().join("deny.toml"))?)?;
    let mut tree = cargo();
    tree.args([
        "tree",
        "--workspace",
        "--locked",
        "--edges=normal,build,dev",
        "--prefix=none",
        "--format={p}|{l}",
    ]);
    tree.args(TARGETS.map(|target| format!("--target={}", target.triple))).stderr(Stdio::inherit());
    let output = tree.output().context("cannot start cargo")?;
    ensure!(output.status.success(), "`cargo tree` ended with {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut problems: Vec<String> =
        text.lines().filter_map(Crate::read).filter_map(|it| rules.problem(&it)).collect();
    problems.sort();
    problems.dedup();
    ensure!(problems.is_empty(), "deny.toml refuses:\n{}", problems.join("\n"));
    Ok(())
}

impl Crate {
    /// `name v1.2.3 (where from)|licence (*)`; nothing in an empty line.
    fn read(line: &str) -> Option<Self> {
        let (package, licence) = line.split_once('|')?;
        let mut words = package.splitn(3, ' ');
        let (name, _version) = (words.next()?, words.next()?);
        let source = words.next().filter(|words| *words != "(proc-macro)");
        let licence = licence.trim_end_matches(" (*)").to_owned();
        Some(Self { name: name.to_owned(), source: source.map(str::to_owned), licence })
    }

    /// Whether it is of this repository.
    fn is_own(&self) -> bool {
        let source = self.source.as_deref().unwrap_or_default();
        source.replace("(proc-macro) ", "").starts_with(&format!("({}", root().display()))
    }
}

impl Rules {
    fn read(text: &str) -> Result<Self> {
        let section = |name: &str| {
            let after = text.split_once(&format!("[{name}]\n")).map(|(_, after)| after);
            let after = after.with_context(|| format!("deny.toml has no [{name}]"))?;
            Ok::<_, anyhow::Error>(after.split("\n[").next().unwrap_or_default())
        };
        let allowed = section("licenses")?.lines().find_map(|line| line.strip_prefix("allow = ["));
        let quoted = |text: &str| text.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let refused = section("bans")?.lines().filter_map(|line| line.trim().strip_prefix("{ name = \""));
        let rules = Self {
            licences: quoted(allowed.context("deny.toml allows no licence")?),
            refused: refused.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect(),
        };
        ensure!(!rules.licences.is_empty() && !rules.refused.is_empty(), "deny.toml cannot be read");
        Ok(rules)
    }

    fn problem(&self, it: &Crate) -> Option<String> {
        let Crate { name, source, licence } = it;
        if self.refused.contains(name) {
            return Some(format!("  {name}: deny.toml says why"));
        }
        if it.is_own() {
            return None;
        }
        if let Some(source) = source {
            return Some(format!("  {name}: comes from {source}"));
        }
        (!self.allows(licence)).then(|| format!("  {name}: its licence is `{licence}`"))
    }

    /// Whether one of the alternatives is allowed. `OR` binds less than `AND`.
    fn allows(&self, expression: &str) -> bool {
        let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = &words[..];
        self.either(&mut rest) && rest.is_empty()
    }

    fn either(&self, words: &mut &[&str]) -> bool {
        let mut is_allowed = self.all_of(words);
        while let ["OR", rest @ ..] = *words {
            *words = rest;
            // Both sides are read, whatever the first one is.
            is_allowed |= self.all_of(words);
        }
        is_allowed
    }

    fn all_of(&self, words: &mut &[&str]) -> bool {
        let mut is_allowed = self.one(words);
        while let ["AND", rest @ ..] = *words {
            *words = rest;
            is_allowed &= self.one(words);
        }
        is_allowed
    }

    fn one(&self, words: &mut &[&str]) -> bool {
        match *words {
            ["(", rest @ ..] => {
                *words = rest;
                let is_allowed = self.either(words);
                let [")", rest @ ..] = *words else { return false };
                *words = rest;
                is_allowed
            }
            [licence, "WITH", exception, rest @ ..] => {
                *words = rest;
                self.licences.contains(&format!("{licence} WITH {exception}"))
            }
            [licence, rest @ ..] => {
                *words = rest;
                self.licences.contains(*licence)
            }
            [] => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules::read("[licenses]\nallow = [\"MIT\", \"Unicode-3.0\"]\n\n[bans]\ndeny = [\n    { name = \"git2\", reason = \"C\" },\n]\n")
            .expect("rules")
    }

    #[test]
    fn one_of_the_alternatives_must_be_allowed() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("GPL-3.0 AND MIT", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("(MIT OR GPL-3.0) AND GPL-3.0", false),
            ("MIT WITH exception", false),
            ("GPL-3.0 WITH exception OR MIT", true),
            ("GPL-3.0 OR MIT AND GPL-3.0", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
        ] {
            assert_eq!(rules().allows(expression), expected, "{expression}");
        }
    }

    #[test]
    fn names_sources_and_licences_are_refused() {
        let own = format!("xtask v0.0.0 ({}/xtask)|", root().display());
        for (line, is_refused) in [
            ("serde v1.0.0|MIT", false),
            ("serde_derive v1.0.0 (proc-macro)|MIT (*)", false),
            (&own, false),
            ("serde v1.0.0|", true),
            ("serde v1.0.0|GPL-3.0", true),
            ("serde v1.0.0 (https://example.org/serde#0123)|MIT", true),
            ("git2 v1.0.0|MIT", true),
        ] {
            let it = Crate::read(line).expect("a crate");
            assert_eq!(rules().problem(&it).is_some(), is_refused, "{line}");
        }
        assert_eq!(Crate::read(""), None);
    }

    #[test]
    fn the_file_of_the_project_can_be_read_and_is_kept_to() {
        check().expect("nothing is refused");
    }
}
