//! Commands inside that see other folders than the agent does: those of a judge.

use std::io;

use ralph_core::containment::{
    level::Level,
    policy::{self, Policy, ShownFolder},
};
use ralph_sys::process::Spec;

use super::{
    Sandbox, own_file, present,
    wrapped::{wrapped, written_folders},
};

impl Sandbox {
    /// Makes a process one that runs inside, and sees these folders at the path of others.
    pub fn wrap_viewing(&mut self, spec: Spec, mut views: Vec<ShownFolder>) -> io::Result<Spec> {
        let mut places = self.places.clone();
        let mut env = self.policy.env.clone();
        if let Some(tools) = &self.tools {
            let (variables, view) = tools.for_judge()?;
            env.extend(variables);
            views.push(view);
        }
        places.own.extend(written_folders(&spec));
        // Where nothing can be put elsewhere, it is seen where it is.
        places
            .own
            .extend(views.iter().filter(|_| self.level() == Level::Landlock).map(|view| view.at.clone()));
        let layers = policy::layers_beside(&places);
        let mut policy = Policy { layers: present(layers), views, env, ..self.policy.clone() };
        // Its own caches are in the view.
        policy.env.retain(|name, _| spec.env.iter().all(|(set, _)| set != name.as_str()));
        let spec = self.without_variables(spec);
        match self.level() {
            Level::Embedded | Level::Bwrap | Level::Landlock => {
                own_file::write(&self.rules, &serde_json::to_vec(&policy)?)?;
                wrapped(self.level(), &self.rules, Some(&self.log), spec)
            }
            Level::Docker | Level::Sbx | Level::Seatbelt | Level::None => {
                Err(io::Error::other(format!("the sandbox `{}` shows no other folder", self.level().name())))
            }
        }
    }
}
