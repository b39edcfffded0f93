//! What a worker is told about an item: everything that it needs, signed by the lander.

use std::path::{Component, Path, PathBuf};

use ralph_board::Parcel;
use ralph_core::fleet::{
    FleetEntry, FleetEvent, FleetItem, FleetPlan, FleetStarted, ItemStep, LANDER, Offer, Refusal,
};
use ralph_sys::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{journal, workspace::Author};

/// The newest form that this program understands.
const FORM: u32 = 1;

/// An item as it stands on the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Posting {
    pub(super) form: u32,
    /// What the repository is called: one for all fleets of a project.
    pub(super) repository: String,
    /// `sha1` or `sha256`.
    pub(super) object_format: String,
    /// The project's folder in it.
    pub(super) prefix: PathBuf,
    /// The branch that it lands on, as `refs/heads/name`.
    pub(super) target: String,
    /// The commit to begin with.
    pub(super) base: String,
    /// Whose name is on the commits.
    pub(super) author: (String, String),
    /// Where the commits are: the whole first, then what came since.
    pub(super) bundles: Vec<Bundle>,
    pub(super) guardrails: Vec<String>,
    /// The settings of the run.
    pub(super) settings: Value,
    pub(super) ralph_dir: Option<String>,
    pub(super) item: FleetItem,
    /// What is left of the budget.
    pub(super) left: Option<f64>,
    /// How often lanes may die on it.
    pub(super) deaths: u32,
    /// How often it was sent back, the last candidate, and why that did not land.
    pub(super) refusals: u32,
    pub(super) sent_back: Option<(Offer, Refusal)>,
}

/// Commits in a parcel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bundle {
    /// The commits that a repository has once this is unpacked there.
    pub(super) heads: Vec<String>,
    pub(super) parcel: Parcel,
}

impl Posting {
    /// What is to be signed.
    pub(super) fn new(started: &FleetStarted, item: FleetItem, bundles: Vec<Bundle>) -> Self {
        Self {
            form: FORM,
            repository: String::new(),
            object_format: String::new(),
            prefix: PathBuf::new(),
            target: started.target.clone(),
            base: String::new(),
            author: <(String, String)>::default(),
            bundles,
            guardrails: started.guardrails.clone(),
            settings: without_secrets(started.settings.clone()),
            ralph_dir: started.ralph_dir.clone(),
            item,
            left: None,
            deaths: started.plan.deaths,
            refusals: 0,
            sent_back: None,
        }
    }

    /// Reads what came with an entry. It is signed, and still nothing of it becomes a path that leads elsewhere.
    pub(super) fn read(load: Option<&Value>, item: &str) -> Result<Self> {
        let load = load.ok_or_else(|| Error::new("its posting is empty"))?;
        let form = load["form"].as_u64().unwrap_or_default();
        if form != u64::from(FORM) {
            return Err(Error::new(format!("its posting has format {form}; this ralph knows format {FORM}"))
                .hint("use the same version on all machines"));
        }
        let posting: Self = serde_json::from_value(load.clone())
            .map_err(|error| Error::new(format!("its posting cannot be read: {error}")))?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_commit = |id: &str| id.len() >= 40 && id.chars().all(|c| c.is_ascii_hexdigit());
        let is_sound = posting.item.id == item
            && !posting.repository.is_empty()
            && !posting.repository.starts_with('.')
            && posting.repository.chars().all(is_plain)
            && matches!(posting.object_format.as_str(), "sha1" | "sha256")
            && is_inside(&posting.prefix)
            && posting.target.starts_with("refs/heads/")
            && is_commit(&posting.base)
            && posting.bundles.iter().flat_map(|bundle| &bundle.heads).all(|head| is_commit(head));
        if is_sound { Ok(posting) } else { Err(Error::new("its posting is not valid")) }
    }

    pub(super) fn author(&self) -> Author {
        let (name, email) = self.author.clone();
        Author { name, email }
    }

    /// The journal that a lane works by: as if the fleet were on this machine.
    pub(super) fn journal(
        &self,
        project: &Path,
        settings: Value,
        (who, lease): (&str, u64),
    ) -> Vec<FleetEntry> {
        let plan = FleetPlan {
            items: vec![self.item.clone()],
            lanes: 1,
            evictions: self.refusals,
            deaths: self.deaths,
            max_cost: self.left,
            ..FleetPlan::default()
        };
        let started = FleetStarted {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            project: project.to_owned(),
            target: self.target.clone(),
            base: self.base.clone(),
            guardrails: self.guardrails.clone(),
            settings,
            ralph_dir: self.ralph_dir.clone(),
            plan,
            ..FleetStarted::default()
        };
        let mut events = vec![FleetEvent::FleetStarted(Box::new(started))];
        let mut step = |who: &str, board: Option<u64>, step: ItemStep| {
            events.push(FleetEvent::Item { item: self.item.id.clone(), who: who.to_owned(), board, step });
        };
        if let Some((offer, refusal)) = &self.sent_back {
            for _ in 0..self.refusals {
                step(LANDER, None, ItemStep::Posted);
                step(who, Some(offer.lease), ItemStep::Claimed);
                step(who, None, ItemStep::Done(offer.clone()));
                step(LANDER, None, ItemStep::Refused(refusal.clone()));
            }
        }
        step(LANDER, None, ItemStep::Posted);
        step(who, Some(lease), ItemStep::Claimed);
        let entry = |(at, event)| FleetEntry { n: at, at: journal::now(), event };
        (1..).zip(events).map(entry).collect()
    }
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// What lies on the servers in plain is not what the user's agents log in with, nor whom they tell.
pub(super) fn without_secrets(mut settings: Value) -> Value {
    let clear = |agent: Option<&mut Value>| {
        if let Some(agent) = agent.and_then(Value::as_object_mut) {
            agent.remove("env");
        }
    };
    clear(settings.get_mut("agent"));
    let agents = settings.get_mut("agents").and_then(Value::as_object_mut);
    agents.into_iter().flatten().for_each(|(_, agent)| clear(Some(agent)));
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("notify");
        settings.remove("notifyLink");
    }
    settings
}

#[cfg(test)]
mod tests {
    use ralph_core::fleet::FleetState;
    use serde_json::json;

    use super::*;

    fn posting() -> Posting {
        let item = FleetItem { id: "A".to_owned(), ..FleetItem::default() };
        let started = FleetStarted { target: "refs/heads/main".to_owned(), ..FleetStarted::default() };
        let mut posting = Posting::new(&started, item, Vec::new());
        posting.repository = "shop-1a2b".to_owned();
        posting.object_format = "sha1".to_owned();
        posting.base = "0f".repeat(20);
        posting
    }

    #[test]
    fn what_is_posted_is_read_and_leads_nowhere_else() {
        let read = |posting: &Posting| Posting::read(Some(&json!(posting)), "A");
        assert_eq!(read(&posting()).expect("a posting"), posting());
        let wrong: [fn(&mut Posting); 7] = [
            |it| it.repository = "../x".to_owned(),
            |it| it.repository = String::new(),
            |it| it.prefix = "../x".into(),
            |it| it.prefix = "/x".into(),
            |it| it.base = "--upload-pack=x".to_owned(),
            |it| it.target = "main".to_owned(),
            |it| it.item.id = "B".to_owned(),
        ];
        for change in wrong {
            let mut posting = posting();
            change(&mut posting);
            assert!(read(&posting).is_err(), "{posting:?}");
        }
        assert!(Posting::read(None, "A").is_err());
        let newer = Posting { form: 2, ..posting() };
        assert!(read(&newer).expect_err("too new").to_string().contains("format 2"));
    }

    #[test]
    fn logins_and_addresses_of_people_stay_at_home() {
        let agent = json!({"command": "claude", "env": {"KEY": "secret"}});
        let settings =
            json!({"agent": agent, "agents": {"b": agent}, "notify": "slack:secret", "retries": 1});
        let started = FleetStarted { settings, ..FleetStarted::default() };
        let posting = Posting::new(&started, FleetItem::default(), Vec::new());
        assert!(!posting.settings.to_string().contains("secret"), "{}", posting.settings);
        assert_eq!(posting.settings["agent"]["command"], "claude");
        assert_eq!(posting.settings["retries"], 1);
    }

    #[test]
    fn a_lane_finds_its_lease_and_what_was_sent_back() {
        let mut posting = posting();
        let entries = posting.journal(Path::new("/x"), json!({}), ("w1", 57));
        let item = FleetState::fold(&entries).item("A");
        assert_eq!(item.held().map(|held| (held.sequence, held.worker.as_str())), Some((57, "w1")));
        assert_eq!((item.refusals, item.refusal), (0, None));
        let refusal = Refusal::Unusable { reason: "red".to_owned() };
        let offer = Offer {
            lease: 40,
            base: "b".to_owned(),
            head: "h".to_owned(),
            cost: 0.0,
            run: None,
            parcel: None,
        };
        posting.sent_back = Some((offer.clone(), refusal.clone()));
        posting.refusals = 2;
        let item = FleetState::fold(&posting.journal(Path::new("/x"), json!({}), ("w1", 57))).item("A");
        assert_eq!(item.held().map(|held| held.sequence), Some(57));
        assert_eq!((item.refusals, item.refusal, item.candidate), (2, Some(refusal), Some(offer)));
    }
}
