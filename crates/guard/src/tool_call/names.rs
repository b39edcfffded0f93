//! Tools that are known by their names, as the agents call them, in lower case.

/// Tools that run commands.
pub(super) const SHELL: [&str; 13] = [
    "bash",
    "shell",
    "exec_command",
    "run_shell_command",
    "local_shell",
    "run_terminal_cmd",
    "execute_command",
    "powershell",
    "terminal",
    "exec",
    "unified_exec",
    "run_command",
    "monitor",
];

/// Tools that are judged by what they are given, as those are that are not known.
pub(super) const BY_SHAPE: [&str; 6] =
    ["apply_patch", "applypatch", "workflow", "tool_call", "write_stdin", "request_user_input"];

/// Tools that change files.
pub(super) const WRITE: [&str; 17] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "notebook_edit",
    "write_file",
    "replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "create_file",
    "edit_file",
    "create",
    "str_replace",
    "insert",
    "patch",
    "search_replace",
    "delete_file",
];

/// Tools that read files.
pub(super) const READ: [&str; 11] = [
    "read",
    "read_file",
    "view",
    "read_many_files",
    "notebookread",
    "open_file",
    "cat",
    "view_file",
    "grep",
    "view_image",
    "zoom_image",
];

/// Tools that touch nothing: plans, notes, questions, lists, searches, and helpers whose own calls are judged.
pub(super) const HARMLESS: &[&str] = &[
    "agent",
    "agentoutputtool",
    "ask_user",
    "askuserquestion",
    "bashoutput",
    "codebase_search",
    "create_goal",
    "cron_create",
    "cron_delete",
    "cron_list",
    "croncreate",
    "crondelete",
    "cronlist",
    "deferredtoolplaceholder",
    "delegate_to_agent",
    "enter_worktree",
    "enterplanmode",
    "enterworktree",
    "exit_worktree",
    "exitplanmode",
    "exitworktree",
    "file_search",
    "find_thread",
    "finder",
    "get_goal",
    "glob",
    "google_web_search",
    "grep_search",
    "killbash",
    "killshell",
    "librarian",
    "list",
    "list_agents",
    "list_dir",
    "list_directory",
    "list_mcp_resources",
    "listagents",
    "listmcpresourcestool",
    "look_at",
    "loop_wakeup",
    "ls",
    "lsp",
    "mermaid",
    "oracle",
    "pushnotification",
    "read_mcp_resource",
    "read_thread",
    "read_web_page",
    "readmcpresourcetool",
    "record_artifact",
    "report_findings",
    "report_intent",
    "reportfindings",
    "save_memory",
    "schedulewakeup",
    "search_file_content",
    "send_message",
    "sendmessage",
    "skill",
    "slashcommand",
    "sleep",
    "stop_bash",
    "structuredoutput",
    "task",
    "task_list",
    "task_stop",
    "taskcreate",
    "taskget",
    "tasklist",
    "taskoutput",
    "taskstop",
    "taskupdate",
    "think",
    "todo_read",
    "todo_write",
    "todoread",
    "todowrite",
    "tool_search",
    "toolsearch",
    "undo_edit",
    "update_goal",
    "update_plan",
    "update_todo",
    "wait",
    "web_fetch",
    "web_search",
    "webfetch",
    "websearch",
    "write_todos",
];

/// Words that the name of a tool begins with which only looks.
const LOOKS: [&str; 22] = [
    "count", "describe", "diff", "fetch", "find", "get", "glob", "grep", "has", "inspect", "is", "list",
    "lookup", "query", "read", "resolve", "search", "show", "stat", "status", "tree", "view",
];

/// Whether a tool that is not listed says by its name that it only looks: `mcp__files__read_text`.
pub(super) fn only_looks(tool: &str) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    let first: String = own
        .chars()
        .enumerate()
        .take_while(|(at, next)| next.is_ascii_lowercase() || *at == 0 && next.is_ascii_alphabetic())
        .map(|(_, next)| next.to_ascii_lowercase())
        .collect();
    LOOKS.contains(&first.as_str())
}
