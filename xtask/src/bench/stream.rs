//! What it costs to read and show a large stream, against `cat`.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use fs_err::File;
use serde_json::{Value, json};

use super::{
    Effort,
    clock::{Sample, interleave},
    place::Place,
    table::Table,
};

const STREAM: u64 = 100_000_000;
const LONG_LINE: usize = 20_000_000;
/// The limit on memory beside the longest line, in megabytes.
const MEMORY: f64 = 40.0;

/// A line of a tool's output: source code.
const OUTPUT: &str = "    42\tlet größe = parse(\"key\", &value)?; // as it was before the change\n";
/// A line of an agent's own words.
const WORDS: &str = "The function “parse” returns \"nothing\" for größe, so I will look at who calls it.\n";
/// Stands where a long text goes.
const GAP: &str = "GAP";

/// What the long line of a stream is.
#[derive(Clone, Copy)]
enum Long {
    ToolResult,
    Text,
}

/// Measures a stream whose long line is a tool's output, and one where the agent itself says it all.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    for (what, long) in [("20 MB tool result", Long::ToolResult), ("20 MB text", Long::Text)] {
        let longest = write(&place.path("stream"), long)?;
        let ([cat, ralph], note) = interleave(
            effort.rounds(9),
            [
                ("agent | cat", Box::new(|| place.bash("\"$0\" | cat > ../../copy", &place.replay))),
                ("ralph", Box::new(|| read(place))),
            ],
        )?;
        table.ratio(&format!("100 MB stream, {what}, against `cat`"), cat.seconds, ralph.seconds, 4.0);
        table.memory("  its memory", ralph.peak, MEMORY + longest / 1e6);
        table.note(format!("stream with {what}, {note}"));
    }
    Ok(())
}

/// Has ralph read the stream.
fn read(place: &Place) -> Result<Sample> {
    let sample = place.run(&place.replay, 1, &["--no-guard"])?;
    let summary = fs_err::read_to_string(place.current("stdout"))?;
    ensure!(summary.contains("$0.50"), "ralph did not read the stream to its end");
    fs_err::remove_file(place.current("stderr"))?;
    place.discard()?;
    Ok(sample)
}

/// Writes a stream as Claude Code prints it; returns the length of its longest line.
fn write(path: &Path, long: Long) -> Result<f64> {
    let mut file = Counted { inner: BufWriter::new(File::create(path)?), count: 0 };
    line(
        &mut file,
        &json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []}),
    )?;
    let mut longest = None;
    for number in 0.. {
        if STREAM <= file.count {
            break;
        }
        if STREAM / 2 <= file.count && longest.is_none() {
            let before = file.count;
            match long {
                Long::ToolResult => long_line(&mut file, &tool_result("long", GAP), OUTPUT)?,
                Long::Text => long_line(&mut file, &assistant(&json!({"type": "text", "text": GAP})), WORDS)?,
            }
            longest = Some(u32::try_from(file.count - before)?);
        }
        exchange(&mut file, number)?;
    }
    let usage = json!({"input_tokens": 12, "output_tokens": 34});
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": "It works.",
        "session_id": "s", "total_cost_usd": 0.5, "usage": usage});
    line(&mut file, &end)?;
    file.flush()?;
    longest.map(f64::from).context("the stream has a long line")
}

/// The agent says something, uses a tool, and sees its output.
fn exchange(file: &mut Counted, number: u64) -> io::Result<()> {
    let id = format!("toolu_{number}");
    let text = format!("Now I look at part {number}: “{}”\n", "the tests say why. ".repeat(20));
    line(file, &assistant(&json!({"type": "text", "text": text})))?;
    let input = json!({"command": format!("sed -n '{number}p' src/main.rs"), "description": "Read a part"});
    line(file, &assistant(&json!({"type": "tool_use", "id": id, "name": "Bash", "input": input})))?;
    line(file, &tool_result(&id, &OUTPUT.repeat(80)))
}

fn assistant(block: &Value) -> Value {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 20_000, "output_tokens": 90});
    let message =
        json!({"id": "msg", "type": "message", "role": "assistant", "content": [block], "usage": usage});
    json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": "s"})
}

fn tool_result(id: &str, text: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": false});
    let message = json!({"role": "user", "content": [block]});
    json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": "s"})
}

/// Writes an event with a long text in its gap, piece by piece: this program must stay small.
fn long_line(file: &mut Counted, event: &Value, text: &str) -> Result<()> {
    let event = event.to_string();
    let (before, after) = event.split_once(GAP).context("the event has a gap")?;
    let text = serde_json::to_string(text)?;
    let text = text.trim_matches('"');
    file.write_all(before.as_bytes())?;
    for _ in 0..LONG_LINE / text.len() {
        file.write_all(text.as_bytes())?;
    }
    file.write_all(after.as_bytes())?;
    Ok(file.write_all(b"\n")?)
}

fn line(file: &mut Counted, event: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *file, event)?;
    file.write_all(b"\n")
}

/// Knows how much was written.
struct Counted {
    inner: BufWriter<File>,
    count: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
