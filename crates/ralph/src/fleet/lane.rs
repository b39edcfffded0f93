//! The work of a lane: brings a clone of the project to the target, runs an ordinary loop in it, and hands in what it
//! made. Started again for the same work it continues where it was.

use std::{cell::Cell, collections::BTreeMap, ffi::OsString, fs::File, io, path::PathBuf, rc::Rc};

use ralph_core::{
    engine::outcome::{Exhausted, Outcome},
    fleet::{FleetItem, FleetStarted, FleetWork, Item, ItemStep, Offer, feedback},
    stories::lane::for_lane,
};
use ralph_sys::{
    error::{INTERRUPTED, Result},
    process::{Control, ProcessEvent, Sink, Spec, Supervisor, ask_to_stop},
};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    FleetDir,
    answer::{self, LaneAnswer},
    claim::Claim,
    dir::ref_name,
    lane_process::LaneCall,
    own_files::OwnFiles,
};
use crate::{
    journal::{
        self,
        run_dir::{RunDir, record},
    },
    receipt, report,
    workspace::{
        LaneLeft, MadeChange, Merge, Merged, Source, StepCall, StepEnd, Workspace,
        target::{CANDIDATES, TargetBranch, UNFINISHED},
    },
};

/// Where nothing is left, in US dollars: a budget of 0 would be none.
const MIN_BUDGET: f64 = 0.01;
/// Ports of a lane, from its number on; those of judges begin elsewhere.
const FIRST_PORT: u32 = 10_000;
const PORTS: u32 = 100;

/// A lane at work.
pub(super) struct Lane<'a> {
    pub(super) call: &'a LaneCall,
    pub(super) dir: &'a FleetDir,
    pub(super) started: &'a FleetStarted,
    pub(super) planned: &'a FleetItem,
    pub(super) item: Item,
    /// What is left of the budget.
    pub(super) left: Option<f64>,
    /// What every run of the fleet has cost.
    pub(super) spent: BTreeMap<String, f64>,
    pub(super) supervisor: Supervisor,
    pub(super) source: Source,
    /// The commit that is to be begun with.
    pub(super) tip: TargetBranch,
    pub(super) target: TargetBranch,
    pub(super) workspace: Workspace,
    pub(super) folder: PathBuf,
}

/// What to do in the lane.
enum Next {
    Run(Vec<OsString>),
    /// The run has ended well already.
    HandIn,
}

impl Lane<'_> {
    /// Does the work, and hands it in.
    pub(super) fn work(&mut self) -> Result<LaneAnswer> {
        let project = self.workspace.lane_project();
        let known =
            Claim::read(&self.folder).filter(|it| it.is_for(&self.dir.id(), &self.call.item, &self.item));
        let known = known.and_then(|claim| Some((claim.run(&project)?, claim)));
        let (claim, next) = match known {
            Some((run, claim)) if journal::end(&run.journal()).is_some_and(|(_, _, code)| code == 0) => {
                (claim, Next::HandIn)
            }
            Some((run, claim)) => {
                let mut words = vec!["resume".into(), run.id().into()];
                if let Some(left) = self.left {
                    // The budget of a run counts from its beginning.
                    let most = left.max(MIN_BUDGET) + self.spent.get(&run.id()).copied().unwrap_or_default();
                    words.extend(["--max-cost".into(), most.to_string().into()]);
                }
                (claim, Next::Run(words))
            }
            None => {
                let claim = match self.begin()? {
                    Ok(claim) => claim,
                    Err(why) => return Ok(self.failed(None, why)),
                };
                let words = self.words();
                (claim, Next::Run(words))
            }
        };
        let code = match next {
            Next::Run(words) => self.run(words)?,
            Next::HandIn => Some(0),
        };
        // It may have been killed before it had a receipt; what lands has one.
        let run = claim.run(&project);
        if let Some(why) = run.as_ref().and_then(|run| receipt::catch_up(&mut self.supervisor, run)) {
            report::fleet::line(&self.call.lane, &why);
        }
        let answer = self.hand_in(&claim, code, run.as_ref())?;
        let is_over = matches!(answer.step, ItemStep::Done(_));
        let left = if is_over { LaneLeft::HandedIn } else { LaneLeft::Unfinished };
        Ok(LaneAnswer { disk: self.workspace.end_lane(&mut self.supervisor, left)?, ..answer })
    }

    /// Brings the lane to what it begins with. `Err` says why the item cannot be worked on.
    fn begin(&mut self) -> Result<std::result::Result<Claim, String>> {
        let Self { supervisor, tip, workspace, .. } = self;
        let base = tip.tip(supervisor)?;
        let author = tip.author(supervisor)?;
        let own = OwnFiles::of(self.started, &self.source.prefix);
        // What was sent back continues with the candidate, merged with what landed since.
        let sent_back = self.item.candidate.as_ref().zip(self.item.refusal.as_ref());
        let others: Vec<&str> =
            sent_back.iter().flat_map(|(offer, _)| [offer.base.as_str(), offer.head.as_str()]).collect();
        if let Err(why) = workspace.fetch_all(supervisor, &base, &others) {
            return Ok(Err(format!("its lane could not be prepared: {why}")));
        }
        let mut tree = base.clone();
        let mut told = None;
        if let Some((offer, refusal)) = sent_back {
            let left_out = own.as_ref().map(OwnFiles::paths).unwrap_or_default();
            let merge = Merge { tip: &base, base: &offer.base, head: &offer.head, left_out: &left_out };
            tree = match workspace.merge(supervisor, &merge)? {
                Merged::Clean { tree } | Merged::Conflict { tree, .. } => tree,
            };
            told = Some(feedback(refusal, &tip.landed(supervisor, &offer.base)?));
        }
        let mut list = None;
        if let Some(own) = &own {
            let text = workspace.text_at(supervisor, &base, &own.tasks)?.unwrap_or_default();
            let Some(text) = for_lane(&text, &self.call.item, own.review, told.as_deref()) else {
                return Ok(Err("there is no such story in the task list any more".to_owned()));
            };
            list = Some((own.tasks.clone(), text));
        }
        let changes: Vec<MadeChange<'_>> =
            list.iter().map(|(path, text)| MadeChange::Text(path, text)).collect();
        let message = format!("Begin {}", self.call.item);
        let start = workspace.commit_tree(supervisor, (&tree, &base), &changes, (&author, &message))?;
        if let Err(why) = workspace.begin_lane(supervisor, &start, &self.started.target, &author) {
            return Ok(Err(format!("its lane could not be prepared: {why}")));
        }
        self.write_inputs(told.as_deref())?;
        self.prepare()?;
        let runs = RunDir::of_project(&self.workspace.lane_project())?;
        let claim = Claim {
            fleet: self.dir.id(),
            item: self.call.item.clone(),
            refusals: self.item.refusals,
            base,
            start,
            before: runs.last().map(RunDir::id),
        };
        answer::write(&self.folder.join("claim.json"), &claim)?;
        Ok(Ok(claim))
    }

    /// The settings and the prompt of the run.
    fn write_inputs(&self, told: Option<&str>) -> Result<()> {
        let mut settings = self.started.settings.clone();
        let FleetItem { work, .. } = self.planned;
        if let Some(left) = self.left {
            settings["limits"]["maxCost"] = json!(left.max(MIN_BUDGET));
        }
        // What the lane's repository borrows its objects from lies beside it, where a sandbox hides the user's home.
        let objects = json!(self.workspace.store_dir().join("objects"));
        match &mut settings["sandbox"]["readable"] {
            Value::Array(paths) => paths.push(objects),
            none => *none = json!([objects]),
        }
        answer::write(&self.folder.join("settings.json"), &settings)?;
        if let FleetWork::Prompt { text } = work {
            let told = told.map(|told| format!("\n\n## What happened when your work was landed\n\n{told}"));
            let text = format!("{text}{}", told.unwrap_or_default());
            record(&self.folder.join("prompt.md"), text.as_bytes())?;
        }
        Ok(())
    }

    fn words(&self) -> Vec<OsString> {
        let config = self.folder.join("settings.json").into_os_string();
        let mut words: Vec<OsString> = match self.planned.work {
            FleetWork::Story => vec!["stories".into(), "--config".into(), config],
            FleetWork::Prompt { .. } => {
                let prompt = self.folder.join("prompt.md").into_os_string();
                vec!["run".into(), "--config".into(), config, "-f".into(), prompt]
            }
        };
        // In one word each: a name cannot be taken for a flag.
        let FleetItem { agent, model, .. } = self.planned;
        words.extend(agent.iter().map(|agent| format!("--agent={agent}").into()));
        words.extend(model.iter().map(|model| format!("--model={model}").into()));
        words
    }

    /// Installs what the project needs.
    fn prepare(&mut self) -> Result<()> {
        let (env, log) = (self.environment(), self.log()?);
        let Self { supervisor, workspace, .. } = self;
        let top = workspace.folder().join("tree");
        workspace.prepare_lane(&mut |&StepCall { command, folder, .. }| {
            let spec = Spec::shell(command, &top.join(folder))
                .envs(env.clone())
                .prints(Sink::File(log.try_clone()?), Sink::File(log.try_clone()?));
            let ended = supervisor.run(spec, &mut |_| Control::Something)?;
            let code = ended.status.filter(|_| ended.cause.is_none()).and_then(|status| status.code());
            Ok(StepEnd { code, took: ended.took })
        })?;
        Ok(())
    }

    fn environment(&self) -> Vec<(OsString, Option<OsString>)> {
        let number: u32 =
            self.call.lane.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        let port = FIRST_PORT + number % 100 * PORTS;
        let set = |name: &str, value: String| (name.into(), Some(value.into()));
        vec![set("RALPH_LANE", self.call.lane.clone()), set("RALPH_PORT_BASE", port.to_string())]
    }

    fn log(&self) -> io::Result<File> {
        File::options().create(true).append(true).open(self.dir.log(&self.call.lane))
    }

    /// Runs the loop to its end; returns its exit code, if it was not killed.
    fn run(&mut self, words: Vec<OsString>) -> Result<Option<u8>> {
        let log = self.log()?;
        let project = self.workspace.lane_project();
        let spec = Spec::new(std::env::current_exe()?, &project)
            .args(["-C".into(), project.clone().into_os_string()])
            .args(words)
            .args(["--color", "never"])
            .envs(self.environment())
            .prints(Sink::File(log.try_clone()?), Sink::File(log))
            .ended_by(Signal::QUIT);
        let pid = Rc::new(Cell::new(0));
        let told = Rc::clone(&pid);
        self.supervisor.tell_groups(move |group| told.set(group));
        // Someone may have asked before it began.
        if self.supervisor.stop_requested() {
            return Ok(Some(INTERRUPTED));
        }
        let ended = self.supervisor.run(spec, &mut |happening| {
            if matches!(happening, ProcessEvent::StopRequested) {
                // It may have gone meanwhile.
                let _ = ask_to_stop(pid.get().unsigned_abs(), false);
            }
            Control::Something
        })?;
        let code = ended.status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        Ok(if self.supervisor.stop_requested() && code.is_none() { Some(INTERRUPTED) } else { code })
    }

    /// Hands in what the run made, or says why there is nothing.
    fn hand_in(&mut self, claim: &Claim, code: Option<u8>, run: Option<&RunDir>) -> Result<LaneAnswer> {
        let folded = run.and_then(|run| journal::fold(&run.journal()).ok()).map(|folded| folded.run);
        let cost = folded.as_ref().and_then(|it| it.state.spent().usage.cost_usd).unwrap_or_default();
        let end = run.and_then(|run| journal::end(&run.journal())).zip(folded.as_ref());
        // The budget is the fleet's: it says whether that is the end.
        let used_up = Outcome::Exhausted { limit: Exhausted::MaxCost };
        let is_spent = self.left.is_some() && end.as_ref().is_some_and(|((_, it, _), _)| *it == used_up);
        let end = end.map(|((_, outcome, _), it)| report::summary::outcome(&outcome, &it.plan, &it.state));
        let id = run.map(RunDir::id);
        let lease = self.call.lease;
        let answer = |step| LaneAnswer { step, run: id.clone(), disk: 0 };
        let repository = self.workspace.lane_repository();
        let head = self.target.head_of(&mut self.supervisor, &repository);
        let name = |kind: &str| format!("{kind}/{}/{}", self.dir.id(), ref_name(&self.call.item));
        match (code, head) {
            (Some(0), Ok(head)) if head != claim.start => {
                self.target.fetch(&mut self.supervisor, &repository, &head, &name(CANDIDATES))?;
                let base = claim.base.clone();
                Ok(answer(ItemStep::Done(Offer { lease, base, head, cost, run: id.clone(), parcel: None })))
            }
            (Some(0), Ok(_)) => Ok(self.failed(id, "its run changed nothing".to_owned())),
            (Some(_), _) if is_spent => Ok(answer(ItemStep::Released { lease, died: false })),
            (Some(INTERRUPTED), _) => Ok(answer(ItemStep::Released { lease, died: false })),
            (code, head) => {
                if let Some(head) = head.as_ref().ok().filter(|head| **head != claim.start) {
                    // What was begun is kept for a person, whatever the next work does to the lane.
                    self.target.fetch(&mut self.supervisor, &repository, head, &name(UNFINISHED))?;
                }
                let Some(code) = code else { return Ok(answer(ItemStep::Released { lease, died: true })) };
                let see = id.as_ref().map(|id| format!("; see: ralph logs {id}")).unwrap_or_default();
                let end = end.unwrap_or_else(|| format!("its run ended with exit code {code}"));
                let why = format!("{end}{see}");
                Ok(LaneAnswer { step: ItemStep::Failed { lease, exit: Some(code), why }, run: id, disk: 0 })
            }
        }
    }

    pub(super) fn failed(&self, run: Option<String>, why: String) -> LaneAnswer {
        let step = ItemStep::Failed { lease: self.call.lease, exit: None, why };
        LaneAnswer { step, run, disk: 0 }
    }
}
