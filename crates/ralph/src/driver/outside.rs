//! Part: what judges from outside of the project, as it was when the run began and as it is at a claim.

use ralph_core::{
    engine::{
        Run,
        event::{Event, Moment, OutsideLooked},
    },
    verify::{finding::Finding, outside::OutsideSeen},
};

use super::site::Site;
use crate::outside::Outside;

/// A run begins: claims are compared with what there is now.
pub(super) fn begin(site: &mut Site) {
    if let Some(seen) = look(site, None) {
        record(site, Moment::Base, seen);
    }
}

/// A run goes on: what a person changed since its last process ended is none of its doing. After a kill no one knows
/// who changed what.
pub(super) fn resume(site: &mut Site) {
    let memory = &site.run().memory;
    let (base, left) = (memory.outside.clone(), memory.outside_left.clone());
    match (base, left) {
        (None, _) => begin(site),
        (Some(base), Some(left)) => {
            if let Some(now) = look(site, None) {
                record(site, Moment::Base, base.taken_over(&left, &now));
            }
        }
        (Some(_), None) => {}
    }
}

/// A process of the run ends: whatever is different from here on is someone else's doing.
pub(super) fn leave(site: &mut Site) {
    let base = site.run().memory.outside.clone();
    if let Some(seen) = base.and_then(|base| look(site, Some(&base))) {
        record(site, Moment::Left, seen);
    }
}

/// What the run changed outside of the project that judges its claims.
pub(super) fn findings(site: &Site) -> Vec<Finding> {
    let Some(base) = &site.run().memory.outside else { return Vec::new() };
    let Some(now) = look(site, Some(base)) else { return Vec::new() };
    let (files, programs) = (base.changed_files(&now), base.changed_programs(&now));
    let files = (!files.is_empty()).then_some(Finding::StartUpChanged { files });
    let programs = (!programs.is_empty()).then_some(Finding::ProgramChanged { programs });
    files.into_iter().chain(programs).collect()
}

fn look(site: &Site, known: Option<&OutsideSeen>) -> Option<OutsideSeen> {
    let Run { plan, .. } = site.run();
    Outside::of(plan, &site.setup, known).map(|outside| outside.look())
}

fn record(site: &mut Site, moment: Moment, seen: OutsideSeen) {
    site.ledger.record(Event::OutsideLooked(Box::new(OutsideLooked { moment, seen })));
}
