//! Files that one-liners in other languages touch.

use super::{FileUse, Use};
use crate::{Context, invocation::Invocation, script};

/// Functions of other languages by what they do to files.
const CODE_USES: &[(&str, Use)] = &[
    ("rmtree", Use::DeleteTree),
    ("rm_rf", Use::DeleteTree),
    ("rm_r", Use::DeleteTree),
    ("rmSync", Use::DeleteTree),
    ("rm", Use::DeleteTree),
    ("rmdir", Use::DeleteTree),
    ("rmdirSync", Use::DeleteTree),
    ("removeSync", Use::DeleteTree),
    ("remove_tree", Use::DeleteTree),
    ("remove_dir_all", Use::DeleteTree),
    ("remove_entry_secure", Use::DeleteTree),
    ("delete_tree", Use::DeleteTree),
    ("unlink", Use::Delete),
    ("unlinkSync", Use::Delete),
    ("remove", Use::Delete),
    ("removedirs", Use::DeleteTree),
    ("delete", Use::Delete),
    ("truncate", Use::Empty),
    ("truncateSync", Use::Empty),
    ("rename", Use::DeleteTree),
    ("renameSync", Use::DeleteTree),
    ("move", Use::DeleteTree),
    ("replace", Use::Append),
    ("write_text", Use::Write),
    ("write_bytes", Use::Write),
    ("writeFileSync", Use::Write),
    ("writeFile", Use::Write),
    ("appendFileSync", Use::Append),
    ("appendFile", Use::Append),
    ("createWriteStream", Use::Write),
    ("file_put_contents", Use::Write),
    ("symlink", Use::Append),
    ("symlinkSync", Use::Append),
    ("copyfile", Use::Append),
    ("copy", Use::Append),
    ("copyFileSync", Use::Append),
    ("cpSync", Use::Append),
    ("chmod", Use::Permissions),
    ("chmodSync", Use::Permissions),
    ("chown", Use::Permissions),
    ("open", Use::Read),
    ("openSync", Use::Read),
    ("fopen", Use::Read),
    ("read", Use::Read),
    ("readFileSync", Use::Read),
    ("readFile", Use::Read),
    ("read_text", Use::Read),
    ("read_bytes", Use::Read),
    ("file_get_contents", Use::Read),
    ("readlines", Use::Read),
    ("load_dotenv", Use::Read),
    ("dotenv_values", Use::Read),
    ("createReadStream", Use::Read),
    ("readfile", Use::Read),
    ("file", Use::Read),
    ("readAsText", Use::Read),
    ("readTextFile", Use::Read),
];

/// The files that code in another language touches: those that its calls name, and, where a call names none, all
/// that look like paths anywhere in the code.
pub(super) fn uses(code: &str, one: &Invocation, ctx: &Context) -> Vec<FileUse> {
    let mut uses = Vec::new();
    let everything = script::literals(code);
    let mut calls = script::calls(code);
    if one.is(&["perl", "ruby"]) {
        calls.extend(script::plain_calls(code));
    }
    for call in calls {
        let Some((_, kind)) = CODE_USES.iter().find(|(name, _)| *name == call.name) else { continue };
        let kind = match (*kind, call.texts.last().map(String::as_str)) {
            (Use::Read, Some("a" | "ab" | "a+")) => Use::Append,
            (Use::Read, Some("w" | "wb" | "w+" | "r+" | "x")) => Use::Write,
            (Use::Read, Some(mode)) if call.name == "open" && mode.starts_with('>') => Use::Write,
            (kind, _) => kind,
        };
        let mut texts: Vec<&String> = call.texts.iter().collect();
        texts.extend(script::literals_of_receiver(&call.receiver, code, &everything));
        if texts.is_empty() {
            texts.extend(everything.iter().filter(|text| text.starts_with(['/', '~', '.'])));
        }
        let is_home = ["HOME", "homedir(", "Path.home(", "Dir.home", "gethome", "\"~\"", "'~'"]
            .iter()
            .any(|home| call.inside.contains(home) || call.receiver.contains(home));
        let named =
            texts.into_iter().filter(|text| !text.is_empty() && text.len() < 256 && !text.contains(' '));
        let mut paths: Vec<String> = named.cloned().collect();
        if is_home {
            let below: Vec<String> = paths
                .iter()
                .filter(|path| path.contains(['/', '.']))
                .map(|path| format!("~/{path}"))
                .collect();
            paths = if below.is_empty() { vec!["~".to_owned()] } else { below };
        }
        uses.extend(paths.iter().map(|path| FileUse { path: one.path(path, ctx), kind }));
    }
    uses
}
