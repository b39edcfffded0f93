//! Judges a tool call before it runs, by the guard.

use std::{
    env,
    path::{Path, PathBuf},
};

use ralph_core::engine::judgement::Judgement;
use ralph_guard::{ToolCall, Verdict};
use ralph_sys::error::{Error, Result};
use serde_json::Value;

use super::{Input, project, store::Store};
use crate::settings::guard::{self, PROJECT_VARIABLE};

/// As much of what was asked is kept, in characters.
const MAX_KEPT_CHARS: usize = 300;

/// What the guard thinks of a call, in its own words and for the journal.
pub(super) fn judge(input: &Input<'_>) -> Result<(Verdict, Judgement)> {
    let tool = input.tool();
    if tool.is_empty() {
        return Err(Error::new("it names no tool"));
    }
    let project = guarded(input).ok_or_else(|| Error::new("it does not say where the agent works"))?;
    let folder = input.folder().map(PathBuf::from).filter(|folder| *folder != project);
    let project = whole(&project);
    let folder = folder.map_or_else(|| project.clone(), |folder| whole(&folder));
    let ctx = guard::load(&project, &folder)?.ctx;
    let mut call = ToolCall::from_hook(tool, &input.tool_input().unwrap_or(Value::Null));
    let asked = asked(&call);
    follow_links(&mut call, &folder);
    let verdict = ralph_guard::judge(&call, &ctx);
    let reason = verdict.reason();
    let judgement = Judgement {
        id: input.call().map(str::to_owned),
        tool: tool.to_owned(),
        asked,
        decision: verdict.decision,
        rule: reason.map(|finding| finding.rule.to_string()),
        found: reason.map(|finding| finding.found.clone()),
    };
    Ok((verdict, judgement))
}

/// The project that the guard protects. Where ralph knows it, it does not matter which folder the agent has gone to.
fn guarded(input: &Input<'_>) -> Option<PathBuf> {
    let given = env::var_os(PROJECT_VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute());
    given
        .or_else(|| env::var_os("CLAUDE_PROJECT_DIR").and_then(|_| project(input)))
        .or_else(|| Store::of(&input.session()?).ok()?.project())
        .or_else(|| project(input))
}

/// The beginning of what the tool is to do.
fn asked(call: &ToolCall) -> String {
    let text = match call {
        ToolCall::Shell { command_line } => command_line.clone(),
        ToolCall::Arguments { words } => words.join(" "),
        ToolCall::Write { paths } | ToolCall::Read { paths } => paths.join(" "),
        ToolCall::Code { text } => text.clone(),
        ToolCall::Several { calls } => calls.iter().map(asked).collect::<Vec<_>>().join("; "),
        ToolCall::Other | ToolCall::Unknown { .. } => String::new(),
    };
    match text.char_indices().nth(MAX_KEPT_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Adds where the paths of file tools really lead: the guard itself looks nothing up.
fn follow_links(call: &mut ToolCall, folder: &Path) {
    if let ToolCall::Several { calls } = call {
        return calls.iter_mut().for_each(|call| follow_links(call, folder));
    }
    let (ToolCall::Write { paths } | ToolCall::Read { paths }) = call else { return };
    let real = |path: &String| {
        let given = folder.join(path);
        let real = resolved(&given)?;
        (real != given).then(|| real.to_string_lossy().into_owned())
    };
    let mut more: Vec<String> = paths.iter().filter_map(real).collect();
    paths.append(&mut more);
}

/// The path without links, as far as it is there.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    // A link to what is not there yet makes it when it is written.
    if let Ok(target) = path.read_link() {
        return Some(path.parent()?.join(target));
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
