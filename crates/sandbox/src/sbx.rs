//! Docker's small virtual machines, by the `sbx` program. It is young, so its command lines are settings.

use std::{collections::BTreeMap, ffi::OsString, io, path::Path};

use ralph_core::containment::hosts::Host;
use ralph_sys::{
    calls::{refusal, succeeded, unattended},
    process::{Spec, Supervisor},
};

/// The usual command lines, by what they do. A word in braces stands for something; `{args}` for several words.
const COMMANDS: [(&str, &str); 6] = [
    ("policy", "sbx policy init deny-all"),
    ("create", "sbx create -q --name {name} {agent} {dir}"),
    ("allow", "sbx policy allow network --sandbox {name} {host}"),
    ("run", "sbx run --name {name} -- {args}"),
    ("exec", "sbx exec {name} sh -c 'cd \"$0\" && exec \"$@\"' {dir} {args}"),
    ("stop", "sbx stop {name}"),
];
/// Most of what it says.
const MAX_OUTPUT_LEN: usize = 64 * 1024;

/// The machine of a run.
pub(super) struct Machine<'a> {
    pub(super) run: &'a str,
    pub(super) project: &'a Path,
    /// The user's own command lines, by what they do.
    pub(super) commands: &'a BTreeMap<String, String>,
}

impl Machine<'_> {
    /// Closes the network of all machines, makes this one, and opens its network for the list of hosts.
    pub(super) fn create(&self, agent: &str, hosts: &[Host], supervisor: &mut Supervisor) -> io::Result<()> {
        match self.call(self.line("policy", &[], &[])?, supervisor) {
            // Whatever rules there are, they are the user's own.
            Err(error) if error.to_string().to_lowercase().contains("already") => {}
            other => other?,
        }
        let mut lines = vec![self.line("create", &[("agent", agent)], &[])?];
        for host in hosts {
            lines.push(self.line("allow", &[("host", &String::from(host.clone()))], &[])?);
        }
        for words in lines {
            self.call(words, supervisor)?;
        }
        Ok(())
    }

    /// A process in it. The agent is the machine's own.
    pub(super) fn wrap(&self, agent_program: &Path, spec: Spec) -> Spec {
        let is_agent = agent_program == Path::new(&spec.program);
        let (what, mut args) =
            if is_agent { ("run", Vec::new()) } else { ("exec", vec![spec.program.clone()]) };
        args.extend(spec.args.iter().cloned());
        // Checked when the machine was made.
        let Ok(mut words) = self.line(what, &[], &args) else { return spec };
        let program = words.remove(0);
        Spec { program, args: words, ..spec }
    }

    /// Ends it.
    pub(super) fn stop(&self, supervisor: &mut Supervisor) {
        // A machine that is gone already is as good.
        let _ = self.line("stop", &[], &[]).and_then(|words| self.call(words, supervisor));
    }

    fn call(&self, mut words: Vec<OsString>, supervisor: &mut Supervisor) -> io::Result<()> {
        let program = words.remove(0);
        let captured = supervisor.capture(unattended(program, self.project, words), MAX_OUTPUT_LEN)?;
        if succeeded(&captured) { Ok(()) } else { Err(io::Error::other(refusal(&captured))) }
    }

    fn line(&self, what: &str, values: &[(&str, &str)], args: &[OsString]) -> io::Result<Vec<OsString>> {
        let (name, dir) = (format!("ralph-{}", self.run), self.project.display().to_string());
        let known = COMMANDS.iter().find(|(known, _)| *known == what).map_or("", |(_, usual)| usual);
        let template = self.commands.get(what).map_or(known, String::as_str);
        let mut all: BTreeMap<&str, &str> = values.iter().copied().collect();
        all.extend([("name", name.as_str()), ("dir", dir.as_str())]);
        fill(template, &all, args)
            .ok_or_else(|| io::Error::other(format!("sandbox.sbx.{what}: `{template}` is not a command")))
    }
}

/// The words of a command line with everything filled in; nothing if it has none.
fn fill(template: &str, values: &BTreeMap<&str, &str>, args: &[OsString]) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    for word in shell_words::split(template).ok()? {
        if word == "{args}" {
            words.extend(args.iter().cloned());
            continue;
        }
        let filled =
            values.iter().fold(word, |word, (name, value)| word.replace(&format!("{{{name}}}"), value));
        words.push(filled.into());
    }
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        let values = BTreeMap::from([("name", "n"), ("dir", "/a b")]);
        let args = ["-c".into(), "echo $x".into()];
        let usual = |name: &str| COMMANDS.iter().find(|(known, _)| *known == name).expect("one").1;
        let words = |template| fill(template, &values, &args).map(|words| words.join("|".as_ref()));
        assert_eq!(words(usual("run")), Some("sbx|run|--name|n|--|-c|echo $x".into()));
        let expected = "sbx|exec|n|sh|-c|cd \"$0\" && exec \"$@\"|/a b|-c|echo $x";
        assert_eq!(words(usual("exec")), Some(expected.into()));
        assert_eq!(words("'"), None);
        assert_eq!(words(""), None);
    }
}
