//! Files that statements for a database write.

use super::{Access, FileAccess};
use crate::{command::Command, context::Context};

/// Clients that can have a file written.
const CLIENTS: [&str; 7] =
    ["sqlite3", "duckdb", "mysql", "mariadb", "psql", "clickhouse-client", "clickhouse"];

/// What stands before the name of a file that is written.
const WRITES: [&str; 11] = [
    "into outfile",
    "into dumpfile",
    "writefile(",
    ") to ",
    ".output ",
    ".once ",
    ".save ",
    ".backup ",
    ".dump ",
    "\\o ",
    "\\out ",
];

/// The whole paths behind words that write a file.
pub(super) fn written_by_statements(command: &Command, ctx: &Context) -> Vec<FileAccess> {
    if !command.is(&CLIENTS) {
        return Vec::new();
    }
    let texts =
        command.args.iter().chain(command.stdin.text.as_ref()).filter(|text| text.contains([' ', '(']));
    let rests = texts.flat_map(|text| {
        let lower = text.to_ascii_lowercase();
        let ends = WRITES
            .iter()
            .flat_map(|word| lower.match_indices(word).map(|(at, _)| at + word.len()).collect::<Vec<_>>());
        ends.map(|end| text.get(end..).unwrap_or_default()).collect::<Vec<_>>()
    });
    let paths = rests.filter_map(|rest| {
        let rest = rest.trim_start().trim_start_matches(['\'', '"']);
        let end = rest.find(|next: char| next.is_whitespace() || "'\");".contains(next));
        let path = &rest[..end.unwrap_or(rest.len())];
        path.starts_with(['/', '~']).then_some(path)
    });
    paths.map(|path| FileAccess { path: command.resolve_path(path, ctx), access: Access::Write }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_statements_write() {
        let ctx = Context::new("/home/dev/proj", "/home/dev");
        for (program, text, expected) in [
            ("sqlite3", "select writefile('/etc/x', 1)", "/etc/x"),
            ("mysql", "select 1 INTO OUTFILE \"/srv/a.csv\"", "/srv/a.csv"),
            ("duckdb", "COPY (select 1) TO '~/x.csv'", "/home/dev/x.csv"),
            ("sqlite3", ".output /tmp/x", "/tmp/x"),
            ("sqlite3", "select 'to /etc'", ""),
            ("echo", ".output /tmp/x", ""),
        ] {
            let command =
                Command { program: program.to_owned(), args: vec![text.to_owned()], ..Command::default() };
            let found: Vec<String> =
                written_by_statements(&command, &ctx).into_iter().map(|file| file.path).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
