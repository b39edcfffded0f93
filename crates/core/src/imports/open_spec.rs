//! A change of `OpenSpec`: its `tasks.md`, and the requirements of its specifications.

use super::{
    BadLine, Outline, OutlineSection,
    check_list::{self, Shown, shown},
};

/// Reads the tasks. Each waits for the one before it: a change lists them in their order.
pub(super) fn read(text: &str) -> Result<Outline, Vec<BadLine>> {
    let document = check_list::read(text)?;
    let (mut bad, mut seen) = (Vec::new(), std::collections::BTreeMap::new());
    let (mut count, mut before) = (0, None);
    let mut sections = Vec::new();
    for section in document.sections {
        let mut tasks = Vec::new();
        for entry in section.boxes {
            count += 1;
            let (line, numbered) =
                (entry.line, number(&entry.text).map(|(id, rest)| (id.to_owned(), rest.to_owned())));
            let id = numbered.as_ref().map_or_else(|| format!("TASK-{count:03}"), |(id, _)| id.clone());
            if let Some(first) = seen.insert(id.clone(), line) {
                bad.push(BadLine::new(line, format!("there is another {id} in line {first}")));
            }
            let mut story = entry.into_story(id.clone());
            if let Some((_, rest)) = numbered {
                if story.criteria == [story.tasks[0].clone()] {
                    story.criteria = vec![rest.clone()];
                }
                story.title = crate::stories::one_line(&rest, crate::stories::MAX_TITLE_LEN);
            }
            story.depends_on = before.replace(id).into_iter().collect();
            tasks.push(story);
        }
        sections.push(OutlineSection {
            title: section.title,
            about: section.about,
            line: section.line,
            tasks,
        });
    }
    let name = document.title.filter(|title| !title.eq_ignore_ascii_case("tasks"));
    if bad.is_empty() { Ok(Outline { name, sections, left_out: Vec::new() }) } else { Err(bad) }
}

/// `1.2` of `1.2 Write the tests`, and what follows.
fn number(words: &str) -> Option<(&str, &str)> {
    let (id, rest) = words.split_once(char::is_whitespace)?;
    let id = id.trim_end_matches('.');
    let is_number =
        id.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (is_number && !rest.trim().is_empty()).then_some((id, rest.trim()))
}

/// A specification of a change.
#[derive(Clone, Copy, Debug)]
pub struct SpecDocument<'a> {
    /// Where it is.
    pub file: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// The requirements of a specification, each with its scenarios, as a list in Markdown.
pub fn requirements(spec: SpecDocument<'_>) -> Result<Vec<String>, BadLine> {
    let (mut lines, mut kind) = (Vec::new(), "");
    for (number, _, line) in shown(spec.text)? {
        let Shown::Heading(level, title) = line else { continue };
        match (level, title.split_once(':')) {
            (2, _) => kind = title.split_whitespace().next().unwrap_or_default(),
            (3, Some((word, name))) if word.trim() == "Requirement" => {
                if name.trim().is_empty() {
                    return Err(BadLine::new(number, "the requirement has no name"));
                }
                let kind = Some(kind.to_ascii_lowercase())
                    .filter(|kind| kind.bytes().all(|b| b.is_ascii_alphabetic()));
                let kind =
                    kind.filter(|kind| !kind.is_empty()).map(|kind| format!(" ({kind})")).unwrap_or_default();
                lines.push(format!("- {}{kind}", name.trim()));
            }
            (4, Some((word, name))) if word.trim() == "Scenario" => {
                lines.push(format!("  - {}", name.trim()));
            }
            _ => {}
        }
    }
    Ok(lines)
}
