//! The lines of Copilot's stream as they are written.

use serde::Deserialize;

use crate::raw::{Raw, word};
use crate::{Excerpt, Failure, FailureKind, status, summary};

/// One line. All but the result keep what they tell in `data`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CopilotEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    data: Option<Raw<'a>>,
    #[serde(borrow)]
    agent_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) session_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) exit_code: Option<Raw<'a>>,
}

impl<'a> CopilotEvent<'a> {
    pub(super) fn data(&self) -> Data<'a> {
        let data: Data<'a> = self.data.and_then(Raw::read).unwrap_or_default();
        Data { parent: data.parent.or(self.agent_id), ..data }
    }
}

/// What the kinds of lines tell that matter, in one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Data<'a> {
    /// The tool call or the name of the subagent that speaks; nothing if the agent itself does.
    #[serde(borrow, rename = "parentToolCallId")]
    parent: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) tool_call_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) tool_name: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<Raw<'a>>,
    #[serde(borrow)]
    success: Option<Raw<'a>>,
    #[serde(borrow)]
    shell_execution: Option<Raw<'a>>,
    #[serde(borrow)]
    result: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) info_type: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) reason: Option<Raw<'a>>,
    #[serde(borrow)]
    error_type: Option<Raw<'a>>,
    #[serde(borrow)]
    status_code: Option<Raw<'a>>,
}

impl<'a> Data<'a> {
    pub(super) fn parent(&self) -> Option<&'a str> {
        self.parent.map(|parent| parent.word().unwrap_or_default())
    }

    /// Whether a tool worked. A command that ran is a success for Copilot whatever its exit code.
    pub(super) fn ok(&self) -> bool {
        #[derive(Deserialize)]
        struct Shell {
            #[serde(rename = "exitCode")]
            exit_code: Option<i64>,
        }
        let code = self.shell_execution.and_then(Raw::read::<Shell>).and_then(|shell| shell.exit_code);
        self.success.and_then(Raw::read).unwrap_or(false) && code.unwrap_or(0) == 0
    }

    /// What a tool printed, or why it did not run.
    pub(super) fn output(&self) -> Excerpt {
        #[derive(Deserialize)]
        struct Printed<'a> {
            #[serde(borrow)]
            content: Option<Raw<'a>>,
        }
        let printed = self.result.and_then(Raw::read::<Printed<'_>>).and_then(|result| result.content);
        let refusal = self.problem().and_then(|problem| problem.message);
        printed.or(refusal).or(self.result).or(self.error).map(Raw::excerpt).unwrap_or_default()
    }

    /// Whether a rule of the user's kept the tool from running.
    pub(super) fn is_denied(&self) -> bool {
        self.problem().is_some_and(|problem| matches!(word(problem.code), "denied" | "rejected"))
    }

    fn problem(&self) -> Option<Problem<'a>> {
        self.error.and_then(Raw::read)
    }

    /// Why the session failed.
    pub(super) fn failure(&self) -> Failure {
        let category = word(self.error_type);
        let kind = match category {
            "authentication" | "authorization" => FailureKind::Permanent,
            "quota" => FailureKind::Limited { resets_at: None },
            _ => status::kind(self.status_code.and_then(Raw::read)),
        };
        Failure { kind, message: self.message.map_or_else(|| summary::short(category), Raw::short) }
    }
}

#[derive(Deserialize)]
struct Problem<'a> {
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow)]
    code: Option<Raw<'a>>,
}
