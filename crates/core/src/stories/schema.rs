//! Check 1: the file is a task list. Every problem knows its line.

use std::{collections::BTreeSet, fmt, ops::Range};

use serde_json::Value;

use super::{Kind, MAX_ID_LEN, Status, Story, TaskList, edit::STORIES, one_line};
use crate::located::{
    fields::{self, At, Fields, Manner, Null, Unknown, read_object},
    node::{Content, Node, member_path},
    report::{Issue, Report},
    text::{Lines, parse},
};

/// A null is no status, other tools may have keys of their own, and what is wrong is the value.
const MANNER: Manner =
    Manner { null: Null::Value, unknown: Unknown::Nothing, at: At::Value, wrong, renamed: &[] };

/// Something that is wrong with a task list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, from 1.
    pub line: usize,
    /// The key, such as `userStories[2].passes`; empty when it is about a whole story or the file.
    pub path: String,
    /// The story, if it is about one whose id can be read.
    pub story: Option<String>,
    /// What is wrong, as a sentence or as `expected ..., found ...`.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            // Keys and ids that are no good are an agent's words too.
            formatter.write_str(&one_line(&self.path, usize::MAX))?;
            if let Some(story) = &self.story {
                write!(formatter, " ({})", one_line(story, MAX_ID_LEN))?;
            }
            formatter.write_str(": ")?;
        }
        formatter.write_str(&self.text)
    }
}

/// A task list as far as it can be read, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The stories that are whole, and what stands above them.
    pub list: TaskList,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Whether the file is JSON and has an array of stories.
    pub(super) has_stories: bool,
    /// Everything in the array of stories.
    pub(super) entries: Vec<StoryEntry>,
}

/// One item of the array of stories.
#[derive(Clone, Debug)]
pub(super) struct StoryEntry {
    pub(super) id: Option<String>,
    pub(super) span: Range<usize>,
    /// Nothing when it is not a story.
    pub(super) story: Option<Story>,
}

/// Reads a task list.
pub fn read(text: &str) -> Reading {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reading = Reading::default();
    let root = match parse(text, 0) {
        Ok(root) => root,
        Err(error) => {
            let text = format!("not valid JSON: {}", error.reason);
            reading.problems.push(Problem { line: error.line, path: String::new(), story: None, text });
            return reading;
        }
    };
    let (lines, mut report) = (Lines::of(text), Report::default());
    let has_stories = read_once(&root, "", &mut report, |fields| read_list(fields, &mut reading.list));
    reading.has_stories = has_stories == Some(true);
    reading.problems = problems(report, None, &lines);
    let stories = root.get(STORIES).map_or(&[][..], Node::items);
    let mut ids = BTreeSet::new();
    for (index, node) in stories.iter().enumerate() {
        let mut report = Report::default();
        let entry = read_entry(node, index, &mut ids, &mut report, &lines);
        reading.problems.extend(problems(report, entry.id.as_ref(), &lines));
        reading.list.user_stories.extend(entry.story.clone());
        reading.entries.push(entry);
    }
    reading.problems.sort_by_key(|problem| problem.line);
    reading
}

/// The paths of all keys of a task list, such as `project` and `userStories[].passes`.
pub fn keys() -> BTreeSet<String> {
    fields::keys(&MANNER, |fields| {
        read_list(fields, &mut TaskList::default());
        fields.objects(STORIES, read_story);
    })
}

/// What stands above the stories; returns whether there is an array of these.
fn read_list(fields: &mut Fields<'_, '_>, list: &mut TaskList) -> bool {
    list.project = fields.required("project", string);
    list.branch_name = fields.required("branchName", string);
    list.description = fields.required("description", string);
    list.verify_commands = fields.each("verifyCommands", string).unwrap_or_default();
    fields.require(STORIES);
    fields.items(STORIES).is_some()
}

fn read_entry(
    node: &Node,
    index: usize,
    ids: &mut BTreeSet<String>,
    report: &mut Report,
    lines: &Lines,
) -> StoryEntry {
    let id = node.get("id").and_then(Node::string).map(str::to_owned);
    let span = node.position.span();
    let story = read_once(node, &format!("{STORIES}[{index}]"), report, |fields| {
        let story = Story { line: lines.line(span.start), ..read_story(fields) };
        if story.passes && story.notes.trim().is_empty() {
            fields.problem("notes", "has passes=true with empty notes; write down what was done");
        }
        if !story.id.is_empty() && !ids.insert(story.id.clone()) {
            fields.problem("id", "there is another story of this id");
        }
        story
    });
    StoryEntry { id, span, story: story.filter(|_| report.problems.is_empty()) }
}

fn read_story(fields: &mut Fields<'_, '_>) -> Story {
    Story {
        id: fields.required("id", name),
        title: fields.required("title", string),
        description: fields.take("description", string).unwrap_or_default(),
        acceptance_criteria: read_criteria(fields),
        priority: fields.required("priority", number),
        passes: fields.required("passes", boolean),
        review_status: fields.required("reviewStatus", status),
        review_count: fields.required("reviewCount", count),
        review_feedback: fields.required("reviewFeedback", string),
        notes: fields.take("notes", string).unwrap_or_default(),
        depends_on: fields.each("dependsOn", string).unwrap_or_default(),
        touches: fields.each("touches", string).unwrap_or_default(),
        labels: fields.each("labels", string).unwrap_or_default(),
        kind: fields.take("kind", kind).unwrap_or(Kind::Agent),
        line: 0,
    }
}

fn read_criteria(fields: &mut Fields<'_, '_>) -> Vec<String> {
    const KEY: &str = "acceptanceCriteria";
    fields.require(KEY);
    let criteria = fields.each(KEY, string).unwrap_or_default();
    if fields.is_array(KEY) && fields.items(KEY).is_some_and(<[Node]>::is_empty) {
        fields.problem(KEY, "expected at least one criterion, found an empty array");
    }
    criteria
}

/// Reads an object. Two readers of the same key twice may see two lists, one of them approved: so that is a problem.
fn read_once<T>(
    node: &Node,
    path: &str,
    report: &mut Report,
    read: impl FnOnce(&mut Fields<'_, '_>) -> T,
) -> Option<T> {
    for member in node.repeated() {
        report.problem(member.position, &member_path(path, &member.key), "the key is there twice");
    }
    read_object(&MANNER, node, node.position, path, report, read)
}

fn problems(report: Report, story: Option<&String>, lines: &Lines) -> Vec<Problem> {
    let problem = |issue: Issue| Problem {
        line: lines.line(issue.position.start),
        path: issue.path,
        story: story.cloned(),
        text: issue.text,
    };
    report.problems.into_iter().map(problem).collect()
}

fn wrong(expected: &str, node: &Node) -> String {
    format!("expected {expected}, found {}", node.shown())
}

fn string(node: &Node) -> Result<String, String> {
    node.string().map(str::to_owned).ok_or_else(|| wrong("a string", node))
}

fn name(node: &Node) -> Result<String, String> {
    let name = string(node)?;
    if name.trim().is_empty() {
        return Err(wrong("a name", node));
    }
    // It is in every message about the story, also in those to other agents.
    if one_line(&name, usize::MAX) != name.trim() {
        return Err(wrong("a name without line breaks", node));
    }
    Ok(name)
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

fn count(node: &Node) -> Result<u64, String> {
    let count =
        if let Content::Scalar(Value::Number(number)) = &node.content { number.as_u64() } else { None };
    count.ok_or_else(|| wrong("a whole number that is not negative", node))
}

fn status(node: &Node) -> Result<Option<Status>, String> {
    if node.is_null() {
        return Ok(None);
    }
    let status = node.string().and_then(|text| Status::NAMES.into_iter().find(|(name, _)| *name == text));
    let expected = "null, needs_review, changes_requested or approved";
    status.map(|(_, status)| Some(status)).ok_or_else(|| wrong(expected, node))
}

fn kind(node: &Node) -> Result<Kind, String> {
    let kind = node.string().and_then(|text| Kind::NAMES.into_iter().find(|(name, _)| *name == text));
    kind.map(|(_, kind)| kind).ok_or_else(|| wrong("agent or human", node))
}
