//! Prints the stream of an agent as events, one JSON object per line:
//! `cargo run --example events -- claude < crates/agents/fixtures/claude/tool.ndjson`.

#![expect(clippy::disallowed_methods, reason = "a program around the pure crate")]

use std::{
    env,
    io::{self, Read, Write},
};

use ralph_agents::{AgentEvent, adapter};

fn main() -> io::Result<()> {
    let command = env::args().nth(1).unwrap_or_default();
    let mut parser = adapter(&command).parser();
    let mut output = io::stdout().lock();
    let mut print = |event: AgentEvent| {
        // A reader that has gone ends the example soon enough.
        let _ = serde_json::to_writer(&mut output, &event);
        let _ = output.write_all(b"\n");
    };
    let (mut input, mut buffer) = (io::stdin().lock(), [0; 8192]);
    loop {
        match input.read(&mut buffer)? {
            0 => break,
            read => parser.push(&buffer[..read], &mut print),
        }
    }
    parser.finish(&mut print);
    Ok(())
}
