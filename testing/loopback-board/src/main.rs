//! `crowd`: what the measurements of a board do to it. It is built as ralph is shipped, which the chores are not.

use std::{
    env,
    fs::File,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    process::ExitCode,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use loopback_board::workers::{IdleFleet, connect};
use ralph_board::{Key, Setup};
use ralph_core::fleet::ItemStep;
use ralph_sys::error::{Error, Result};

const USAGE: &str =
    "usage: crowd set-up URL SILENCE_MS REPLICAS | key FILE | work URL FLEET WORKERS ITEMS | watch URL FLEET";
/// Between two looks at the logs.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["set-up", url, silence, replicas] => {
            let silence = Duration::from_millis(number(silence)?);
            let replicas = number(replicas)?;
            connect(url, "setup")?.set_up(&Setup { silence, replicas, ..Setup::default() })
        }
        ["key", path] => {
            let key = Key::generate();
            let mut file = File::options().create_new(true).write(true).mode(0o600).open(path)?;
            file.write_all(key.seed()?.as_bytes())?;
            Ok(writeln!(io::stdout(), "{}", key.public().as_str())?)
        }
        ["work", url, fleet, workers, items] => {
            let posted = IdleFleet::post(url, fleet, number(items)?)?;
            tell("posted", "all");
            posted.work(number(workers)?, |item| tell("landed", item))
        }
        ["watch", url, fleet] => watch(url, fleet),
        _ => Err(Error::new(USAGE)),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::new(format_args!("`{text}` is not a number; {USAGE}")))
}

/// Tells of every entry of a fleet's logs as soon as it is there, until no one reads it.
fn watch(url: &str, fleet: &str) -> Result<()> {
    let ledger = connect(url, "watcher")?.ledger(fleet);
    let mut seen = 0;
    loop {
        // A server that is away comes back.
        for entry in ledger.changes(seen).unwrap_or_default() {
            seen = entry.entry.sequence;
            let step = match entry.entry.step {
                ItemStep::Posted => "posted",
                ItemStep::Claimed => "claimed",
                ItemStep::Done(_) => "done",
                ItemStep::Merged { .. } => "merged",
                _ => "other",
            };
            tell(&format!("{step} {}", entry.entry.who), &entry.item);
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

/// One line: when, what, and which item.
fn tell(what: &str, item: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let mut out = io::stdout().lock();
    let told = writeln!(out, "{now:.6} {what} {item}").and_then(|()| out.flush());
    if told.is_err() {
        std::process::exit(0);
    }
}
