//! What comes from the network is installed while the first checks are compiled: one waits for servers, the other for processors.
//!
//! Nothing fails here. The check that needs a program looks for it, tries once more to install it, and says what is wrong.

use std::thread::{self, JoinHandle};

use super::{platforms, steps::When};
use crate::{
    agents,
    debian::{
        self, ARM_LINKER, BROWSER, BWRAP, IPROUTE, LANGUAGES, LINTIAN, Missing, NIX, Needed, OLD_NATS, QEMU,
        RUBY, VALGRIND,
    },
    python::{NATS, UVX, ZIGBUILD},
    say,
};

/// An installation that goes on, or none.
pub(super) struct Ahead(Option<JoinHandle<()>>);

impl Ahead {
    /// Begins to install what these checks need, where that is wanted.
    pub(super) fn begin(missing: Missing, whens: &[When]) -> Self {
        let (whole, platforms) = (whens.contains(&When::Whole), whens.contains(&When::Platforms));
        if missing == Missing::Name || !(whole || platforms) {
            return Self(None);
        }
        say("what is missing is installed meanwhile\n");
        Self(Some(thread::spawn(move || {
            let _ = debian::install_missing(&needed(whole));
            // The linker is the largest of them.
            let _ = ZIGBUILD.find(missing);
            let _ = UVX.find(missing);
            let _ = platforms::install_targets(missing);
            if whole {
                let _ = NATS.find(missing);
                let _ = OLD_NATS.find(missing);
                let _ = agents::install_usual();
            }
        })))
    }

    /// Waits until it is over.
    pub(super) fn wait(&mut self) {
        if let Some(thread) = self.0.take() {
            // What it could not do is said by the check that wanted it.
            let _ = thread.join();
        }
    }
}

/// The programs of all checks of a run.
fn needed(is_whole: bool) -> Vec<&'static Needed> {
    let packages = [&ARM_LINKER, &LINTIAN, &NIX, &RUBY];
    if !is_whole {
        return packages.into_iter().chain([&QEMU]).collect();
    }
    packages.into_iter().chain([&BROWSER, &BWRAP, &IPROUTE, &VALGRIND]).chain(&LANGUAGES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_installed_unasked_or_for_a_quick_run() {
        assert!(Ahead::begin(Missing::Name, &[When::Whole]).0.is_none());
        assert!(Ahead::begin(Missing::Install, &[When::Always, When::Quick]).0.is_none());
    }
}
