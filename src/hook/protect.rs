//! Keeps an agent's file tools away from ralph's own files.

use std::path::{Component, Path, PathBuf};

use super::input::Input;
use crate::driver::PROJECT_DIR;

/// Marks a project in which a loop runs.
pub(super) const ACTIVE_MARK: &str = ".ralph-active";
/// What belongs to the agent although it lies in ralph's folder.
const FOR_THE_AGENT: [&str; 2] = ["tasks", "implementation_plan.md"];
/// How a patch names the files that it changes.
const IN_PATCHES: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Why a tool call may not run; nothing if it may. `record` is where runs are recorded.
pub(super) fn objection(input: &Input<'_>, record: Option<&Path>) -> Option<String> {
    let folder = PathBuf::from(input.folder().unwrap_or_default());
    let files: Vec<String> = match input.tool() {
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => input.file().into_iter().collect(),
        "apply_patch" => patched(&input.command().unwrap_or_default()),
        _ => Vec::new(),
    };
    let file = files.into_iter().find(|file| is_ours(&plain(&folder.join(file)), record))?;
    Some(format!(
        "`{file}` belongs to ralph, which runs this loop: it is not for you to change. Do the work in the project's \
         own files, and say in your answer what should be different."
    ))
}

fn patched(patch: &str) -> Vec<String> {
    let named = |line: &str| IN_PATCHES.iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned);
    patch.lines().filter_map(named).collect()
}

fn is_ours(path: &Path, record: Option<&Path>) -> bool {
    if path.file_name().is_some_and(|name| name == ACTIVE_MARK)
        || record.is_some_and(|dir| path.starts_with(dir))
    {
        return true;
    }
    let mut parts = path.components().skip_while(|part| part.as_os_str() != PROJECT_DIR);
    parts.next().is_some()
        && !parts.next().is_some_and(|part| FOR_THE_AGENT.iter().any(|name| part.as_os_str() == *name))
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(tool: &str, input: &serde_json::Value, refused: bool) {
        let text = json!({"tool_name": tool, "tool_input": input, "cwd": "/p/sub"}).to_string();
        let input = Input::read(text.as_bytes()).expect("an object");
        assert_eq!(objection(&input, Some(Path::new("/state"))).is_some(), refused, "{text}");
    }

    #[test]
    fn own_files_are_refused() {
        for path in [
            "/p/.ralph/settings.json",
            "../.ralph/prompts/plan.md",
            "/p/x/../.ralph/settings.local.json",
            "/p/.ralph-active",
            "/p/.ralph",
            "/state/p-1/runs/1/journal.jsonl",
        ] {
            check("Write", &json!({"file_path": path}), true);
            check("Edit", &json!({"file_path": path}), true);
            check(
                "apply_patch",
                &json!({"command": format!("*** Begin Patch\n*** Update File: {path}\n")}),
                true,
            );
            check("Read", &json!({"file_path": path}), false);
        }
    }

    #[test]
    fn other_files_are_not() {
        for path in
            ["/p/src/a.rs", "x.ralph/y", "/p/.ralph/tasks/1/DONE", "/p/.ralph/implementation_plan.md", ""]
        {
            check("Write", &json!({"file_path": path}), false);
        }
        check("NotebookEdit", &json!({"notebook_path": "/p/.ralph/x.ipynb"}), true);
        check("Write", &json!({}), false);
        check("apply_patch", &json!({"command": "*** Begin Patch\n*** Add File: a.txt\n+.ralph/x\n"}), false);
    }
}
