//! GitHub Copilot CLI: `copilot --output-format json`.
//!
//! Measured on 1.0.102. Messages count once they are whole: pieces of one may belong to a call that failed
//! and is made again. An interrupted turn exits with 0, with or without a result.

mod events;
mod stream;

use super::ndjson::Ndjson;
use super::{Adapter, Metering, Output, Parser, Permissions, Request, flags};
use stream::CopilotStream;

/// GitHub Copilot CLI.
pub(super) struct Copilot;

impl Adapter for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mut arguments: Vec<String> = match request.output {
            Output::Stream => ["--output-format", "json"].map(str::to_owned).into(),
            Output::Text { .. } => vec!["-s".to_owned()],
        };
        if request.permissions == Permissions::Skip {
            // Who names the tools that need no question has decided about the others.
            if !flags::contain(request.flags, &["--allow-all-tools", "--allow-tool", "--allow-all", "--yolo"])
            {
                arguments.push("--allow-all-tools".to_owned());
            }
            if !flags::contain(request.flags, &["--allow-all-paths", "--allow-all", "--yolo"]) {
                arguments.push("--allow-all-paths".to_owned());
            }
        }
        arguments.extend(request.flags.iter().cloned());
        // Without `-p` the prompt is what is piped to standard input; with it, the pipe is ignored. The
        // equals sign keeps a prompt that begins with a dash from being an option.
        arguments.extend(request.prompt.map(|prompt| format!("--prompt={prompt}")));
        arguments
    }

    fn metering(&self) -> Metering {
        Metering::Nothing
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<CopilotStream>>::default()
    }
}
