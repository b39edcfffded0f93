//! The checks for machines that this one is not: macOS is compiled, linted and linked; ARM is tested in an emulator.
//!
//! A target comes from rustup, the linker for all of them from Python packages. What is missing is
//! named, and fails where `CI=true`.

use std::{
    env,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use super::steps::{CARGO_DENY, Done, Step, When, have, or_without, packages, run};
use crate::{
    cargo::{cargo, root, target_dir},
    debian::{Missing, QEMU},
    elf,
    python::ZIGBUILD,
    say,
};

const MACS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];
const ARM: &str = "aarch64-unknown-linux-gnu";
/// How a program for a Mac begins.
const MACH_O: [u8; 4] = [0xcf, 0xfa, 0xed, 0xfe];
/// The crates whose tests an emulator runs soon enough: what decides, and what judges.
const EMULATED: [&str; 4] = ["ralph-core", "ralph-guard", "ralph-agents", "ralph-checks"];

pub(super) const STEPS: [Step; 6] = [
    Step {
        name: "packages",
        repeat: "cargo xtask dist --try",
        when: When::Platforms,
        cold_seconds: 38,
        check: packages,
    },
    Step {
        name: "mac",
        repeat: "cargo clippy --all-targets --locked --target aarch64-apple-darwin --target x86_64-apple-darwin -- -D warnings",
        when: When::Platforms,
        cold_seconds: 150,
        check: mac,
    },
    Step {
        name: "link",
        repeat: "cargo zigbuild --package ralph --locked --target aarch64-apple-darwin --target x86_64-apple-darwin",
        when: When::Platforms,
        cold_seconds: 180,
        check: link,
    },
    Step {
        name: "arm",
        repeat: "cargo xtask ci --platforms",
        when: When::Platforms,
        cold_seconds: 200,
        check: arm,
    },
    Step {
        name: "oldest",
        repeat: "cargo +1.95.0 check --locked",
        when: When::Platforms,
        cold_seconds: 50,
        check: |missing| or_without(oldest(missing)),
    },
    Step {
        name: "advisories",
        repeat: "cargo deny check advisories",
        when: When::Platforms,
        cold_seconds: 20,
        check: |_| advisories(),
    },
];

fn mac(missing: Missing) -> Result<Done> {
    or_else_skip(targets(&MACS, missing), || {
        let mut clippy = cargo();
        clippy
            .args(["clippy", "--all-targets", "--locked"])
            .args(MACS.map(|target| format!("--target={target}")));
        run(clippy.args(["--", "-D", "warnings"]))
    })
}

fn link(missing: Missing) -> Result<Done> {
    or_else_skip(targets(&MACS, missing).and_then(|()| linker(missing)), || {
        let mut build = zigbuild("zigbuild")?;
        build.args(["--package", "ralph"]).args(MACS.map(|target| format!("--target={target}")));
        run(&mut build)?;
        for target in MACS {
            let program = target_dir().join(target).join("debug/ralph");
            let bytes = fs_err::read(&program)?;
            ensure!(bytes.starts_with(&MACH_O), "{} is no program for a Mac", program.display());
            say(&format!("{}: {} bytes\n", program.display(), bytes.len()));
        }
        Ok(Done::All)
    })
}

fn arm(missing: Missing) -> Result<Done> {
    or_else_skip(targets(&[ARM], missing).and_then(|()| linker(missing)), || {
        run(zigbuild("zigbuild")?.args(["--package", "ralph"]).arg(format!("--target={ARM}")))?;
        let program = target_dir().join(ARM).join("debug/ralph");
        ensure!(elf::is_static(&fs_err::read(&program)?)?, "{} needs a dynamic loader", program.display());
        let emulator = have(&QEMU, missing)?;
        if matches!(emulator, Done::Without(_)) {
            return Ok(emulator);
        }
        run(Command::new("qemu-aarch64-static").arg(&program).arg("--version"))?;
        let mut test = zigbuild("test")?;
        test.args(["--lib", &format!("--target={ARM}")]);
        test.args(EMULATED.map(|name| format!("--package={name}")));
        // Properties are tried often enough by the machines that are quick.
        test.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64-static")
            .env("PROPTEST_CASES", "16");
        run(&mut test)
    })
}

/// The oldest Rust that is promised builds ralph.
fn oldest(missing: Missing) -> Result<()> {
    let manifest = fs_err::read_to_string(root().join("Cargo.toml"))?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    let toolchain = format!("{}.0", version.context("Cargo.toml names no oldest Rust")?);
    if !rustup(&["toolchain", "list"])?.lines().any(|line| line.starts_with(&toolchain)) {
        ensure!(
            missing == Missing::Install,
            "there is no Rust {toolchain}: rustup toolchain install {toolchain}"
        );
        rustup(&["toolchain", "install", &toolchain, "--profile", "minimal"])?;
    }
    let mut check = Command::new("cargo");
    // What this cargo tells its children would win.
    check.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").current_dir(root());
    run(check.args([&format!("+{toolchain}"), "check", "--locked"])).map(drop)
}

/// Known holes in what ralph is made of. The list of them is fetched; where it cannot be, the check is skipped by name.
fn advisories() -> Result<Done> {
    let mut deny = Command::new(CARGO_DENY.find()?);
    let output = deny.args(["check", "advisories"]).current_dir(root()).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(Done::All);
    }
    let is_unreachable =
        said.contains("failed to fetch advisory database") || said.contains("failed to clone");
    ensure!(is_unreachable, "{said}");
    or_without(Err(anyhow::anyhow!("the list of advisories cannot be fetched")))
}

/// Runs the check where everything is there, or says what is not.
fn or_else_skip(ready: Result<()>, check: impl FnOnce() -> Result<Done>) -> Result<Done> {
    match or_without(ready)? {
        Done::All => check(),
        skipped @ Done::Without(_) => Ok(skipped),
    }
}

/// Whether the library of these targets is there.
fn targets(targets: &[&str], missing: Missing) -> Result<()> {
    let installed = rustup(&["target", "list", "--installed"])?;
    for target in targets {
        if installed.lines().any(|line| line == *target) {
            continue;
        }
        match missing {
            Missing::Install => drop(rustup(&["target", "add", target])?),
            Missing::Name => bail!("there is no target {target}: rustup target add {target}"),
        }
    }
    Ok(())
}

fn rustup(args: &[&str]) -> Result<String> {
    let output = Command::new("rustup").args(args).output().context("there is no rustup")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`rustup {}`: {}", args.join(" "), said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn linker(missing: Missing) -> Result<()> {
    ZIGBUILD.find(missing).map(drop)
}

/// `cargo-zigbuild` with this command of it.
fn zigbuild(command: &str) -> Result<Command> {
    let mut zigbuild = ZIGBUILD.command()?;
    zigbuild.args([command, "--locked"]).current_dir(root());
    // The cargo that runs this chore is not the one of other toolchains.
    if let Some(cargo) = env::var_os("CARGO") {
        zigbuild.env("CARGO", cargo);
    }
    Ok(zigbuild)
}
