//! The sandbox that is a container: the command line for `docker`. The image is the user's.

use std::{ffi::OsString, path::Path};

use ralph_core::containment::policy::{Access, Layer, Policy};
use ralph_sys::process::{
    Spec,
    guardian::{MARK_VARIABLE, RUN_VARIABLE},
};

/// Variables that reach the container if they are set: whose process it is, keys, and whose commits it makes.
const PASSED: [&str; 11] = [
    RUN_VARIABLE,
    MARK_VARIABLE,
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];

/// A process in the container of a run.
pub(super) fn wrap(run: &str, image: &str, policy: &Policy, spec: Spec) -> Spec {
    let mut names: Vec<String> = PASSED.iter().map(|name| (*name).to_owned()).collect();
    let mut env = spec.env;
    env.extend(policy.env.iter().map(|(name, value)| (name.into(), value.as_ref().map(OsString::from))));
    env.push(("TMPDIR".into(), Some(policy.tmp.clone().into())));
    let set = env.iter().filter(|(_, value)| value.is_some());
    names.extend(set.map(|(name, _)| name.to_string_lossy().into_owned()));
    names.dedup();
    let user = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let container = Container {
        name: name(run),
        image,
        dir: &spec.dir,
        layers: &policy.layers,
        variables: &names,
        processes: policy.processes,
        memory: policy.limits.memory,
        user,
    };
    let mut args = container.arguments();
    // The container has its own agent, wherever the machine keeps its.
    let program = Path::new(&spec.program).file_name().map_or(spec.program.clone(), OsString::from);
    args.push(program);
    args.extend(spec.args);
    Spec { program: "docker".into(), args, env, ..spec }
}

/// What removes the container of a run, should it still be there.
pub(super) fn remove(run: &str) -> Vec<OsString> {
    ["docker", "rm", "--force", &name(run)].map(OsString::from).to_vec()
}

fn name(run: &str) -> String {
    format!("ralph-{run}")
}

/// A container to start.
struct Container<'a> {
    name: String,
    image: &'a str,
    dir: &'a Path,
    layers: &'a [Layer],
    variables: &'a [String],
    processes: u32,
    memory: Option<u64>,
    user: (u32, u32),
}

impl Container<'_> {
    /// Everything before the command. Values of variables do not stand there, where others could see them.
    fn arguments(&self) -> Vec<OsString> {
        let (user, group) = self.user;
        let mut args: Vec<OsString> = [
            "run",
            "--rm",
            "--interactive",
            "--init",
            "--name",
            &self.name,
            "--user",
            &format!("{user}:{group}"),
            "--cap-drop",
            "ALL",
            "--security-opt",
            "no-new-privileges",
            "--pids-limit",
            &self.processes.to_string(),
        ]
        .map(OsString::from)
        .to_vec();
        if let Some(memory) = self.memory {
            args.extend(["--memory".into(), memory.to_string().into()]);
        }
        for Layer { path, access } in self.layers {
            let path = path.display();
            let volume = match access {
                Access::Write => format!("{path}:{path}"),
                Access::Read => format!("{path}:{path}:ro"),
                // What the container does not have needs no hiding.
                Access::Hide if path.to_string().starts_with(&self.dir.display().to_string()) => {
                    format!("/dev/null:{path}:ro")
                }
                Access::Hide => continue,
            };
            args.extend(["--volume".into(), volume.into()]);
        }
        for name in self.variables {
            args.extend(["--env".into(), name.into()]);
        }
        args.extend(["--workdir".into(), self.dir.into(), self.image.into()]);
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_mounted_and_nothing_else() {
        let layer = |path: &str, access| Layer { path: path.into(), access };
        let container = Container {
            name: name("20260101-000000-0000"),
            image: "my/image",
            dir: Path::new("/p"),
            layers: &[
                layer("/h/.ssh", Access::Hide),
                layer("/p", Access::Write),
                layer("/p/.ralph", Access::Read),
                layer("/p/.env", Access::Hide),
            ],
            variables: &["KEY".to_owned()],
            processes: 7,
            memory: Some(8_000_000),
            user: (1, 2),
        };
        let words: Vec<String> =
            container.arguments().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(
            words.join(" "),
            "run --rm --interactive --init --name ralph-20260101-000000-0000 --user 1:2 --cap-drop ALL --security-opt \
             no-new-privileges --pids-limit 7 --memory 8000000 --volume /p:/p --volume /p/.ralph:/p/.ralph:ro --volume \
             /dev/null:/p/.env:ro --env KEY --workdir /p my/image"
        );
    }
}
