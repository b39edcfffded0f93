//! What every part of the driver works with: the record of the run, its processes, and what it was given.

use std::path::PathBuf;

use ralph_agents::Adapter;
use ralph_core::{
    engine::{Run, event::Topic},
    setup::Setup,
};
use ralph_sys::{hash, process::Supervisor};

use super::ledger::Ledger;
use crate::journal::run_dir::RunDir;

/// Where a run happens.
pub(super) struct Site {
    pub(super) ledger: Ledger,
    pub(super) supervisor: Supervisor,
    /// What the rules are applied to, as the run started with it.
    pub(super) setup: Setup,
    /// Where it is recorded.
    pub(super) dir: RunDir,
}

impl Site {
    pub(super) fn new(ledger: Ledger, supervisor: Supervisor, dir: RunDir) -> Self {
        let setup = ledger.run().started.setup.clone();
        Self { ledger, supervisor, setup, dir }
    }

    /// The run so far.
    pub(super) fn run(&self) -> &Run {
        self.ledger.run()
    }

    /// The adapter of this run's agent.
    pub(super) fn adapter(&self) -> &'static dyn Adapter {
        ralph_agents::adapter(&self.setup.agent.command)
    }

    /// The folder of the current or, before it has begun, of the next turn.
    pub(super) fn turn_folder(&self) -> PathBuf {
        let (iteration, attempt) = self.run().state.position();
        self.dir.turn(iteration, attempt)
    }

    /// The run is judged by the settings that it started with; a change of each file is told once.
    pub(super) fn notice_changed_settings(&mut self) {
        for (path, before) in &self.setup.settings {
            if hash::fingerprint(path) == *before {
                continue;
            }
            let file = path.strip_prefix(&self.setup.project).unwrap_or(path).display().to_string();
            let text = format!(
                "{file} was changed during the run; this run keeps its old settings. To use it: ralph stop, then \
                 ralph resume --reread"
            );
            self.ledger.warn_once(Topic::SettingsChanged { file }, text);
        }
    }
}
