//! The process of the lander: merges one candidate onto the target, has the guardrails decide on the merged tree, and
//! moves the target. Started again for the same candidate it finds what has landed already.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use ralph_core::{
    containment::level::Choice,
    fleet::{FleetItem, FleetStarted, FleetWork, ItemPhase, Offer, Refusal},
    stories::lane::{added, take_over},
    verify::rules::{CheckoutWhen, GuardrailKind},
};
use ralph_sandbox::self_test;
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};
use serde_json::json;

use super::{
    FileLedger, FleetDir,
    answer::{self, LandingAnswer},
    dir::ref_name,
    far::fetch_candidate,
    lane_process::is_asked_to_stop,
    own_files::OwnFiles,
    red::red,
};
#[cfg(debug_assertions)]
use crate::journal::crash_point::CrashPoint;
use crate::{
    hidden,
    journal::run_dir::RunDir,
    judge::{self, Judged, NoResult, PlacedGuardrail, Request, What},
    receipt, report, settings,
    workspace::{
        MadeChange, Merge, Merged, Source, Workspace,
        target::{CANDIDATES, Moved, TargetBranch, UNFINISHED},
    },
};

/// As much of a conflict.
const MAX_HUNKS_LEN: usize = 16 * 1024;
/// How long a board that does not answer is left alone.
const BOARD_INTERVAL: Duration = Duration::from_secs(1);
/// How often others may move the target meanwhile.
const MAX_TRIES: usize = 5;

/// What to land.
#[derive(Args, Clone, Debug)]
pub(crate) struct LanderCall {
    /// The folder of the fleet
    pub(crate) fleet: PathBuf,
    /// The item
    pub(crate) item: String,
    /// The lease of its candidate
    pub(crate) lease: u64,
}

/// Lands a candidate, or says why not.
pub(crate) fn main(call: &LanderCall) -> Result<u8> {
    let dir = FleetDir::at(call.fleet.clone());
    let state = FileLedger::look(&dir)?;
    let started = &*state.started;
    let item = state.item(&call.item);
    let offer = item.offered().filter(|offer| offer.lease == call.lease);
    let (Some(offer), Some(planned)) = (offer, started.plan.item(&call.item)) else {
        return Err(Error::new(format!("`{}` has no candidate under lease {}", call.item, call.lease)));
    };
    let mut supervisor = Supervisor::new()?;
    let source = Source::find(&mut supervisor, &started.project)?
        .ok_or_else(|| Error::new("the project is not in a git repository any more"))?;
    let target = TargetBranch::new(&source, &started.target);
    let mut landing = Landing {
        dir: &dir,
        started,
        planned,
        offer,
        worker: if let ItemPhase::Offered(lease, _) = &item.phase {
            lease.worker.clone()
        } else {
            String::new()
        },
        supervisor,
        source,
        target,
        #[cfg(debug_assertions)]
        death: CrashPoint::planned_for("RALPH_TEST_KILL_LANDER_AT"),
    };
    let answer = match landing.land() {
        Ok(answer) => answer,
        Err(error) => LandingAnswer::Blocked { why: error.to_string() },
    };
    let is_bad = matches!(answer, LandingAnswer::Refused(_) | LandingAnswer::Blocked { .. });
    let answer =
        if is_bad && is_asked_to_stop(&mut landing.supervisor) { LandingAnswer::Interrupted } else { answer };
    answer::write(&dir.answer("landing", call.lease), &answer)?;
    landing.crash_point();
    landing.supervisor.release();
    Ok(0)
}

/// What was found on the merged tree.
struct Verdict {
    judged: Judged,
    hidden: Vec<String>,
    /// What the settings give to guardrails and agents.
    own_values: Vec<String>,
}

struct Landing<'a> {
    dir: &'a FleetDir,
    started: &'a FleetStarted,
    planned: &'a FleetItem,
    offer: &'a Offer,
    /// Whose candidate it is.
    worker: String,
    supervisor: Supervisor,
    source: Source,
    target: TargetBranch,
    #[cfg(debug_assertions)]
    death: CrashPoint,
}

impl Landing<'_> {
    /// A place where a test can kill the lander.
    fn crash_point(&mut self) {
        #[cfg(debug_assertions)]
        self.death.after_step();
    }

    fn trailer(&self) -> String {
        format!("Ralph-Item: {}/{}@{}", self.dir.id(), ref_name(&self.planned.id), self.offer.lease)
    }

    fn land(&mut self) -> Result<LandingAnswer> {
        for _ in 0..MAX_TRIES {
            let trailer = self.trailer();
            let landed = self.target.with_trailer(&mut self.supervisor, &self.started.base, &trailer)?;
            let answer = match landed {
                Some(commit) => LandingAnswer::Merged { commit },
                None => self.try_once()?,
            };
            match answer {
                LandingAnswer::Overtaken => {}
                LandingAnswer::Merged { commit } => {
                    self.tidy(&commit)?;
                    self.crash_point();
                    return Ok(LandingAnswer::Merged { commit });
                }
                other => return Ok(other),
            }
        }
        Ok(LandingAnswer::Overtaken)
    }

    fn try_once(&mut self) -> Result<LandingAnswer> {
        let tip = self.target.tip(&mut self.supervisor)?;
        let loaded =
            settings::load(&self.started.project, Some(&self.dir.path().join("settings.json")), json!({}));
        let settings = loaded.map_err(Error::new)?.settings;
        let wishes = (&settings.judge_setup()).into();
        let mut workspace = Workspace::take(&self.started.project, self.source.clone(), wishes)?;
        let commit = match self.merged(&mut workspace, &tip)? {
            Ok(commit) => commit,
            Err(answer) => return Ok(answer),
        };
        self.crash_point();
        let mut sandbox = settings.sandbox.wanted("", Choice::Auto);
        sandbox.level = Choice::Level(self_test::choose(&mut self.supervisor, &sandbox)?);
        let hidden = hidden::own()?;
        let commands = self.started.guardrails.iter().chain(&hidden);
        let request = Request {
            project: &self.started.project,
            guardrails: commands.map(|command| everywhere(command)).collect(),
            what: What::Made { id: commit.clone() },
            with: Vec::new(),
            fresh: None,
            wishes: (&settings.judge_setup()).into(),
            checkout: CheckoutWhen::Require,
            sandbox,
            timeout: settings.limits.gate_timeout,
        };
        match judge::judge_in(&mut self.supervisor, &mut workspace, &request, &mut |_| {})? {
            Err(NoResult::Interrupted) => Ok(LandingAnswer::Interrupted),
            Err(NoResult::NotJudged(why)) => {
                Ok(LandingAnswer::Blocked { why: format!("the merged tree cannot be judged: {why}") })
            }
            Ok(judged) if !judged.passed => Ok(LandingAnswer::Refused(red(&judged, &tip, &hidden))),
            Ok(judged) => {
                let agents = settings.agents.values().map(|named| &named.agent).chain([&settings.agent]);
                let values = agents.flat_map(|agent| agent.env.values());
                let own_values = values.chain(settings.guardrail_env.values()).cloned().collect();
                self.publish(&workspace, (&tip, &commit), &Verdict { judged, hidden, own_values })
            }
        }
    }

    /// The commit that is to land, in the store of the judge. `Err` is the answer where there is none.
    fn merged(
        &mut self,
        workspace: &mut Workspace,
        tip: &str,
    ) -> Result<std::result::Result<String, LandingAnswer>> {
        if let Some(board) = &self.started.board {
            let name = self.candidate_ref();
            let Self { supervisor, source, target, offer, worker, .. } = self;
            let taken =
                fetch_candidate(supervisor, (self.dir, board), (source, target), (offer, worker), &name);
            match taken {
                Ok(Ok(())) => {}
                Ok(Err(why)) => {
                    let reason = format!("what {worker} handed in cannot be taken: {why}");
                    return Ok(Err(LandingAnswer::Refused(Refusal::Unusable { reason })));
                }
                Err(error) => {
                    report::fleet::line("lander", &format!("the board: {error}"));
                    supervisor.wait(Instant::now() + BOARD_INTERVAL, &mut || {});
                    return Ok(Err(LandingAnswer::Overtaken));
                }
            }
        }
        let Self { supervisor, offer, .. } = self;
        let Offer { base, head, .. } = *offer;
        if let Err(why) = workspace.fetch_all(supervisor, head, &[tip, base]) {
            return Ok(Err(LandingAnswer::Blocked { why: format!("the candidate is gone: {why}") }));
        }
        let unusable = |reason: String| Ok(Err(LandingAnswer::Refused(Refusal::Unusable { reason })));
        if !workspace.is_ancestor(supervisor, base, head)? {
            return unusable("its commits do not follow the commit that it started from".to_owned());
        }
        let own = OwnFiles::of(self.started, &self.source.prefix);
        let left_out = own.as_ref().map(OwnFiles::paths).unwrap_or_default();
        let merge = Merge { tip, base, head, left_out: &left_out };
        let tree = match workspace.merge(supervisor, &merge)? {
            Merged::Clean { tree } => tree,
            Merged::Conflict { tree, files } => {
                let names: Vec<&str> = files.iter().map(String::as_str).collect();
                let hunks = workspace.diff_text(supervisor, (tip, &tree), &names)?;
                let hunks = String::from_utf8_lossy(&hunks[..hunks.len().min(MAX_HUNKS_LEN)]).into_owned();
                let tip = tip.to_owned();
                return Ok(Err(LandingAnswer::Refused(Refusal::Conflict { tip, files, hunks })));
            }
        };
        if workspace.diff(supervisor, tip, &tree)?.is_empty() {
            return unusable("it changes nothing".to_owned());
        }
        let mut texts: Vec<(PathBuf, String)> = Vec::new();
        if let Some(own) = own.filter(|_| self.planned.work == FleetWork::Story) {
            let mut at = |commit: &str, path: &PathBuf| -> std::io::Result<String> {
                Ok(workspace.text_at(supervisor, commit, path)?.unwrap_or_default())
            };
            let (list, theirs) = (at(tip, &own.tasks)?, at(head, &own.tasks)?);
            match take_over(&list, &theirs, &self.planned.id, own.review) {
                Ok(list) => texts.push((own.tasks.clone(), list)),
                Err(reason) => return unusable(reason),
            }
            let (before, after) = (at(base, &own.progress)?, at(head, &own.progress)?);
            let more = added(&before, &after);
            if !more.is_empty() {
                texts.push((own.progress.clone(), format!("{}{more}", at(tip, &own.progress)?)));
            }
        }
        let changes: Vec<MadeChange<'_>> =
            texts.iter().map(|(path, text)| MadeChange::Text(path, text)).collect();
        let message = self.message();
        let author = self.target.author(&mut self.supervisor)?;
        let supervisor = &mut self.supervisor;
        Ok(Ok(workspace.commit_tree(supervisor, (&tree, tip), &changes, (&author, &message))?))
    }

    fn message(&mut self) -> String {
        let FleetItem { id, title, work, .. } = self.planned;
        let subject = match work {
            FleetWork::Story if title.is_empty() => id.clone(),
            FleetWork::Story => format!("{id}: {title}"),
            FleetWork::Prompt { .. } => {
                let said = self.target.subject(&mut self.supervisor, &self.offer.head);
                said.ok().filter(|said| !said.is_empty()).unwrap_or_else(|| title.clone())
            }
        };
        format!("{subject}\n\n{}\n", self.trailer())
    }

    /// Moves the target to what was judged.
    fn publish(
        &mut self,
        workspace: &Workspace,
        (tip, commit): (&str, &str),
        verdict: &Verdict,
    ) -> Result<LandingAnswer> {
        let name = self.landing_ref();
        self.crash_point();
        self.target.fetch(&mut self.supervisor, &workspace.store_dir(), commit, &name)?;
        self.write_receipt((tip, commit), verdict);
        self.crash_point();
        let moved = self.target.advance(&mut self.supervisor, tip, commit)?;
        self.crash_point();
        Ok(match moved {
            Moved::Landed => LandingAnswer::Merged { commit: commit.to_owned() },
            Moved::Overtaken => LandingAnswer::Overtaken,
            Moved::InTheWay(why) => LandingAnswer::Blocked {
                why: format!("the working tree is in the way of {}: {why}", self.planned.id),
            },
        })
    }

    /// Keeps what others can verify. Made before the target moves: a lander that is killed after that finds it. What goes
    /// wrong costs the receipt, never the landing.
    fn write_receipt(&mut self, (tip, commit): (&str, &str), verdict: &Verdict) {
        let runs = RunDir::all().unwrap_or_default();
        let Some(run) = runs.iter().find(|run| Some(run.id()) == self.offer.run) else { return };
        let landing = receipt::landing::Landing {
            project: &self.started.project,
            source: &self.source,
            run,
            tip,
            commit,
            judged: &verdict.judged,
            hidden: &verdict.hidden,
            own_values: verdict.own_values.clone(),
        };
        let name = self.receipt_name();
        let issued = receipt::landing::issue(&mut self.supervisor, &landing, &self.dir.receipts(), &name);
        let warnings = issued.unwrap_or_else(|error| vec![format!("there is no receipt: {error}")]);
        for warning in &warnings {
            report::fleet::line("lander", warning);
        }
    }

    fn receipt_name(&self) -> String {
        format!("{}-{}.json", ref_name(&self.planned.id), self.offer.lease)
    }

    fn candidate_ref(&self) -> String {
        let item = ref_name(&self.planned.id);
        match &self.started.board {
            Some(_) => format!("{CANDIDATES}/{}/{}/{item}", self.worker, self.dir.id()),
            None => format!("{CANDIDATES}/{}/{item}", self.dir.id()),
        }
    }

    fn landing_ref(&self) -> String {
        format!("refs/ralph/landing/{}", self.dir.id())
    }

    /// What has landed has its receipt as a note, and needs no ref of its own any more.
    fn tidy(&mut self, commit: &str) -> Result<()> {
        let file = self.dir.receipts().join(self.receipt_name());
        if file.exists() {
            let noted = receipt::landing::note(&mut self.supervisor, &self.source, commit, &file);
            let warn = |error| report::fleet::line("lander", &format!("the receipt is not noted: {error}"));
            noted.err().into_iter().for_each(warn);
        }
        let of_item = |kind: &str| format!("{kind}/{}/{}", self.dir.id(), ref_name(&self.planned.id));
        let mut names = vec![self.landing_ref(), of_item(CANDIDATES), of_item(UNFINISHED)];
        if self.started.board.is_some() {
            // Those that were refused before, of whichever worker.
            names.extend(self.target.like(&mut self.supervisor, &of_item(&format!("{CANDIDATES}/*")))?);
        }
        for name in names {
            if self.target.held(&mut self.supervisor, &name)?.is_some() {
                self.target.release(&mut self.supervisor, &name)?;
            }
        }
        Ok(())
    }
}

/// Every guardrail decides on the merged tree, wherever it runs otherwise.
fn everywhere(command: &str) -> PlacedGuardrail {
    let kind = GuardrailKind::of(command);
    PlacedGuardrail { command: command.to_owned(), kind, in_place: false, in_judge: true }
}
