//! What a turn may use and what it is worth: the agent's own figures, or those that the settings have for its tokens.

use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use ralph_agents::{Metering, Usage};
use ralph_core::{
    duration::millis,
    engine::{
        Action, Run,
        budget::{self, estimated, is_metered, price, priced, reached},
        deadline::is_spent,
        event::{Event, Topic, TurnEnd, TurnEnded},
        outcome::Exhausted,
        plan::Limits,
        price_list::{self, Listed},
    },
    setup::Setup,
};
use ralph_sys::process::Control;

use super::{Driver, ledger::Ledger, listener::Listener, site::Site};

/// Notes the budget that the turn has used up, if it is still spending: then it has to go.
pub(super) fn keep_to_budget(
    ledger: &Ledger,
    setup: &Setup,
    listener: &mut Listener,
    heard: Control,
) -> Control {
    let limits = &ledger.run().plan.limits;
    let is_spending = is_metered(&listener.running());
    if listener.over.is_none() && is_spending && (has_budget(limits) || limits.leave_quota.is_some()) {
        let used = worth(setup, listener);
        let (mut run, mut iteration) =
            (ledger.run().state.spent().usage, ledger.run().state.spent().iteration);
        run.add(used);
        iteration.add(used);
        let windows = listener.tally.limit.iter().flat_map(|limit| &limit.windows);
        let is_spent = is_spent(limits.leave_quota, windows);
        listener.over =
            reached(limits, &run, &iteration).or_else(|| is_spent.then_some(Exhausted::LeaveQuota));
    }
    if listener.over.is_some() { Control::Enough } else { heard }
}

/// How long the next turn may take before the time of the run is used up.
pub(super) fn time_left(run: &Run) -> Option<Duration> {
    let limit = run.plan.limits.max_time_ms?;
    Some(Duration::from_millis(limit.saturating_sub(run.state.spent().ms)))
}

/// When a turn has to end, by the clock on the wall.
pub(super) fn end_of_run(run: &Run) -> Option<SystemTime> {
    let until_ms = u64::try_from(run.plan.limits.until_ms?).unwrap_or(0);
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(until_ms))
}

/// What must be done is given so much time, also where none is left: work that passed its guardrails is committed.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(15);

/// From so much on it is recorded that a commit took time.
const MIN_RECORDED: Duration = Duration::from_secs(1);

/// Keeps what the next action starts to the time of the run.
pub(super) fn keep_time(site: &mut Site, action: &Action) {
    let (left, until) = (time_left(site.run()), end_of_run(site.run()));
    let (left, until) = match action {
        // The last words of a run, and the end of its children, have limits of their own.
        Action::Finish(_) => (None, None),
        Action::Commit | Action::Deliver => {
            let soon = SystemTime::now() + CLOSING_TIMEOUT;
            (left.map(|left| left.max(CLOSING_TIMEOUT)), until.map(|until| until.max(soon)))
        }
        _ => (left, until),
    };
    site.supervisor.end_within(left, until);
}

/// Does something whose time is counted nowhere else, and counts it.
pub(super) fn counting_time(driver: &mut Driver, act: fn(&mut Driver)) {
    let (started, before) = (Instant::now(), driver.site.run().state.spent().ms);
    act(driver);
    let counted = Duration::from_millis(driver.site.run().state.spent().ms.saturating_sub(before));
    let uncounted = started.elapsed().saturating_sub(counted);
    if MIN_RECORDED <= uncounted {
        driver.site.ledger.record(Event::TimeSpent { ms: millis(uncounted) });
    }
}

/// Whether the moment of the run's end has come.
pub(super) fn is_late(run: &Run) -> bool {
    run.plan.limits.until_ms.is_some_and(|until_ms| until_ms <= Timestamp::now().as_millisecond())
}

/// What the next turn may cost, for agents that keep to a limit by themselves.
pub(super) fn cost_left(run: &Run) -> Option<f64> {
    let spent = run.state.spent();
    let crew = run.state.crew();
    let own = run.plan.roles.budgets.get(crew.worker()).and_then(|own| own.max_cost);
    let own = own.map(|limit| (limit - crew.used(crew.worker()).cost_usd.unwrap_or(0.0)).max(0.0));
    let left = budget::cost_left(&run.plan.limits, &spent.usage, &spent.iteration);
    left.into_iter().chain(own).min_by(f64::total_cmp)
}

/// A budget that no one can measure is none: says so before the first turn, where that is known.
pub(super) fn warn_of_blind_budget(site: &mut Site) {
    let limits = &site.run().plan.limits;
    let (has_budget, limits_cost) = (has_budget(limits), limits_cost(limits));
    if limits.leave_quota.is_some() && !site.adapter().tells_quota() {
        unknown_quota(&mut site.ledger);
    }
    match site.adapter().metering() {
        Metering::Nothing if has_budget => unmetered(&mut site.ledger),
        Metering::Tokens if limits_cost => warn_of_prices(site),
        Metering::Nothing | Metering::Tokens | Metering::Cost => {}
    }
}

/// Says which price is taken for an agent that names none, where the user has not given one.
fn warn_of_prices(site: &mut Site) {
    let (agent, model) = (site.adapter().name(), model_flag(&site.setup.agent.flags));
    let names: Vec<&str> = model.into_iter().chain([agent]).collect();
    if price(&site.setup.prices, &names).is_some() || model.and_then(price_list::of_model).is_some() {
        return;
    }
    let which = model.map_or("which model answers".to_owned(), |model| format!("what `{model}` costs"));
    let remedy = "name it by -m in \"agent\".\"flags\", or its price in \"prices\"";
    let text = match price_list::guess(agent) {
        Some(Listed { model, .. }) => format!(
            "ralph does not know {which}: until the agent says so, its cost is estimated as that of {model} ({}); {remedy}",
            price_list::AS_OF
        ),
        None => format!(
            "{agent} does not report what its tokens cost, so the cost cannot end the run; set it in \"prices\""
        ),
    };
    site.ledger.warn_once(Topic::Unpriced, text);
}

/// The same after a turn that did not say what it used.
pub(super) fn warn_of_missing_figures(ledger: &mut Ledger, turn: &TurnEnded) {
    if turn.end == TurnEnd::Finished
        && turn.quota.is_empty()
        && ledger.run().plan.limits.leave_quota.is_some()
    {
        unknown_quota(ledger);
    }
    let (limits, told) = (&ledger.run().plan.limits, &ledger.run().memory.told);
    let is_told = told.contains(&Topic::Unmetered) || told.contains(&Topic::Unpriced);
    if is_told || turn.end != TurnEnd::Finished {
        return;
    }
    if has_budget(limits) && !is_metered(&turn.usage) {
        unmetered(ledger);
    } else if limits_cost(limits) && turn.usage.cost_usd.is_none() {
        ledger.warn_once(
            Topic::Unpriced,
            "the agent does not report what its tokens cost, so the cost cannot end the run; set it in \"prices\""
                .to_owned(),
        );
    }
}

fn unknown_quota(ledger: &mut Ledger) {
    ledger.warn_once(
        Topic::UnknownQuota,
        "the agent does not report how much of its usage limit is used, so --leave-quota cannot end the run"
            .to_owned(),
    );
}

fn unmetered(ledger: &mut Ledger) {
    ledger.warn_once(
        Topic::Unmetered,
        "the agent is unmetered: it does not report what it uses, so cost and tokens cannot end the run"
            .to_owned(),
    );
}

fn has_budget(limits: &Limits) -> bool {
    let Limits { max_cost, max_tokens, max_iteration_cost, max_iteration_tokens, .. } = limits;
    max_cost.or(*max_iteration_cost).is_some() || max_tokens.or(*max_iteration_tokens).is_some()
}

fn limits_cost(limits: &Limits) -> bool {
    limits.max_cost.or(limits.max_iteration_cost).is_some()
}

/// What a turn has used so far, with its cost where that can be known or estimated.
pub(super) fn worth(setup: &Setup, listener: &Listener) -> Usage {
    let agent = ralph_agents::adapter(&setup.agent.command).name();
    let model = listener.tally.model.as_deref();
    let names: Vec<&str> =
        [model, model_flag(&setup.agent.flags), Some(agent)].into_iter().flatten().collect();
    let price = price(&setup.prices, &names);
    let listed =
        names.iter().find_map(|name| price_list::of_model(name)).or_else(|| price_list::guess(agent));
    let worth = |usage: Usage| estimated(priced(usage, price), listed);
    // What came after the last result has no cost of the agent's, though the results before it may have one.
    let mut usage = worth(listener.tally.usage);
    usage.add(worth(listener.running()));
    usage
}

/// The model that the user's flags name; not every agent says which one answers.
fn model_flag(flags: &[String]) -> Option<&str> {
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if let Some(model) = flag.strip_prefix("--model=") {
            return Some(model);
        }
        if matches!(flag.as_str(), "--model" | "-m") {
            return flags.next().map(String::as_str);
        }
    }
    None
}
