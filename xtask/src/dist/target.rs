//! What ralph is packaged for, and what each registry calls it.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::{
    cargo::{cargo, flags_for_dist, root, target_dir},
    macho,
    python::ZIGBUILD,
};

/// A kind of machine.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) triple: &'static str,
    /// What npm calls system and processor.
    pub(super) npm: (&'static str, &'static str),
    /// What Python calls both. A static program runs with any libc.
    pub(super) wheel: &'static str,
    /// What Debian calls the processor.
    pub(super) debian: Option<&'static str>,
}

/// Tells cargo which program links for ARM.
pub(crate) const ARM_LINKER_VARIABLE: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER";

/// Whatever this program was built for.
pub(crate) const HOST: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    "x86_64-unknown-linux-gnu"
} else if cfg!(target_os = "linux") {
    "aarch64-unknown-linux-gnu"
} else if cfg!(target_arch = "x86_64") {
    "x86_64-apple-darwin"
} else {
    "aarch64-apple-darwin"
};

/// All of them.
pub(crate) const TARGETS: [Target; 4] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        npm: ("linux", "x64"),
        wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        debian: Some("amd64"),
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        npm: ("linux", "arm64"),
        wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        debian: Some("arm64"),
    },
    Target {
        triple: "aarch64-apple-darwin",
        npm: ("darwin", "arm64"),
        wheel: "macosx_11_0_arm64",
        debian: None,
    },
    Target {
        triple: "x86_64-apple-darwin",
        npm: ("darwin", "x64"),
        wheel: "macosx_10_12_x86_64",
        debian: None,
    },
];

/// The target of this name.
pub(crate) fn find(triple: &str) -> Result<&'static Target> {
    let known = || TARGETS.map(|target| target.triple).join(", ");
    TARGETS
        .iter()
        .find(|it| it.triple == triple)
        .with_context(|| format!("`{triple}` is none of {}", known()))
}

impl Target {
    /// Whether its programs are those of Linux.
    pub(super) fn is_linux(&self) -> bool {
        self.npm.0 == "linux"
    }

    /// Builds ralph as it is shipped: linked by zig for a Mac, by the compiler of Debian for another Linux.
    pub(crate) fn build(&self) -> Result<PathBuf> {
        let mut command = if self.is_linux() { cargo() } else { ZIGBUILD.command()? };
        command.arg(if self.is_linux() { "build" } else { "zigbuild" });
        command.args(["--package", "ralph", "--profile", "dist", "--locked", "--target"]);
        command.arg(self.triple).args(flags_for_dist(self.triple, root())).current_dir(root());
        command.env(ARM_LINKER_VARIABLE, "aarch64-linux-gnu-gcc");
        if !self.is_linux() {
            macho::link_without_frameworks(&mut command, self.triple);
        }
        let status = command.status().context("cannot start cargo")?;
        ensure!(status.success(), "`cargo build --target {}` ended with {status}", self.triple);
        Ok(target_dir().join(self.triple).join("dist/ralph"))
    }
}
