//! Reads a verdict out of a reviewer's own words: the last object in a `<review>` tag or a fenced block that is one.
//!
//! Agents write JSON as people do: with a fence around it, a comma too many, a word of their own for "approve". What cannot be
//! a verdict is none; nothing is guessed from prose.

use serde_json::{Map, Value};

use super::{CommentSeverity, Fixes, LookAnswer, MAX_COMMENTS, ReviewComment, ReviewDecision, ReviewVerdict};

/// As much of a text as anyone reads.
const MAX_TEXT_CHARS: usize = 1000;

/// A longer path is none.
const MAX_FILE_CHARS: usize = 300;

/// As many objects are looked at, from the last on.
const MAX_CANDIDATES: usize = 20;

/// The verdict in these words, if there is one: the last. An approval with a blocker in it is a request for changes, and so
/// is an answer that says both: what it quotes must not approve for it.
///
/// What stands in the question word for word is quoted from there, as a change may contain a verdict on itself.
pub fn verdict(words: &str, question: &str) -> Option<ReviewVerdict> {
    let mut found = objects(words, "review", question).filter_map(|object| of_object(&object));
    let last = found.next()?;
    if !last.is_approval() {
        return Some(last);
    }
    Some(found.find(|it| !it.is_approval()).unwrap_or(last))
}

/// Whether the change fixes the task, by these words, if they say it. An answer that says more than one thing is unclear at
/// best: it fixes the task only if nothing in it says otherwise.
pub fn look(words: &str, question: &str) -> Option<LookAnswer> {
    let mut found = objects(words, "look", question).filter_map(|object| look_of(&object));
    let last = found.next()?;
    if last.fixes != Fixes::Task {
        return Some(last);
    }
    Some(found.find(|it| it.fixes != Fixes::Task).unwrap_or(last))
}

fn look_of(object: &Map<String, Value>) -> Option<LookAnswer> {
    let said = first(object, &["fixes", "answer", "verdict"])?.as_str()?;
    let word: String = said.chars().filter(char::is_ascii_alphanumeric).collect();
    let word = word.to_ascii_lowercase();
    let fixes = match word.strip_prefix("the").unwrap_or(&word) {
        "checks" | "both" | "taskandcheck" => Fixes::Check,
        "unsure" | "unknown" | "neither" => Fixes::Unclear,
        other => serde_json::from_value(Value::from(other)).ok()?,
    };
    let reason = first(object, &["reason", "summary", "why", "text"]).and_then(|it| line(it.as_str()?));
    Some(LookAnswer { fixes, reason })
}

fn of_object(object: &Map<String, Value>) -> Option<ReviewVerdict> {
    let said = first(object, &["verdict", "decision", "status", "result"])?.as_str()?;
    let decision = decision(said)?;
    let list = first(object, &["comments", "findings", "issues", "remarks"]).and_then(Value::as_array);
    let comments: Vec<ReviewComment> =
        list.into_iter().flatten().filter_map(comment).take(MAX_COMMENTS).collect();
    let is_blocked = comments.iter().any(|comment| comment.severity == CommentSeverity::Blocker);
    let summary = first(object, &["summary", "reason", "text", "message"]).and_then(|it| line(it.as_str()?));
    let verdict = if is_blocked { ReviewDecision::RequestChanges } else { decision };
    Some(ReviewVerdict { verdict, summary, comments })
}

fn decision(said: &str) -> Option<ReviewDecision> {
    let word: String = said.chars().filter(char::is_ascii_alphanumeric).collect();
    match word.to_ascii_lowercase().as_str() {
        "approve" | "approved" | "approves" | "accept" | "accepted" | "lgtm" | "pass" | "passed" | "ok" => {
            Some(ReviewDecision::Approve)
        }
        "requestchanges" | "changesrequested" | "requestschanges" | "needschanges" | "changesneeded"
        | "reject" | "rejected" | "fail" | "failed" => Some(ReviewDecision::RequestChanges),
        _ => None,
    }
}

fn comment(value: &Value) -> Option<ReviewComment> {
    if let Some(text) = value.as_str() {
        let text = line(text)?;
        return Some(ReviewComment { file: None, line: None, severity: CommentSeverity::Major, text });
    }
    let object = value.as_object()?;
    let text = first(object, &["text", "message", "comment", "description", "body", "title"]);
    let file = first(object, &["file", "path", "filename"]).and_then(|it| line(it.as_str()?));
    let at = first(object, &["line", "lines", "startLine", "start_line", "line_start"]).and_then(number);
    let severity = first(object, &["severity", "level", "priority"]).and_then(Value::as_str);
    Some(ReviewComment {
        file: file.filter(|file| file.chars().count() <= MAX_FILE_CHARS),
        line: at,
        severity: severity.map_or(CommentSeverity::Major, severity_of),
        text: line(text?.as_str()?)?,
    })
}

/// What no one knows is taken seriously.
fn severity_of(said: &str) -> CommentSeverity {
    match said.trim().to_ascii_lowercase().as_str() {
        "blocker" | "blocking" | "critical" | "p0" => CommentSeverity::Blocker,
        "minor" | "low" | "nit" | "nitpick" | "style" | "p3" => CommentSeverity::Minor,
        "note" | "info" | "praise" | "suggestion" | "p4" => CommentSeverity::Note,
        _ => CommentSeverity::Major,
    }
}

/// A line as a number, a text, or the first of a range.
fn number(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => {
            let figures: String = text
                .chars()
                .skip_while(|it| !it.is_ascii_digit())
                .take_while(char::is_ascii_digit)
                .take(10)
                .collect();
            figures.parse().ok()
        }
        Value::Array(range) => range.first().and_then(Value::as_u64),
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    };
    number.and_then(|number| u32::try_from(number).ok()).filter(|number| 0 < *number)
}

fn first<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
}

/// A text in one line; nothing if it is empty.
fn line(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words.join(" ").chars().take(MAX_TEXT_CHARS).collect();
    (!text.is_empty()).then_some(text)
}

/// The objects in tags of this name and in fenced blocks, the last first, without those that are quoted.
fn objects(words: &str, tag: &str, question: &str) -> impl Iterator<Item = Map<String, Value>> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut found: Vec<(usize, &str)> = between(words, &open, &close);
    found.extend(between(words, "```", "```").into_iter().map(|(at, block)| (at, without_language(block))));
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    // A message that is nothing but an object.
    found.push((0, words));
    let known = squeezed(question);
    found.into_iter().take(MAX_CANDIDATES).filter_map(move |(_, text)| object(text, &known))
}

/// A text without white space and without the signs at the beginning of a difference's lines.
fn squeezed(text: &str) -> String {
    let unmarked = text.lines().map(|line| line.strip_prefix(['+', '-']).unwrap_or(line));
    unmarked.flat_map(str::chars).filter(|it| !it.is_whitespace()).collect()
}

/// The texts between two marks, with where they end. A tag that is never closed reaches to the end.
fn between<'a>(words: &'a str, open: &str, close: &str) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find_from(words, open, from) {
        let begin = at + open.len();
        let end = find_from(words, close, begin).unwrap_or(words.len());
        found.push((end, &words[begin..end]));
        from = (end + close.len()).min(words.len());
    }
    if MAX_CANDIDATES < found.len() {
        found.drain(..found.len() - MAX_CANDIDATES);
    }
    found
}

/// Where a mark stands, in any case of letters.
fn find_from(words: &str, mark: &str, from: usize) -> Option<usize> {
    let rest = words.as_bytes().get(from..)?;
    let at = rest.windows(mark.len()).position(|part| part.eq_ignore_ascii_case(mark.as_bytes()))?;
    Some(from + at)
}

/// A fenced block without the word behind its fence.
fn without_language(block: &str) -> &str {
    let word = block.find(['\n', '{']).unwrap_or(0);
    block[word..].trim_start()
}

/// The object in a text, from its first brace to its last, unless it is known already.
fn object(text: &str, known: &str) -> Option<Map<String, Value>> {
    let (begin, end) = (text.find('{')?, text.rfind('}')?);
    let text = text.get(begin..=end)?;
    if known.contains(&squeezed(text)) {
        return None;
    }
    let read = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    };
    read(text).or_else(|| read(&without_spare_commas(text)))
}

/// The same without commas before a closing brace or bracket.
fn without_spare_commas(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, it) in text.char_indices() {
        match it {
            '"' if !is_escaped => is_text = !is_text,
            ',' if !is_text && text[at + 1..].trim_start().starts_with(['}', ']']) => continue,
            _ => {}
        }
        is_escaped = is_text && it == '\\' && !is_escaped;
        kept.push(it);
    }
    kept
}
