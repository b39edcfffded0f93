//! The checks for machines that this one is not: macOS is compiled, linted and linked; ARM is tested in an emulator.
//!
//! A target comes from rustup, the linker for all of them from Python packages. What is missing is
//! named, and fails where `CI=true`.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use super::steps::{Done, Step, When, have, or_without, packages, run};
use crate::dist::ARM_LINKER_VARIABLE;
use crate::{
    cargo::{Tool, cargo, root, target_dir},
    debian::{ARM_LINKER, Missing, QEMU},
    elf, macho,
    python::ZIGBUILD,
    say,
};

const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
const MAC: &str = "aarch64-apple-darwin";
const INTEL_MAC: &str = "x86_64-apple-darwin";
const ARM: &str = "aarch64-unknown-linux-gnu";
/// The crates whose tests an emulator runs soon enough: what decides, and what judges.
const EMULATED: [&str; 4] = ["ralph-core", "ralph-guard", "ralph-agents", "ralph-checks"];

pub(super) const STEPS: [Step; 7] = [
    Step {
        name: "packages",
        repeat: "cargo xtask dist --try",
        when: When::Both,
        cold_seconds: 40,
        check: packages,
    },
    Step {
        name: "mac",
        repeat: "cargo xtask ci --platforms",
        when: When::Both,
        cold_seconds: 140,
        check: |missing| mac(MAC, missing),
    },
    Step {
        name: "arm",
        repeat: "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc cargo build --locked --target aarch64-unknown-linux-gnu",
        when: When::Both,
        cold_seconds: 60,
        check: arm,
    },
    Step {
        name: "intel mac",
        repeat: "cargo xtask ci --platforms",
        when: When::Platforms,
        cold_seconds: 120,
        check: |missing| mac(INTEL_MAC, missing),
    },
    Step {
        name: "emulated",
        repeat: "cargo xtask ci --platforms",
        when: When::Platforms,
        cold_seconds: 140,
        check: emulated,
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
        repeat: "cargo deny check",
        when: When::Platforms,
        cold_seconds: 130,
        check: |_| advisories(),
    },
];

/// Lints everything for a Mac, tests included, and links the program.
fn mac(target: &'static str, missing: Missing) -> Result<Done> {
    or_else_skip(targets(&[target], missing).and_then(|()| linker(missing)), || {
        let target_flag = format!("--target={target}");
        let lints = ["--", "-D", "warnings"];
        // What is written in C and assembler is compiled even where Rust is only checked.
        run(zigbuild("clippy")?.args(["--all-targets", &target_flag]).args(lints))?;
        let mut link = zigbuild("zigbuild")?;
        macho::link_without_frameworks(&mut link, target);
        run(link.args(["--package", "ralph", &target_flag]))?;
        let program = target_dir().join(target).join("debug/ralph");
        let bytes = fs_err::read(&program)?;
        macho::ensure_starts(&bytes, target).with_context(|| program.display().to_string())?;
        say(&format!("{}: {} bytes\n", program.display(), bytes.len()));
        Ok(Done::All)
    })
}

fn arm(missing: Missing) -> Result<Done> {
    or_else_skip(targets(&[ARM], missing).and_then(|()| ARM_LINKER.find(missing).map(drop)), || {
        run(for_arm("build").args(["--package", "ralph"]))?;
        let program = arm_program();
        ensure!(elf::is_static(&fs_err::read(&program)?)?, "{} needs a dynamic loader", program.display());
        Ok(Done::All)
    })
}

fn arm_program() -> PathBuf {
    target_dir().join(ARM).join("debug/ralph")
}

/// Cargo, with this command of it, for ARM.
fn for_arm(command: &str) -> Command {
    let mut cargo = cargo();
    cargo
        .args([command, "--locked", &format!("--target={ARM}")])
        .env(ARM_LINKER_VARIABLE, "aarch64-linux-gnu-gcc");
    cargo
}

/// Runs the ARM program, and tests, in an emulator.
fn emulated(missing: Missing) -> Result<Done> {
    match arm(missing)?.and(have(&QEMU, missing)?) {
        Done::All => {}
        skipped @ Done::Without(_) => return Ok(skipped),
    }
    run(Command::new("qemu-aarch64-static").arg(arm_program()).arg("--version"))?;
    let mut test = for_arm("test");
    test.arg("--lib").args(EMULATED.map(|name| format!("--package={name}")));
    // Properties are tried often enough by the machines that are quick.
    test.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64-static")
        .env("PROPTEST_CASES", "16");
    run(&mut test)
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

/// What may be part of ralph, as `cargo deny` reads it, and known holes in it. The list of them is fetched; where it cannot be, the check is skipped by name.
fn advisories() -> Result<Done> {
    let deny = CARGO_DENY.find()?;
    run(Command::new(&deny).args(["check", "licenses", "bans", "sources"]).current_dir(root()))?;
    let mut deny = Command::new(deny);
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

/// Has the libraries of all targets ready.
pub(super) fn install_targets(missing: Missing) -> Result<()> {
    targets(&[MAC, ARM], missing)
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
