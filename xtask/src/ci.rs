//! `cargo xtask ci`: every check of the project, in the order in which they are cheap to fail.
//!
//! It needs Rust and git; what else it needs it builds into the target folder. With npm it also installs the
//! agents there that the tests run for real; without npm those tests are skipped by name, but not where `CI=true`.
//! A browser, bubblewrap and valgrind it installs from the packages of Debian where it may. Where `CI=true` every
//! kind of sandbox that is tested must work: embedded and landlock need only the kernel.

use std::{
    path::Path,
    process::{Command, ExitCode, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    agents,
    cargo::{Tool, cargo, release, root},
    debian, elf,
    generate::{self, Stale},
    instructions::{self, Then},
    say,
};

const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
/// How long the demo may take.
const DEMO_LIMIT: Duration = Duration::from_secs(10);

/// One check.
struct Step {
    name: &'static str,
    /// What to type to repeat it.
    repeat: &'static str,
    check: fn() -> Result<()>,
}

const STEPS: [Step; 13] = [
    Step {
        name: "format",
        repeat: "cargo fmt --all --check",
        check: || run(cargo().args(["fmt", "--all", "--check"])),
    },
    Step {
        name: "lint",
        repeat: "cargo clippy --workspace --all-targets --locked -- -D warnings",
        check: || {
            let args = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            run(cargo().args(args))
        },
    },
    Step { name: "sandboxes", repeat: "apt-get install --yes bubblewrap", check: debian::prepare_sandboxes },
    Step { name: "browser", repeat: "apt-get install --yes chromium", check: debian::prepare_browser },
    Step { name: "agents", repeat: "cargo xtask agents --install-only", check: agents::install_usual },
    Step {
        name: "test",
        repeat: "cargo test --workspace --locked",
        check: || run(cargo().args(["test", "--workspace", "--locked"])),
    },
    Step { name: "generated", repeat: "cargo xtask generate --check", check: generated },
    Step {
        name: "document",
        repeat: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --locked",
        check: || {
            let args = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
            run(cargo().args(args).env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Step { name: "dependencies", repeat: "cargo deny check licenses bans sources", check: dependencies },
    Step { name: "build", repeat: "cargo build --release --locked", check: || release().map(drop) },
    Step { name: "demo", repeat: "cargo run --release --locked -- demo", check: || demo(&release()?) },
    Step { name: "instructions", repeat: "cargo xtask instructions", check: instructions },
    Step { name: "static", repeat: "cargo xtask ci", check: || static_program(&release()?) },
];

/// Runs all checks.
pub(crate) fn main() -> ExitCode {
    let mut times = Vec::new();
    let mut failure = None;
    for Step { name, repeat, check } in STEPS {
        say(&format!("\n== {name}: {repeat}\n"));
        let started = Instant::now();
        let result = check();
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        times.push(format!("{name:<14}{verdict:<8}{:>7.1} s\n", started.elapsed().as_secs_f64()));
        if let Err(error) = result {
            failure = Some(format!("\n{name}: {error:#}\nto repeat it: {repeat}\n"));
            break;
        }
    }
    say(&format!("\n{}", times.concat()));
    let Some(failure) = failure else { return ExitCode::SUCCESS };
    say(&failure);
    ExitCode::FAILURE
}

fn run(command: &mut Command) -> Result<()> {
    let name = Path::new(command.get_program()).display().to_string();
    let status = command.status().with_context(|| format!("cannot start `{name}`"))?;
    ensure!(status.success(), "`{name}` ended with {status}");
    Ok(())
}

fn generated() -> Result<()> {
    let code = generate::main(Stale::Report)?;
    ensure!(code == ExitCode::SUCCESS, "type `cargo xtask generate` and commit what it writes");
    Ok(())
}

fn instructions() -> Result<()> {
    let code = instructions::main(Then::Compare)?;
    ensure!(
        code == ExitCode::SUCCESS,
        "ralph does more than it did; if it must: `cargo xtask instructions --save`"
    );
    Ok(())
}

fn dependencies() -> Result<()> {
    run(Command::new(CARGO_DENY.find()?).args(["check", "licenses", "bans", "sources"]).current_dir(root()))
}

fn demo(program: &Path) -> Result<()> {
    let mut child = Command::new(program).arg("demo").stdin(Stdio::null()).spawn()?;
    let deadline = Instant::now() + DEMO_LIMIT;
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if deadline < Instant::now() {
            child.kill()?;
            child.wait()?;
            bail!("the demo did not end within {} s", DEMO_LIMIT.as_secs());
        }
        thread::sleep(Duration::from_millis(10));
    };
    ensure!(status.success(), "the demo ended with {status}");
    Ok(())
}

fn static_program(program: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        say("only Linux programs are static\n");
        return Ok(());
    }
    ensure!(elf::is_static(&fs_err::read(program)?)?, "{} needs a dynamic loader", program.display());
    say(&format!("{} needs no dynamic loader\n", program.display()));
    Ok(())
}
