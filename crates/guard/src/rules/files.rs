//! The file system: nothing is deleted outside the project and the folders for temporary files.

use super::{Category, Check, Rule, Scene, Tier};
use crate::{
    paths::{Place, Touch, is_disk, touches},
    text,
    uses::{FileUse, Use, search::find_is_narrow},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "delete-outside",
        category: Category::FileSystem,
        tier: Tier::Block,
        finds: "deletes, empties or moves away something outside the project and the temporary folders",
        instead: "Delete only what is below the project or a temporary folder, and name it.",
        check: Check::Scene(delete_outside),
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
        check: Check::Scene(delete_project),
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
        check: Check::Scene(delete_unknown),
        matches: &["rm -rf \"$DIR\"", "rm -rf $(cat list.txt)", "rm -rf ./$NAME"],
        passes: &["rm -rf build/$NAME", "D=dist; rm -rf \"$D\"", "for f in a b; do rm \"$f\"; done"],
    },
    Rule {
        id: "delete-git",
        category: Category::Git,
        tier: Tier::Block,
        finds: "deletes or writes git's own files",
        instead: "Change the repository with git commands only. A stale `.git/index.lock` alone may be removed.",
        check: Check::Scene(git_files),
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
        check: Check::Scene(write_home),
        matches: &["echo hi > ~/notes.txt"],
        passes: &["echo hi > notes.txt", "cat ~/notes.txt", "touch ~/.cache/x"],
    },
];

fn delete_outside(scene: &Scene<'_>) -> Option<String> {
    if is_thrown_away(scene) {
        return scene.found_if(true);
    }
    scene.file(|one| {
        one.kind.destroys()
            && !is_disk(&one.path)
            && !one.path.starts_with("/dev/tcp/")
            && !(scene.one.is_rehearsal())
            && matches!(
                scene.place(&one.path),
                Place::Root | Place::System | Place::HomeRoot | Place::Home(_) | Place::Outside
            )
    })
}

/// What is moved to `/dev/null` is gone.
fn is_thrown_away(scene: &Scene<'_>) -> bool {
    scene.one.is(&["mv"]) && scene.one.args.last().is_some_and(|target| target == "/dev/null")
}

fn delete_project(scene: &Scene<'_>) -> Option<String> {
    let is_search = scene.one.program == "find" && !find_is_narrow(scene.one);
    if is_search && scene.one.args.iter().any(|arg| ["rm", "shred", "unlink"].contains(&arg.as_str())) {
        let starts = scene.one.args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!']));
        let is_root = |start: &String| scene.place(&scene.one.path(start, scene.ctx)) == Place::ProjectRoot;
        if starts.clone().count() == 0 || starts.clone().any(is_root) {
            return scene.found_if(true);
        }
    }
    scene.file(|one| {
        one.kind.destroys()
            && one.kind != Use::Empty
            && scene.place(&one.path) == Place::ProjectRoot
            && !scene.one.is_rehearsal()
    })
}

fn delete_unknown(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| one.kind.destroys() && is_unknown(scene, one) && !scene.one.is_rehearsal())
}

/// Whether a path may be anything, or may be the project itself because a variable is empty.
fn is_unknown(scene: &Scene<'_>, one: &FileUse) -> bool {
    match scene.place(&one.path) {
        Place::Unknown => true,
        Place::Project(rest) => {
            let is_variable = |source: &str| source.starts_with('$') && !source.starts_with("$(");
            let first = rest.split('/').next().unwrap_or_default();
            one.kind == Use::DeleteTree
                && text::known_parts(first).is_empty()
                && text::sources(first).any(is_variable)
        }
        _ => false,
    }
}

fn git_files(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| {
        let Place::Project(rest) = scene.place(&one.path) else { return false };
        let open = [".git/info", ".git/COMMIT_EDITMSG", ".git/MERGE_MSG", ".git/rebase-merge"];
        let is_lock = rest.starts_with(".git/") && rest.rsplit('.').next() == Some("lock");
        let is_own = touches(&rest, ".git") == Touch::Inside;
        let is_open = is_lock || open.iter().any(|open| touches(&rest, open) == Touch::Inside);
        one.kind.changes() && is_own && !is_open && scene.one.program != "git"
    })
}

fn write_home(scene: &Scene<'_>) -> Option<String> {
    scene.file(|one| {
        let Place::Home(rest) = scene.place(&one.path) else { return false };
        matches!(one.kind, Use::Write | Use::Append) && !rest.starts_with(".cache")
    })
}
