//! `prd.json` as several loops have it: `userStories` with ids, criteria, priorities and `passes`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BadLine, Imported, ImportedStory};
use crate::{
    located::{
        fields::{At, Fields, Manner, Null, Unknown, read_object, read_root},
        node::{Content, Node},
        report::Report,
        text::{Lines, parse},
    },
    stories::{MAX_TITLE_LEN, one_line},
};

/// A null is a key that is not there, other keys are of no matter, and what is wrong is the value.
const MANNER: Manner =
    Manner { null: Null::Absence, unknown: Unknown::Nothing, at: At::Value, wrong, renamed: &[] };

/// Reads the stories.
pub(super) fn read(text: &str) -> Result<Imported, Vec<BadLine>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = parse(text, 0)
        .map_err(|error| vec![BadLine::new(error.line, format!("not valid JSON: {}", error.reason))])?;
    let (lines, mut report) = (Lines::of(text), Report::default());
    let imported = read_root(&MANNER, &root, &mut report, |fields| {
        let name = fields.take("project", string).or_else(|| fields.take("name", string));
        fields.require("userStories");
        Imported {
            name,
            branch: fields.take("branchName", string),
            description: fields.take("description", string).unwrap_or_default(),
            ..Imported::default()
        }
    });
    let mut imported = imported.unwrap_or_default();
    if root.get("userStories").is_some_and(|stories| !stories.is_array()) {
        let node = root.get("userStories").unwrap_or(&root);
        report.problem(node.position, "userStories", wrong("an array", node));
    }
    let mut ids = BTreeSet::new();
    for (index, node) in root.get("userStories").map_or(&[][..], Node::items).iter().enumerate() {
        let path = format!("userStories[{index}]");
        let story = read_object(&MANNER, node, node.position, &path, &mut report, |fields| {
            let story = ImportedStory { line: lines.line(node.position.start), ..story(fields, index) };
            if !story.id.is_empty() && !ids.insert(story.id.clone()) {
                fields.problem("id", "there is another story of this id");
            }
            story
        });
        imported.stories.extend(story);
    }
    let mut bad: Vec<BadLine> = Vec::new();
    for issue in report.problems {
        let path =
            if issue.path.is_empty() { String::new() } else { format!("{}: ", one_line(&issue.path, 200)) };
        bad.push(BadLine::new(lines.line(issue.position.start), format!("{path}{}", issue.text)));
    }
    if bad.is_empty() { Ok(without_strangers(imported)) } else { Err(bad) }
}

fn story(fields: &mut Fields<'_, '_>, index: usize) -> ImportedStory {
    let id = fields.required("id", name);
    let title = fields.required("title", string);
    let mut criteria = fields.each("acceptanceCriteria", string).unwrap_or_default();
    criteria.retain(|criterion| !criterion.trim().is_empty());
    if criteria.is_empty() {
        criteria.push(title.clone());
    }
    let place = f64::from(u32::try_from(index + 1).unwrap_or(u32::MAX));
    ImportedStory {
        tasks: vec![id.clone()],
        id,
        title: one_line(&title, MAX_TITLE_LEN),
        description: fields.take("description", string).unwrap_or_default(),
        criteria,
        priority: fields.take("priority", number).unwrap_or(place),
        depends_on: fields.each("dependsOn", string).unwrap_or_default(),
        is_done: fields.take("passes", boolean).unwrap_or_default(),
        line: 0,
    }
}

/// Without waits for stories that are not there: such a story would wait for ever.
fn without_strangers(mut imported: Imported) -> Imported {
    let ids: BTreeSet<String> = imported.stories.iter().map(|story| story.id.clone()).collect();
    for story in &mut imported.stories {
        let (known, strange): (Vec<String>, Vec<String>) =
            std::mem::take(&mut story.depends_on).into_iter().partition(|id| ids.contains(id));
        story.depends_on = known;
        for id in strange {
            imported.left_out.push(format!(
                "{} waits for {}, which is not there",
                story.id,
                one_line(&id, 100)
            ));
        }
    }
    imported
}

fn wrong(expected: &str, node: &Node) -> String {
    format!("expected {expected}, found {}", node.shown())
}

fn string(node: &Node) -> Result<String, String> {
    node.string().map(str::to_owned).ok_or_else(|| wrong("a string", node))
}

/// Loops also number their stories.
fn name(node: &Node) -> Result<String, String> {
    let id = match &node.content {
        Content::Scalar(Value::Number(number)) => number.to_string(),
        _ => string(node)?,
    };
    let is_name = !id.trim().is_empty() && one_line(&id, usize::MAX) == id;
    if is_name { Ok(id) } else { Err(wrong("a name without line breaks", node)) }
}

fn boolean(node: &Node) -> Result<bool, String> {
    if let Content::Scalar(Value::Bool(value)) = node.content {
        Ok(value)
    } else {
        Err(wrong("true or false", node))
    }
}

fn number(node: &Node) -> Result<f64, String> {
    let Content::Scalar(Value::Number(number)) = &node.content else { return Err(wrong("a number", node)) };
    Ok(number.as_f64().unwrap_or_default())
}
