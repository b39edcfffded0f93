//! Programs that some checks need and that come from the packages of Debian.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::cargo::target_dir;

/// A program and the package that has it.
pub(crate) struct Needed {
    program: &'static str,
    /// Or packages, separated by spaces.
    package: &'static str,
    /// What it does.
    purpose: &'static str,
}

/// Looks at the report and at the page.
pub(crate) const BROWSER: Needed =
    Needed { program: "chromium", package: "chromium", purpose: "looks at the report and at the page" };
/// Makes one kind of sandbox; the others that are tested need only the kernel.
pub(crate) const BWRAP: Needed =
    Needed { program: "bwrap", package: "bubblewrap", purpose: "makes one kind of sandbox" };
/// The languages of the projects that are judged in the tests, beside those that ralph itself needs, and what signs receipts,
/// reads issues and notifies.
pub(crate) const LANGUAGES: [Needed; 8] = [
    Needed { program: "ssh-keygen", package: "openssh-client", purpose: "signs receipts" },
    Needed { program: "gh", package: "gh", purpose: "reads issues of a small GitHub in the tests" },
    Needed { program: "curl", package: "curl", purpose: "notifies services in the tests" },
    Needed { program: "go", package: "golang-go", purpose: "builds a project that is judged" },
    Needed { program: "pytest-3", package: "python3-pytest", purpose: "runs tests that are attacked" },
    Needed { program: "bundle", package: "bundler", purpose: "tests a project that is judged" },
    Needed { program: "javac", package: "default-jdk-headless", purpose: "builds a project that is judged" },
    Needed {
        program: "mvn",
        package: "maven libsurefire-java libmaven-compiler-plugin-java libmaven-resources-plugin-java junit4",
        purpose: "builds a project that is judged",
    },
];
/// Reads Debian packages as Debian does.
pub(crate) const LINTIAN: Needed =
    Needed { program: "lintian", package: "lintian", purpose: "reads the Debian package" };
/// Reads the flake.
pub(crate) const NIX: Needed =
    Needed { program: "nix-instantiate", package: "nix-bin", purpose: "reads the flake" };
/// Links static programs for ARM. Zig has no static C library of that kind.
pub(crate) const ARM_LINKER: Needed = Needed {
    program: "aarch64-linux-gnu-gcc",
    package: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    purpose: "links the ARM program",
};
/// Runs programs for ARM.
pub(crate) const QEMU: Needed = Needed {
    program: "qemu-aarch64-static",
    package: "qemu-user-static",
    purpose: "runs the tests of the ARM program",
};
/// Reads the formula.
pub(crate) const RUBY: Needed = Needed { program: "ruby", package: "ruby", purpose: "reads the formula" };
/// Makes the networks of machines of a fleet.
pub(crate) const IPROUTE: Needed =
    Needed { program: "ip", package: "iproute2", purpose: "makes networks of machines in the tests" };
/// The server of Debian, which is too old for a board, so that it is refused in the tests. Not on the path: there a newer one is looked for.
pub(crate) const OLD_NATS: Unpacked = Unpacked {
    program: "usr/sbin/nats-server",
    package: "nats-server",
    purpose: "is refused as a board in the tests where it is too old",
};
/// Counts instructions.
pub(crate) const VALGRIND: Needed =
    Needed { program: "valgrind", package: "valgrind", purpose: "counts instructions" };

/// What to do where a program is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Say so, and how to get it.
    Name,
    /// Install it, which can be done by root, where there is apt-get.
    Install,
}

impl Needed {
    /// Where it is.
    pub(crate) fn find(&self, missing: Missing) -> Result<PathBuf> {
        if let Ok(path) = which::which(self.program) {
            return Ok(path);
        }
        let Self { program, package, purpose } = self;
        let how = || format!("there is no `{program}`, which {purpose}; as root: apt-get install {package}");
        match missing {
            Missing::Name => bail!(how()),
            Missing::Install => install(&package.split(' ').collect::<Vec<_>>()).with_context(how)?,
        }
        Ok(which::which(program)?)
    }
}

/// A program of a package that is not to be installed: it lies in the target folder.
pub(crate) struct Unpacked {
    /// Where it lies in the package.
    program: &'static str,
    package: &'static str,
    /// What it does.
    purpose: &'static str,
}

impl Unpacked {
    /// Where it is: as installed, or in the target folder, where it is unpacked if that was asked for.
    pub(crate) fn find(&self, missing: Missing) -> Result<PathBuf> {
        let Self { program, package, purpose } = self;
        let installed = Path::new("/").join(program);
        let folder = target_dir().join("tools/debian").join(package);
        let unpacked = folder.join(program);
        if let Some(found) = [installed, unpacked.clone()].into_iter().find(|path| path.exists()) {
            return Ok(found);
        }
        ensure!(
            missing == Missing::Install,
            "there is no `{package}` of Debian, which {purpose}: cargo xtask ci --install, or apt-get install {package}"
        );
        fs_err::create_dir_all(&folder)?;
        let mut download = Command::new("apt-get");
        let fetched = done(download.args(["download", package]).current_dir(&folder));
        if fetched.is_err() {
            // Its lists may be old, or were removed.
            ensure!(rustix::process::geteuid().is_root(), "only root can read the lists of packages anew");
            done(Command::new("apt-get").arg("update"))?;
            done(&mut download)?;
        }
        for entry in fs_err::read_dir(&folder)? {
            let archive = entry?.path();
            if archive.extension().is_some_and(|it| it == "deb") {
                done(Command::new("dpkg").arg("-x").arg(&archive).arg(&folder))?;
                fs_err::remove_file(archive)?;
            }
        }
        ensure!(unpacked.exists(), "the package `{package}` does not have `{program}`");
        Ok(unpacked)
    }
}

fn done(command: &mut Command) -> Result<()> {
    let line = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().with_context(|| format!("cannot start {line}"))?;
    ensure!(status.success(), "{line} ended with {status}");
    Ok(())
}

/// Installs those that are not there, all at once: most of it is waiting for lists and servers.
pub(crate) fn install_missing(all: &[&Needed]) -> Result<()> {
    let lacking = all.iter().filter(|needed| which::which(needed.program).is_err());
    let packages: Vec<&str> = lacking.flat_map(|needed| needed.package.split(' ')).collect();
    if packages.is_empty() { Ok(()) } else { install(&packages) }
}

fn install(packages: &[&str]) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "only root can install it");
    let install = ["install", "--yes", "--no-install-recommends"];
    for args in [vec!["update"], [&install[..], packages].concat()] {
        let mut apt = Command::new("apt-get");
        // Others may be installing something just now.
        apt.args(["-o", "DPkg::Lock::Timeout=300"]).args(&args).env("DEBIAN_FRONTEND", "noninteractive");
        apt.stdin(Stdio::null()).stdout(Stdio::null());
        let status = apt.status().context("cannot start `apt-get`")?;
        ensure!(status.success(), "`apt-get {}` ended with {status}", args.join(" "));
    }
    Ok(())
}
