//! The flags of a prompt that others wrote.

use clap::Args;
use ralph_core::{
    containment::level::{Choice, Level},
    issue::{Trust, query::number},
    setup::Setup,
};
use ralph_sys::error::Result;

use crate::forge::issues;

/// An issue as a prompt.
#[derive(Args, Debug, Default)]
pub(super) struct IssueFlags {
    /// Work on this GitHub issue of the repository; you can add a prompt of your own
    ///
    /// `gh` reads the issue and its newest comments. The agent gets them quoted, and shortened if they are long; ralph
    /// changes what would act as a claim or a file reference. If the author is not an owner, member or collaborator, add
    /// --trust-author or use a sandbox.
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    issue: Option<u64>,

    #[command(flatten)]
    trust: TrustFlags,
}

/// Whose words may reach an agent.
#[derive(Args, Debug, Default)]
pub(super) struct TrustFlags {
    /// Trust what this author of an issue wrote; may be given several times
    #[arg(long, value_name = "NAME")]
    trust_author: Vec<String>,
}

impl TrustFlags {
    /// Whom the user trusts, for an agent in a sandbox or without one.
    pub(super) fn trust(&self, level: Choice) -> Trust {
        Trust { authors: self.trust_author.clone(), is_contained: level != Choice::Level(Level::None) }
    }
}

impl IssueFlags {
    /// Whether an issue is given.
    pub(super) fn is_given(&self) -> bool {
        self.issue.is_some()
    }

    /// What the user says by naming an issue and nothing else.
    pub(super) fn request(&self) -> String {
        let number = self.issue.unwrap_or_default();
        format!("Do what issue #{number} asks for. It is quoted below.")
    }

    /// Reads the issue, if one is given, and has the agent told of it.
    pub(super) fn read_into(&self, setup: &mut Setup) -> Result<()> {
        if let Some(number) = self.issue {
            setup.issue = Some(issues::one(&setup.project, number, &self.trust.trust(setup.sandbox.level))?);
        }
        Ok(())
    }
}
