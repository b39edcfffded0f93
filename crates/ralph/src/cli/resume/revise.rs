//! What a person changed since the last process of a run, and the rules by which the run continues.
//!
//! What changed while no turn ran is a person's and is taken over. What a turn may have changed is not, unless a person
//! says so file by file.

use std::{
    io::{self, BufRead, Write},
    path::Path,
};

use ralph_core::{
    engine::{
        Run,
        edits::{Edit, EditsTaken, Effect},
        plan::{Gate, Plan},
    },
    setup::Setup,
};
use ralph_sys::{
    error::{Context, Result},
    files::{self, MAX_TEXT_LEN},
    hash,
};

use super::taken_settings::{SettingsEdit, command_gate, usual_time};
use crate::{
    driver::{
        Revised,
        steering::{self, Kind, Steered, steered},
    },
    journal::run_dir::RunDir,
};

/// What a resume does with what may be the agent's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Reread {
    /// A person is asked.
    Ask,
    /// It stays as it was.
    No,
}

/// Finds what a person changed, and copies it into the run's folder.
pub(in crate::cli) fn revise(run: &Run, dir: &RunDir, reread: Reread) -> Result<Revised> {
    let project = &run.started.setup.project;
    let differing: Vec<Steered> = steered(run).into_iter().filter(Steered::differs).collect();
    let mut warnings = Vec::new();
    let mut taken = Vec::new();
    for file in differing {
        let is_taken = match reread {
            Reread::Ask => asked(&file.name(project))?,
            Reread::No if run.state.is_settled() => file.changed_since(),
            Reread::No => {
                warnings.push(unknown_author(&file, run));
                false
            }
        };
        if is_taken {
            taken.push(file);
        }
    }
    let mut revision =
        Revision { run, dir, plan: run.plan.clone(), setup: run.started.setup.clone(), edits: Vec::new() };
    revision.settings(&mut taken, &mut warnings)?;
    for file in taken.iter().filter(|file| file.kind != Kind::Settings) {
        revision.story_file(file)?;
    }
    Ok(Revised { taken: revision.finish(&taken), warnings })
}

fn unknown_author(file: &Steered, run: &Run) -> String {
    let name = file.name(&run.started.setup.project);
    format!(
        "{name} differs from the copy that the run uses, and ralph was killed inside a turn: the agent may have changed it. To use it: \
         ralph resume {} --reread",
        run.started.run
    )
}

/// Whether the person who resumes wants this file to apply.
fn asked(name: &str) -> Result<bool> {
    let mut err = io::stderr().lock();
    write!(err, "{name} differs from the copy that the run uses. Use it from here on? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let answer = answer.trim();
    Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}

/// The rules on their way to what they will be.
struct Revision<'a> {
    run: &'a Run,
    dir: &'a RunDir,
    plan: Plan,
    setup: Setup,
    edits: Vec<Edit>,
}

impl Revision<'_> {
    /// Takes over settings files; those of which the run has no copy are left out.
    fn settings(&mut self, taken: &mut Vec<Steered>, warnings: &mut Vec<String>) -> Result<()> {
        if !taken.iter().any(|file| file.kind == Kind::Settings) {
            return Ok(());
        }
        let known = &self.run.started.setup.settings;
        let is_lost = |(path, used): (&std::path::PathBuf, &String)| {
            *used != hash::GONE && steering::kept(self.dir, path, used).is_err()
        };
        if known.iter().any(is_lost) {
            warnings.push(
                "the settings were changed, but the record of this run has no copy of what they were: it keeps to what \
                 it started with"
                    .to_owned(),
            );
            taken.retain(|file| file.kind != Kind::Settings);
            return Ok(());
        }
        for file in taken.iter().filter(|file| file.kind == Kind::Settings && file.now != hash::GONE) {
            self.keep(&file.path, &file.now, &files::read(&file.path, MAX_TEXT_LEN)?)?;
        }
        let names: Vec<&Steered> = taken.iter().filter(|file| file.kind == Kind::Settings).collect();
        let edit = SettingsEdit::between(&self.setup, self.dir, &names)?;
        warnings.extend(edit.warnings());
        self.edits.extend(edit.apply(&mut self.plan, &mut self.setup));
        for file in names {
            self.setup.settings.insert(file.path.clone(), file.now.clone());
        }
        Ok(())
    }

    /// Takes over what is beside the task list, or the commands in it.
    fn story_file(&mut self, file: &Steered) -> Result<()> {
        let project = self.setup.project.clone();
        let name = file.name(&project);
        let whole = |key| Edit { file: name.clone(), key, was: None, now: None, effect: Effect::Taken };
        if file.now == hash::GONE {
            // A loop cannot do without: it says so itself.
            return Ok(());
        }
        let bytes = steering::read(&project, &file.path).context(format!("cannot read {name}"))?;
        self.keep(&file.path, &file.now, &bytes)?;
        let found =
            self.setup.stories.as_ref().and_then(|stories| steering::verify_commands(&self.setup, stories));
        let Some(stories) = &mut self.setup.stories else { return Ok(()) };
        match (file.kind, found) {
            (Kind::Tasks, Some(now)) => {
                let was = std::mem::replace(&mut stories.verify_commands, now.clone());
                let gates =
                    |commands: &[String]| commands.iter().map(|it| command_gate(it)).collect::<Vec<Gate>>();
                let otherwise = usual_time(&self.plan);
                self.plan.replace_commands(&gates(&was), &gates(&now), otherwise);
                let key = Some("verifyCommands".to_owned());
                self.edits.push(Edit { was: Some(was.join(", ")), now: Some(now.join(", ")), ..whole(key) });
            }
            (Kind::Pinned, _) => {
                let relative = file.path.strip_prefix(&project).unwrap_or(&file.path).to_owned();
                stories.pinned.insert(relative, file.now.clone());
                self.edits.push(whole(None));
            }
            (Kind::Tasks, None) | (Kind::Settings, _) => {}
        }
        Ok(())
    }

    fn keep(&self, path: &Path, fingerprint: &str, bytes: &[u8]) -> Result<()> {
        steering::keep(self.dir, path, fingerprint, bytes)
            .context(format!("cannot copy {} into the record of the run", path.display()))
    }

    fn finish(self, taken: &[Steered]) -> Option<EditsTaken> {
        let files = taken.iter().map(|file| (file.path.clone(), file.now.clone())).collect();
        let Self { run, plan, setup, edits, .. } = self;
        let checks_changed = plan.gates != run.plan.gates;
        (!taken.is_empty()).then_some(EditsTaken { edits, files, checks_changed, plan, setup })
    }
}
