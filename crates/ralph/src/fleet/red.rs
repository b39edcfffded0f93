//! What is handed back of a guardrail that failed on the merged tree.

use ralph_core::fleet::Refusal;

use crate::judge::Judged;

/// As much of what it printed.
const MAX_OUTPUT_LEN: usize = 16 * 1024;

/// Why a candidate does not land whose merged tree did not pass.
pub(super) fn red(judged: &Judged, tip: &str, hidden: &[String]) -> Refusal {
    let failed = judged.guardrails.iter().find_map(|row| {
        let ended = row.in_judge.as_ref().filter(|ended| !ended.passed)?;
        Some((row.command.clone(), ended))
    });
    let Some((command, ended)) = failed else {
        return Refusal::Unusable { reason: "the judge does not say what failed".to_owned() };
    };
    let (tip, code) = (tip.to_owned(), ended.code);
    if hidden.contains(&command) {
        // The agent learns that it failed, and nothing else.
        return Refusal::Red {
            tip,
            command: "a hidden guardrail".to_owned(),
            code: None,
            output: String::new(),
        };
    }
    let output = fs_err::read(&ended.log).unwrap_or_default();
    let output = &output[output.len().saturating_sub(MAX_OUTPUT_LEN)..];
    let output = String::from_utf8_lossy(output).into_owned();
    Refusal::Red { tip, command, code, output }
}
