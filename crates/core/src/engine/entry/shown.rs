//! An entry as others may see it: the record knows the values of variables, the screen does not.

use std::{borrow::Cow, collections::BTreeMap};

use super::Entry;
use crate::{engine::event::Event, key_mask::masked_bytes, setup::Setup};

/// What stands for the value of a variable.
pub const VALUE: &str = "(not shown)";

impl Entry {
    /// The entry as it is recorded, with its line: without keys that an agent or a program printed. What the settings say
    /// stays, or the run could not be continued; values of variables stay out where they are kept elsewhere.
    pub fn masked(self) -> (Self, Vec<u8>) {
        let line = self.to_line();
        if matches!(self.event, Event::RunStarted(_) | Event::EditsTaken(_)) {
            return (self, line);
        }
        let masked = match masked_bytes(&line) {
            Cow::Borrowed(_) => None,
            Cow::Owned(masked) => Some(masked),
        };
        // What is remembered is what the record says.
        match masked.and_then(|masked| Some((Self::of_any_line(&masked)?, masked))) {
            Some(masked) => masked,
            None => (self, line),
        }
    }

    /// The entry without the values of the variables that the settings give to agents and guardrails: they are often keys.
    pub fn shown(&self) -> Cow<'_, Self> {
        let is_open = |setup: &Setup| {
            let mut agents = setup.agents.values().chain([&setup.agent]);
            agents.all(|agent| agent.env.is_empty()) && setup.guardrail_env.is_empty()
        };
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
    for agent in setup.agents.values_mut().chain([&mut setup.agent]) {
        hide(&mut agent.env);
    }
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
    fn keys_are_not_recorded() {
        let at = Timestamp::UNIX_EPOCH;
        let warned = |text: &str| Entry { at, event: Event::warned(text.to_owned()) };
        let key = format!("ghp_{}", "a1".repeat(18));
        let (entry, line) = warned(&format!("say \"{key}\"\n")).masked();
        assert_eq!(entry, warned("say \"ghp_***\"\n"));
        assert_eq!(line, entry.to_line());
        let (entry, line) = warned("nothing").masked();
        assert_eq!((&entry, &line), (&warned("nothing"), &entry.to_line()));
        // What a person set up is needed again.
        let mut setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
        setup.agent.env.insert("TOKEN".to_owned(), key.clone());
        let plan = presets::run("DONE", vec![]);
        let (run, version) = ("r".to_owned(), "v".to_owned());
        let event = Event::RunStarted(Box::new(RunStarted { run, version, pid: 1, plan, setup }));
        let (entry, line) = Entry { at, event }.masked();
        assert!(String::from_utf8(line).expect("text").contains(&key));
        assert!(!String::from_utf8(entry.shown().to_line()).expect("text").contains(&key));
    }

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
