//! What hooks tell the ralph that started their agent: lines in a folder of the turn, read when it is over.
//!
//! The agent can write there too, so what stands there is a claim, and the file may be anything.

use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
};

use ralph_core::engine::judgement::{HookReport, Judgement};
use ralph_sandbox::spool::VARIABLE;
use ralph_sys::files::Root;
use serde::{Deserialize, Serialize};

const FILE: &str = "hooks.jsonl";
/// More than any agent calls tools in a turn.
const MAX_NOTES_LEN: u64 = 16 * 1024 * 1024;
/// As many reasons as a journal wants.
const MAX_REASONS: usize = 50;

/// One thing that a hook did.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note {
    /// A tool call was judged.
    Judged(Judgement),
    /// The agent may not stop, for this reason.
    Held(String),
    /// The agent was told that its context is that full, in percent.
    Context(u8),
}

/// What the hooks of a turn report.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) report: HookReport,
    /// Every call that was judged.
    pub(crate) calls: Vec<Judgement>,
}

/// The folder of the turn, if ralph started this agent.
pub(crate) fn folder() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Adds a line in one write, so that the lines of hooks that run side by side stay whole.
pub(crate) fn add(folder: &Path, note: &Note) -> io::Result<()> {
    let mut line = serde_json::to_vec(note)?;
    line.push(b'\n');
    Root::new(folder).append(FILE)?.write_all(&line)
}

/// What the hooks have reported so far.
pub(crate) fn read(folder: &Path) -> Notes {
    let mut notes = Notes::default();
    // Whatever cannot be read was not reported.
    let _ = read_lines(folder, FILE, &mut notes);
    notes
}

/// Takes what was reported away.
pub(crate) fn take(folder: &Path) -> Notes {
    let taken = format!("{FILE}.{}", std::process::id());
    let mut notes = Notes::default();
    // A hook that adds at the same moment has the file open, and its line is read with the others.
    if std::fs::rename(folder.join(FILE), folder.join(&taken)).is_ok() {
        let _ = read_lines(folder, &taken, &mut notes);
        let _ = Root::new(folder).remove(&taken);
    }
    notes
}

fn read_lines(folder: &Path, name: &str, notes: &mut Notes) -> io::Result<()> {
    // The agent may have put a link or a pipe there.
    let text = Root::new(folder).read(name, MAX_NOTES_LEN)?;
    for note in text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()) {
        notes.take(note);
    }
    Ok(())
}

impl Notes {
    fn take(&mut self, note: Note) {
        let Self { report, calls } = self;
        match note {
            Note::Judged(call) => {
                report.judged += 1;
                report.refused += u64::from(call.is_refusal());
                calls.push(call);
            }
            Note::Held(reason) if report.held.len() < MAX_REASONS => report.held.push(reason),
            Note::Context(percent) if report.context.len() < MAX_REASONS => report.context.push(percent),
            Note::Held(_) | Note::Context(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_guard::Decision;

    fn call(decision: Decision) -> Note {
        let (tool, asked) = ("Bash".to_owned(), "ls".to_owned());
        Note::Judged(Judgement { id: None, tool, asked, decision, rule: None, found: None })
    }

    #[test]
    fn what_was_added_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        for note in [call(Decision::Allow), call(Decision::Block), Note::Held("x".into()), Note::Context(70)]
        {
            add(folder.path(), &note).expect("a line");
        }
        let notes = read(folder.path());
        let expected = HookReport { judged: 2, refused: 1, held: vec!["x".to_owned()], context: vec![70] };
        assert_eq!((notes.report, notes.calls.len()), (expected, 2));
        add(folder.path(), &call(Decision::Warn)).expect("a line");
        assert_eq!(take(folder.path()).calls[2].decision, Decision::Warn);
        assert_eq!(take(folder.path()).calls.len(), 0);
    }

    #[test]
    fn what_an_agent_puts_in_its_place_holds_no_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let elsewhere = folder.path().join("elsewhere");
        let note = serde_json::to_string(&call(Decision::Allow)).expect("JSON");
        std::fs::write(&elsewhere, format!("{note}\n")).expect("a file");
        let file = folder.path().join(FILE);
        std::os::unix::fs::symlink(&elsewhere, &file).expect("a link");
        assert_eq!(read(folder.path()).calls.len(), 0);
        std::fs::remove_file(&file).expect("it is there");
        ralph_sys::files::make_pipe(&file).expect("a pipe");
        assert_eq!(read(folder.path()).calls.len(), 0);
        std::fs::remove_file(&file).expect("it is there");
        std::fs::write(&file, b"\xff\xfe{\n{\"judged\":3}\n{\"held\":\"x\"}").expect("a file");
        assert_eq!(read(folder.path()).report.held, ["x"]);
    }
}
