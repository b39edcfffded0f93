//! Turns findings into facts with what to type.

use ralph_agents::AGENTS;
use ralph_agents::versions::Version;

use super::{Agent, Fact, Findings, Group, Login, Place, Severity, Unfinished};

/// The oldest git that has every option ralph calls it with: `rm --pathspec-from-file` came last.
const OLDEST_GIT: &str = "2.26";

/// With less than this free, a night's record may not fit: 1 GiB.
const LITTLE_SPACE: u64 = 1 << 30;

/// Returns every fact, group by group.
pub fn judge(findings: &Findings) -> Vec<Fact> {
    let parts = [agents, settings, git, project, record, hooks, containment];
    parts.into_iter().flat_map(|part| part(findings)).collect()
}

fn hooks(findings: &Findings) -> Vec<Fact> {
    if findings.hooks.is_empty() {
        let text =
            "/ralph-loop is not installed in Claude Code or Codex; runs that ralph starts do not need it";
        return vec![fact(Group::Hooks, Severity::Note, text).fix("ralph plugin install")];
    }
    let each = findings.hooks.iter().map(|found| {
        let (agent, path, program) = (found.agent, found.path.display(), found.program.display());
        let (level, text) = match (found.works, found.is_current) {
            (false, _) => (Severity::Warning, format!("{agent}: {path} calls {program}, which is not there")),
            (true, false) => (Severity::Warning, format!("{agent}: {path} is from another version of ralph")),
            (true, true) => (Severity::Good, format!("{agent}: {path}")),
        };
        let here = fact(Group::Hooks, level, text);
        if level == Severity::Good { here } else { here.fix(found.mend) }
    });
    each.collect()
}

/// Notes only: a run asks for what it needs by itself.
fn containment(findings: &Findings) -> Vec<Fact> {
    let note = |text: String| fact(Group::Containment, Severity::Note, text);
    let each = findings.containment.iter().map(|means| match &means.obstacle {
        None => fact(Group::Containment, Severity::Good, format!("{}: works", means.name)),
        Some(obstacle) => note(format!("{}: does not work: {obstacle}", means.name)),
    });
    each.collect()
}

fn fact(group: Group, level: Severity, text: impl Into<String>) -> Fact {
    Fact { group, level, text: text.into(), mend: Vec::new() }
}

impl Fact {
    fn fix(mut self, command: impl Into<String>) -> Self {
        self.mend.push(command.into());
        self
    }
}

fn agents(findings: &Findings) -> Vec<Fact> {
    let used = findings.agent.as_ref().map(|agent| ralph_agents::adapter(&agent.command).name());
    let each = findings.agents.iter();
    let mut facts: Vec<Fact> =
        each.flat_map(|it| [agent(it), login(it, used == Some(it.name.as_str()))]).collect();
    let is_missing = |name: &&str| findings.agents.iter().all(|agent| agent.name != **name);
    let missing: Vec<&str> = AGENTS.into_iter().filter(is_missing).collect();
    if !missing.is_empty() {
        facts.push(fact(Group::Agents, Severity::Note, format!("not installed: {}", missing.join(", "))));
    }
    facts
}

fn agent(agent: &Agent) -> Fact {
    let (name, path) = (&agent.name, agent.path.display());
    let Some(version) = &agent.version else {
        let why = agent.trouble.as_deref().unwrap_or("it says no version");
        return fact(Group::Agents, Severity::Warning, format!("{name} at {path}: {why}"))
            .fix(format!("{path} --version"));
    };
    let text = format!("{name} {version} at {path}");
    match &agent.tried {
        Some(tried) if version < &tried.oldest => {
            let text = format!("{text} is older than {}, the oldest that ralph was tried with", tried.oldest);
            fact(Group::Agents, Severity::Warning, text).fix(update(name))
        }
        Some(tried) if &tried.newest < version => {
            let text = format!("{text} (the newest that passed ralph's tests is {})", tried.newest);
            fact(Group::Agents, Severity::Good, text)
        }
        Some(_) | None => fact(Group::Agents, Severity::Good, text),
    }
}

/// Whether an agent is logged in. One that the run does not use need not be.
fn login(agent: &Agent, is_used: bool) -> Fact {
    let name = &agent.name;
    let here = |level, text: String| fact(Group::Agents, level, text);
    match &agent.login {
        Login::Key { variable } => here(Severity::Good, format!("{name} is logged in with {variable}")),
        Login::File { path } => here(Severity::Good, format!("{name} is logged in with {}", path.display())),
        Login::Unknown { why } => {
            here(Severity::Note, format!("{name}: ralph cannot see whether it is logged in: {why}"))
        }
        Login::Missing => {
            let level = if is_used { Severity::Warning } else { Severity::Note };
            here(level, format!("{name} is not logged in: no key in the environment, no login on disk"))
                .fix(Login::command(name))
        }
    }
}

/// How an agent is brought up to date.
fn update(agent: &str) -> String {
    let package = match agent {
        "claude" => return "claude update".to_owned(),
        "amp" => return "amp update".to_owned(),
        "opencode" => return "opencode upgrade".to_owned(),
        "codex" => "@openai/codex",
        "gemini" => "@google/gemini-cli",
        "qwen" => "@qwen-code/qwen-code",
        "copilot" => "@github/copilot",
        "pi" => "@mariozechner/pi-coding-agent",
        other => other,
    };
    format!("npm install -g {package}@latest")
}

fn settings(findings: &Findings) -> Vec<Fact> {
    let settings = &findings.settings;
    let here = |level, text: String| fact(Group::Settings, level, text);
    let mut facts = Vec::new();
    for problem in &settings.problems {
        facts.push(here(Severity::Problem, problem.clone()).fix(edit(problem)));
    }
    for warning in &settings.warnings {
        facts.push(here(Severity::Warning, warning.clone()).fix(edit(warning)));
    }
    match &findings.agent {
        None if settings.problems.is_empty() => {
            facts.push(
                here(Severity::Problem, "no agent is named (agent.command)".to_owned()).fix("ralph init"),
            );
        }
        None => {}
        Some(agent) => facts.push(match &agent.path {
            Some(path) => {
                here(Severity::Good, format!("the agent `{}` is {}", agent.command, path.display()))
            }
            None => here(Severity::Problem, format!("the agent `{}` cannot be found", agent.command))
                .fix("ralph init"),
        }),
    }
    if let (Some(agent), Some(name)) = (&findings.agent, findings.root_needs) {
        let text = format!(
            "`{}` runs as root: without a sandbox and without {name}=1 (no other value counts) it keeps its own permission rules",
            agent.command
        );
        facts.push(
            here(Severity::Warning, text)
                .fix("ralph run --sandbox")
                .fix(format!("export {name}=1  # in a container")),
        );
    }
    if settings.files.is_empty() {
        facts.push(here(Severity::Note, "no settings file; the defaults apply".to_owned()));
    }
    for (key, setting) in &settings.values {
        if let Some(origin) = &setting.origin {
            facts.push(here(Severity::Note, format!("{key} = {}  ({origin})", setting.value)));
        }
    }
    facts
}

/// The file that `file:line: what` names, in the user's editor.
fn edit(problem: &str) -> String {
    let file = problem.split(':').next().unwrap_or_default();
    format!("$EDITOR {file}")
}

fn git(findings: &Findings) -> Vec<Fact> {
    // Without commits nothing of this stops a run.
    let wants_git = findings.commits.as_ref().is_some_and(|commits| is_git(&commits.command));
    let bad = if wants_git { Severity::Problem } else { Severity::Note };
    let here = |level, text: String| fact(Group::Git, level, text);
    let mut facts = Vec::new();
    if let Some(commits) = findings.commits.as_ref().filter(|commits| commits.path.is_none()) {
        let level = if wants_git { Severity::Problem } else { Severity::Warning };
        let text = format!(
            "the settings ask for commits by `{}`, which cannot be found: install it or name another",
            commits.command
        );
        facts.push(here(level, text).fix("$EDITOR .ralph/settings.json"));
    }
    let Some(found) = &findings.git else {
        if !wants_git {
            facts.push(here(Severity::Note, "git is not installed; nothing can be committed".to_owned()));
        }
        return facts;
    };
    facts.push(match &found.version {
        Some(version) if is_old(version) => {
            here(bad, format!("git {version} is too old to commit with; {OLDEST_GIT} is needed"))
                .fix("git --version  # after an update with your package manager")
        }
        Some(version) => here(Severity::Good, format!("git {version}")),
        None => here(Severity::Warning, "git does not say its version".to_owned()).fix("git --version"),
    });
    if !found.led_elsewhere_by.is_empty() {
        let (names, unset) = (found.led_elsewhere_by.join(", "), found.led_elsewhere_by.join(" "));
        let text = format!("the environment leads git to another repository: {names}");
        // Whatever a run does, it refuses this.
        facts.push(here(Severity::Problem, text).fix(format!("unset {unset}")));
    }
    let Some(repository) = &found.repository else {
        facts.push(match &found.refusal {
            Some(refusal) => {
                let (said, remedy) = in_short(refusal);
                here(bad, format!("git does not work here: {said}")).fix(remedy)
            }
            None => here(bad, "the project is not in a repository".to_owned()).fix("git init"),
        });
        return facts;
    };
    facts.push(here(Severity::Good, format!("the repository is {}", repository.display())));
    if let Some(Unfinished { what, ends: [end, undo] }) = &found.unfinished {
        let text = format!("{what} is in progress; a commit would become part of it");
        let fact = here(bad, text).fix(*end);
        facts.push(if end == undo { fact } else { fact.fix(format!("{undo}  # to undo it")) });
    }
    facts.push(if found.has_identity {
        here(Severity::Good, "git user.name and user.email are set".to_owned())
    } else {
        here(bad, "git does not know who you are, so it could not commit".to_owned())
            .fix("git config user.name \"Your Name\"")
            .fix("git config user.email you@example.com")
    });
    facts
}

/// The first thing that git says, and what it wants to be typed: where it names that, on a line of its own.
fn in_short(refusal: &str) -> (&str, &str) {
    let remedy = refusal.lines().find_map(|line| line.strip_prefix('\t').filter(|it| it.starts_with("git ")));
    (refusal.lines().next().unwrap_or_default(), remedy.unwrap_or("git status"))
}

fn is_git(command: &str) -> bool {
    std::path::Path::new(command).file_stem().is_some_and(|name| name == "git")
}

fn is_old(version: &Version) -> bool {
    OLDEST_GIT.parse().is_ok_and(|oldest| *version < oldest)
}

fn project(findings: &Findings) -> Vec<Fact> {
    let place = &findings.project;
    let here = |level, text: String| fact(Group::Project, level, text);
    let mut facts = vec![if place.writable {
        here(Severity::Good, format!("{} can be written to", place.path.display()))
    } else {
        here(Severity::Warning, format!("{} cannot be written to", place.path.display()))
            .fix(format!("ls -ld {}", quoted(place)))
    }];
    facts.extend(space(Group::Project, place));
    facts.push(match &findings.running {
        Some(run) => here(Severity::Note, format!("run {run} is running; another must wait for it")),
        None => here(Severity::Good, "no run is active".to_owned()),
    });
    facts
}

fn record(findings: &Findings) -> Vec<Fact> {
    let here = |level, text: String| fact(Group::Record, level, text);
    let set = "export RALPH_STATE_DIR=FOLDER";
    let Some(place) = &findings.state else {
        return vec![here(Severity::Problem, "there is no home directory for it".to_owned()).fix(set)];
    };
    let runs = if findings.runs == 1 { "1 run".to_owned() } else { format!("{} runs", findings.runs) };
    let path = place.path.display();
    let mut facts = vec![if place.writable {
        here(Severity::Good, format!("{path} can be written to"))
    } else {
        here(Severity::Problem, format!("{path} cannot be written to")).fix(set)
    }];
    facts.push(here(Severity::Good, format!("{runs}, {}", bytes(findings.state_bytes))));
    facts.extend(space(Group::Record, place));
    facts
}

fn space(group: Group, place: &Place) -> Option<Fact> {
    let free = place.free_bytes?;
    let text = format!("{} free", bytes(free));
    Some(if free < LITTLE_SPACE {
        fact(group, Severity::Warning, format!("only {text}")).fix("ralph clean --all")
    } else {
        fact(group, Severity::Good, text)
    })
}

fn quoted(place: &Place) -> String {
    shell_words::quote(&place.path.to_string_lossy()).into_owned()
}

/// A size for people: `1.4 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = UNITS.len().min((count.max(1).ilog2() / 10) as usize + 1) - 1;
    let one = 1_u64 << (10 * unit);
    if unit == 0 || 100 <= count / one {
        return format!("{} {}", count / one, UNITS[unit]);
    }
    format!("{}.{} {}", count / one, count % one * 10 / one, UNITS[unit])
}

#[cfg(test)]
mod tests;
