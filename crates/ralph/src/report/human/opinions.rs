//! What reviewers are asked about a claim, and what they say.

use std::time::Duration;

use ralph_core::{
    duration::format_duration,
    engine::{
        Run,
        event::{OpinionEnded, OpinionStarted, TurnEnd},
    },
    review::{OpinionAbout, ReviewVerdict},
};

use super::Human;
use crate::{
    report::{summary, who},
    term::{Palette, fit::one_line, printable},
};

impl Human {
    pub(super) fn opinion_started(&mut self, run: &Run, started: &OpinionStarted) {
        self.tools.reset();
        let Palette { strong, accent, .. } = self.look.palette;
        let who = who::reviewer(&run.started.setup, started);
        let what = match started.about {
            OpinionAbout::Review { .. } => "Review of the claim",
            OpinionAbout::Look => "Does the change fix the task or the check?",
        };
        let short = self.look.marks.rule.repeat(2);
        let title = format!("{what}, {who}");
        self.line(&format!("\n{accent}{short}{accent:#} {strong}{}{strong:#}", one_line(&title)));
        if let Some(why) = who::because(started.because.as_ref()) {
            self.line(&one_line(&why));
        }
    }

    pub(super) fn opinion_ended(&mut self, ended: &OpinionEnded) {
        let Palette { good, bad, warn, quiet, .. } = self.look.palette;
        let mut facts = vec![format_duration(Duration::from_millis(ended.ms))];
        facts.extend(summary::cost(&ended.usage));
        self.line(&format!("{quiet}review: {}{quiet:#}", facts.join(" · ")));
        match &ended.end {
            TurnEnd::Failed(failure) => {
                let mark = self.look.marks.bad;
                let message = printable(&failure.message);
                self.alert(&format!("{mark} {bad}The reviewer failed: {message}{bad:#}"));
            }
            TurnEnd::Paused { .. } => self.line("The reviewer waits for a person."),
            TurnEnd::OverBudget { limit } => {
                let name = limit.name();
                self.alert(&format!("{warn}The reviewer was ended at the limit of {name}.{warn:#}"));
            }
            TurnEnd::Tampered { changed } => self.tampered(changed),
            TurnEnd::Unguarded { changed, unjudged } => self.unguarded(changed, unjudged),
            TurnEnd::Interrupted => self.line(&format!("{warn}The reviewer was ended.{warn:#}")),
            TurnEnd::Abandoned => {
                self.line(&format!("{warn}The review was cut off; the claim is judged again.{warn:#}"));
            }
            TurnEnd::Finished if ended.verdict.is_none() && ended.look.is_none() => {
                self.alert(&format!("{warn}The reviewer gave no answer that ralph can read.{warn:#}"));
            }
            TurnEnd::Finished => {}
        }
        if let Some(verdict) = &ended.verdict {
            let counts = verdict.is_approval() && !ended.meddled;
            let (mark, style) =
                if counts { (self.look.marks.good, good) } else { (self.look.marks.bad, bad) };
            self.line(&format!("{mark} {style}{}{style:#}", printable(&said(verdict))));
            self.comments(verdict);
            if verdict.is_approval() && ended.meddled {
                self.alert(&format!(
                    "{warn}That does not count: it had changed what it was to judge.{warn:#}"
                ));
            }
        }
        if let Some(answer) = &ended.look {
            self.line(&printable(&format!("The reviewer {}", answer.words())));
        }
    }

    pub(super) fn look_forgone(&mut self, why: &str) {
        let Palette { quiet, .. } = self.look.palette;
        let why = format!("No reviewer is asked what the change fixes: {why}");
        self.line(&format!("{quiet}{}{quiet:#}", printable(&why)));
    }

    /// What a reviewer says about a change, with all its comments.
    pub(super) fn verdict(&mut self, verdict: &ReviewVerdict) {
        self.line(&printable(&said(verdict)));
        self.comments(verdict);
    }

    fn comments(&mut self, verdict: &ReviewVerdict) {
        for comment in &verdict.comments {
            self.line(&printable(&format!("  {}", comment.line())));
        }
    }
}

fn said(verdict: &ReviewVerdict) -> String {
    format!("The reviewer {}", verdict.line())
}
