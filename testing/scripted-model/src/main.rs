//! `scripted-model SCRIPT [PORT]`: serves a script and prints its address, for trying an agent by hand.

use std::io::{self, Write};
use std::{env, error::Error, fs, thread, time::Duration};

use scripted_model::Server;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let script = words.next().ok_or("usage: scripted-model SCRIPT [PORT]")?;
    let port = words.next().map_or(Ok(0), |port| port.parse())?;
    let server = Server::start_on(port, serde_json::from_str(&fs::read_to_string(script)?)?)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", server.url())?;
    let mut seen = 0;
    loop {
        thread::sleep(Duration::from_millis(100));
        for request in server.requests().iter().skip(seen) {
            seen += 1;
            writeln!(out, "{} {} {}", request.method, request.path, request.body)?;
        }
    }
}
