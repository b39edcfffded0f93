//! The parts of a makefile, a justfile and a manifest that a command names.

/// So often a variable is filled in.
const MAX_FILLED: usize = 10;

/// A target with what it needs and what it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) needs: Vec<String>,
    pub(super) lines: Vec<String>,
}

/// A target of a makefile; the first one if none is named.
pub(super) fn make_recipe(text: &str, name: Option<&str>) -> Option<Recipe> {
    let text = text.replace("\\\n", " ");
    let variables = variables(&text);
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Option<Recipe> = None;
    for (at, line) in lines.iter().enumerate() {
        let Some((targets, needs, inline)) = rule(line) else { continue };
        let targets: Vec<String> = fill(targets, &variables).split_whitespace().map(str::to_owned).collect();
        let is_special = |target: &String| target.starts_with('.') || target.contains('%');
        let wanted = match (name, &found) {
            (Some(name), _) => targets.iter().find(|target| *target == name),
            (None, None) => targets.iter().find(|target| !is_special(target)),
            (None, Some(found)) => targets.iter().find(|target| **target == found.name),
        };
        let Some(target) = wanted else { continue };
        let recipe =
            found.get_or_insert_with(|| Recipe { name: target.clone(), needs: vec![], lines: vec![] });
        let needs = fill(needs, &variables);
        recipe.needs.extend(needs.split_whitespace().filter(|need| *need != "|").map(str::to_owned));
        recipe.lines.extend(inline.map(|line| fill(line, &variables)));
        let body = lines[at + 1..].iter().take_while(|line| line.starts_with('\t') || line.trim().is_empty());
        let body = body.filter(|line| !line.trim().is_empty());
        recipe.lines.extend(body.map(|line| fill(&command(line), &variables)));
    }
    found
}

/// A line of a recipe as a command. One whose failure is ignored cannot fail.
fn command(line: &str) -> String {
    let line = line.trim_start();
    let rest = line.trim_start_matches([' ', '@', '-', '+']);
    let is_ignored = line[..line.len() - rest.len()].contains('-');
    if is_ignored { format!("{rest} || true") } else { rest.to_owned() }
}

/// The lines of a makefile that say how every recipe runs.
pub(super) fn make_ways(text: &str) -> Vec<&str> {
    const NAMES: [&str; 8] =
        [".IGNORE", ".SHELLFLAGS", "SHELL", "MAKEFLAGS", ".ONESHELL", ".POSIX", "include", "-include"];
    let is_way = |line: &&str| {
        let line = line.trim_start_matches("export ").trim_start_matches("override ");
        NAMES.iter().any(|name| {
            let rest = line.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with([' ', ':', '=', '?', '+']) || rest.is_empty())
        })
    };
    text.lines().filter(is_way).collect()
}

/// `targets: needs ; command`.
fn rule(line: &str) -> Option<(&str, &str, Option<&str>)> {
    if line.starts_with(['\t', '#', ' ']) {
        return None;
    }
    let (targets, rest) = line.split_once(':')?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if rest.starts_with('=') || targets.contains('=') || targets.trim().is_empty() {
        return None;
    }
    let rest = rest.split(" #").next().unwrap_or(rest);
    let (needs, inline) =
        rest.split_once(';').map_or((rest, None), |(needs, inline)| (needs, Some(inline.trim())));
    Some((targets, needs, inline))
}

fn variables(text: &str) -> Vec<(String, String)> {
    let assigned = text.lines().filter(|line| !line.starts_with(['\t', '#'])).filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        is_name.then(|| (name.to_owned(), value.trim().to_owned()))
    });
    assigned.collect()
}

/// Puts in what variables stand for; `$(MAKE)` stays.
fn fill(text: &str, variables: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_FILLED {
        let before = text.clone();
        for (name, value) in variables.iter().filter(|(_, value)| value.len() < 1_000) {
            if text.len() < 10_000 {
                text = text.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
            }
        }
        if text == before {
            break;
        }
    }
    text
}

/// A recipe of a justfile; `default` is also the first one.
pub(super) fn just_recipe(text: &str, name: &str) -> Option<Recipe> {
    let lines: Vec<&str> = text.lines().collect();
    let head = |line: &str| {
        let is_head = !line.starts_with([' ', '\t', '#', '[']) && line.contains(':') && !line.contains(":=");
        let (names, needs) = line.split_once(':').filter(|_| is_head)?;
        let found = names.split_whitespace().next()?.trim_start_matches('@').to_owned();
        Some((
            found,
            needs.split_whitespace().filter(|word| *word != "&&").map(str::to_owned).collect::<Vec<_>>(),
        ))
    };
    let heads = || lines.iter().enumerate().filter_map(|(at, line)| Some((at, head(line)?)));
    let found = heads().find(|(_, (found, _))| found == name);
    let (at, (name, needs)) = found.or_else(|| heads().next().filter(|_| name == "default"))?;
    let body =
        lines[at + 1..].iter().take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty());
    let body = body.map(|line| command(line)).filter(|line| !line.is_empty());
    Some(Recipe { name, needs, lines: body.collect() })
}

/// The script of a `package.json` or `composer.json`, with what is run before and after it.
pub(super) fn package_scripts(text: &str, name: &str) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let script = |name: &str| match &manifest["scripts"][name] {
        serde_json::Value::String(script) => vec![script.clone()],
        serde_json::Value::Array(lines) => {
            lines.iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    let own = script(name);
    if own.is_empty() {
        return own;
    }
    [script(&format!("pre{name}")), own, script(&format!("post{name}"))].concat()
}
