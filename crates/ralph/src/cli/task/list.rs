//! `ralph task list`: the tasks of a project and who works on them.

use std::{fmt::Write, io, path::Path};

use clap::Args;
use ralph_core::setup::Role;
use ralph_sys::{error::Result, files::MAX_TEXT_LEN};
use serde_json::json;

use super::super::{display::settings_of, print, print_lines};
use crate::{
    report::{style::Marks, summary::count},
    tasks::{
        Records, Task, Tasks,
        record::{Record, Status},
        registration::short_title,
        store,
    },
    term::{Palette, fit::one_line},
};

/// Show the tasks of this project and their state
///
/// Example: ralph task list --tree
#[derive(Args, Debug)]
pub(super) struct TaskListArgs {
    /// Show the runs of each task, with child runs below their parents
    #[arg(long)]
    tree: bool,

    /// Print one JSON object per task, with all its runs
    #[arg(long)]
    json: bool,
}

/// How a task stands, in a word that scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    New,
    Running,
    Done,
    Stopped,
    Failed,
}

/// Prints the tasks, by their names.
pub(super) fn main(args: &TaskListArgs, project: &Path) -> Result<u8> {
    let tasks = Tasks::of(project).all();
    let output = settings_of(project).output;
    let look =
        ReportStyle { palette: Palette::of(output.color, &io::stdout()), marks: Marks::of(output.emoji) };
    let mut out = String::new();
    for task in &tasks {
        let records = store::all(task);
        let standing = Standing::of(task, &records);
        if args.json {
            let line = json!({
                "task": task.id,
                "status": standing.word(),
                "title": title(task),
                "folder": task.folder,
                "dependsOn": task.depends_on(),
                "runs": records.values().collect::<Vec<_>>(),
            });
            let _ = writeln!(out, "{line}");
            continue;
        }
        out.push_str(&look.task(task, standing, &records));
        if args.tree {
            let roots = records.values().filter(|record| !is_child_of_any(record, &records));
            roots.for_each(|record| look.tree(record, &records, 1, &mut out));
        }
    }
    if tasks.is_empty() && !args.json {
        out.push_str("no tasks yet; start one: ralph task run -p \"...\"\n");
    }
    if args.json {
        print(&out)?;
    } else {
        print_lines(&out)?;
    }
    Ok(0)
}

impl Standing {
    fn of(task: &Task, records: &Records) -> Self {
        let last = records.values().rfind(|record| record.role == Role::Root).map(|record| record.status);
        match last {
            Some(Status::Running) => Self::Running,
            _ if task.done().exists() => Self::Done,
            None => Self::New,
            // DONE was taken away after the run had ended.
            Some(Status::Stopped | Status::Completed) => Self::Stopped,
            Some(Status::Failed) => Self::Failed,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Running => "running",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

struct ReportStyle {
    palette: Palette,
    marks: Marks,
}

impl ReportStyle {
    fn task(&self, task: &Task, standing: Standing, records: &Records) -> String {
        let Palette { good, bad, warn, accent, quiet, .. } = self.palette;
        let color = match standing {
            Standing::Running => accent,
            Standing::Done => good,
            Standing::New | Standing::Stopped => warn,
            Standing::Failed => bad,
        };
        let turns: u32 = records.values().map(|record| record.turns).sum();
        let active = records.values().filter(|record| record.status == Status::Running).count();
        let mut facts = vec![count(turns.into(), "turn")];
        if 0 < active {
            facts.push(format!("{active} at work"));
        }
        let needs = task.depends_on();
        if !needs.is_empty() {
            facts.push(format!("after {}", needs.join(", ")));
        }
        facts.push(one_line(&title(task)).into_owned());
        let word = standing.word();
        format!("{color}{word:<8}{color:#} {}  {quiet}{}{quiet:#}\n", task.id, facts.join(self.marks.dot))
    }

    /// A run, and below it those that its agent started.
    fn tree(&self, record: &Record, records: &Records, depth: usize, out: &mut String) {
        let quiet = self.palette.quiet;
        let mut facts = vec![count(record.turns.into(), "turn")];
        facts.extend(record.exit_code.map(|code| format!("exit {code}")));
        facts.extend((record.status == Status::Running).then(|| format!("process {}", record.pid)));
        facts.push(one_line(&record.title).into_owned());
        let (indent, word) = ("  ".repeat(depth), record.status.word());
        let facts = facts.join(self.marks.dot);
        let _ = writeln!(out, "{indent}{word:<9} {}  {quiet}{facts}{quiet:#}", record.run);
        let children = records.values().filter(|child| child.parent.as_ref() == Some(&record.run));
        children.for_each(|child| self.tree(child, records, depth + 1, out));
    }
}

/// Whether the run that started it is in the list; a run is never above itself.
fn is_child_of_any(record: &Record, records: &Records) -> bool {
    record.parent.as_ref().is_some_and(|parent| records.contains_key(parent) && *parent < record.run)
}

fn title(task: &Task) -> String {
    let text = task.files().read(task.text_file(), MAX_TEXT_LEN).unwrap_or_default();
    if text.is_empty() { String::new() } else { short_title(&String::from_utf8_lossy(&text)) }
}
