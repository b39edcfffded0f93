//! Keeps the variables of the user's environment outside that no process inside needs.

use std::{env, ffi::OsString};

use ralph_core::containment::environment::Passed;
use ralph_sys::process::Spec;

use super::{Sandbox, environment::USELESS};

impl Sandbox {
    /// Variables of the environment that do not reach the inside.
    pub fn withheld_variables(&self) -> Vec<String> {
        let passed = self.passed(&is_set);
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut withheld: Vec<String> =
            names.filter(|name| !passed.has(name) && !USELESS.contains(&name.as_str())).collect();
        withheld.sort();
        withheld
    }

    /// The same process without the variables that do not reach the inside. What it is given by name, it gets.
    pub(super) fn without_variables(&self, mut spec: Spec) -> Spec {
        let passed = self.passed(&is_set);
        let is_given = |name: &OsString| spec.env.iter().any(|(given, _)| given == name);
        let has = |name: &OsString| name.to_str().is_some_and(|name| passed.has(name));
        let withheld: Vec<OsString> =
            env::vars_os().map(|(name, _)| name).filter(|name| !is_given(name) && !has(name)).collect();
        spec.env.extend(withheld.into_iter().map(|name| (name, None)));
        spec
    }

    fn passed<'a>(&'a self, is_set: &'a dyn Fn(&str) -> bool) -> Passed<'a> {
        Passed { agent: self.agent, more: &self.wanted.env, is_set }
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}
