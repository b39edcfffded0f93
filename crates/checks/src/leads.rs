//! What a command leads to: `make test` runs what `test` says in the `Makefile`, which runs `tests/run.sh`.
//!
//! Commands are read as people write them in recipes and scripts, not as a shell would run them: what is not understood leads
//! nowhere. The project's files are asked for one by one, so that a commit can be read as well as a folder.

mod command;
mod recipes;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, fmt};

use command::{Simple, first_word, simple_commands};
use recipes::{just_recipe, make_recipe, make_ways, package_scripts};

/// So deep commands lead to commands.
const MAX_DEPTH: usize = 8;

/// So many places are found at most.
const MAX_PLACES: usize = 500;

/// Programs that look at files and do not run them.
const LOOKING: [&str; 18] = [
    "[", "awk", "cat", "cksum", "cmp", "cp", "cut", "diff", "echo", "egrep", "fgrep", "grep", "head", "sed",
    "sort", "tail", "test", "wc",
];

/// Reads a file of the project: its contents as text, if there is such a file.
pub type Read<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A file, or a part of one, that a command leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Where the file is, below the project.
    pub file: String,
    /// The target or script in it; nothing for all of it.
    pub part: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            Some(part) => write!(f, "{}:{part}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// A command and the places on the way to one that leads no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// As it was given.
    pub command: String,
    /// Each leads to the next.
    pub places: Vec<Place>,
}

impl fmt::Display for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.command)?;
        self.places.iter().try_for_each(|place| write!(f, " → {place}"))
    }
}

/// All that a command leads to, in the order in which it comes to it.
pub fn leads(command: &str, read: &Read<'_>) -> Vec<Lead> {
    search(command, read).found
}

/// The programs that a command runs, as far as it and the places that it leads to name them.
///
/// ```
/// use ralph_checks::leads::programs;
///
/// let read = |path: &str| (path == "Makefile").then(|| "test:\n\tpython3 -m pytest\n".to_owned());
/// assert_eq!(Vec::from_iter(programs("CI=1 make test", &read)), ["make", "python3"]);
/// ```
pub fn programs(command: &str, read: &Read<'_>) -> BTreeSet<String> {
    let mut programs = search(command, read).programs;
    // One that only starts another is a program, too.
    programs.extend(first_word(command));
    programs
}

fn search<'a>(command: &'a str, read: &'a Read<'a>) -> Search<'a> {
    let mut search =
        Search { read, command, seen: BTreeSet::new(), found: Vec::new(), programs: BTreeSet::new() };
    search.follow(command, "", &[]);
    search
}

/// What a place says: the whole file, or the part with all that is needed to compare it.
pub fn text_of(place: &Place, contents: &str) -> Option<String> {
    let Some(part) = &place.part else { return Some(contents.to_owned()) };
    if place.file.ends_with("package.json") || place.file.ends_with("composer.json") {
        let scripts = package_scripts(contents, part);
        return (!scripts.is_empty()).then(|| scripts.join("\n"));
    }
    let (recipe, ways) = if is_justfile(&place.file) {
        (just_recipe(contents, part), Vec::new())
    } else {
        (make_recipe(contents, Some(part)), make_ways(contents))
    };
    recipe.map(|recipe| [recipe.needs, recipe.lines].concat().join("\n") + &ways.join("\n"))
}

fn is_justfile(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').eq_ignore_ascii_case("justfile"))
}

struct Search<'a> {
    read: &'a Read<'a>,
    command: &'a str,
    seen: BTreeSet<Place>,
    found: Vec<Lead>,
    programs: BTreeSet<String>,
}

impl Search<'_> {
    /// Follows each command of a script; returns whether any of them led somewhere.
    fn follow(&mut self, script: &str, folder: &str, way: &[Place]) -> bool {
        if MAX_DEPTH < way.len() {
            return false;
        }
        let (mut folder, mut led) = (folder.to_owned(), false);
        for simple in simple_commands(script) {
            if simple.program == "cd" {
                // Outside of the project nothing is the project's.
                let Some(inside) = simple.args.first().and_then(|to| below(&folder, to)) else { return led };
                folder = inside;
                continue;
            }
            if self.programs.len() < MAX_PLACES {
                self.programs.insert(simple.program.clone());
            }
            led |= self.step(&simple, &folder, way);
        }
        led
    }

    fn step(&mut self, simple: &Simple, folder: &str, way: &[Place]) -> bool {
        match simple.program.as_str() {
            "make" | "gmake" => self.make(&simple.args, folder, way),
            "just" => self.just(&simple.args, folder, way),
            "npm" | "pnpm" | "yarn" | "bun" | "composer" => self.script(simple, folder, way),
            _ => self.files(simple, folder, way),
        }
    }

    fn make(&mut self, args: &[String], folder: &str, way: &[Place]) -> bool {
        let option = |name: &str| {
            let at = args.iter().position(|arg| arg.starts_with(name))?;
            let glued = args[at].strip_prefix(name).filter(|rest| !rest.is_empty());
            glued.map(str::to_owned).or_else(|| args.get(at + 1).cloned())
        };
        let folder = option("-C").and_then(|to| below(folder, &to)).unwrap_or_else(|| folder.to_owned());
        let file = option("-f");
        let usual = ["GNUmakefile", "makefile", "Makefile"];
        let candidates = file.as_deref().map_or(usual.to_vec(), |file| vec![file]);
        let Some((path, text)) = self.first_of(&candidates, &folder) else { return false };
        let takes_value =
            |at: usize| at > 0 && ["-C", "-f", "-j", "-o", "-W"].contains(&args[at - 1].as_str());
        let is_target =
            |(at, arg): &(usize, &String)| !arg.starts_with('-') && !arg.contains('=') && !takes_value(*at);
        let targets: Vec<&String> = args.iter().enumerate().filter(is_target).map(|(_, arg)| arg).collect();
        let text = self.with_included(&text, &folder);
        if targets.is_empty() {
            return self.target(&path, &text, None, &folder, way);
        }
        let mut led = false;
        for name in targets {
            led |= self.target(&path, &text, Some(name), &folder, way);
        }
        led
    }

    /// A makefile with the files that it includes.
    fn with_included(&self, text: &str, folder: &str) -> String {
        let names =
            text.lines().filter_map(|line| line.strip_prefix("include ").or(line.strip_prefix("-include ")));
        let names = names.flat_map(str::split_whitespace).filter_map(|name| below(folder, name));
        let included: Vec<String> = names.filter_map(|path| (self.read)(&path)).collect();
        format!("{text}\n{}", included.join("\n"))
    }

    fn target(&mut self, path: &str, text: &str, name: Option<&str>, folder: &str, way: &[Place]) -> bool {
        let Some(recipe) = make_recipe(text, name) else { return false };
        let place = Place { file: path.to_owned(), part: Some(recipe.name.clone()) };
        self.enter(place, way, |search, way| {
            let mut led = false;
            for name in &recipe.needs {
                led |= search.target(path, text, Some(name), folder, way);
            }
            search.follow(&recipe.lines.join("\n"), folder, way) || led
        })
    }

    fn just(&mut self, args: &[String], folder: &str, way: &[Place]) -> bool {
        let Some((path, text)) = self.first_of(&["justfile", "Justfile", ".justfile"], folder) else {
            return false;
        };
        let name = args.iter().find(|arg| !arg.starts_with('-'));
        self.recipe(&path, &text, name.map_or("default", String::as_str), folder, way)
    }

    fn recipe(&mut self, path: &str, text: &str, name: &str, folder: &str, way: &[Place]) -> bool {
        let Some(recipe) = just_recipe(text, name) else { return false };
        let place = Place { file: path.to_owned(), part: Some(recipe.name.clone()) };
        self.enter(place, way, |search, way| {
            let mut led = false;
            for name in &recipe.needs {
                led |= search.recipe(path, text, name, folder, way);
            }
            search.follow(&recipe.lines.join("\n"), folder, way) || led
        })
    }

    /// `npm test`, `npm run lint`, `yarn build`.
    fn script(&mut self, simple: &Simple, folder: &str, way: &[Place]) -> bool {
        let manifest = if simple.program == "composer" { "composer.json" } else { "package.json" };
        let mut words = simple.args.iter().filter(|arg| !arg.starts_with('-'));
        let name = match words.next().map(String::as_str) {
            Some("run" | "run-script") => words.next().map(String::as_str),
            Some("t") => Some("test"),
            other => other,
        };
        let (Some(name), Some((path, text))) = (name, self.first_of(&[manifest], folder)) else {
            return false;
        };
        let scripts = package_scripts(&text, name);
        if scripts.is_empty() {
            return false;
        }
        let place = Place { file: path, part: Some(name.to_owned()) };
        self.enter(place, way, |search, way| search.follow(&scripts.join("\n"), folder, way))
    }

    /// The program, if it is a file of the project, and arguments that are.
    fn files(&mut self, simple: &Simple, folder: &str, way: &[Place]) -> bool {
        let mut led = false;
        let program = Some(&simple.program).filter(|program| program.contains('/'));
        for word in program.into_iter().chain(&simple.args) {
            // pytest's way to name a test of a file.
            let word = word.split("::").next().unwrap_or(word);
            let Some(path) = below(folder, word) else { continue };
            let Some(text) = (self.read)(&path) else { continue };
            let place = Place { file: path, part: None };
            let is_shell = is_shell_script(&place.file, &text);
            // A script that is only looked at is what is judged.
            if is_shell && LOOKING.contains(&simple.program.as_str()) {
                continue;
            }
            led |= self.enter(place, way, |search, way| is_shell && search.follow(&text, folder, way));
        }
        led
    }

    /// Goes on from a place; where it leads no further, the way to it is what was looked for.
    fn enter(
        &mut self,
        place: Place,
        way: &[Place],
        go_on: impl FnOnce(&mut Self, &[Place]) -> bool,
    ) -> bool {
        if MAX_PLACES <= self.seen.len() || !self.seen.insert(place.clone()) {
            return false;
        }
        let way = [way, &[place]].concat();
        if !go_on(self, &way) {
            self.found.push(Lead { command: self.command.to_owned(), places: way });
        }
        true
    }

    fn first_of(&self, names: &[&str], folder: &str) -> Option<(String, String)> {
        names.iter().find_map(|name| {
            let path = below(folder, name)?;
            let text = (self.read)(&path)?;
            Some((path, text))
        })
    }
}

/// A path below the project, from a folder of it; nothing if it leads out.
fn below(folder: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with('/') || path.starts_with('~') {
        return None;
    }
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

fn is_shell_script(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let by_name = [".sh", ".bash", ".zsh", ".ksh"].iter().any(|ending| path.ends_with(ending));
    by_name || (first.starts_with("#!") && first.split(['/', ' ']).any(|word| word.ends_with("sh")))
}
