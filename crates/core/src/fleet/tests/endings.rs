//! How a fleet ends, what it says then, and who is waited for before that.

use super::rules::{Story, claim, far, far_with, item};
use crate::fleet::{
    FleetAction, FleetEvent, FleetItem, FleetOutcome, FleetPlan, Item, ItemEntry, ItemStep, LANDER, Offer,
    Pick, Refusal,
};

fn stopped(reasons: &[&str]) -> FleetAction {
    let reasons = reasons.iter().map(|it| (*it).to_owned()).collect();
    FleetAction::Finish(FleetOutcome::Stopped { reasons })
}

fn rival(id: &str) -> FleetItem {
    FleetItem { group: Some("g".to_owned()), ..item(id, &[]) }
}

/// `a` has failed, and `b` waits for it and for `c`, which has landed.
fn failed(max_cost: Option<f64>) -> Story {
    let items = vec![item("a", &[]), item("b", &["c", "a"]), item("c", &[])];
    let mut story = Story::with(FleetPlan { items, lanes: 2, max_cost, ..FleetPlan::default() });
    let lease = story.begin("c", "lane-1");
    story.hand_in("c", "lane-1", lease, 1.0);
    story.land("c");
    let lease = story.begin("a", "lane-1");
    story.world.running.clear();
    story.step("a", "lane-1", ItemStep::Failed { lease, exit: Some(1), why: "gave up".to_owned() });
    story
}

#[test]
fn each_item_that_did_not_land_says_why() {
    assert_eq!(failed(None).next(), stopped(&["a: gave up", "b: waits for a"]));
}

#[test]
fn a_budget_that_kept_nothing_from_its_work_is_no_reason() {
    let mut story = failed(Some(1.0));
    story.add(FleetEvent::Spent { run: "r".to_owned(), cost: 1.0 });
    assert_eq!(story.next(), stopped(&["a: gave up", "b: waits for a"]));
    // Nor where workers are elsewhere and nothing was taken back.
    let mut story = far(vec![item("a", &[])], Some(1.0));
    story.step("a", LANDER, ItemStep::Posted);
    let lease = story.step("a", "w1", ItemStep::Claimed);
    story.step("a", "w1", ItemStep::Failed { lease, exit: Some(1), why: "gave up".to_owned() });
    story.add(FleetEvent::Spent { run: "r".to_owned(), cost: 1.0 });
    assert_eq!(story.next(), stopped(&["a: gave up"]));
}

#[test]
fn a_lane_whose_claim_waits_for_a_usage_limit_is_not_free() {
    let other = FleetItem { account: "codex".to_owned(), ..item("b", &[]) };
    let items = vec![item("a", &[]), other];
    let mut story = Story::with(FleetPlan { items, lanes: 1, deaths: 1, ..FleetPlan::default() });
    story.begin("a", "lane-1");
    story.world.running.clear();
    story.step("b", LANDER, ItemStep::Posted);
    story.add(FleetEvent::LimitSeen { account: "claude".to_owned(), until_ms: 1000 });
    assert_eq!(story.next(), FleetAction::Wait);
}

#[test]
fn the_cheapest_waits_for_what_still_runs_although_nothing_may_begin() {
    let items = vec![rival("a"), rival("b")];
    let plan = FleetPlan { items, lanes: 2, pick: Pick::Cheapest, ..FleetPlan::default() };
    let mut story = Story::with(plan);
    let lease = story.begin("a", "lane-1");
    story.begin("b", "lane-2");
    story.hand_in("a", "lane-1", lease, 0.5);
    story.add(FleetEvent::StopRequested);
    story.world.asked.insert("lane-2".to_owned());
    assert_eq!(story.next(), FleetAction::Wait);
    // Its lane is gone: what will not be worked on any more is not waited for.
    story.world.running.clear();
    assert_eq!(story.next(), FleetAction::Land("a".to_owned()));
}

#[test]
fn the_cheapest_waits_for_what_will_be_sent_back_and_for_nothing_that_was_given_up() {
    let touching = |id: &str| FleetItem { touches: vec!["x".to_owned()], ..rival(id) };
    for (refusals, expected) in [(1, FleetAction::Wait), (2, FleetAction::Land("a".to_owned()))] {
        let blocker = FleetItem { touches: vec!["x".to_owned()], ..item("c", &[]) };
        let items = vec![rival("a"), touching("b"), blocker];
        let plan = FleetPlan { items, pick: Pick::Cheapest, evictions: 1, ..FleetPlan::default() };
        let mut story = far_with(plan);
        for _ in 0..refusals {
            let lease = story.begin("b", "w2");
            story.hand_in("b", "w2", lease, 0.1);
            story.refuse("b");
        }
        let lease = story.begin("a", "w1");
        story.hand_in("a", "w1", lease, 0.5);
        // What is worked on elsewhere keeps the other from being posted again.
        story.step("c", LANDER, ItemStep::Posted);
        assert_eq!(story.next(), expected, "refused {refusals} times");
    }
}

#[test]
fn rivals_may_change_the_same_files_at_once() {
    let touching = |group: Option<&str>, id: &str| FleetItem {
        group: group.map(str::to_owned),
        touches: vec!["src/x.rs".to_owned()],
        ..item(id, &[])
    };
    let next = |one: Option<&str>, other: Option<&str>| {
        let items = vec![touching(one, "a"), touching(other, "b")];
        let mut story = Story::with(FleetPlan { items, lanes: 2, ..FleetPlan::default() });
        story.begin("a", "lane-1");
        story.step("b", LANDER, ItemStep::Posted);
        story.next()
    };
    assert_eq!(next(Some("g"), Some("g")), claim("b", "lane-2"));
    for (one, other) in [(None, None), (Some("g"), None), (None, Some("g")), (Some("g"), Some("h"))] {
        assert_eq!(next(one, other), FleetAction::Wait, "{one:?} {other:?}");
    }
}

#[test]
fn exit_codes_are_those_of_runs() {
    let stopped = FleetOutcome::Stopped { reasons: Vec::new() };
    let outcomes = [FleetOutcome::Done, FleetOutcome::Exhausted, stopped, FleetOutcome::Interrupted];
    assert_eq!(outcomes.map(|outcome| outcome.exit_code()), [0, 1, 6, 130]);
}

#[test]
fn an_item_is_found_by_its_name() {
    let plan = FleetPlan { items: vec![item("a", &[]), item("b", &[])], ..FleetPlan::default() };
    assert_eq!(plan.item("b"), Some(&plan.items[1]));
    assert_eq!(plan.item("c"), None);
}

#[test]
fn an_item_says_where_it_is() {
    let offer =
        Offer { lease: 2, base: "b".to_owned(), head: "h".to_owned(), cost: 0.0, run: None, parcel: None };
    let refusal = ItemStep::Refused(Refusal::Unusable { reason: "red".to_owned() });
    let failed = ItemStep::Failed { lease: 2, exit: None, why: "no".to_owned() };
    let merged = ItemStep::Merged { commit: "0123456789abcdef".to_owned() };
    let cancelled = ItemStep::Cancelled { why: String::new() };
    let (posted, claimed, done) = (ItemStep::Posted, ItemStep::Claimed, ItemStep::Done(offer));
    let words = |steps: &[&ItemStep]| {
        let entry = |(step, sequence): (&&ItemStep, u64)| {
            let is_landers =
                matches!(step, ItemStep::Posted | ItemStep::Merged { .. } | ItemStep::Refused(_));
            let who = if is_landers { LANDER } else { "lane-1" }.to_owned();
            ItemEntry { sequence, who, step: (*step).clone() }
        };
        let entries: Vec<ItemEntry> = steps.iter().zip(1..).map(entry).collect();
        let (word, rest) = Item::fold(&entries).words();
        format!("{word} {rest}").trim_end().to_owned()
    };
    assert_eq!(words(&[]), "open");
    assert_eq!(words(&[&posted]), "waiting");
    assert_eq!(words(&[&posted, &claimed]), "working in lane-1");
    assert_eq!(words(&[&posted, &claimed, &failed]), "failed no");
    assert_eq!(words(&[&posted, &claimed, &done]), "landing");
    assert_eq!(words(&[&posted, &claimed, &done, &merged]), "landed 0123456789");
    assert_eq!(words(&[&posted, &cancelled]), "cancelled");
    let sent_back = [&posted, &claimed, &done, &refusal, &posted, &claimed];
    assert_eq!(words(&sent_back[..4]), "refused red");
    assert_eq!(words(&sent_back[..5]), "waiting  (sent back 1 times)");
    assert_eq!(words(&sent_back), "working in lane-1 (sent back 1 times)");
}
