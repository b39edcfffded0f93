//! Files that are packed into archives and unpacked from them.

use super::Access;
use crate::{command::Command, text};

/// Options of archivers that take the next argument.
const VALUED: [&str; 8] = ["-f", "-C", "-d", "-x", "--file", "--directory", "--exclude", "-T"];

/// What archives are made of, and where they are unpacked.
pub(super) fn accessed_by_archiving(command: &Command) -> Vec<(String, Access)> {
    let operands = command.operands(&VALUED);
    match command.program.as_str() {
        "cpio" if command.has("p", &["pass-through"]) => unpacked_into(operands.last()),
        "cpio" => unpacked_into(&command.values("D", &["directory"])),
        // A copy from folders to a folder.
        "pax" if command.has("r", &[]) && command.has("w", &[]) => unpacked_into(operands.last()),
        "pax" | "jar" | "ar" => read(Some(&operands)),
        "unzip" => unpacked_into(&command.values("do", &[])),
        "zip" => read(operands.get(1..)),
        "7z" | "7za" | "7zr" | "7zz" | "rar" if is_packing_verb(&operands) => read(operands.get(2..)),
        "7z" | "7za" | "7zr" | "7zz" => unpacked_into(&command.values("o", &[])),
        "rar" | "unrar" => unpacked_into(operands.last().filter(|folder| folder.ends_with('/'))),
        _ => accessed_by_tar(command, &operands),
    }
}

fn accessed_by_tar(command: &Command, operands: &[&str]) -> Vec<(String, Access)> {
    let folders = command.values("C", &["directory"]);
    let mut files = unpacked_into(&folders);
    let folder = folders.first().map(|folder| format!("{folder}/")).unwrap_or_default();
    let mode = mode_of_tar(command);
    // Without a dash the letters are the first operand, and the archive the second if they have an `f`.
    let is_bare = command.args.first().is_some_and(|arg| !arg.starts_with('-'));
    if mode.contains('c') || command.has("cru", &["create", "append", "update"]) {
        let skip = if is_bare {
            1 + usize::from(mode.contains('f'))
        } else {
            usize::from(mode.len() > 1 && mode.contains('f'))
        };
        let packed = operands.get(skip..).unwrap_or_default().iter();
        files = packed.map(|path| (placed(&folder, path), Access::Read)).collect();
    }
    if mode.contains('x') || command.has("x", &["extract", "get"]) {
        // The members that are named are written there.
        let members = operands.iter().skip(1 + usize::from(is_bare && mode.contains('f')));
        let members = members.filter(|member| !member.starts_with('/') && !prints_members(command));
        files.extend(members.map(|member| (format!("{folder}{member}"), Access::Write)));
    }
    files
}

/// The letters that say what `tar` does: its first argument, or the first cluster of options.
fn mode_of_tar(command: &Command) -> &str {
    let mut args = command.args.iter().map(String::as_str);
    let bare = args.clone().next().filter(|first| !first.starts_with('-'));
    let cluster = args.find_map(|arg| arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')));
    bare.or(cluster).unwrap_or_default()
}

fn placed(folder: &str, path: &str) -> String {
    let is_whole = path.starts_with(['/', '~']) || text::starts_unknown(path);
    if is_whole { path.to_owned() } else { format!("{folder}{path}") }
}

/// `7z a`, `rar m`.
fn is_packing_verb(operands: &[&str]) -> bool {
    matches!(operands.first(), Some(&("a" | "u" | "m" | "mf" | "f")))
}

fn read(paths: Option<&[&str]>) -> Vec<(String, Access)> {
    let paths = paths.unwrap_or_default().iter();
    paths.map(|path| ((*path).to_owned(), Access::Read)).collect()
}

/// A folder gets files, and those in it may be replaced.
fn unpacked_into<'a>(folders: impl IntoIterator<Item = &'a &'a str>) -> Vec<(String, Access)> {
    let both =
        |folder: &&str| [((*folder).to_owned(), Access::Append), (format!("{folder}/*"), Access::Write)];
    folders.into_iter().flat_map(both).collect()
}

/// Whether what is in an archive goes to standard output.
fn prints_members(command: &Command) -> bool {
    match command.program.as_str() {
        "unzip" => command.has("pc", &[]),
        "7z" | "7za" | "7zr" | "7zz" => command.has_word(&["-so"]),
        "cpio" => command.has("", &["to-stdout"]),
        _ => command.has("O", &["to-stdout"]) || mode_of_tar(command).contains('O'),
    }
}

/// Whether an archive is unpacked into the folder in which the command runs.
pub(super) fn unpacks_here(command: &Command) -> bool {
    let first = command.args.first().map_or("", String::as_str);
    let bare = if first.starts_with('-') { "" } else { first };
    let unpacks = match command.program.as_str() {
        "tar" | "bsdtar" => {
            (mode_of_tar(command).contains('x') || command.has("x", &["extract", "get"]))
                && !command.has("C", &["directory", "cd"])
        }
        "cpio" => (command.has("i", &["extract"])) && !command.has("tD", &["list", "directory"]),
        "pax" => command.has("r", &[]) && !command.has("w", &[]),
        "unzip" => !command.has("ltdpvzZ", &[]) && !command.args.is_empty(),
        "7z" | "7za" | "7zr" | "7zz" => {
            matches!(bare, "x" | "e") && !command.args.iter().any(|arg| arg.starts_with("-o"))
        }
        "rar" | "unrar" => {
            matches!(bare, "x" | "e") && !command.args.last().is_some_and(|last| last.ends_with('/'))
        }
        "jar" => bare.contains('x') || command.has("x", &["extract"]),
        "ar" => bare.contains('x') || first.starts_with('-') && first.contains('x'),
        _ => false,
    };
    unpacks && !prints_members(command) && !command.asks_for_help()
}
