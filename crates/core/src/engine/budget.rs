//! What a run and an iteration may use, what is left of it, and what tokens cost where the agent does not say.

use std::collections::BTreeMap;

use ralph_agents::Usage;

use crate::{
    engine::{outcome::Exhausted, plan::Limits, price_list::Listed, roles::AgentBudget},
    setup::Price,
};

/// The price of the first of `names` that has one. A price is for all names that begin with its own; the longest counts.
pub fn price<'a>(prices: &'a BTreeMap<String, Price>, names: &[&str]) -> Option<&'a Price> {
    names.iter().find_map(|name| {
        let name = name.to_lowercase();
        let fitting = prices.iter().filter(|(prefix, _)| name.starts_with(&prefix.to_lowercase()));
        fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, price)| price)
    })
}

/// What was used, with a cost where the agent names none and a price is known.
pub fn priced(usage: Usage, price: Option<&Price>) -> Usage {
    let (None, Some(price)) = (usage.cost_usd, price) else { return usage };
    #[expect(clippy::cast_precision_loss, reason = "no one counts so many tokens that it matters")]
    let cost = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1_000_000.0;
    let cost_usd = cost(usage.input.saturating_sub(usage.cached), price.input)
        + cost(usage.cached, price.cached.unwrap_or(price.input))
        + cost(usage.output, price.output);
    Usage { cost_usd: Some(cost_usd), ..usage }
}

/// What was used, with a cost by the list where neither the agent nor the settings have one; marked, because it may be wrong.
pub fn estimated(usage: Usage, listed: Option<Listed>) -> Usage {
    let (None, Some(listed)) = (usage.cost_usd, listed.filter(|_| 0 < usage.tokens())) else { return usage };
    Usage { estimated: true, ..priced(usage, Some(&listed.price)) }
}

/// Whether anything was reported at all.
pub fn is_metered(usage: &Usage) -> bool {
    usage.cost_usd.is_some_and(|cost| 0.0 < cost) || 0 < usage.tokens()
}

/// The budget that is used up, if one is, by what the whole run and its current iteration have used.
pub fn reached(limits: &Limits, run: &Usage, iteration: &Usage) -> Option<Exhausted> {
    let cost = |usage: &Usage| usage.cost_usd.unwrap_or(0.0);
    let reached = [
        (limits.max_cost.is_some_and(|limit| limit <= cost(run)), Exhausted::MaxCost),
        (limits.max_tokens.is_some_and(|limit| limit <= run.tokens()), Exhausted::MaxTokens),
        (
            limits.max_iteration_cost.is_some_and(|limit| limit <= cost(iteration)),
            Exhausted::MaxIterationCost,
        ),
        (
            limits.max_iteration_tokens.is_some_and(|limit| limit <= iteration.tokens()),
            Exhausted::MaxIterationTokens,
        ),
    ];
    reached.into_iter().find_map(|(is_reached, limit)| is_reached.then_some(limit))
}

/// Whether one agent has used up what it may use.
pub fn is_used_up(own: &AgentBudget, used: &Usage) -> bool {
    own.max_cost.is_some_and(|limit| limit <= used.cost_usd.unwrap_or(0.0))
        || own.max_tokens.is_some_and(|limit| limit <= used.tokens())
}

/// What the next turn may cost; nothing where there is no such budget.
pub fn cost_left(limits: &Limits, run: &Usage, iteration: &Usage) -> Option<f64> {
    let left = |limit: Option<f64>, usage: &Usage| limit.map(|limit| limit - usage.cost_usd.unwrap_or(0.0));
    let left = [left(limits.max_cost, run), left(limits.max_iteration_cost, iteration)];
    left.into_iter().flatten().min_by(f64::total_cmp).map(|left| left.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{presets, price_list};

    fn usage(cost_usd: Option<f64>, input: u64, cached: u64, output: u64) -> Usage {
        Usage { cost_usd, input, cached, output, estimated: false }
    }

    fn prices() -> BTreeMap<String, Price> {
        let price = |input| Price { input, cached: Some(1.0), output: 10.0 };
        [("gpt-5", 2.0), ("gpt-5-mini", 0.5), ("codex", 3.0)]
            .map(|(name, input)| (name.to_owned(), price(input)))
            .into()
    }

    #[test]
    fn the_longest_name_has_the_price() {
        let prices = prices();
        let input = |names: &[&str]| price(&prices, names).map(|price| price.input);
        assert_eq!(input(&["gpt-5"]), Some(2.0));
        assert_eq!(input(&["GPT-5-mini-2026-01-01"]), Some(0.5));
        assert_eq!(input(&["o9", "codex"]), Some(3.0));
        assert_eq!(input(&["gpt-5.1-codex", "codex"]), Some(2.0));
        assert_eq!(input(&["gpt"]), None);
        assert_eq!(input(&[]), None);
    }

    #[test]
    fn tokens_are_priced_where_the_agent_names_no_cost() {
        let price = Price { input: 2.0, cached: Some(0.5), output: 10.0 };
        let used = usage(None, 3_000_000, 1_000_000, 100_000);
        assert_eq!(priced(used, Some(&price)).cost_usd, Some(4.0 + 0.5 + 1.0));
        assert_eq!(priced(used, Some(&Price { cached: None, ..price })).cost_usd, Some(7.0));
        assert_eq!(priced(used, None), used);
        let known = usage(Some(0.1), 3_000_000, 0, 0);
        assert_eq!(priced(known, Some(&price)), known);
    }

    #[test]
    fn what_the_list_makes_of_tokens_is_an_estimate() {
        let listed = price_list::of_model("gpt-5.5");
        let used = usage(None, 1_000_000, 0, 100_000);
        assert_eq!(estimated(used, listed), Usage { cost_usd: Some(8.0), estimated: true, ..used });
        assert_eq!(estimated(used, None), used);
        let known = usage(Some(0.1), 1_000_000, 0, 0);
        assert_eq!(estimated(known, listed), known);
        assert_eq!(estimated(Usage::default(), listed), Usage::default());
        let mut sum = known;
        sum.add(estimated(used, listed));
        assert_eq!((sum.cost_usd, sum.estimated), (Some(8.1), true));
    }

    #[test]
    fn budgets_are_reached_by_the_run_and_by_an_iteration() {
        let mut limits = presets::plan().limits;
        let (run, iteration) = (usage(Some(5.0), 900, 0, 100), usage(Some(1.0), 90, 0, 10));
        assert_eq!((reached(&limits, &run, &iteration), cost_left(&limits, &run, &iteration)), (None, None));
        limits.max_cost = Some(6.0);
        limits.max_iteration_cost = Some(1.5);
        (limits.max_tokens, limits.max_iteration_tokens) = (Some(1001), Some(101));
        assert_eq!(reached(&limits, &run, &iteration), None);
        assert_eq!(cost_left(&limits, &run, &iteration), Some(0.5));
        for (change, expected) in [
            (usage(Some(1.0), 0, 0, 0), Exhausted::MaxCost),
            (usage(Some(0.5), 0, 0, 0), Exhausted::MaxIterationCost),
            (usage(None, 1, 0, 0), Exhausted::MaxTokens),
        ] {
            let (mut run, mut iteration) = (run, iteration);
            run.add(change);
            iteration.add(change);
            assert_eq!(reached(&limits, &run, &iteration), Some(expected));
        }
        limits.max_tokens = None;
        let more = usage(None, 91, 0, 10);
        assert_eq!(reached(&limits, &run, &more), Some(Exhausted::MaxIterationTokens));
        assert_eq!(cost_left(&limits, &usage(Some(7.0), 0, 0, 0), &iteration), Some(0.0));
    }

    #[test]
    fn an_agent_that_names_tokens_or_a_cost_is_metered() {
        for (used, expected) in [
            (Usage::default(), false),
            (usage(Some(0.0), 0, 0, 0), false),
            (usage(Some(0.01), 0, 0, 0), true),
            (usage(None, 1, 0, 0), true),
            (usage(Some(0.0), 0, 0, 1), true),
        ] {
            assert_eq!(is_metered(&used), expected, "{used:?}");
        }
    }

    #[test]
    fn what_an_agent_may_use_is_used_up_at_its_limit() {
        let cost = AgentBudget { max_cost: Some(2.0), max_tokens: None };
        let tokens = AgentBudget { max_cost: None, max_tokens: Some(100) };
        for (own, used, expected) in [
            (&cost, usage(Some(1.9), 999, 0, 0), false),
            (&cost, usage(Some(2.0), 0, 0, 0), true),
            (&cost, usage(None, 999, 0, 0), false),
            (&tokens, usage(Some(9.0), 90, 0, 9), false),
            (&tokens, usage(Some(9.0), 90, 0, 10), true),
            (&tokens, usage(None, 900, 0, 0), true),
        ] {
            assert_eq!(is_used_up(own, &used), expected, "{own:?} {used:?}");
        }
    }
}
