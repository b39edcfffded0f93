//! What it costs to verify a receipt without running anything again.

use std::path::Path;

use anyhow::Result;

use super::{
    Effort,
    clock::{self, Sample, interleave},
    place::Place,
    table::Table,
};

/// Measures `ralph verify` of a signed receipt, against a no-op and one `ssh-keygen` that verifies a signature.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    furnish(place)?;
    let words = ["-c", "ssh-keygen -Y verify -f signers -I ann -n file -s test.sig <test >/dev/null"];
    let ([noop, keygen, verify], note) = interleave(
        effort.rounds(100),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("ssh-keygen", Box::new(|| clock::run(place.command(Path::new("sh"))?.args(words), 0))),
            (
                "ralph verify",
                Box::new(|| {
                    clock::run(place.ralph()?.args(["verify", "--allowed-signers", "../signers"]), 0)
                }),
            ),
        ],
    )?;
    let floor = noop.seconds + keygen.seconds;
    table.ratio("ralph verify, against a no-op and one ssh-keygen", floor, verify.seconds, 3.0);
    table.note(format!("verify, {note}"));
    Ok(())
}

/// A repository with a run, a key that signed its receipt, and a signature for the floor.
fn furnish(place: &Place) -> Result<()> {
    let script = "git init --quiet && git config user.name bench && git config user.email bench@localhost
        ssh-keygen -q -t ed25519 -N '' -C bench -f ../key && git config gpg.format ssh
        git config user.signingkey \"$PWD/../key\"
        printf 'ann %s\\n' \"$(cat ../key.pub)\" >../signers && cp ../signers signers
        echo first >test && git add --all && git commit --quiet -m first
        ssh-keygen -q -Y sign -n file -f ../key test
        mkdir -p .ralph && echo '{\"scm\":{\"tasks\":[\"commit\"]},\"guardrails\":[{\"command\":\"true\"}]}' >.ralph/settings.json
        printf '#!/bin/sh\\ncat >/dev/null; echo x >>work; echo \"<response>DONE</response>\"\\n' >../agent.sh && chmod +x ../agent.sh";
    shell(place, script)?;
    let agent = place.current("agent.sh").display().to_string();
    clock::run(place.ralph()?.args(["run", "--agent", &agent, "-p", "x"]), 0)?;
    Ok(())
}

fn shell(place: &Place, script: &str) -> Result<Sample> {
    clock::run(place.command(Path::new("sh"))?.args(["-ec", script]), 0)
}
