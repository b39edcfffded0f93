//! The file system: nothing is deleted outside the project and the folders for temporary files.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput, Tier};
use crate::{
    file_access::{Access, FileAccess, search::is_narrow_search},
    paths::{Place, Relation, is_disk, relation_to},
    text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "delete-outside",
        category: Category::FileSystem,
        finds: "deletes, empties or moves away something outside the project and the temporary folders",
        instead: "Delete only what is below the project or a temporary folder, and name it.",
        code: &[
            &["tell application", "tell app"],
            &["delete ", "empty trash", "empty the trash", "erase ", "to trash"],
        ],
        patterns: Patterns::new(&[
            "cmd ~/c|//c|/k|//k ~rd|rmdir|del|erase|format|rd?*|rmdir?*|del?*|erase?*|format?*",
            "Remove-Item|ri|erase|del !?* @pwsh|powershell",
            "robocopy ~/mir|/purge|/move|/mov",
            "trash-empty",
            "Remove-Item|ri|Clear-Content|Move-Item|Clear-RecycleBin ~[a-zA-Z]:*|~*|/*|..*",
            "xcrun simctl delete all",
            "simctl delete all",
            "rm -r|-R|--recursive @adb !~/data/local/tmp/*",
            "gio trash --empty",
        ]),
        check: Check::Command(delete_outside),
        matches: &[
            "osascript -e 'tell application \"Finder\" to delete folder \"Work\" of home'",
            "fdupes -rdN ~/photos",
            "rename 's/ /_/g' ~/Documents/*",
            "aws s3 sync s3://backup/home ~/ --delete",
            "xcrun simctl delete all",
            "Remove-Item -Path 'C:/Users/dev' -Recurse",
            "pwsh -c 'Remove-Item C:/Users -Recurse'",
            "powershell -Command 'Get-ChildItem C:/Users -Recurse | Remove-Item -Force'",
            "cmd.exe /c 'rmdir /s /q C:/Users'",
            "tee ~/notes.txt < /dev/null",
            "chown root ~/.bashrc",
            "perl -e 'unlink </home/dev/*.log>'",
            "ln -sfn /x ~/work",
            "rm -rf ~/Documents",
            "rm -rf /",
            "mv /etc /tmp/x",
            "cd / && rm -rf *",
            "> /etc/hosts",
            "find ~ -name x -delete",
            "python3 -c \"import os; os.replace('/home/dev/archive.db', '/tmp/archive.db')\"",
            "node -e \"require('fs-extra').moveSync('/home/dev/a', '/tmp/a')\"",
        ],
        passes: &[
            "rm -rf node_modules",
            "rm -rf /tmp/build-1",
            "rm -rf \"$(mktemp -d)\"",
            "echo 'rm -rf /'",
            "rm -rf ~/.cache/pip",
            "rm -rf ~/.npm/_cacache",
            "python3 -c \"import os; os.replace('out.tmp', 'out.json')\"",
            "python3 -c \"print(open('/etc/hosts').read().replace('/a', '/b'))\"",
            "python3 -c \"import shutil; shutil.copy('/etc/hosts', 'hosts')\"",
        ],
        ..RULE
    },
    Rule {
        id: "delete-project",
        category: Category::FileSystem,
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
            "find . -type d -name node_modules -prune -o -print0 | xargs -0 rm -rf",
            "find . -name .git -prune -o -exec rm -rf {} +",
            "find . ! -name keep.txt -delete",
            "find . \\( -name a -o -name b \\) -prune -o -type f -print | xargs rm -f",
            "find . -not -name '*.md' -type f -print | while read -r f; do rm \"$f\"; done",
            "ls | grep -v node_modules | xargs rm -rf",
            "rm -rf !(node_modules)",
            "fd -E node_modules . -X rm -rf",
        ],
        passes: &[
            "rm -rf dist",
            "find . -name '*.pyc' -delete",
            "rm -rf src/*",
            "find build -delete",
            "find . -name node_modules -type d -prune -exec rm -rf '{}' +",
            "find . -path ./node_modules -prune -o -name '*.pyc' -print0 | xargs -0 rm -f",
            "find . -name node_modules -prune -o -type f -print | xargs grep -l TODO",
            "find . -type f -not -path './.git/*' -print0 | xargs -0 chmod 644",
            "find dist -mindepth 1 -not -name .gitkeep -delete",
            "find . \\( -name '*.o' -o -name '*.a' \\) -delete",
            "cd dist && ls | grep -v index.html | xargs rm -rf",
            "rm -rf dist/!(index.html)",
            "fd -e pyc -X rm",
        ],
        ..RULE
    },
    Rule {
        id: "delete-unknown",
        category: Category::FileSystem,
        finds: "deletes something whose path is only known when it runs",
        instead: "Write out the path, or put the variable behind a fixed folder, such as `build/$name`.",
        check: Check::Command(delete_unknown),
        matches: &["rm -rf \"$DIR\"", "rm -rf $(cat list.txt)", "rm -rf ./$NAME"],
        passes: &["rm -rf build/$NAME", "D=dist; rm -rf \"$D\"", "for f in a b; do rm \"$f\"; done"],
        ..RULE
    },
    Rule {
        id: "write-unknown",
        category: Category::FileSystem,
        finds: "writes to a path that is only known from the output of a command",
        instead: "Write out the path, or put it behind a fixed folder, such as `build/$(date +%s).log`.",
        check: Check::Command(write_unknown),
        matches: &["echo x > $(cat target.txt)", "cp a \"$(npm root -g)/b\"", "tee \"$(./where.sh)\" < a"],
        passes: &[
            "echo x > \"$LOG\"",
            "echo hi > \"$(mktemp)\"",
            "echo x > \"$(pwd)/a.txt\"",
            "echo x > build/$(date +%s).log",
        ],
        ..RULE
    },
    Rule {
        id: "delete-git",
        category: Category::Git,
        finds: "deletes or writes git's own files",
        instead: "Change the repository with git commands only. A stale `.git/index.lock` alone may be removed.",
        check: Check::Command(delete_git),
        matches: &[
            "rm -rf .git",
            "rm -f .git/refs/heads/main",
            "echo x > .git/HEAD",
            "find .git -delete",
            "ls -A | xargs -I{} rm -rf {}",
            "git rev-parse HEAD~9 > .git/refs/heads/main",
            "git cat-file -p x | tee .git/index",
            "cp /tmp/index .git/index",
            "mv .git/packed-refs /tmp",
            "sed -i s/a/b/ .git/config",
            "cd .git/refs/heads && rm main",
            "echo x > ~/other/.git/HEAD",
            "git rev-parse x > \"$GIT_DIR/refs/heads/main\"",
            "python3 -c \"open('.git/HEAD', 'w').write('x')\"",
        ],
        passes: &[
            "rm -f .git/index.lock",
            "cat .git/HEAD",
            "echo target >> .git/info/exclude",
            "rm -f .gitignore.bak",
            "git log > log.txt",
            "git diff > .git/COMMIT_EDITMSG",
            "cp .git/config /tmp/config",
            "rm -rf vendor/x/.git",
            "tar czf /tmp/git.tgz .git",
        ],
        ..RULE
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
        ..RULE
    },
];

fn delete_outside(input: &RuleInput<'_>) -> Option<String> {
    if is_thrown_away(input) {
        return input.found_if(true);
    }
    let gives_away = input.command.is(&["chown", "chgrp"]);
    input.found_file_if(|file| {
        (file.access.destroys() || (gives_away && file.access == Access::Permissions))
            && !is_disk(&file.path)
            && !file.path.starts_with("/dev/tcp/")
            && !(input.command.is_dry_run())
            && match input.place_of(&file.path) {
                Place::Root | Place::System | Place::HomeRoot | Place::Outside => true,
                Place::Home(rest) => !is_cache(&rest),
                Place::ProjectRoot
                | Place::Project(_)
                | Place::Temporary
                | Place::Harmless
                | Place::Unknown => false,
            }
    })
}

/// Folders in a home whose contents every tool makes anew.
const CACHES: [&str; 14] = [
    ".cache/*",
    "Library/Caches/*",
    ".npm/_cacache",
    ".npm/_npx",
    ".npm/_logs",
    ".cargo/registry/cache",
    ".cargo/registry/src",
    ".cargo/git/checkouts",
    ".gradle/caches",
    ".yarn/cache",
    ".yarn/berry/cache",
    ".bun/install/cache",
    ".pnpm-store",
    "go/pkg/mod/cache",
];

/// Whether a path in a home is a cache or something in it. All caches at once are more than one asks for.
fn is_cache(path: &str) -> bool {
    CACHES.iter().any(|cache| match cache.strip_suffix("/*") {
        Some(folder) => {
            let below = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            below.and_then(|below| below.split('/').next()).is_some_and(|name| {
                !name.is_empty() && text::is_known(name) && !name.contains(['*', '?', '['])
            })
        }
        None => relation_to(path, cache) == Relation::Inside,
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

/// Variables are set by the line or known to the person who runs it; what a command prints is known to no one.
fn write_unknown(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let is_write = matches!(file.access, Access::Write | Access::Append | Access::Permissions);
        let is_printed = text::sources(&file.path).next().is_some_and(|source| source.starts_with("$("));
        is_write && is_printed && text::starts_unknown(&file.path) && !input.command.is_dry_run()
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
        let rest = match input.place_of(&file.path) {
            Place::Project(rest) => rest,
            // Another repository.
            Place::Home(rest) => match rest.find("/.git/") {
                Some(at) => rest[at + 1..].to_owned(),
                None => return false,
            },
            Place::Unknown if text::sources(&file.path).any(|source| source == "$GIT_DIR") => {
                format!(".git{}", text::known_parts(&file.path))
            }
            _ => return false,
        };
        let open = [".git/info", ".git/COMMIT_EDITMSG", ".git/MERGE_MSG", ".git/rebase-merge"];
        let is_lock = rest.starts_with(".git/") && rest.rsplit('.').next() == Some("lock");
        let is_own = relation_to(&rest, ".git") == Relation::Inside;
        let is_open = is_lock || open.iter().any(|open| relation_to(&rest, open) == Relation::Inside);
        // What git is told to do other rules judge; what the shell does with its output they do not see.
        let is_by_git = input.command.is(&["git"])
            && !input.command.redirects.iter().any(|redirect| redirect.path == file.path);
        file.access.changes() && is_own && !is_open && !is_by_git
    })
}

fn write_home(input: &RuleInput<'_>) -> Option<String> {
    input.found_file_if(|file| {
        let Place::Home(rest) = input.place_of(&file.path) else { return false };
        matches!(file.access, Access::Write | Access::Append) && !rest.starts_with(".cache")
    })
}
