//! Ralph's own scripted agent: `ralph scripted-agent SCRIPT`, for the demo and the tests. It speaks
//! Claude Code's stream.

use super::{Adapter, Metering, Output, Parser, Request, claude::Claude};

/// The scripted agent.
pub(super) struct Scripted;

/// The hidden command that follows a script.
pub const COMMAND: &str = "scripted-agent";
/// The flag that asks it for the answer alone.
pub const TEXT: &str = "--text";
/// The variable that says what an agent is started for, where it is not the work: `message`, the words of a commit.
pub const ROLE: &str = "RALPH_ROLE";

impl Adapter for Scripted {
    fn name(&self) -> &'static str {
        "ralph"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mut arguments = vec![COMMAND.to_owned()];
        if let Output::Text { .. } = request.output {
            arguments.push(TEXT.to_owned());
        }
        arguments.extend(request.flags.iter().cloned());
        arguments.extend(request.prompt.map(str::to_owned));
        arguments
    }

    fn metering(&self) -> Metering {
        Metering::Cost
    }

    fn tells_quota(&self) -> bool {
        true
    }

    fn parser(&self) -> Box<dyn Parser> {
        Claude.parser()
    }
}
