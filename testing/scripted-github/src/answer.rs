//! What GitHub answers.

use serde_json::{Value, json};

use crate::{REPOSITORY, Request, State, TOKEN};

/// So many comments are in an answer that names no number.
const PAGE: usize = 30;

pub(crate) fn answer(state: &mut State, request: &Request) -> (u16, Value) {
    if let Some(status) = state.refuses {
        return (status, message("Scripted refusal"));
    }
    if request.token != TOKEN {
        return (401, message("Bad credentials"));
    }
    if request.path == "/graphql" {
        return change(state, &request.body);
    }
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let Some(path) = path.strip_prefix(&format!("/repos/{REPOSITORY}")) else {
        return (404, message("Not Found"));
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let found = match (request.method.as_str(), parts.as_slice()) {
        ("GET", []) => Some((200, json!({"full_name": REPOSITORY, "default_branch": "main"}))),
        ("GET", ["issues"]) => Some((200, page(&labelled(state, query), query))),
        ("GET", ["issues", number]) => {
            let number = number.parse::<u64>().unwrap_or(0);
            state.issues.iter().find(|issue| issue["number"] == number).map(|issue| (200, issue.clone()))
        }
        ("GET", ["issues", number, "comments"]) => {
            let number = number.parse::<u64>().unwrap_or(0);
            let all = state.comments.iter().filter(|(of, _)| *of == number);
            Some((200, page(&all.map(|(_, comment)| comment.clone()).collect::<Vec<_>>(), query)))
        }
        ("GET", ["pulls"]) => {
            let head = value(query, "head").unwrap_or_default();
            let is_open = |pull: &&Value| pull["state"] == "open" && pull["head"]["label"] == head.as_str();
            Some((200, state.pulls.iter().filter(is_open).cloned().collect()))
        }
        ("POST", ["pulls"]) => Some(create(state, &request.body)),
        ("PATCH", ["pulls", number]) => {
            let number = number.parse::<u64>().unwrap_or(0);
            let pull = state.pulls.iter_mut().find(|pull| pull["number"] == number);
            pull.map(|pull| {
                for key in ["title", "body", "base"] {
                    if let Some(new) = request.body.get(key) {
                        pull[key] = new.clone();
                    }
                }
                (200, pull.clone())
            })
        }
        _ => None,
    };
    found.unwrap_or_else(|| (404, message("Not Found")))
}

/// Makes a pull request a draft, or ready.
fn change(state: &mut State, asked: &Value) -> (u16, Value) {
    let query = asked["query"].as_str().unwrap_or_default();
    let Some(pull) = state.pulls.iter_mut().find(|pull| pull["node_id"] == asked["variables"]["id"]) else {
        return (200, json!({"errors": [{"message": "Could not resolve to a node"}]}));
    };
    pull["draft"] = json!(query.contains("convertPullRequestToDraft"));
    (200, json!({"data": {}}))
}

fn create(state: &mut State, asked: &Value) -> (u16, Value) {
    let owner = REPOSITORY.split('/').next().unwrap_or_default();
    let label = format!("{owner}:{}", asked["head"].as_str().unwrap_or_default());
    if state.pulls.iter().any(|pull| pull["state"] == "open" && pull["head"]["label"] == label.as_str()) {
        return (422, message("A pull request already exists"));
    }
    let number = 101 + state.pulls.len() as u64;
    let pull = json!({
        "number": number, "state": "open", "title": asked["title"], "body": asked["body"],
        "draft": asked["draft"].as_bool().unwrap_or(false), "base": asked["base"], "head": {"label": label},
        "html_url": format!("https://github.com/{REPOSITORY}/pull/{number}"), "node_id": format!("PR_{number}"),
    });
    state.pulls.push(pull.clone());
    (201, pull)
}

/// The open issues that have all labels of the query.
fn labelled(state: &State, query: &str) -> Vec<Value> {
    let labels = value(query, "labels").unwrap_or_default();
    let has = |issue: &Value, label: &str| {
        issue["labels"].as_array().is_some_and(|all| all.iter().any(|it| it["name"] == label))
    };
    let wanted: Vec<&str> = labels.split(',').filter(|label| !label.is_empty()).collect();
    let fits = |issue: &&Value| issue["state"] == "open" && wanted.iter().all(|label| has(issue, label));
    state.issues.iter().filter(fits).cloned().collect()
}

/// The part of a list that the query asks for.
fn page(all: &[Value], query: &str) -> Value {
    let number = |key: &str| value(query, key).and_then(|value| value.parse::<usize>().ok());
    let (size, page) = (number("per_page").unwrap_or(PAGE), number("page").unwrap_or(1));
    all.iter().skip(size * page.saturating_sub(1)).take(size).cloned().collect()
}

/// The value of a key, without the signs of an address.
fn value(query: &str, key: &str) -> Option<String> {
    let pair = query.split('&').find_map(|pair| pair.split_once('=').filter(|(name, _)| *name == key))?;
    Some(pair.1.replace("%20", " ").replace("%3A", ":").replace("%2F", "/"))
}

fn message(text: &str) -> Value {
    json!({ "message": text })
}
