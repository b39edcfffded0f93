//! What a verifier asks of a receipt beyond what everyone asks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    sha256,
    statement::{GuardrailFacts, Statement},
    verdict::{VerdictItem, VerdictTopic},
};

/// A policy file. A key that is not known is an error: a misspelt rule would be no rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a demand of its own")]
pub struct ReceiptPolicy {
    /// Who may have signed, as the file of allowed signers names them; nothing means anyone in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signers: Option<Vec<String>>,
    /// Commands that must have passed. `--rerun` runs them.
    pub guardrails: Vec<String>,
    /// Every guardrail must have passed in a clean clone of the commit.
    pub clean_clone: bool,
    /// The agent must have been in a sandbox of one of these kinds; nothing means that it need not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Vec<String>>,
    /// The guard must have judged the agent's tool calls.
    pub guard: bool,
    /// There must be no findings, not even accepted ones.
    pub no_findings: bool,
    /// Caveats that may be there; nothing means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caveats: Option<Vec<String>>,
    /// The checks of the project must be those of the base.
    pub checks_unchanged: bool,
    /// The agent must not have been able to reach the key that signs.
    pub key_unreachable: bool,
}

impl ReceiptPolicy {
    /// What of it a statement does not meet; one item that says that it does, otherwise.
    pub fn judge(&self, statement: &Statement, signer: Option<&str>) -> Vec<VerdictItem> {
        let mut unmet = Vec::new();
        let mut demand = |is_met: bool, text: String| {
            if !is_met {
                unmet.push(VerdictItem::broken(VerdictTopic::Policy, text));
            }
        };
        let predicate = &statement.predicate;
        let contained = &predicate.containment;
        if let Some(signers) = &self.signers {
            let is_one = |signer: &str| signers.iter().any(|allowed| allowed == signer);
            let who = signer.unwrap_or("no one that you know");
            demand(signer.is_some_and(is_one), format!("signed by {who}, which the policy does not name"));
        }
        for command in &self.guardrails {
            let hash = sha256(command.as_bytes());
            let mut those = predicate.guardrails.iter().filter(|it| it.sha256.as_deref() == Some(&hash));
            demand(those.any(GuardrailFacts::passed), format!("`{command}` did not pass in the run"));
        }
        if self.clean_clone {
            let commands = predicate.guardrails.iter().filter(|it| it.kind.is_command());
            let in_place: Vec<String> = commands
                .filter(|it| !it.in_judge.as_ref().is_some_and(|ending| ending.passed))
                .map(|it| format!("`{}`", it.name()))
                .collect();
            demand(in_place.is_empty(), format!("not passed in a clean clone: {}", in_place.join(", ")));
        }
        if let Some(kinds) = &self.sandbox {
            demand(kinds.contains(&contained.sandbox), format!("the sandbox was `{}`", contained.sandbox));
        }
        demand(!self.guard || contained.guard, "no guard checked the agent's tool calls".to_owned());
        let findings = predicate.findings.len();
        demand(!self.no_findings || findings == 0, format!("{findings} findings, and the policy wants none"));
        if let Some(allowed) = &self.caveats {
            for caveat in predicate.caveats.iter().filter(|caveat| !allowed.contains(&caveat.kind)) {
                demand(false, format!("caveat `{}`: {}", caveat.kind, caveat.text));
            }
        }
        if self.checks_unchanged {
            let is_same = predicate.protected.as_ref().is_some_and(|it| it.base == it.result);
            demand(is_same, "the checks of the project are not those of the base".to_owned());
        }
        demand(
            !self.key_unreachable || !contained.key_reachable,
            "the agent could reach the key that signs receipts".to_owned(),
        );
        if unmet.is_empty() {
            unmet.push(VerdictItem::holds(VerdictTopic::Policy, "all that the policy asks for".to_owned()));
        }
        unmet
    }
}
