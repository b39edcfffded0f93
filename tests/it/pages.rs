//! The pages for users against the program.

mod commands;
mod quick_start;

use std::{fs, path::Path};

/// The literal texts of an expression: what stands between quotes, without what is filled in.
fn pieces(call: &str) -> Option<Vec<String>> {
    let literal = call.split_once('"')?.1;
    let mut text = String::new();
    let mut characters = literal.chars();
    loop {
        match characters.next()? {
            '"' => break,
            '\\' => text.push(characters.next()?),
            other => text.push(other),
        }
    }
    let fixed = text.split('{').enumerate().map(|(i, part)| match (i, part.split_once('}')) {
        (0, _) | (_, None) => part.to_owned(),
        (_, Some((_, after))) => after.to_owned(),
    });
    Some(fixed.map(|part| part.replace('`', "").trim().to_owned()).filter(|part| 3 < part.len()).collect())
}

/// The calls whose text stops ralph or warns.
const PROBLEMS: [&str; 2] = ["Error::new(", "ledger.warn("];

/// The fixed parts of the texts that these calls show.
fn messages(folder: &Path, calls: &[&str], into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            messages(&path, calls, into);
        } else if path.extension().is_some_and(|it| it == "rs")
            && !path.ends_with("scripted.rs")
            && !path.ends_with("tests.rs")
        {
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for call in calls {
                // An argument that is no text, such as a variable, is one that was made elsewhere.
                let texts = code.split(call).skip(1);
                let texts = texts.filter(|rest| rest.trim_start().starts_with(['"', 'f']));
                into.extend(texts.filter_map(pieces).flatten());
            }
        }
    }
}

#[test]
fn every_message_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/troubleshooting.md")).expect("the page").replace('`', "");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut all = Vec::new();
    messages(&root.join("crates"), &PROBLEMS, &mut all);
    assert!(30 < all.len(), "{all:?}");
    let unexplained: Vec<&String> = all.iter().filter(|piece| !page.contains(piece.as_str())).collect();
    assert!(unexplained.is_empty(), "docs/troubleshooting.md does not explain: {unexplained:#?}");
}

#[test]
fn pieces_of_messages_are_found() {
    assert_eq!(pieces("\"there is no prompt\")"), Some(vec!["there is no prompt".to_owned()]));
    let call = "format!(\"run {} is `not` running\", x))";
    assert_eq!(pieces(call), Some(vec!["is not running".to_owned()]));
}

/// All pages of the project, with their paths from its root.
fn pages(root: &Path) -> Vec<(String, String)> {
    let mut folders: Vec<_> = ["docs", "docs/design", "packaging", "packaging/npm", "contrib", "plugin", ""]
        .map(|folder| root.join(folder))
        .to_vec();
    folders.extend(
        fs::read_dir(root.join("crates")).expect("the crates").map(|entry| entry.expect("a crate").path()),
    );
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let name = |path: &Path| path.strip_prefix(root).expect("it is in the project").display().to_string();
    paths.map(|path| (name(&path), fs::read_to_string(&path).expect("a page"))).collect()
}

/// What a page says outside of examples.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// Where the links of a page lead, without those to other sites.
fn links(page: &str) -> Vec<String> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}

/// The anchors of a page, as sites that show Markdown make them of its headings.
fn anchors(page: &str) -> Vec<String> {
    let headings = page
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let slug = |heading: &str| {
        let kept = heading
            .to_lowercase()
            .chars()
            .filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'))
            .collect::<String>();
        kept.replace(' ', "-")
    };
    headings.map(slug).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project");
    let pages = pages(&root);
    assert!(50 < pages.len(), "the pages were not found");
    let mut broken = Vec::new();
    for (name, page) in &pages {
        let folder = root.join(name).parent().expect("a folder").to_owned();
        for link in links(&prose(page)) {
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { root.join(name) } else { folder.join(path) };
            let text = anchor.map(|anchor| (anchor, fs::read_to_string(&target).unwrap_or_default()));
            let has_anchor =
                text.is_none_or(|(anchor, text)| anchors(&prose(&text)).iter().any(|it| it == anchor));
            if !target.exists() || !has_anchor {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# A page\n## `ralph run`, and more\n[one](a.md#b) [two](https://x.y/z) ```sh\n# no heading\n[no](link)\n``` [three](#c)";
    assert_eq!(links(&prose(page)), ["a.md#b", "#c"]);
    assert_eq!(anchors(&prose(page)), ["a-page", "ralph-run-and-more"]);
}

#[test]
fn the_figures_of_the_readme_are_those_of_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name| fs::read_to_string(root.join(name)).expect("a page");
    let (readme, table) = (read("README.md"), read("docs/truth.md"));
    let row = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(&format!("| {name} |"))).expect("a row");
        line.split('|').filter_map(|cell| cell.trim().parse::<u32>().ok()).collect::<Vec<_>>()
    };
    // Cheats, refused, finding, passed.
    let (loose, contained) = (row("a bash loop with the guardrails"), row("ralph in a sandbox"));
    let said =
        format!("of {} visible cheats, a shell loop with the same checks accepts {};", loose[0], loose[3]);
    assert!(readme.contains(&said), "{said}");
    assert_eq!((contained[0], contained[3]), (loose[0], 0));
}

/// Words that a reader who is in a hurry stumbles over, each with a plainer one.
const AVOIDED: [(&str, &str); 68] = [
    ("somebody", "a person, another process"),
    ("nobody", "no one, no process"),
    ("whoever", "the person who, the process that"),
    ("someone outside", "a person"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("went on", "continued"),
    ("put right", "restore"),
    ("puts right", "restores"),
    ("put back", "restore"),
    ("puts back", "restores"),
    ("let go", "allow to stop"),
    ("lets go", "allows to stop"),
    ("take away", "remove"),
    ("takes away", "removes"),
    ("taken away", "removed"),
    ("took away", "removed"),
    ("taken up again", "resumed"),
    ("judged by", "checked by, decided by"),
    ("is said to be", "ralph reports"),
    ("are said to be", "ralph reports"),
    ("told so", "ralph tells it"),
    ("waited out", "ralph waits for"),
    ("in vain", "without success"),
    ("stands in", "takes over, is in"),
    ("how it stands", "its state"),
    ("as it stands", "as it is"),
    ("is no wall", "is not a security boundary"),
    ("telephone", "phone"),
    ("shall", "must, will"),
    ("anybody", "anyone"),
    ("everybody", "everyone"),
    ("going on", "running, happening"),
    ("mending", "fixing"),
    ("vouch", "check"),
    ("vouches", "checks"),
    ("goes by", "uses"),
    ("go by", "use"),
    ("held against", "compared with"),
    ("comes of", "follows from"),
    ("bear out", "confirm"),
    ("bears out", "confirms"),
    ("stands beside", "is beside"),
    ("stands below", "is below"),
    ("stands between", "is between"),
    ("stands against", "prevents"),
    ("stands still", "does not change"),
    ("stands alone", "is alone"),
    ("seat belt", "prevents accidents"),
    ("a wall", "a security boundary, a sandbox"),
    ("the wall", "the sandbox"),
    ("in the clear", "without encryption"),
    ("thrown away", "deleted"),
    ("put aside", "renamed"),
    ("puts aside", "renames"),
    ("is told", "gets, learns"),
    ("are told", "get, learn"),
    ("is said", "ralph reports"),
    ("as is said", "as described"),
    ("no word of", "nothing about"),
    ("is no work", "does not count as work"),
    ("taken back", "undone"),
    ("dearest", "most expensive"),
    ("kept from", "prevented from"),
    ("the way out", "the network, the exit"),
];

/// The avoided words in a text, each with what to write instead.
fn avoided(text: &str) -> Vec<String> {
    let is_mark = |it: char| !it.is_alphanumeric() && !it.is_whitespace();
    let words = text.to_lowercase().replace(is_mark, " . ");
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    let found = AVOIDED.iter().filter(|(word, _)| words.contains(&format!(" {word} ")));
    found.map(|(word, better)| format!("`{word}`: {better}")).collect()
}

#[test]
fn people_read_plain_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project");
    let mut found = Vec::new();
    for (name, page) in &pages(&root) {
        // What is between backticks is what a program prints or reads.
        let prose = prose(page).split('`').step_by(2).collect::<Vec<_>>().join(" ");
        found.extend(avoided(&prose).into_iter().map(|word| format!("{name}: {word}")));
    }
    let mut all = Vec::new();
    let calls = [&PROBLEMS[..], &["hint(", "warn(", "finds: ", "instead: "]].concat();
    messages(&root.join("crates"), &calls, &mut all);
    // What agents read, too.
    for folder in ["prompts", "prompts/stories"] {
        let entries =
            fs::read_dir(root.join(folder)).expect("a folder").map(|entry| entry.expect("an entry"));
        all.extend(entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()));
    }
    for skill in fs::read_dir(root.join("plugin/skills")).expect("the skills") {
        let path = skill.expect("a skill").path().join("SKILL.md");
        all.push(fs::read_to_string(path).expect("a skill"));
    }
    found.extend(
        all.iter().flat_map(|text| avoided(text).into_iter().map(move |word| format!("{text}: {word}"))),
    );
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn avoided_words_are_found_as_words() {
    assert_eq!(avoided("Nobody can, amended."), ["`nobody`: no one, no process"]);
    assert_eq!(avoided("it is put\n right"), ["`put right`: restore"]);
    assert!(avoided("Fix it.").is_empty());
}
