//! Archives and backups.

use super::{Category, Patterns, RULE, Rule, RuleInput};
use crate::{
    file_access::{Access, FileAccess},
    paths::Place,
    text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "archive-deletes",
        category: Category::FileSystem,
        finds: "packs files and deletes them",
        instead: "Pack them without the option that removes them.",
        patterns: Patterns::new(&[
            "tar|bsdtar --remove-files",
            "zip -m|--move",
            "7z|7za|7zr|7zz ~-sdel",
            "rar m|mf",
            "rar ~-df|-dw|-dr",
            "unison -force|-prefer",
            "lftp ~*mirror*--delete*",
        ]),
        spares: packs_parts,
        matches: &[
            "tar --remove-files -czf /tmp/a.tgz src",
            "zip -rm a.zip docs",
            "zip --move -r a.zip .",
            "7z a -sdel a.7z src",
            "rar m a.rar src",
            "rar a -df a.rar src",
            "tar --remove-files -czf a.tgz coverage src",
            "tar --remove-files -cf /tmp/docs.tar -C /home/dev Documents",
        ],
        passes: &[
            "tar --remove-files -czf coverage.tgz coverage",
            "tar --remove-files --create --file=coverage.tgz coverage",
            "zip -rm logs.zip logs",
            "7z a -sdel dist.7z dist",
            "rar m coverage.rar coverage",
            "tar czf a.tgz src",
            "tar czf tests/old.tgz --remove-files tests/old",
            "zip -r a.zip dist",
            "7z x a.7z -oout",
            "rar a a.rar src",
            "tar xf a.tar",
        ],
        ..RULE
    },
    Rule {
        id: "delete-backups",
        category: Category::FileSystem,
        finds: "deletes backups or snapshots",
        instead: "Leave backups alone; say which of them are in the way.",
        patterns: Patterns::new(&[
            "restic|rustic|attic|bup forget|prune|rm|gc",
            "borg|borgmatic delete|prune|compact|recreate",
            "timeshift --delete|--delete-all|--restore",
            "snapper undochange|rollback|delete|remove",
            "snapper ?* undochange|rollback|delete|remove",
            "duplicity remove-*|cleanup",
            "duplicacy|btrbk prune|clean",
            "kopia snapshot|repository|policy delete|remove",
            "rdiff-backup --remove-older-than",
            "tmutil delete*|thinlocalsnapshots|disable",
            "vssadmin|wbadmin delete",
        ]),
        matches: &[
            "restic forget --prune --keep-last 1",
            "borg delete /mnt/backup::monday",
            "timeshift --delete-all",
            "snapper -c home delete 1-20",
        ],
        passes: &["restic snapshots", "borg list /mnt/backup", "snapper list", "restic forget --dry-run"],
        ..RULE
    },
];

/// Folders that tools of the project make anew.
const MADE: &[&str] = &[
    "coverage",
    "htmlcov",
    ".nyc_output",
    "dist",
    "build",
    "out",
    "target",
    "node_modules",
    "logs",
    "log",
    "tmp",
    "temp",
    "reports",
    "report",
    "test-results",
    "test-reports",
    "playwright-report",
    "artifacts",
    "__pycache__",
    ".next",
    ".nuxt",
    ".cache",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".turbo",
];

/// Endings of files that tools of the project make anew.
const MADE_ENDINGS: [&str; 6] = [".log", ".tmp", ".pyc", ".o", ".lcov", ".trace"];

/// Whether only what is made anew is packed, or what lies in folders of the project: an agent may delete both as well.
fn packs_parts(input: &RuleInput<'_>) -> bool {
    let is_part = |file: &FileAccess| match input.place_of(&file.path) {
        Place::Project(rest) => {
            let first = rest.split('/').next().unwrap_or_default();
            let is_made = MADE.contains(&first) || MADE_ENDINGS.iter().any(|ending| rest.ends_with(ending));
            text::is_known(&rest) && (is_made || rest.contains('/') && !rest.starts_with('.'))
        }
        _ => false,
    };
    let mut packed = input.files.iter().filter(|file| file.access == Access::Read).peekable();
    input.command.is(&["tar", "bsdtar", "zip", "7z", "7za", "7zr", "7zz", "rar"])
        && packed.peek().is_some()
        && packed.all(is_part)
}
