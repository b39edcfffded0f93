//! The lines that only Claude Code writes.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::messages::Piece;
use crate::raw::{Raw, word};
use crate::{Limit, QuotaWindow, Usage, summary};

#[derive(Deserialize)]
pub(super) struct StreamLine<'a> {
    #[serde(borrow)]
    pub(super) event: Piece<'a>,
}

#[derive(Deserialize)]
pub(super) struct SystemLine<'a> {
    #[serde(borrow)]
    pub(super) subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) session_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) claude_code_version: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) error_status: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) tool_name: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) hook_name: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) hook_event: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) outcome: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) description: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) summary: Option<Raw<'a>>,
}

#[derive(Deserialize)]
pub(super) struct LimitLine<'a> {
    #[serde(borrow)]
    pub(super) rate_limit_info: LimitDetails<'a>,
}

#[derive(Deserialize)]
pub(super) struct LimitDetails<'a> {
    #[serde(borrow)]
    pub(super) status: Option<Raw<'a>>,
    #[serde(borrow, rename = "resetsAt")]
    pub(super) resets_at: Option<Raw<'a>>,
    #[serde(borrow, rename = "rateLimitType")]
    pub(super) window: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) utilization: Option<Raw<'a>>,
    #[serde(borrow, rename = "unifiedWindows")]
    pub(super) windows: Option<Raw<'a>>,
}

/// One of several windows; how much of it is used, as a part of 1.
#[derive(Deserialize)]
struct UnifiedWindow {
    utilization: Option<f64>,
    #[serde(rename = "resetsAt")]
    resets_at: Option<i64>,
}

impl LimitDetails<'_> {
    /// The line names the window that is the nearest to its end; that need not be the fullest.
    fn all_windows(&self) -> Vec<QuotaWindow> {
        let own = UnifiedWindow {
            utilization: self.utilization.and_then(Raw::read),
            resets_at: self.resets_at.and_then(Raw::read),
        };
        let unified = self.windows.and_then(Raw::read::<BTreeMap<String, UnifiedWindow>>);
        let windows = unified.filter(|windows| !windows.is_empty());
        let windows = windows.map_or_else(|| vec![own], |windows| windows.into_values().collect());
        let read = |window: UnifiedWindow| QuotaWindow::new(window.utilization? * 100.0, window.resets_at);
        windows.into_iter().filter_map(read).collect()
    }
}

impl From<LimitDetails<'_>> for Limit {
    fn from(details: LimitDetails<'_>) -> Self {
        Self {
            refused: word(details.status) == "rejected",
            resets_at: details.resets_at.and_then(Raw::read),
            windows: details.all_windows(),
            window: details.window.and_then(Raw::text),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct ResultLine<'a> {
    #[serde(borrow)]
    pub(super) subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) is_error: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) terminal_reason: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) api_error: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) api_error_status: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) api_error_type: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) result: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) errors: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) num_turns: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) total_cost_usd: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<Raw<'a>>,
    #[serde(borrow, rename = "modelUsage")]
    pub(super) model_usage: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) permission_denials: Option<Raw<'a>>,
}

/// What one model has used since the process began, subagents included.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelUsage {
    #[serde(rename = "inputTokens")]
    input: u64,
    #[serde(rename = "outputTokens")]
    output: u64,
    #[serde(rename = "cacheReadInputTokens")]
    cache_read: u64,
    #[serde(rename = "cacheCreationInputTokens")]
    cache_creation: u64,
}

impl From<ModelUsage> for Usage {
    fn from(tokens: ModelUsage) -> Self {
        Self {
            cost_usd: None,
            input: tokens.input.saturating_add(tokens.cache_creation).saturating_add(tokens.cache_read),
            cached: tokens.cache_read,
            output: tokens.output,
            estimated: false,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Denial {
    pub(super) tool_name: String,
}

impl ResultLine<'_> {
    /// What all models together have used since the process began; nothing if the line does not say it.
    pub(super) fn total_usage(&self) -> Option<Usage> {
        let models = self.model_usage.and_then(Raw::read::<HashMap<String, ModelUsage>>)?;
        let mut total = Usage::default();
        for usage in models.into_values() {
            total.add(usage.into());
        }
        Some(total)
    }

    /// Whether the program's own limit on cost ended the turn.
    pub(super) fn is_over_budget(&self) -> bool {
        word(self.subtype) == "error_max_budget_usd" || word(self.terminal_reason) == "budget_exhausted"
    }

    /// Whether the turn went wrong; the subtype alone does not say it.
    pub(super) fn failed(&self) -> bool {
        let ended_badly = matches!(
            word(self.terminal_reason),
            "api_error"
                | "prompt_too_long"
                | "max_turns"
                | "budget_exhausted"
                | "aborted_streaming"
                | "aborted_tools"
        );
        self.is_error.and_then(Raw::read).unwrap_or(false)
            || word(self.subtype).starts_with("error")
            || ended_badly
    }

    /// What went wrong, for people: the text, or the errors but for those that only the program's makers
    /// read, or the reason.
    pub(super) fn message(&self) -> String {
        let errors = self.errors.and_then(Raw::read::<Vec<String>>).unwrap_or_default();
        let error = errors.iter().find(|error| !error.starts_with("[ede_diagnostic]"));
        let reasons = [
            self.result.map(Raw::short),
            error.map(|error| summary::short(error)),
            self.terminal_reason.map(Raw::short),
            self.subtype.map(Raw::short),
        ];
        reasons.into_iter().flatten().find(|reason| !reason.is_empty()).unwrap_or_else(|| "failed".to_owned())
    }
}
