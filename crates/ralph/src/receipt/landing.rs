//! The receipt of a commit that a fleet lands: made before the target moves, noted on the commit after that.

use std::path::Path;

use ralph_core::receipt::{
    landing::{LandingFacts, landed},
    sha256,
    statement::{GuardrailFacts, GuardrailSource, Remark, RunEnding},
};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{
    enveloped,
    facts::private_of,
    notes, read, read_file,
    repository::Commits,
    sha256_of,
    signing::{self, SigningKey},
    write_file,
};
use crate::{
    journal::run_dir::RunDir,
    judge::{Judged, Row},
    project::git::Git,
    workspace::Source,
};

/// A commit that is about to land.
pub(crate) struct Landing<'a> {
    pub(crate) project: &'a Path,
    pub(crate) source: &'a Source,
    /// The run that made the candidate.
    pub(crate) run: &'a RunDir,
    pub(crate) tip: &'a str,
    pub(crate) commit: &'a str,
    pub(crate) judged: &'a Judged,
    /// Commands that no one is told.
    pub(crate) hidden: &'a [String],
    /// What the settings give to guardrails and agents.
    pub(crate) own_values: Vec<String>,
}

/// Makes the receipt, and signs it where git has a key. Returns what a person should know.
pub(crate) fn issue(
    supervisor: &mut Supervisor,
    landing: &Landing<'_>,
    folder: &Path,
    name: &str,
) -> Result<Vec<String>> {
    let statement = read(landing.run)?.statement();
    let statement = statement.map_err(|error| Error::new(error.to_string()))?;
    let commits = Commits::of(&landing.source.top);
    let mut revision = |id: &str| -> Result<_> {
        commits
            .revision(supervisor, id)?
            .ok_or_else(|| Error::new(format!("`{id}` is not a commit any more")))
    };
    let (base, result) = (revision(landing.tip)?, revision(landing.commit)?);
    let protected = commits.protected(supervisor, &base.tree, &result.tree).ok();
    let remark = |caveat: &ralph_core::verify::caveat::Caveat| Remark {
        kind: caveat.name().to_owned(),
        text: caveat.to_string(),
    };
    let facts = LandingFacts {
        base,
        result,
        protected,
        guardrails: landing.judged.guardrails.iter().map(|row| guardrail(row, landing.hidden)).collect(),
        caveats: landing.judged.caveats.iter().map(remark).collect(),
    };
    let mut statement = landed(statement, facts);
    private_of(landing.project, landing.own_values.clone()).scrub(&mut statement);
    let (envelope, warnings) = enveloped(supervisor, &statement, landing.project, folder);
    write_file(folder, name, &envelope)?;
    Ok(warnings)
}

/// Keeps a receipt as the note of the commit that has landed.
pub(crate) fn note(supervisor: &mut Supervisor, source: &Source, commit: &str, file: &Path) -> Result<()> {
    Ok(notes::add(supervisor, &Git::at(&source.top), commit, file)?)
}

/// Signs every receipt of a folder, and replaces the notes of their commits. Returns how many, and what went wrong.
pub(crate) fn sign_all(
    supervisor: &mut Supervisor,
    project: &Path,
    source: &Source,
    folder: &Path,
) -> Result<(usize, Vec<String>)> {
    let key = signing::key(supervisor, project);
    if matches!(key, SigningKey::None) {
        return Err(signing::no_key());
    }
    let (mut signed, mut warnings) = (0, Vec::new());
    for entry in fs_err::read_dir(folder)?.flatten() {
        let mut envelope = read_file(&entry.path())?;
        envelope.signatures = vec![signing::sign(supervisor, &key, &envelope, folder)?];
        write_file(folder, &entry.file_name().to_string_lossy(), &envelope)?;
        signed += 1;
        let statement = envelope.statement().ok();
        let commit = statement.as_ref().and_then(|it| it.digest("commit", "gitCommit"));
        let noted = commit.map_or(Ok(()), |commit| note(supervisor, source, commit, &entry.path()));
        warnings.extend(noted.err().map(|error| format!("the receipt is not noted: {error}")));
    }
    Ok((signed, warnings))
}

fn guardrail(row: &Row, hidden: &[String]) -> GuardrailFacts {
    let is_hidden = hidden.contains(&row.command);
    let ending = row.in_judge.as_ref().map(|ended| RunEnding {
        passed: ended.passed,
        exit_code: ended.code,
        ms: ended.ms,
        output_sha256: sha256_of(&ended.log),
        tests: None,
    });
    GuardrailFacts {
        kind: if is_hidden { GuardrailSource::Hidden } else { GuardrailSource::Command },
        command: (!is_hidden).then(|| row.command.clone()),
        sha256: Some(sha256(row.command.as_bytes())),
        once: false,
        in_project: None,
        in_judge: ending,
        tests_before: None,
    }
}
