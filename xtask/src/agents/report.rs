//! What the suite found, as a table, and which versions were last seen without a failure.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use anyhow::{Context, Result};
use jiff::Zoned;
use serde::Deserialize;
use serde_json::{Value, json};

use super::install::Installed;

/// Every case that ran.
#[derive(Debug)]
pub(super) struct Findings(Vec<Finding>);

#[derive(Debug, Deserialize)]
struct Finding {
    agent: String,
    case: String,
    ok: bool,
    ms: u64,
}

impl Findings {
    /// Reads what the suite wrote, one finding per line.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs_err::read_to_string(path)?;
        let findings: serde_json::Result<_> = text.lines().map(serde_json::from_str).collect();
        Ok(Self(findings.context("the results of the suite")?))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn are_green(&self) -> bool {
        self.0.iter().all(|finding| finding.ok)
    }

    /// One row per case, one column per agent and version.
    pub(super) fn table(&self, agents: &[Installed]) -> String {
        let mut cases: Vec<&str> = self.0.iter().map(|finding| finding.case.as_str()).collect();
        cases.sort_unstable();
        cases.dedup();
        let mut table = format!("Run on {}.\n\n| case |", Zoned::now().strftime("%Y-%m-%d"));
        for agent in agents {
            let _ = write!(table, " {} {} |", agent.name, agent.version);
        }
        let _ = writeln!(table, "\n|---|{}", "---|".repeat(agents.len()));
        for case in cases {
            let _ = write!(table, "| {} |", case.replace('_', " "));
            for agent in agents {
                let _ = write!(table, " {} |", self.cell(&agent.name, case));
            }
            table.push('\n');
        }
        table
    }

    fn cell(&self, agent: &str, case: &str) -> String {
        let is_it = |finding: &&Finding| finding.agent == agent && finding.case == case;
        match self.0.iter().find(is_it) {
            Some(Finding { ok: true, ms, .. }) => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
            Some(Finding { ok: false, .. }) => "**failed**".to_owned(),
            None => "–".to_owned(),
        }
    }

    /// Notes the versions that passed every case; `ralph doctor` reads them.
    pub(super) fn record_green(&self, path: &Path, agents: &[Installed]) -> Result<()> {
        let mut green: BTreeMap<String, Value> =
            fs_err::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        for agent in agents {
            let mut own = self.0.iter().filter(|finding| finding.agent == agent.name).peekable();
            if own.peek().is_some() && own.all(|finding| finding.ok) {
                let seen = Zoned::now().strftime("%Y-%m-%d").to_string();
                green.insert(agent.name.clone(), json!({"version": agent.version, "seen": seen}));
            }
        }
        Ok(fs_err::write(path, format!("{}\n", serde_json::to_string_pretty(&green)?))?)
    }
}

/// Puts the table between its marks in a page.
pub(super) fn write_into(page: &Path, table: &str) -> Result<()> {
    const BEGIN: &str = "<!-- table: cargo xtask agents --all -->\n";
    const END: &str = "<!-- end of table -->";
    let text = fs_err::read_to_string(page)?;
    let (before, rest) = text.split_once(BEGIN).context("the page has no mark for the table")?;
    let (_, after) = rest.split_once(END).context("the page has no mark for the end of the table")?;
    Ok(fs_err::write(page, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?)
}
