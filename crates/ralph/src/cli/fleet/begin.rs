//! What every fleet begins with: settings for its lanes, a target, guardrails.

use std::{num::NonZero, path::Path, thread};

use ralph_core::fleet::{FleetBoard, FleetItem, FleetPlan, FleetStarted, Pick};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};
use serde_json::{Value, json};

use super::{FleetLoopArgs, programs::Programs};
use crate::{
    cli::{print_lines, warn},
    fleet::{Coordinator, FleetDir, Opening},
    journal::run_dir::record,
    report::summary::count,
    settings::{Loaded, flags::layer},
    workspace::{Source, target::TargetBranch},
};

/// No more lanes than this without being told.
const MAX_USUAL_LANES: u64 = 4;
/// What a lane needs of the memory, at the least: an agent, a build, its tests.
const LANE_MEMORY: u64 = 1 << 30;
/// How often lanes may die on one item.
const MAX_DEATHS: u32 = 3;

/// What is to be done.
pub(super) struct Work {
    pub(super) items: Vec<FleetItem>,
    pub(super) pick: Pick,
    pub(super) ralph_dir: Option<String>,
    /// More commands that decide.
    pub(super) verify_commands: Vec<String>,
}

impl FleetLoopArgs {
    pub(super) fn load(&self, project: &Path) -> Result<Loaded> {
        self.common.refuse_hidden("a fleet takes those of your own configuration")?;
        let loaded = self.common.load(project, layer(&self.own))?;
        loaded.warnings.iter().for_each(|warning| warn(warning));
        Ok(loaded)
    }

    /// Begins the fleet, or shows what it would do.
    pub(super) fn begin(&self, loaded: &Loaded, project: &Path, work: Work) -> Result<u8> {
        let settings = &loaded.settings;
        let mut supervisor = Supervisor::new()?;
        let no_repository =
            || Error::new("a fleet needs a git repository").hint("`git init`, and a first commit");
        let source = Source::find(&mut supervisor, project)?.ok_or_else(no_repository)?;
        let base = source.head.clone().ok_or_else(no_repository)?;
        let branch = source.branch.clone().ok_or_else(|| {
            Error::new("no branch is checked out, so there is nothing to land on")
                .hint("check one out: git switch BRANCH")
        })?;
        let target = TargetBranch::new(&source, &branch);
        target.author(&mut supervisor).map_err(|_| {
            Error::new("git user.name and user.email are not set")
                .hint("git config user.name NAME; git config user.email ADDRESS")
        })?;
        let own = settings.commands().map(|guardrail| guardrail.command.clone());
        let mut guardrails: Vec<String> = own.collect();
        let new = work.verify_commands.iter().filter(|command| !guardrails.contains(command));
        let new: Vec<String> = new.cloned().collect();
        guardrails.extend(new);
        if guardrails.is_empty() && settings.hidden.is_empty() && !self.unverified {
            return Err(Error::new("there is no guardrail, and without one nothing lands")
                .hint("name one: --guardrail \"make test\"")
                .hint("to land what nothing has checked: --unverified"));
        }
        let lanes = settings.fleet.lanes.map_or_else(usual_lanes, u64::from);
        let lanes = lanes.min(work.items.len() as u64).max(1);
        let board = self.fleet_board()?;
        let (mut items, mut lane_settings) = (self.with_needs(work.items), for_lanes(loaded));
        // Other machines have programs of their own.
        if board.is_none() {
            Programs::new(project, &mut supervisor).name_in_full(&mut lane_settings, &mut items)?;
        }
        supervisor.release();
        let plan = FleetPlan {
            items,
            lanes: u32::try_from(lanes).unwrap_or(1),
            evictions: settings.fleet.evictions,
            deaths: MAX_DEATHS,
            max_cost: settings.limits.max_cost,
            pick: work.pick,
        };
        if self.common.is_dry_run() {
            return show(&plan, &branch, &guardrails);
        }
        let dir = FleetDir::create(project)?;
        record(&dir.path().join("settings.json"), lane_settings.to_string().as_bytes())?;
        let started = FleetStarted {
            fleet: dir.id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            project: project.to_owned(),
            target: branch,
            base,
            guardrails,
            settings: lane_settings,
            ralph_dir: work.ralph_dir,
            board,
            plan,
        };
        let style = self.common.fleet_style(settings);
        Coordinator::open(dir, Opening::New(Box::new(started)), style)?.run()
    }
}

impl FleetLoopArgs {
    #[cfg(feature = "nats")]
    fn fleet_board(&self) -> Result<Option<FleetBoard>> {
        self.board.fleet_board()
    }

    #[cfg(not(feature = "nats"))]
    fn fleet_board(&self) -> Result<Option<FleetBoard>> {
        self.no_board.check()?;
        Ok(None)
    }

    #[cfg(feature = "nats")]
    fn with_needs(&self, mut items: Vec<FleetItem>) -> Vec<FleetItem> {
        for item in &mut items {
            item.labels.extend(self.board.needs.iter().cloned());
        }
        items
    }

    #[cfg(not(feature = "nats"))]
    #[expect(clippy::unused_self, reason = "the same with boards")]
    fn with_needs(&self, items: Vec<FleetItem>) -> Vec<FleetItem> {
        items
    }
}

/// The settings of runs in lanes: they commit and never push, are contained, and are judged when they land.
fn for_lanes(loaded: &Loaded) -> Value {
    let mut settings = json!(loaded.settings);
    settings["verify"]["checkout"] = json!("never");
    settings["scm"] = json!({"command": "git", "tasks": ["commit"]});
    settings["limits"]["maxCost"] = json!(0);
    if loaded.settings.sandbox.level.is_none() {
        settings["sandbox"]["level"] = json!("auto");
    }
    settings
}

fn show(plan: &FleetPlan, branch: &str, guardrails: &[String]) -> Result<u8> {
    let items = plan.items.iter().map(|item| {
        let after =
            if item.after.is_empty() { String::new() } else { format!(" after {}", item.after.join(", ")) };
        format!("  {}: {}{after}\n", item.id, item.title)
    });
    let items: String = items.collect();
    print_lines(&format!(
        "{}, landing on {branch} when these pass on the merged tree: {}\n{items}",
        count(plan.lanes.into(), "lane"),
        guardrails.join(", ")
    ))?;
    Ok(0)
}

/// As many lanes as the machine has room for.
fn usual_lanes() -> u64 {
    let cores = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let room = memory().map_or(MAX_USUAL_LANES, |bytes| bytes / LANE_MEMORY);
    cores.min(room).clamp(1, MAX_USUAL_LANES)
}

/// The memory that is free for new processes, where the system says so.
fn memory() -> Option<u64> {
    let text = fs_err::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
