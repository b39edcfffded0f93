//! The part of the report about the receipt.

use super::{Page, escape};

impl Page<'_> {
    /// Whose word it is, what it is about, and how others check it.
    pub(super) fn receipt(&self) -> Option<String> {
        let envelope = self.receipt.as_ref()?;
        let statement = envelope.statement().ok()?;
        let signed = match envelope.signatures.first() {
            Some(signature) => format!("signed with {}", signature.keyid),
            None => format!("not signed; to sign it: ralph sign {}", self.id),
        };
        let about = match (statement.digest("commit", "gitCommit"), statement.digest("tree", "gitTree")) {
            (Some(commit), _) => format!("commit {commit}"),
            (None, Some(tree)) => format!("tree {tree}, not committed"),
            (None, None) => "the record of this run".to_owned(),
        };
        let journal = &statement.predicate.journal;
        let key = if statement.predicate.containment.key_reachable {
            "the agent could reach the key that signs"
        } else {
            "the agent could not reach the key that signs"
        };
        let rows = [
            ("about", about),
            ("signature", signed),
            ("key", key.to_owned()),
            ("record", format!("{} lines, SHA-256 {}", journal.lines, journal.sha256)),
            ("verify", "ralph verify COMMIT".to_owned()),
        ];
        let rows = rows.map(|(name, text)| format!("<tr><td>{name}</td><td>{}</td></tr>\n", escape(&text)));
        Some(format!("<table>\n{}</table>", rows.concat()))
    }
}
