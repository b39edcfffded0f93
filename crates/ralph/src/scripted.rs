//! The scripted agent: does what a script says instead of what a model thinks. The demo and the tests run it
//! as a real process where users run their agent.
//!
//! The nth call follows the nth turn of the script, the last one from then on. Beside the script it leaves
//! what it was told: `script.json.d/0001.prompt`, `0001.args`.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use ralph_agents::scripted::ROLE;
use ralph_sys::error::{Context, Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// This program under the name that agents are known by, whatever its file is called: itself, or this link to it.
pub(crate) fn program(link: &Path) -> io::Result<PathBuf> {
    let program = env::current_exe()?;
    if program.file_stem().is_some_and(|name| name == "ralph") {
        return Ok(program);
    }
    if !link.is_symlink() {
        symlink(program, link)?;
    }
    Ok(link.to_owned())
}

/// What to do, call by call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// One list of steps per call.
    turns: Vec<Vec<Step>>,
    /// What to answer when only a commit message is wanted; does not count as a call.
    #[serde(default)]
    text: Vec<Vec<Step>>,
}

/// One thing to do.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// Say something, as the agent's own words.
    Say(String),
    /// Think something.
    Think(String),
    /// Use a tool, and have it print this.
    Tool {
        name: String,
        #[serde(default)]
        input: Value,
        #[serde(default)]
        output: String,
        #[serde(default)]
        error: bool,
    },
    /// Report the end of the turn; without this step a plain success is reported at the end.
    Result(Value),
    /// Report no end.
    NoResult,
    /// Any event of the stream.
    Event(Value),
    /// Text on standard output, as it is.
    Print(String),
    /// Text on standard error, as it is.
    Complain(String),
    /// Bytes on standard output, as they are.
    Bytes(Vec<u8>),
    /// This many bytes on standard output, in one line.
    Fill(usize),
    /// A file's contents on standard output.
    Replay(PathBuf),
    /// Write a file.
    Write { path: PathBuf, text: String },
    /// Run a shell command.
    Shell(String),
    /// Wait.
    SleepMs(u64),
    /// Wait until a file is there.
    Await(PathBuf),
    /// Take no notice of SIGTERM and SIGINT.
    IgnoreSignals,
    /// Do not read the prompt.
    Deaf,
    /// Never end.
    Hang,
    /// End with this code.
    Exit(u8),
}

/// Follows the script; returns the exit code.
pub(crate) fn main(path: &Path, text_only: bool) -> Result<u8> {
    let text = fs_err::read_to_string(path)?;
    let script: Script =
        serde_json::from_str(&text).context(format!("{} is not a script", path.display()))?;
    let is_question = text_only || std::env::var_os(ROLE).is_some_and(|role| role == "message");
    let (call, mut record) = next_call(path, if is_question { "text" } else { "prompt" })?;
    let turns = if is_question { &script.text } else { &script.turns };
    let Some(steps) = turns.get(call).or(turns.last()) else {
        return Err(Error::new(format!("{} has no such turn", path.display())));
    };
    let is_deaf = steps.iter().any(|step| matches!(step, Step::Deaf));
    if !is_deaf {
        let mut prompt = Vec::new();
        io::stdin().lock().read_to_end(&mut prompt)?;
        record.write_all(&prompt)?;
    }
    let mut player = Player { out: io::stdout(), text_only, tools: 0, reported: false };
    player.event(
        &json!({"type": "system", "subtype": "init", "session_id": "scripted", "model": "a script instead of a model"}),
    )?;
    for step in steps {
        if let Some(code) = player.play(step)? {
            return Ok(code);
        }
    }
    player.end()?;
    Ok(0)
}

/// The number of this call, from 0, and the file for its prompt.
fn next_call(script: &Path, kind: &str) -> Result<(usize, File)> {
    let mut folder = script.as_os_str().to_owned();
    folder.push(".d");
    fs_err::create_dir_all(&folder)?;
    let folder = PathBuf::from(folder);
    for call in 0.. {
        let name = |ending: &str| folder.join(format!("{:04}.{ending}", call + 1));
        match OpenOptions::new().write(true).create_new(true).open(name(kind)) {
            Ok(file) => {
                let args: Vec<String> = std::env::args().collect();
                fs_err::write(name(&format!("{kind}.args")), args.join("\n"))?;
                return Ok((call, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).context(format!("cannot write into {}", folder.display())),
        }
    }
    Err(Error::new("too many calls"))
}

struct Player {
    out: io::Stdout,
    text_only: bool,
    tools: u32,
    reported: bool,
}

impl Player {
    /// Does one step; a number ends the process with that code.
    fn play(&mut self, step: &Step) -> Result<Option<u8>> {
        match step {
            Step::Say(text) if self.text_only => writeln!(self.out, "{text}")?,
            Step::Say(text) => self.message(&json!({"type": "text", "text": text}))?,
            Step::Think(text) => self.message(&json!({"type": "thinking", "thinking": text}))?,
            Step::Tool { name, input, output, error } => self.tool(name, input, output, *error)?,
            Step::Result(fields) => self.result(fields)?,
            Step::NoResult => self.reported = true,
            Step::Event(event) => self.event(event)?,
            Step::Print(text) => self.raw(text.as_bytes())?,
            Step::Complain(text) => io::stderr().write_all(text.as_bytes())?,
            Step::Bytes(bytes) => self.raw(bytes)?,
            Step::Fill(bytes) => self.fill(*bytes)?,
            Step::Replay(path) => drop(io::copy(&mut File::open(path)?, &mut self.out)?),
            Step::Write { path, text } => {
                fs_err::create_dir_all(path.parent().unwrap_or(path))?;
                fs_err::write(path, text)?;
            }
            Step::Shell(command) => shell(command)?,
            Step::SleepMs(ms) => thread::sleep(Duration::from_millis(*ms)),
            Step::Await(path) => {
                while !path.exists() {
                    thread::sleep(Duration::from_millis(2));
                }
            }
            Step::IgnoreSignals => {
                for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
                    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
                }
            }
            Step::Deaf => {}
            Step::Hang => loop {
                thread::park();
            },
            Step::Exit(code) => return Ok(Some(*code)),
        }
        Ok(None)
    }

    fn end(&mut self) -> io::Result<()> {
        if self.reported { Ok(()) } else { self.result(&json!({})) }
    }

    fn tool(&mut self, name: &str, input: &Value, output: &str, error: bool) -> io::Result<()> {
        self.tools += 1;
        let id = format!("tool_{}", self.tools);
        self.message(&json!({"type": "tool_use", "id": id, "name": name, "input": input}))?;
        self.event(&json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": error}
            ]},
            "parent_tool_use_id": null,
        }))
    }

    fn message(&mut self, block: &Value) -> io::Result<()> {
        let message = json!({"role": "assistant", "model": "scripted", "content": [block]});
        self.event(&json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
    }

    fn result(&mut self, fields: &Value) -> io::Result<()> {
        self.reported = true;
        let mut result = json!({
            "type": "result",
            "subtype": "success",
            "is_error": false,
            "num_turns": 1,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        });
        if let (Some(result), Some(fields)) = (result.as_object_mut(), fields.as_object()) {
            result.extend(fields.clone());
        }
        self.event(&result)
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        if self.text_only { Ok(()) } else { self.raw(format!("{event}\n").as_bytes()) }
    }

    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        let block = vec![b'x'; 64 * 1024];
        let mut left = bytes;
        while 0 < left {
            let now = left.min(block.len());
            self.out.write_all(&block[..now])?;
            left -= now;
        }
        self.raw(b"\n")
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }
}

/// As an agent's tool: in the agent's session, with its output out of the way.
fn shell(command: &str) -> Result<()> {
    let status = Command::new("sh").args(["-c", command]).stdin(std::process::Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(Error::new(format!("`{command}`: {status}"))) }
}
