//! The agent's list of things to do, put together from its tool calls.
//!
//! Invariant: a call changes the list only once its result says that it worked.

use serde::Deserialize;

use super::raw::{Raw, word};
use super::{TodoItem, TodoState};

/// The list and the calls that have not come back yet.
#[derive(Debug, Default)]
pub(super) struct Todos {
    tasks: Vec<Task>,
    pending: Vec<(String, Change)>,
}

#[derive(Debug)]
struct Task {
    id: String,
    item: TodoItem,
}

#[derive(Debug)]
enum Change {
    Replace(Vec<TodoItem>),
    Create { text: String },
    Update { id: String, text: Option<String>, status: String },
}

impl Todos {
    /// A tool call began; it may be one that changes the list.
    pub(super) fn begin(&mut self, call: &str, tool: &str, input: Option<Raw<'_>>) {
        if let Some(change) = input.and_then(|input| Change::of(tool, input)) {
            self.pending.push((call.to_owned(), change));
        }
    }

    /// A tool call ended. Returns the list if that changed it.
    pub(super) fn end(&mut self, call: &str, ok: bool, details: Option<Raw<'_>>) -> Option<Vec<TodoItem>> {
        let at = self.pending.iter().position(|(id, _)| id == call)?;
        let (_, change) = self.pending.swap_remove(at);
        if !ok {
            return None;
        }
        match change {
            Change::Replace(items) => {
                self.tasks = items.into_iter().map(|item| Task { id: String::new(), item }).collect();
            }
            Change::Create { text } => {
                // Only the result knows the identifier that later updates use.
                let created = details.and_then(Raw::read::<Created<'_>>).and_then(|created| created.task);
                let id = created.map_or_else(String::new, |task| word(task.id).to_owned());
                self.tasks.push(Task { id, item: TodoItem { text, state: TodoState::Pending } });
            }
            Change::Update { id, text, status } => self.update(&id, text, &status)?,
        }
        Some(self.tasks.iter().map(|task| task.item.clone()).collect())
    }

    fn update(&mut self, id: &str, text: Option<String>, status: &str) -> Option<()> {
        let at = self.tasks.iter().position(|task| task.id == id)?;
        if status == "deleted" {
            self.tasks.remove(at);
            return Some(());
        }
        let item = &mut self.tasks[at].item;
        item.state = state(status).unwrap_or(item.state);
        item.text = text.unwrap_or_else(|| std::mem::take(&mut item.text));
        Some(())
    }
}

impl Change {
    fn of(tool: &str, input: Raw<'_>) -> Option<Self> {
        match tool {
            "TodoWrite" | "todo_write" | "todowrite" | "write_todos" => {
                let list: List<'_> = input.read()?;
                Some(Self::Replace(list.todos.into_iter().filter_map(Entry::item).collect()))
            }
            "TaskCreate" => Some(Self::Create { text: input.read::<Entry<'_>>()?.text()? }),
            "TaskUpdate" => {
                let update: Entry<'_> = input.read()?;
                let (id, status) = (word(update.task_id).to_owned(), word(update.status).to_owned());
                Some(Self::Update { id, status, text: update.subject.and_then(Raw::text) })
            }
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    todos: Vec<Entry<'a>>,
}

/// An entry as the agents write it; each has another name for the text.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    subject: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    description: Option<Raw<'a>>,
    status: Option<Raw<'a>>,
    #[serde(rename = "taskId")]
    task_id: Option<Raw<'a>>,
}

impl Entry<'_> {
    fn text(&self) -> Option<String> {
        self.subject.or(self.content).or(self.description)?.text()
    }

    /// Returns the entry unless it was given up.
    fn item(self) -> Option<TodoItem> {
        let status = word(self.status);
        let state = state(status).unwrap_or(TodoState::Pending);
        Some(TodoItem { text: self.text()?, state }).filter(|_| status != "cancelled")
    }
}

#[derive(Deserialize)]
struct Created<'a> {
    #[serde(borrow)]
    task: Option<CreatedTask<'a>>,
}

#[derive(Deserialize)]
struct CreatedTask<'a> {
    #[serde(borrow)]
    id: Option<Raw<'a>>,
}

fn state(status: &str) -> Option<TodoState> {
    match status {
        "pending" => Some(TodoState::Pending),
        "in_progress" | "in-progress" => Some(TodoState::Active),
        "completed" => Some(TodoState::Done),
        _ => None,
    }
}
