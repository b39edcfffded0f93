//! Check 1: the file is a task list. Every problem knows its line.

use std::{collections::BTreeSet, fmt, ops::Range};

use serde_json::Value;

use super::{
    Kind, Review, Status, Story, TaskList,
    document::{Content, Node, line, parse},
    edit::STORIES,
    invariants,
};

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
            write!(formatter, "{}", self.path)?;
            if let Some(story) = &self.story {
                write!(formatter, " ({story})")?;
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

/// Checks 1 and 2: everything that is wrong with a task list, in the order of its lines.
pub fn check(text: &str, review: Review, cap: u32) -> Vec<Problem> {
    let Reading { list, mut problems, .. } = read(text);
    problems.extend(invariants::problems(&list, review, cap));
    problems.extend(invariants::circles(&list));
    problems.sort_by_key(|problem| problem.line);
    problems
}

/// Reads a task list.
pub fn read(text: &str) -> Reading {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reading = Reading::default();
    let root = match parse(text) {
        Ok(root) => root,
        Err(error) => {
            let text = format!("not valid JSON: {}", error.reason);
            reading.problems.push(Problem { line: error.line, path: String::new(), story: None, text });
            return reading;
        }
    };
    let mut fields = Fields::new(text, &root, "", None);
    reading.list.project = fields.text("project");
    reading.list.branch_name = fields.text("branchName");
    reading.list.description = fields.text("description");
    reading.list.verify_commands = fields.optional("verifyCommands", Fields::texts);
    let stories = fields.array(STORIES);
    reading.problems = fields.problems;
    let Some(stories) = stories else { return reading };
    reading.has_stories = true;
    let mut ids = BTreeSet::new();
    for (index, node) in stories.items().iter().enumerate() {
        let entry = read_story(text, node, index, &mut ids, &mut reading.problems);
        reading.list.user_stories.extend(entry.story.clone());
        reading.entries.push(entry);
    }
    reading.problems.sort_by_key(|problem| problem.line);
    reading
}

fn read_story(
    text: &str,
    node: &Node,
    index: usize,
    ids: &mut BTreeSet<String>,
    problems: &mut Vec<Problem>,
) -> StoryEntry {
    let id = node.get("id").and_then(Node::string).map(str::to_owned);
    let path = format!("{STORIES}[{index}]");
    let mut fields = Fields::new(text, node, &path, id.clone());
    let story = Story {
        id: fields.filled("id"),
        title: fields.text("title"),
        description: fields.optional("description", Fields::text),
        acceptance_criteria: fields.criteria("acceptanceCriteria"),
        priority: fields.number("priority"),
        passes: fields.boolean("passes"),
        review_status: fields.status("reviewStatus"),
        review_count: fields.count("reviewCount"),
        review_feedback: fields.text("reviewFeedback"),
        notes: fields.optional("notes", Fields::text),
        depends_on: fields.optional("dependsOn", Fields::texts),
        kind: fields.optional("kind", Fields::kind),
        line: line(text, node.span.start),
    };
    if story.passes && story.notes.trim().is_empty() {
        let what = "has passes=true with empty notes; write down what was done".to_owned();
        fields.problem("notes", &what);
    }
    if !story.id.is_empty() && !ids.insert(story.id.clone()) {
        fields.problem("id", "there is another story of this id");
    }
    let is_whole = fields.problems.is_empty();
    problems.extend(fields.problems);
    StoryEntry { id, span: node.span.clone(), story: is_whole.then_some(story) }
}

/// Takes the fields out of one object.
struct Fields<'a> {
    text: &'a str,
    object: &'a Node,
    path: &'a str,
    story: Option<String>,
    problems: Vec<Problem>,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str, object: &'a Node, path: &'a str, story: Option<String>) -> Self {
        let mut fields = Self { text, object, path, story, problems: Vec::new() };
        if !matches!(object.content, Content::Object(_)) {
            fields.at(object.span.start, "", &format!("expected an object, found {}", object.shown()));
        }
        // Two readers of the same key twice may see two lists: one of them approved.
        let mut keys = BTreeSet::new();
        for member in object.members() {
            if !keys.insert(&member.key) {
                fields.at(member.at, &member.key, "the key is there twice");
            }
        }
        fields
    }

    fn problem(&mut self, key: &str, text: &str) {
        let at = self.object.get(key).map_or(self.object.span.start, |node| node.span.start);
        self.at(at, key, text);
    }

    fn at(&mut self, at: usize, key: &str, text: &str) {
        let dot = if self.path.is_empty() || key.is_empty() { "" } else { "." };
        self.problems.push(Problem {
            line: line(self.text, at),
            path: format!("{}{dot}{key}", self.path),
            story: self.story.clone(),
            text: text.to_owned(),
        });
    }

    /// The value of a key that must be there.
    fn member(&mut self, key: &str) -> Option<&'a Node> {
        let node = self.object.get(key);
        if node.is_none() && matches!(self.object.content, Content::Object(_)) {
            self.problem(key, "missing");
        }
        node
    }

    fn wrong(&mut self, key: &str, node: &Node, expected: &str) {
        self.at(node.span.start, key, &format!("expected {expected}, found {}", node.shown()));
    }

    /// The value of a key that may be missing.
    fn optional<T: Default>(&mut self, key: &str, read: impl FnOnce(&mut Self, &str) -> T) -> T {
        if self.object.get(key).is_some() { read(self, key) } else { T::default() }
    }

    fn text(&mut self, key: &str) -> String {
        let Some(node) = self.member(key) else { return String::new() };
        if node.string().is_none() {
            self.wrong(key, node, "a string");
        }
        node.string().unwrap_or_default().to_owned()
    }

    fn filled(&mut self, key: &str) -> String {
        let text = self.text(key);
        if let Some(node) = self.object.get(key)
            && node.string().is_some_and(|text| text.trim().is_empty())
        {
            self.wrong(key, node, "a name");
        }
        text
    }

    fn boolean(&mut self, key: &str) -> bool {
        let Some(node) = self.member(key) else { return false };
        if let Content::Scalar(Value::Bool(value)) = node.content {
            return value;
        }
        self.wrong(key, node, "true or false");
        false
    }

    fn number(&mut self, key: &str) -> f64 {
        let Some(node) = self.member(key) else { return 0.0 };
        if let Content::Scalar(Value::Number(number)) = &node.content {
            return number.as_f64().unwrap_or_default();
        }
        self.wrong(key, node, "a number");
        0.0
    }

    fn count(&mut self, key: &str) -> u64 {
        let Some(node) = self.member(key) else { return 0 };
        let count = match &node.content {
            Content::Scalar(Value::Number(number)) => number.as_u64(),
            Content::Scalar(_) | Content::Array(_) | Content::Object(_) => None,
        };
        count.unwrap_or_else(|| {
            self.wrong(key, node, "a whole number that is not negative");
            0
        })
    }

    fn status(&mut self, key: &str) -> Option<Status> {
        let node = self.member(key)?;
        if matches!(node.content, Content::Scalar(Value::Null)) {
            return None;
        }
        let named = |text: &str| Status::NAMES.into_iter().find(|(name, _)| *name == text);
        let status = node.string().and_then(named).map(|(_, status)| status);
        if status.is_none() {
            self.wrong(key, node, "null, needs_review, changes_requested or approved");
        }
        status
    }

    fn kind(&mut self, key: &str) -> Kind {
        let Some(node) = self.member(key) else { return Kind::Agent };
        let named = |text: &str| Kind::NAMES.into_iter().find(|(name, _)| *name == text);
        let kind = node.string().and_then(named);
        if kind.is_none() {
            self.wrong(key, node, "agent or human");
        }
        kind.map_or(Kind::Agent, |(_, kind)| kind)
    }

    fn array(&mut self, key: &str) -> Option<&'a Node> {
        let node = self.member(key)?;
        if matches!(node.content, Content::Array(_)) {
            return Some(node);
        }
        self.wrong(key, node, "an array");
        None
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        let Some(array) = self.array(key) else { return Vec::new() };
        let mut texts = Vec::new();
        for (index, item) in array.items().iter().enumerate() {
            match item.string() {
                Some(text) => texts.push(text.to_owned()),
                None => self.wrong(&format!("{key}[{index}]"), item, "a string"),
            }
        }
        texts
    }

    fn criteria(&mut self, key: &str) -> Vec<String> {
        let criteria = self.texts(key);
        if let Some(array) = self.object.get(key)
            && matches!(array.content, Content::Array(_))
            && array.items().is_empty()
        {
            self.wrong(key, array, "at least one criterion");
        }
        criteria
    }
}
