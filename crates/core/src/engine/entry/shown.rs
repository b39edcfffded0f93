//! An entry as others may see it: the record knows the values of variables, the screen does not.

use std::{borrow::Cow, collections::BTreeMap};

use super::Entry;
use crate::{engine::event::Event, setup::Setup};

/// What stands for the value of a variable.
const VALUE: &str = "(not shown)";

impl Entry {
    /// The entry without the values of the variables that the settings give to agents and guardrails: they are often keys.
    pub fn shown(&self) -> Cow<'_, Self> {
        let is_open = |setup: &Setup| setup.agent.env.is_empty() && setup.guardrail_env.is_empty();
        match &self.event {
            Event::RunStarted(started) if !is_open(&started.setup) => {
                let mut started = started.clone();
                hide_values(&mut started.setup);
                Cow::Owned(Self { at: self.at, event: Event::RunStarted(started) })
            }
            Event::EditsTaken(taken) if !is_open(&taken.setup) => {
                let mut taken = taken.clone();
                hide_values(&mut taken.setup);
                Cow::Owned(Self { at: self.at, event: Event::EditsTaken(taken) })
            }
            _ => Cow::Borrowed(self),
        }
    }
}

fn hide_values(setup: &mut Setup) {
    let hide = |variables: &mut BTreeMap<String, String>| {
        for value in variables.values_mut() {
            VALUE.clone_into(value);
        }
    };
    hide(&mut setup.agent.env);
    hide(&mut setup.guardrail_env);
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        engine::{edits::EditsTaken, event::RunStarted, presets},
        setup::PromptSource,
    };

    #[test]
    fn values_of_variables_are_not_shown() {
        let setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
        let plan = presets::run("DONE", vec![]);
        let (run, version) = ("r".to_owned(), "v".to_owned());
        let started = |setup: &Setup| {
            let (run, version, plan, setup) = (run.clone(), version.clone(), plan.clone(), setup.clone());
            Event::RunStarted(Box::new(RunStarted { run, version, pid: 1, plan, setup }))
        };
        let taken = |setup: &Setup| {
            let (edits, files, plan, setup) = (Vec::new(), BTreeMap::new(), plan.clone(), setup.clone());
            Event::EditsTaken(Box::new(EditsTaken { edits, files, checks_changed: false, plan, setup }))
        };
        let at = Timestamp::UNIX_EPOCH;
        for event in [started(&setup), taken(&setup)] {
            assert!(matches!(Entry { at, event }.shown(), Cow::Borrowed(_)));
        }
        let with = |agent: &str, guardrails: &str| {
            let variables = |text: &str| {
                text.split_once('=')
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into_iter()
                    .collect()
            };
            let mut setup = setup.clone();
            (setup.agent.env, setup.guardrail_env) = (variables(agent), variables(guardrails));
            setup
        };
        let setups =
            [with("TOKEN=hunter2", "KEY=hunter3"), with("TOKEN=hunter2", ""), with("", "TOKEN=hunter2")];
        for event in setups.iter().flat_map(|setup| [started(setup), taken(setup)]) {
            let entry = Entry { at, event };
            let shown = String::from_utf8(entry.shown().to_line()).expect("text");
            assert!(!shown.contains("hunter") && shown.contains("TOKEN"), "{shown}");
            let recorded = String::from_utf8(entry.to_line()).expect("text");
            assert!(recorded.contains("hunter2"));
            assert_eq!(shown.contains("KEY"), recorded.contains("KEY"));
        }
    }
}
