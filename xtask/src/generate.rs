//! `cargo xtask generate`: the files of the repository that ralph itself can write, and the parts of pages.
//!
//! A page has a part between `<!-- generate: WHAT -->` and `<!-- end -->`. The rest of it is written by people.

mod guard;
mod settings;

use std::{
    fmt::Write,
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    cargo::{build, root},
    say, walls,
};

/// On a line of its own, so that pages can also talk about it.
const BEGIN: &str = "\n<!-- generate: ";
const END: &str = "<!-- end -->";

/// What to do with a file that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stale {
    Write,
    Report,
}

/// Makes every generated file, and writes those that changed or only names them.
pub(crate) fn main(stale: Stale) -> Result<ExitCode> {
    let files = generated(&Ralph { program: build(&[])? })?;
    let mut names = Vec::new();
    for (path, text) in files {
        if fs_err::read_to_string(&path).is_ok_and(|present| present == text) {
            continue;
        }
        if stale == Stale::Write {
            fs_err::create_dir_all(path.parent().unwrap_or(root()))?;
            fs_err::write(&path, text)?;
        }
        names.push(format!("  {}\n", path.strip_prefix(root()).unwrap_or(&path).display()));
    }
    let code = match (names.is_empty(), stale) {
        (true, _) => {
            say("all generated files are up to date\n");
            ExitCode::SUCCESS
        }
        (false, Stale::Write) => {
            say(&format!("written:\n{}", names.concat()));
            ExitCode::SUCCESS
        }
        (false, Stale::Report) => {
            say(&format!("stale; type `cargo xtask generate`:\n{}", names.concat()));
            ExitCode::FAILURE
        }
    };
    Ok(code)
}

/// Every generated file with what must be in it.
fn generated(ralph: &Ralph) -> Result<Vec<(PathBuf, String)>> {
    let settings = ralph.prints(&["schema", "settings"])?;
    let schema: Value = serde_json::from_str(&settings)?;
    let mut files = vec![
        (root().join("schemas/settings.json"), settings),
        (root().join("schemas/tasks.json"), ralph.prints(&["schema", "tasks"])?),
        (root().join("schemas/event.json"), ralph.prints(&["schema", "event"])?),
        (root().join("schemas/fleet-event.json"), ralph.prints(&["schema", "fleet-event"])?),
        (root().join("schemas/guard.json"), ralph.prints(&["schema", "guard"])?),
        (root().join("schemas/receipt.json"), ralph.prints(&["schema", "receipt"])?),
        (root().join("schemas/policy.json"), ralph.prints(&["schema", "policy"])?),
    ];
    let mut tables = Vec::new();
    for path in pages()? {
        let name = path.display().to_string();
        let text = fs_err::read_to_string(&path)?;
        let filled = fill(&text, |what| match what.split_once(' ') {
            Some(("reference", "all")) => ralph.prints(&["man", "--markdown"]),
            Some(("settings", object)) => {
                tables.push(object.to_owned());
                settings::table(&schema, object)
            }
            Some(("guard", "rules")) => guard::rules(&ralph.prints(&["guard", "rules", "--json"])?),
            Some(("walls", "all")) => walls::drawing(),
            _ => bail!("there is nothing called `{what}` to generate"),
        });
        files.push((path, filled.context(name)?));
    }
    for object in settings::objects(&schema) {
        ensure!(tables.contains(&object), "no page has a table `<!-- generate: settings {object} -->`");
    }
    Ok(files)
}

/// Replaces the generated parts of a page.
fn fill(page: &str, mut part: impl FnMut(&str) -> Result<String>) -> Result<String> {
    let (mut filled, mut rest) = (String::new(), page);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (what, after) = after.split_once(" -->\n").context("a `<!-- generate: ` without ` -->`")?;
        let (_, after) = after.split_once(END).with_context(|| format!("`{what}` has no `{END}`"))?;
        write!(filled, "{before}{BEGIN}{what} -->\n{}{END}", part(what)?)?;
        rest = after;
    }
    Ok(filled + rest)
}

fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = vec![root().join("ARCHITECTURE.md")];
    for entry in fs_err::read_dir(root().join("docs"))? {
        let path = entry?.path();
        if path.extension() == Some("md".as_ref()) {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

/// The program that knows what it is.
struct Ralph {
    program: PathBuf,
}

impl Ralph {
    fn prints(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        // Help is as wide as the terminal, and this is none.
        command.args(args).current_dir(root()).env("COLUMNS", "100").env("NO_COLOR", "1");
        let output = command.output().context("cannot start ralph")?;
        ensure!(output.status.success(), "`ralph {}` ended with {}", args.join(" "), output.status);
        Ok(String::from_utf8(output.stdout)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = "# A\n<!-- generate: x -->\nold\n<!-- end -->\n`<!-- generate: y`\n<!-- generate: z -->\n<!-- end -->";
        let filled = fill(page, |what| Ok(format!("{what}!\n"))).expect("a good page");
        let expected = "# A\n<!-- generate: x -->\nx!\n<!-- end -->\n`<!-- generate: y`\n<!-- generate: z -->\nz!\n<!-- end -->";
        assert_eq!(filled, expected);
        assert_eq!(fill(&filled, |what| Ok(format!("{what}!\n"))).expect("a good page"), expected);
    }

    #[test]
    fn a_page_that_is_broken_is_refused() {
        for page in
            ["\n<!-- generate: x -->\n", "\n<!-- generate: x", "\n<!-- generate: x -->\n<!-- ende -->"]
        {
            assert!(fill(page, |_| Ok(String::new())).is_err(), "{page}");
        }
    }
}
