//! The prompt that a user gives: as an argument, in a file, on standard input, or in an editor.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use ralph_core::{
    prompt::draft::{TEMPLATE, written},
    setup::PromptSource,
};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN},
    process::foreground,
};
use tempfile::NamedTempFile;

use super::issue_flags::IssueFlags;

/// Standard input, as an argument.
const STDIN: &str = "-";

/// The task for the agent, as a flag.
#[derive(Args, Debug, Default)]
pub(super) struct PromptFlags {
    /// The task for the agent, even if it begins with a dash
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) prompt: Option<String>,

    /// Read the prompt from this file
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "prompt")]
    pub(super) prompt_file: Option<PathBuf>,
}

/// The task for the agent, as a word or as a flag.
#[derive(Args, Debug, Default)]
pub(super) struct GivenPrompt {
    /// The task for the agent; `-` reads it from standard input
    ///
    /// Without a prompt, ralph reads it from a pipe; in a terminal, it opens $VISUAL or $EDITOR.
    #[arg(value_name = "PROMPT", conflicts_with_all = ["prompt", "prompt_file"])]
    words: Option<String>,

    #[command(flatten)]
    flags: PromptFlags,

    #[command(flatten)]
    pub(super) issue: IssueFlags,
}

/// A prompt, and what it was written in.
pub(super) struct Given {
    pub(super) source: PromptSource,
    draft: Option<NamedTempFile>,
}

impl Given {
    /// The same error; what the user wrote in an editor is kept, and the error says where.
    pub(super) fn keep(&mut self, error: Error) -> Error {
        match self.draft.take().and_then(|draft| draft.keep().ok()) {
            Some((_, path)) => error.hint(format!("your prompt is kept: ralph run -f {}", path.display())),
            None => error,
        }
    }
}

impl GivenPrompt {
    /// The prompt, from where the user gives it.
    pub(super) fn read(&self) -> Result<Given> {
        let text = |text: String| Given { source: PromptSource::Text(text), draft: None };
        if let Some(path) = &self.flags.prompt_file {
            return Ok(Given { source: PromptSource::File(std::path::absolute(path)?), draft: None });
        }
        match self.words.as_ref().or(self.flags.prompt.as_ref()) {
            Some(words) if words == STDIN => Ok(text(from_stdin()?)),
            Some(words) if words.trim().is_empty() => Err(Error::new("the prompt is empty")),
            Some(words) if self.words.is_some() && is_file(words) => {
                Err(Error::new(format!("`{words}` is a file, not a prompt"))
                    .hint(format!("to have the agent do what it says: ralph run -f {words}")))
            }
            Some(words) => Ok(text(words.clone())),
            None if self.issue.is_given() => Ok(text(self.issue.request())),
            None if io::stdin().is_terminal() => from_editor(),
            None => Ok(text(from_stdin()?)),
        }
    }
}

/// Whether the user forgot the flag for a file. Prose is never taken for one.
fn is_file(words: &str) -> bool {
    !words.contains(char::is_whitespace) && Path::new(words).is_file()
}

fn from_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_TEXT_LEN + 1)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    if MAX_TEXT_LEN < bytes.len() as u64 {
        return Err(Error::new("the prompt on standard input is longer than 16 MiB"));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.trim().is_empty() { Err(no_prompt()) } else { Ok(text) }
}

fn from_editor() -> Result<Given> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).ok_or_else(no_prompt)?;
    let editor = editor.to_string_lossy().into_owned();
    let mut draft = tempfile::Builder::new().prefix("ralph-prompt-").suffix(".md").tempfile()?;
    draft.write_all(TEMPLATE.as_bytes())?;
    let mut words =
        shell_words::split(&editor).context(format!("cannot read the editor `{editor}`"))?.into_iter();
    let program = OsString::from(words.next().ok_or_else(no_prompt)?);
    let args = words.map(OsString::from).chain([draft.path().into()]).collect();
    let status = foreground::run(program, args).context(format!("cannot start the editor `{editor}`"))?;
    if !status.success() {
        return Err(Error::new(format!("the editor `{editor}` did not succeed; nothing was started")));
    }
    // Read by its name: many editors replace the file.
    let prompt = written(&files::read_text(draft.path())?)
        .ok_or_else(|| Error::new("the prompt is empty; nothing was started"))?;
    Ok(Given { source: PromptSource::Text(prompt), draft: Some(draft) })
}

fn no_prompt() -> Error {
    Error::new("there is no prompt")
        .hint("say what to do: ralph run \"Make the tests pass\"")
        .hint("or name a file: ralph run -f TASK.md")
}
