//! What was found about a claim, and what follows from it.

use ralph_core::{
    engine::{
        Run,
        event::{Examined, PutBack},
    },
    verify::finding::Finding,
};

use super::Human;
use crate::term::{Palette, printable};

impl Human {
    /// Says what was found, and that the agent is asked.
    pub(super) fn examined(&mut self, run: &Run, examined: &Examined) {
        // Fewer tests than before are found when the counts are in, and asked about with the rest.
        let findings: Vec<Finding> =
            run.state.findings().iter().filter(|finding| finding.is_of_claim()).cloned().collect();
        self.found(&findings);
        let Palette { quiet, .. } = self.look.palette;
        for note in &examined.notes {
            self.line(&format!("{quiet}{}{quiet:#}", printable(&format!("Note: {note}"))));
        }
        if !findings.is_empty() && run.state.is_question_open() {
            self.line("Ralph asks the agent: restore it, or say why it had to change.");
        }
    }

    /// Says that a person accepted the work.
    pub(super) fn accepted(&mut self, why: Option<&str>) {
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        self.line(&format!("A person accepted the work{}", printable(&why)));
    }

    /// Warns.
    pub(super) fn warning(&mut self, text: &str) {
        let Palette { warn, .. } = self.look.palette;
        self.alert(&format!("{warn}warning:{warn:#} {}", printable(text)));
    }

    /// Says what ralph put back.
    pub(super) fn put_back(&mut self, put_back: &PutBack) {
        if !put_back.files.is_empty() {
            let names = put_back.files.join(", ");
            let kept = put_back.kept.as_ref().map(|kept| format!("; what was there is kept in {kept}"));
            let kept = kept.unwrap_or_default();
            self.warning(&format!("restored to the start of the run: {names}{kept}"));
        }
        for why in &put_back.failed {
            self.warning(&format!("cannot restore {why}"));
        }
    }
}
