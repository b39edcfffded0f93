//! The file system: nothing is deleted outside the project and the folders for temporary files.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::{
    file_access::{Access, FileAccess, search::is_narrow_search},
    paths::{Place, Relation, is_disk, relation_to},
    text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "delete-outside",
        category: Category::FileSystem,
        tier: Tier::Block,
        finds: "deletes, empties or moves away something outside the project and the temporary folders",
        instead: "Delete only what is below the project or a temporary folder, and name it.",
        check: Check::Command(delete_outside),
        matches: &[
            "rm -rf ~/Documents",
            "rm -rf /",
            "mv /etc /tmp/x",
            "cd / && rm -rf *",
            "> /etc/hosts",
            "find ~ -name x -delete",
        ],
        passes: &["rm -rf node_modules", "rm -rf /tmp/build-1", "rm -rf \"$(mktemp -d)\"", "echo 'rm -rf /'"],
    },
    Rule {
        id: "delete-project",
        category: Category::FileSystem,
        tier: Tier::Block,
        finds: "deletes the whole project or a folder around it",
        instead: "Delete the files that are in the way one by one, by name.",
        check: Check::Command(delete_project),
        matches: &[
            "rm -rf .",
            "rm -rf *",
            "rm -rf \"$PWD\"",
            "rm -rf ./* .[!.]*",
            "find . -delete",
            "find . -exec rm -rf {} +",
        ],
        passes: &["rm -rf dist", "find . -name '*.pyc' -delete", "rm -rf src/*", "find build -delete"],
    },
    Rule {
        id: "delete-unknown",
        category: Category::FileSystem,
        tier: Tier::Block,
        finds: "deletes something whose path is only known when it runs",
        instead: "Write out the path, or put the variable behind a fixed folder, such as `build/$name`.",
        check: Check::Command(delete_unknown),
        matches: &["rm -rf \"$DIR\"", "rm -rf $(cat list.txt)", "rm -rf ./$NAME"],
        passes: &["rm -rf build/$NAME", "D=dist; rm -rf \"$D\"", "for f in a b; do rm \"$f\"; done"],
    },
    Rule {
        id: "delete-git",
        category: Category::Git,
        tier: Tier::Block,
        finds: "deletes or writes git's own files",
        instead: "Change the repository with git commands only. A stale `.git/index.lock` alone may be removed.",
        check: Check::Command(delete_git),
        matches: &["rm -rf .git", "rm -f .git/refs/heads/main", "echo x > .git/HEAD", "find .git -delete"],
        passes: &[
            "rm -f .git/index.lock",
            "cat .git/HEAD",
            "echo target >> .git/info/exclude",
            "rm -f .gitignore.bak",
        ],
    },
    Rule {
        id: "write-home",
        category: Category::FileSystem,
        tier: Tier::Warn,
        finds: "writes into the user's home, outside the project",
        instead: "Write into the project or a temporary folder.",
        check: Check::Command(write_home),
        matches: &["echo hi > ~/notes.txt"],
        passes: &["echo hi > notes.txt", "cat ~/notes.txt", "touch ~/.cache/x"],
    },
];

fn delete_outside(input: &RuleInput<'_>) -> Option<String> {
    if is_thrown_away(input) {
        return input.found_if(true);
    }
    input.found_file_if(|file| {
        file.access.destroys()
            && !is_disk(&file.path)
            && !file.path.starts_with("/dev/tcp/")
            && !(input.command.is_dry_run())
            && matches!(
                input.place_of(&file.path),
                Place::Root | Place::System | Place::HomeRoot | Place::Home(_) | Place::Outside
            )
    })
}

/// What is moved to `/dev/null` is gone.
fn is_thrown_away(input: &RuleInput<'_>) -> bool {
    input.command.is(&["mv"]) && input.command.args.last().is_some_and(|target| target == "/dev/null")
}

fn delete_project(input: &RuleInput<'_>) -> Option<String> {
    let is_search = input.command.program == "find" && !is_narrow_search(input.command);
    if is_search && input.command.args.iter().any(|arg| ["rm", "shred", "unlink"].contains(&arg.as_str())) {
        let starts = input.command.args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!']));
        let is_root = |start: &String| {
            input.place_of(&input.command.resolve_path(start, input.ctx)) == Place::ProjectRoot
        };
        if starts.clone().count() == 0 || starts.clone().any(is_root) {
            return input.found_if(true);
        }
    }
    input.found_file_if(|file| {
        file.access.destroys()
            && file.access != Access::Empty
            && input.place_of(&file.path) == Place::ProjectRoot
            && !input.command.is_dry_run()
    })
}

fn delete_unknown(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        file.access.destroys() && is_unknown(input, file) && !input.command.is_dry_run()
    })
}

/// Whether a path may be anything, or may be the project itself because a variable is empty.
fn is_unknown(input: &RuleInput<'_>, file: &FileAccess) -> bool {
    match input.place_of(&file.path) {
        Place::Unknown => true,
        Place::Project(rest) => {
            let is_variable = |source: &str| source.starts_with('$') && !source.starts_with("$(");
            let first = rest.split('/').next().unwrap_or_default();
            file.access == Access::DeleteTree
                && text::known_parts(first).is_empty()
                && text::sources(first).any(is_variable)
        }
        _ => false,
    }
}

fn delete_git(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let Place::Project(rest) = input.place_of(&file.path) else { return false };
        let open = [".git/info", ".git/COMMIT_EDITMSG", ".git/MERGE_MSG", ".git/rebase-merge"];
        let is_lock = rest.starts_with(".git/") && rest.rsplit('.').next() == Some("lock");
        let is_own = relation_to(&rest, ".git") == Relation::Inside;
        let is_open = is_lock || open.iter().any(|open| relation_to(&rest, open) == Relation::Inside);
        file.access.changes() && is_own && !is_open && input.command.program != "git"
    })
}

fn write_home(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let Place::Home(rest) = input.place_of(&file.path) else { return false };
        matches!(file.access, Access::Write | Access::Append) && !rest.starts_with(".cache")
    })
}
