//! What a person does to an item of a fleet: land its candidate after all, or give it up.

use ralph_core::fleet::{FleetState, Item, ItemPhase, ItemStep, LANDER, Ledger, Offer, Stored};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{
    FileLedger, FleetDir,
    answer::{self, LandingAnswer},
    dir::ref_name,
    far,
    lander::{self, LanderCall},
};
use crate::workspace::{
    Source,
    target::{CANDIDATES, TargetBranch, UNFINISHED},
};

/// Lands the last candidate of an item because a person wants it.
pub(crate) fn land_by_hand(dir: &FleetDir, id: &str) -> Result<u8> {
    let state = FileLedger::look(dir)?;
    if state.is_far() {
        must_have(&state, id)?;
        far::land(dir, id)?;
        return Ok(0);
    }
    let mut ledger = FileLedger::open(dir)?;
    let item = known(&ledger, id)?;
    if item.is_merged() {
        return Err(Error::new(format!("{id} has landed already")));
    }
    let Some(offer) = item.candidate.clone() else {
        return Err(
            Error::new(format!("{id} has no candidate")).hint("`ralph fleet status` shows what there is")
        );
    };
    if item.offered().is_none() {
        let mut step = |who: &str, step: ItemStep| -> Result<u64> {
            let after = ledger.state().item(id).last;
            match ledger.append(id, who, step, after)? {
                Stored::At(lease) => Ok(lease),
                Stored::Overtaken => Err(Error::new("another process writes the journal of this fleet")),
            }
        };
        if !matches!(item.phase, ItemPhase::Waiting | ItemPhase::Held(_)) {
            step(LANDER, ItemStep::Posted)?;
        }
        let lease = step("person", ItemStep::Claimed)?;
        step("person", ItemStep::Done(Offer { lease, ..offer }))?;
    }
    let lease = ledger.state().item(id).offered().map_or(0, |offer| offer.lease);
    lander::main(&LanderCall { fleet: dir.path().into(), item: id.to_owned(), lease })?;
    let path = dir.answer("landing", lease);
    let answer: Option<LandingAnswer> = answer::read(&path);
    let _ = fs_err::remove_file(path);
    let after = ledger.state().item(id).last;
    match answer {
        Some(LandingAnswer::Merged { commit }) => {
            ledger.append(id, LANDER, ItemStep::Merged { commit }, after)?;
            Ok(0)
        }
        Some(LandingAnswer::Refused(refusal)) => {
            let line = refusal.line();
            ledger.append(id, LANDER, ItemStep::Refused(refusal), after)?;
            Err(Error::new(format!("{id} does not land: {line}")))
        }
        Some(LandingAnswer::Blocked { why }) => Err(Error::new(why)),
        Some(LandingAnswer::Overtaken | LandingAnswer::Interrupted) | None => {
            Err(Error::new(format!("{id} did not land; try again")))
        }
    }
}

/// Gives an item up, and its candidate with it.
pub(crate) fn discard(dir: &FleetDir, id: &str) -> Result<()> {
    let state = FileLedger::look(dir)?;
    if state.is_far() {
        must_have(&state, id)?;
        far::discard(dir, id)?;
        return release(dir, &state, id);
    }
    let mut ledger = FileLedger::open(dir)?;
    let item = known(&ledger, id)?;
    if item.is_merged() {
        return Err(Error::new(format!("{id} has landed already")));
    }
    release(dir, ledger.state(), id)?;
    if item.phase == ItemPhase::Unknown {
        ledger.append(id, LANDER, ItemStep::Posted, item.last)?;
    }
    let after = ledger.state().item(id).last;
    ledger.append(id, LANDER, ItemStep::Cancelled { why: "discarded by a person".to_owned() }, after)?;
    Ok(())
}

/// Removes what lanes made of an item.
fn release(dir: &FleetDir, state: &FleetState, id: &str) -> Result<()> {
    let started = &state.started;
    let mut supervisor = Supervisor::new()?;
    if let Some(source) = Source::find(&mut supervisor, &started.project)? {
        let target = TargetBranch::new(&source, &started.target);
        let of_item = |kind: &str| format!("{kind}/{}/{}", dir.id(), ref_name(id));
        let mut names = vec![of_item(CANDIDATES), of_item(UNFINISHED)];
        names.extend(target.like(&mut supervisor, &of_item(&format!("{CANDIDATES}/*")))?);
        for name in names {
            if target.held(&mut supervisor, &name)?.is_some() {
                target.release(&mut supervisor, &name)?;
            }
        }
    }
    supervisor.release();
    Ok(())
}

fn known(ledger: &FileLedger, id: &str) -> Result<Item> {
    must_have(ledger.state(), id)?;
    Ok(ledger.state().item(id))
}

fn must_have(state: &FleetState, id: &str) -> Result<()> {
    if state.started.plan.item(id).is_none() {
        let ids: Vec<&str> = state.started.plan.items.iter().map(|item| item.id.as_str()).collect();
        return Err(Error::new(format!("there is no item `{id}` in this fleet"))
            .hint(format!("there are: {}", ids.join(", "))));
    }
    Ok(())
}
