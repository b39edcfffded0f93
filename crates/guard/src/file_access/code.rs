//! Files that one-liners in other languages touch.

use super::{Access, FileAccess};
use crate::{
    command::Command,
    context::Context,
    script::{self, FunctionCall},
};

/// Functions of other languages by what they do to files.
const ACCESS_BY_FUNCTION: &[(&str, Access)] = &[
    ("rmtree", Access::DeleteTree),
    ("rm_rf", Access::DeleteTree),
    ("rm_r", Access::DeleteTree),
    ("rmSync", Access::DeleteTree),
    ("rm", Access::DeleteTree),
    ("rmdir", Access::DeleteTree),
    ("rmdirSync", Access::DeleteTree),
    ("removeSync", Access::DeleteTree),
    ("remove_tree", Access::DeleteTree),
    ("remove_dir_all", Access::DeleteTree),
    ("remove_entry_secure", Access::DeleteTree),
    ("delete_tree", Access::DeleteTree),
    ("deleteDir", Access::DeleteTree),
    ("rimraf", Access::DeleteTree),
    ("rimrafSync", Access::DeleteTree),
    ("deleteRecursively", Access::DeleteTree),
    ("removeItem", Access::DeleteTree),
    ("RemoveAll", Access::DeleteTree),
    ("emptyDirSync", Access::DeleteTree),
    ("emptyDir", Access::DeleteTree),
    ("delete_directory", Access::DeleteTree),
    ("delete_file", Access::Delete),
    ("deleteIfExists", Access::Delete),
    ("Remove", Access::Delete),
    ("unlink", Access::Delete),
    ("unlinkSync", Access::Delete),
    ("remove", Access::Delete),
    ("removedirs", Access::DeleteTree),
    ("delete", Access::Delete),
    ("send2trash", Access::DeleteTree),
    ("trashItem", Access::DeleteTree),
    ("moveToTrash", Access::DeleteTree),
    ("recycle", Access::DeleteTree),
    ("Delete", Access::DeleteTree),
    ("DeleteFile", Access::DeleteTree),
    ("MoveToTrash", Access::DeleteTree),
    ("truncate", Access::Empty),
    ("truncateSync", Access::Empty),
    ("rename", Access::DeleteTree),
    ("renameSync", Access::DeleteTree),
    ("move", Access::DeleteTree),
    ("moveSync", Access::DeleteTree),
    ("moveItem", Access::DeleteTree),
    ("renames", Access::DeleteTree),
    ("Rename", Access::DeleteTree),
    ("Move", Access::DeleteTree),
    ("extractall", Access::Write),
    ("unpack_archive", Access::Write),
    ("extractAllTo", Access::Write),
    ("write_text", Access::Write),
    ("write_bytes", Access::Write),
    ("writeFileSync", Access::Write),
    ("writeFile", Access::Write),
    ("appendFileSync", Access::Append),
    ("appendFile", Access::Append),
    ("createWriteStream", Access::Write),
    ("writeTextFile", Access::Write),
    ("writeTextFileSync", Access::Write),
    ("WriteFile", Access::Write),
    ("WriteAllText", Access::Write),
    ("AppendAllText", Access::Append),
    ("writeLines", Access::Write),
    ("writeText", Access::Write),
    ("binwrite", Access::Write),
    ("file_put_contents", Access::Write),
    ("symlink", Access::Append),
    ("symlinkSync", Access::Append),
    ("deleteSync", Access::DeleteTree),
    ("deleteAsync", Access::DeleteTree),
    ("trash", Access::DeleteTree),
    ("mv", Access::DeleteTree),
    ("copyfile", Access::Append),
    ("copy", Access::Append),
    ("copyFileSync", Access::Append),
    ("cpSync", Access::Append),
    ("chmod", Access::Permissions),
    ("chmodSync", Access::Permissions),
    ("chown", Access::Permissions),
    ("chmod_R", Access::Permissions),
    ("chown_R", Access::Permissions),
    ("chownSync", Access::Permissions),
    ("lchown", Access::Permissions),
    ("lchownSync", Access::Permissions),
    ("lchmod", Access::Permissions),
    ("chgrp", Access::Permissions),
    ("Chmod", Access::Permissions),
    ("Chown", Access::Permissions),
    ("set_permissions", Access::Permissions),
    ("setPosixFilePermissions", Access::Permissions),
    ("open", Access::Read),
    ("openSync", Access::Read),
    ("fopen", Access::Read),
    ("read", Access::Read),
    ("readFileSync", Access::Read),
    ("readFile", Access::Read),
    ("read_text", Access::Read),
    ("read_bytes", Access::Read),
    ("file_get_contents", Access::Read),
    ("readlines", Access::Read),
    ("load_dotenv", Access::Read),
    ("dotenv_values", Access::Read),
    ("createReadStream", Access::Read),
    ("readfile", Access::Read),
    ("file", Access::Read),
    ("readAsText", Access::Read),
    ("readTextFile", Access::Read),
];

fn access_of(function: &str) -> Option<Access> {
    let function = function.trim_end_matches(['!', '?']);
    let known = ACCESS_BY_FUNCTION.iter().find(|(name, _)| *name == function).map(|(_, access)| *access);
    known.or_else(|| is_deletion(function).then_some(Access::DeleteTree))
}

/// Whether a file takes another's place, and not a part of a text another's: `os.replace(a, b)`, `Path(a).replace(b)`.
fn replaces_file(call: &FunctionCall, code: &str) -> bool {
    if call.name != "replace" {
        return false;
    }
    let receiver = call.receiver.trim_end_matches('.');
    let name =
        receiver.rsplit(|next: char| !next.is_alphanumeric() && next != '_').next().unwrap_or_default();
    let is_path = match receiver.rsplit_once("Path(") {
        Some((_, path)) => path.ends_with(')') && !path.contains('('),
        None => {
            !name.is_empty()
                && ["=Path(", " = Path(", "=pathlib.Path(", " = pathlib.Path("]
                    .iter()
                    .any(|given| code.contains(&format!("{name}{given}")))
        }
    };
    // Of a text, two arguments say what takes whose place.
    receiver.is_empty() || receiver == "os" || is_path && !call.inside.contains(',')
}

/// Functions that read the first of their paths.
const COPIES: [&str; 4] = ["copyfile", "copy", "copyFileSync", "cpSync"];

/// How many of the first arguments of a function are paths; what is written is none.
fn count_of_paths(function: &str, access: Access, command: &Command) -> usize {
    match function {
        "write_text" | "write_bytes" | "writeText" | "writeLines" => 0,
        "open" if command.is(&["perl"]) => usize::MAX,
        "symlink" | "symlinkSync" => 2,
        copy if COPIES.contains(&copy) => 2,
        _ if access.destroys() || access == Access::Permissions => usize::MAX,
        _ => 1,
    }
}

/// Whether the name of a function says that it deletes files: `remove_dir`, `deleteTree`.
fn is_deletion(function: &str) -> bool {
    let name = function.to_ascii_lowercase();
    let verbs = ["remove", "delete", "rm_", "unlink", "erase", "purge", "clean"];
    let objects = ["dir", "tree", "folder", "file", "recurs", "path", "entry", "exist"];
    let rest = verbs.iter().find_map(|verb| name.strip_prefix(verb));
    rest.is_some_and(|rest| objects.iter().any(|object| rest.contains(object)))
}

/// What deletes where a language needs no brackets for a call: `Pathname.new(x).rmtree`, `file delete x`.
const DELETES_UNCALLED: [&str; 7] =
    [".rmtree", ".unlink", ".delete", ".rmdir", ".deleteRecursively", "file delete", ".remove_dir_all"];

/// Whether a word stands in code with no letter and no bracket behind it.
fn has_uncalled(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let next = code[at + word.len()..].chars().next();
        next.is_none_or(|next| !next.is_alphanumeric() && !"_(.[=".contains(next))
    })
}

/// How languages name the folder that the project is in.
const ABOVE: [&str; 10] = [
    "cwd().parent",
    "dirname(os.getcwd(",
    "dirname(process.cwd(",
    "dirname(Dir.pwd",
    "Dir.pwd).parent",
    "Pathname.pwd.parent",
    "dirname(getcwd(",
    "Path.cwd().parents",
    "cwd(), '..'",
    "cwd(), \"..\"",
];

/// What Perl writes in front of a file that it opens, or as a text of its own.
fn is_for_writing(mode: &str) -> bool {
    mode.starts_with(['>', '+'])
}

/// Whether a pattern means the files of one kind: `*.pyc`, `**/*.orig`.
fn names_kind(pattern: &str) -> bool {
    let ending = pattern.rsplit('/').next().and_then(|name| name.strip_prefix("*."));
    ending.is_some_and(|ending| !ending.is_empty() && !ending.contains(['*', '?']))
}

/// Whether a search finds all of one name: `rglob('__pycache__')`.
fn finds_by_name(call: &str, name: &str, code: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or_default();
    let is_plain = 1 < name.len() && !name.starts_with('.') && !name.contains(['*', '?', '/', ' ']);
    is_plain
        && code.split(call).skip(1).any(|rest| {
            rest.trim_start_matches(['"', '\''])
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(['"', '\'']))
        })
}

/// What a file is opened for.
fn mode_access(mode: &str) -> Access {
    let is_mode = !mode.is_empty() && mode.len() < 4 && mode.chars().all(|next| "rwaxbt+".contains(next));
    match mode {
        _ if !is_mode => Access::Read,
        _ if mode.contains('a') => Access::Append,
        _ if mode.contains(['w', 'x', '+']) => Access::Write,
        _ => Access::Read,
    }
}

/// Files that a program of `awk` prints to.
fn printed_by_awk(code: &str) -> impl Iterator<Item = &str> {
    let targets = code.split('>').skip(1).map(str::trim_start);
    targets.filter_map(|rest| rest.strip_prefix('"')?.split('"').next())
}

/// What a call does to the files that it names.
fn access_of_call(call: &FunctionCall, code: &str) -> Option<Access> {
    let removes = call.name == "sync" && ["rimraf", "del"].iter().any(|name| call.receiver.contains(name));
    // Others write to what they have opened.
    let writes = call.name == "write"
        && ["File", "IO", "Files", "Bun"].contains(&call.receiver.trim_end_matches(['.', ':']).trim());
    // `os.remove.all(os.Path(...))`
    let removes = removes || call.name == "all" && call.receiver.ends_with("remove.");
    let access = access_of(&call.name)
        .or(removes.then_some(Access::DeleteTree))
        .or(writes.then_some(Access::Write))
        .or_else(|| replaces_file(call, code).then_some(Access::DeleteTree))?;
    Some(match (access, call.texts.last().map(String::as_str)) {
        (Access::Read, Some(_))
            if call.name == "open" && call.texts.iter().any(|text| is_for_writing(text)) =>
        {
            Access::Write
        }
        // Opened for writing and closed: nothing is in it any more.
        (Access::Read, Some("w" | "wb" | "w+")) if code.contains(").close()") => Access::Empty,
        (Access::Read, Some(mode)) => mode_access(mode),
        (access, _) => access,
    })
}

/// The files that code in another language touches: those that its calls name, and, where a call names none, all
/// that look like paths anywhere in the code.
pub(super) fn accessed_by_code(code: &str, command: &Command, ctx: &Context) -> Vec<FileAccess> {
    let mut files = Vec::new();
    let mut everything = script::string_literals(code);
    if script::uses_arguments(code) {
        everything.extend(command.args.iter().filter(|arg| *arg != code && !arg.starts_with('-')).cloned());
    }
    // Code that is too much is refused before anyone asks for its files.
    let mut calls = script::function_calls(code).unwrap_or_default();
    if command.is(&["perl", "ruby"]) {
        calls.extend(script::calls_without_brackets(code));
        calls.extend(script::calls_before_texts(code));
    } else if !command.is(&["python", "node", "php", "awk"]) {
        calls.extend(script::calls_before_texts(code));
    }
    // A function that is handed over by its name: what it is called with stands elsewhere.
    let handed = everything.iter().filter_map(|name| access_of(name)).find(|access| access.destroys());
    if let Some(access) = handed {
        let paths = everything.iter().filter(|text| text.starts_with(['/', '~']));
        files.extend(paths.map(|path| FileAccess { path: command.resolve_path(path, ctx), access }));
    }
    if command.program == "awk" {
        let written = printed_by_awk(code).filter(|path| !path.starts_with("/dev/std"));
        let access = Access::Write;
        files.extend(written.map(|path| FileAccess { path: command.resolve_path(path, ctx), access }));
    }
    if DELETES_UNCALLED.iter().any(|word| has_uncalled(code, word)) {
        let is_path = |word: &&str| word.starts_with(['/', '~']) && 1 < word.len();
        let words = code.split(|next: char| next.is_whitespace() || "\"'`(){}[],;".contains(next));
        let access = Access::DeleteTree;
        let homes = script::HOMES.iter().any(|home| code.contains(home)).then_some("~");
        let above = ABOVE.iter().any(|above| code.contains(above)).then_some("..");
        let paths = words.filter(is_path).chain(homes).chain(above);
        files.extend(paths.map(|path| FileAccess { path: command.resolve_path(path, ctx), access }));
    }
    let dir = script::chosen_dir(&calls).map(str::to_owned);
    let variables = script::Names::new(code);
    for call in calls {
        let Some(access) = access_of_call(&call, code) else { continue };
        let count = count_of_paths(&call.name, access, command);
        let mut texts = script::literals_of_receiver(&call.receiver, code, &everything);
        if 0 < count || texts.is_empty() {
            texts.splice(0..0, &call.texts);
        }
        let in_variables = script::paths_of_variables(&call, &variables, count);
        // A variable may have been given something else since; of what is only written, one text will do.
        let names_nothing = texts.is_empty() && (in_variables.is_empty() || access.destroys());
        if names_nothing {
            // `Path('.').rglob('*.pyc')` gives files of one kind, one by one.
            let finds_name = |call: &&str| everything.iter().any(|name| finds_by_name(call, name, code));
            let is_filtered = access == Access::Delete && everything.iter().any(|text| names_kind(text))
                || ["rglob(", "glob('**/", "glob(\"**/", "globSync('**/", "globSync(\"**/"]
                    .iter()
                    .any(finds_name);
            let is_path = |text: &&String| {
                text.starts_with(['/', '~', '.']) && !(is_filtered && [".", "./"].contains(&text.as_str()))
            };
            texts.extend(everything.iter().filter(is_path));
        }
        let is_home = script::HOMES.iter().any(|home| {
            // What a variable stands for may stand anywhere.
            let is_anywhere = names_nothing && access.destroys() && code.contains(home);
            call.inside.contains(home) || call.receiver.contains(home) || is_anywhere
        });
        let named =
            texts.into_iter().filter(|text| !text.is_empty() && text.len() < 256 && !text.contains(' '));
        // Perl says what a file is opened for in front of its name.
        let opened = |text: &String| text.trim_start_matches(['>', '<', '+']).to_owned();
        let mut paths: Vec<String> =
            named.chain(&in_variables).map(opened).filter(|path| !path.is_empty()).collect();
        let is_above = |above: &&str| {
            let is_anywhere = names_nothing && access.destroys() && code.contains(above);
            is_anywhere || call.inside.contains(above) || call.receiver.contains(above)
        };
        if ABOVE.iter().any(is_above) {
            paths.push("..".to_owned());
        }
        if is_home {
            let below: Vec<String> = paths
                .iter()
                .filter(|path| path.contains(['/', '.']))
                .map(|path| format!("~/{path}"))
                .collect();
            paths = if below.is_empty() { vec!["~".to_owned()] } else { below };
        }
        let source = COPIES.contains(&&*call.name).then(|| script::first_path(&call, &variables)).flatten();
        let placed = |path: &String| match &dir {
            Some(dir) if !path.starts_with(['/', '~']) => format!("{dir}/{path}"),
            _ => path.clone(),
        };
        files.extend(paths.iter().map(|path| {
            let access = if source.as_ref() == Some(path) { Access::Read } else { access };
            FileAccess { path: command.resolve_path(&placed(path), ctx), access }
        }));
    }
    files
}
