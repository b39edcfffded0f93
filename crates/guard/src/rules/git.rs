//! Commits and work that git cannot bring back.

use super::{Category, Check, Rule, RuleInput, Tier};
use crate::paths::Place;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "git-push-force",
        category: Category::Git,
        tier: Tier::Block,
        finds: "overwrites or deletes branches of a remote",
        instead: "Push without force; on your own branch `git push --force-with-lease origin BRANCH` may pass.",
        check: Check::Command(git_push_force),
        matches: &[
            "git push -f",
            "git push origin +main",
            "git push --mirror x",
            "git push origin --delete x",
            "git push origin :x",
            "git push --force-with-lease origin main",
            "git push --prune origin",
        ],
        passes: &[
            "git push",
            "git push -u origin x",
            "git push --force-with-lease origin feature/x",
            "git push --dry-run -f",
        ],
    },
    Rule {
        id: "git-discard",
        category: Category::Git,
        tier: Tier::Block,
        finds: "throws away work that is not committed",
        instead: "Commit first, or `git stash push`; undo single files with `git restore FILE`.",
        check: Check::Command(git_discard),
        matches: &[
            "git reset --hard",
            "git checkout -- .",
            "git restore .",
            "git clean -fd",
            "git checkout -f x",
            "git stash drop",
            "git switch --discard-changes x",
            "git checkout .",
            "git reset --merge HEAD~1",
        ],
        passes: &[
            "git reset --soft HEAD~1",
            "git clean -n",
            "git checkout -b x",
            "git restore --staged x",
            "git stash",
            "git stash list",
            "git restore src/a.rs",
            "git checkout -- src/a.rs",
        ],
    },
    Rule {
        id: "git-delete-branch",
        category: Category::Git,
        tier: Tier::Block,
        finds: "deletes branches, tags, worktrees or references whether they are merged or not",
        instead: "Delete a merged branch with `git branch -d NAME`.",
        check: Check::Command(git_delete_branch),
        matches: &[
            "git branch -D x",
            "git tag -d v1",
            "git update-ref -d refs/heads/x",
            "git branch --delete --force x",
            "git worktree remove --force x",
            "git remote remove origin",
        ],
        passes: &[
            "git branch -d x",
            "git branch",
            "git tag v1",
            "git branch -m a b",
            "git worktree add ../x",
        ],
    },
    Rule {
        id: "git-rewrite",
        category: Category::Git,
        tier: Tier::Block,
        finds: "rewrites history, or removes what git keeps to bring things back",
        instead: "Add commits; `git revert` undoes one.",
        check: Check::Command(git_rewrite),
        matches: &[
            "git filter-branch --all",
            "git filter-repo --path x",
            "git reflog expire --expire=now --all",
            "git gc --prune=now",
            "git rebase --root",
            "git prune",
            "bfg --delete-files x",
            "git replace a b",
        ],
        passes: &["git gc", "git rebase main", "git revert HEAD", "git commit --amend", "git reflog"],
    },
    Rule {
        id: "git-hide",
        category: Category::Git,
        tier: Tier::Block,
        finds: "hides changes of files from git",
        instead: "Let git see what changed; what does not belong into the repository goes into `.gitignore`.",
        check: Check::Command(git_hide),
        matches: &[
            "git update-index --assume-unchanged src/a.py",
            "git update-index --skip-worktree a b",
            "git ls-files tests | xargs git update-index --assume-unchanged",
        ],
        passes: &[
            "git update-index --refresh",
            "git update-index --no-skip-worktree a",
            "git update-index --chmod=+x run.sh",
        ],
    },
    Rule {
        id: "git-settings",
        category: Category::Persistence,
        tier: Tier::Block,
        finds: "changes settings of git that run programs or lead elsewhere",
        instead: "Set plain values in the repository, such as `git config user.name`.",
        check: Check::Command(git_settings),
        matches: &[
            "git config --global credential.helper x",
            "git config core.hooksPath x",
            "git config --global url.https://x/.insteadOf https://y/",
            "git config core.sshCommand x",
            "git config alias.st '!sh'",
            "git config --global user.name x",
        ],
        passes: &[
            "git config user.email a@b",
            "git config --get remote.origin.url",
            "git config --list",
            "git config --local core.autocrlf input",
            "git config --global --get user.name",
        ],
    },
];

fn is_verb(input: &RuleInput<'_>, verbs: &[&str]) -> bool {
    input.command.is(&["git"])
        && input.command.words().first().is_some_and(|verb| verbs.contains(verb))
        && !input.command.asks_for_help()
}

fn git_push_force(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !is_verb(input, &["push", "send-pack"]) || command.has("n", &["dry-run"]) {
        return None;
    }
    let words = command.words();
    let refs = words.get(2..).unwrap_or_default();
    let forced = command.args.iter().any(|arg| is_force(arg)) || command.has("", &["mirror", "prune"]);
    let deletes = command.has("d", &["delete"])
        || refs.iter().any(|name| name.starts_with(':') || name.starts_with('+'));
    let leased = command.args.iter().any(|arg| arg.starts_with("--force-with-lease"));
    let main = ["main", "master", "trunk", "develop", "production", "prod", "release", "stable"];
    let is_main = refs.iter().any(|name| {
        main.contains(&name.rsplit([':', '/']).next().unwrap_or_default())
            && (!name.contains('/') || name.contains("refs/") || name.contains(':'))
    });
    let unnamed = leased && refs.is_empty();
    input.found_if(forced || deletes || (leased && (is_main || (unnamed && command.has("", &["all"])))))
}

/// `-f`, alone or in a cluster, and `--force`, but not `--force-with-lease`.
fn is_force(arg: &str) -> bool {
    let long = arg
        .strip_prefix("--")
        .is_some_and(|name| name == "force" || (3 <= name.len() && "force".starts_with(name)));
    let short = arg.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with('-') && letters.chars().all(char::is_alphabetic) && letters.contains('f')
    });
    long || short
}

fn git_discard(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !is_verb(
        input,
        &[
            "reset",
            "checkout",
            "restore",
            "clean",
            "stash",
            "switch",
            "checkout-index",
            "read-tree",
            "am",
            "merge",
            "rebase",
            "submodule",
        ],
    ) {
        return None;
    }
    let words = command.words();
    let verb = words.first().copied().unwrap_or_default();
    let paths = words.get(1..).unwrap_or_default();
    let whole = |path: &&str| {
        matches!(
            input.place_of(&command.resolve_path(path, input.ctx)),
            Place::ProjectRoot | Place::Unknown | Place::Outside
        ) && (path.starts_with(['.', '/', '*', ':']) || path.contains('*'))
            && !path.starts_with("../..")
            || *path == ":/"
            || *path == ":"
    };
    let found = match verb {
        "reset" => command.has("", &["hard", "merge", "keep"]),
        "checkout" => {
            let is_new = command.has("bB", &["orphan"]);
            let main = ["main", "master", "develop", "production"];
            if command.has("B", &[]) && paths.iter().any(|name| main.contains(name)) {
                return input.found_if(true);
            }
            if command.has("", &["theirs", "ours"]) {
                return None;
            }
            (command.has("f", &["force"]) && !is_new) || paths.iter().any(&whole)
        }
        "restore" => {
            paths.iter().any(whole) && (!command.has("S", &["staged"]) || command.has("W", &["worktree"]))
        }
        "clean" => {
            command.has("f", &["force"]) && !command.has("n", &["dry-run"])
                || command.args.iter().any(|arg| arg.contains("requireForce=false"))
        }
        "stash" => paths.first().is_some_and(|what| ["clear", "drop"].contains(what)),
        "switch" => command.has("f", &["force", "discard-changes"]),
        "checkout-index" => command.has("f", &["force"]) && command.has("a", &["all"]),
        "read-tree" => command.has("", &["reset"]) && command.has("u", &[]),
        "submodule" => paths.first() == Some(&"deinit") && command.has("f", &["force"]),
        _ => false,
    };
    let requires =
        command.values("c", &[]).iter().any(|value| value.eq_ignore_ascii_case("clean.requireForce=false"))
            && verb == "clean";
    input.found_if(found || requires)
}

fn git_delete_branch(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    if !is_verb(input, &["branch", "tag", "update-ref", "worktree", "remote", "notes", "symbolic-ref"]) {
        return None;
    }
    let words = command.words();
    let (verb, second) =
        (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    let found = match verb {
        "branch" => {
            command.has("D", &[])
                || (command.has("d", &["delete"]) && command.has("f", &["force"]))
                || (command.has("M", &[]) && words.len() > 1)
                || (command.has("f", &["force"]) && words.len() > 1)
        }
        "tag" => command.has("d", &["delete"]) || (command.has("f", &["force"]) && words.len() > 1),
        "update-ref" => command.has("d", &["stdin"]) || words.len() > 1,
        "worktree" => second == "remove" && command.has("f", &["force"]),
        "remote" => ["remove", "rm", "set-url"].contains(&second),
        "notes" => ["remove", "prune"].contains(&second),
        _ => command.has("d", &["delete"]),
    };
    input.found_if(found)
}

fn git_rewrite(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let other = command.runs(&["hg strip|purge|rollback", "gh repo sync"])
        || (command.runs(&["svn revert"]) && command.has("R", &[]));
    let cleans = command.runs(&["hg update|up"]) && command.has("C", &["clean"]);
    let is_sync = command.runs(&["gh repo sync"]) && !command.has("", &["force"]);
    let tools = command.is(&["bfg", "git-filter-repo", "git-filter-branch"]) && !command.asks_for_help()
        || (other && !is_sync)
        || cleans;
    if !is_verb(
        input,
        &[
            "filter-branch",
            "filter-repo",
            "reflog",
            "gc",
            "rebase",
            "prune",
            "replace",
            "repack",
            "fast-import",
            "init",
            "pack-refs",
            "lfs",
            "config",
        ],
    ) {
        return input.found_if(tools);
    }
    let words = command.words();
    let (verb, second) =
        (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    let found = match verb {
        "filter-branch" | "filter-repo" | "prune" | "fast-import" => !command.has("n", &["dry-run"]),
        "reflog" => ["expire", "delete"].contains(&second),
        "gc" => command.has("", &["prune"]) && !command.has_word(&["--no-prune"]),
        "rebase" => command.has("", &["root"]),
        "replace" => !command.has("l", &["list"]) && !second.is_empty(),
        "repack" => {
            command.has("ad", &[]) && command.has("", &["prune"])
                || command.args.iter().any(|arg| arg == "-ad" || arg == "-adf")
        }
        "lfs" => second == "prune" || (second == "migrate" && words.get(2) == Some(&"import")),
        "config" => words.iter().any(|word| {
            word.to_lowercase().starts_with("gc.reflogexpire") || word.to_lowercase().starts_with("gc.prune")
        }),
        _ => false,
    };
    input.found_if(found || tools)
}

fn git_hide(input: &RuleInput<'_>) -> Option<String> {
    let hides = input.command.has("", &["assume-unchanged", "skip-worktree"]);
    input.found_if(is_verb(input, &["update-index"]) && hides)
}

fn git_settings(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let has_hooks = command.is(&["git"])
        && command
            .values("c", &[])
            .iter()
            .any(|setting| setting.to_lowercase().starts_with("core.hookspath"));
    if !is_verb(input, &["config"]) {
        return input.found_if(has_hooks);
    }
    let words = command.words();
    let reads = command.has("l", &["get", "get-all", "get-regexp", "list", "get-urlmatch", "show-origin"])
        || matches!(words.get(1), Some(&("list" | "get" | "get-all" | "--get")));
    let skip =
        if matches!(words.get(1), Some(&("set" | "unset" | "edit" | "rename-section" | "remove-section"))) {
            2
        } else {
            1
        };
    let key = words.get(skip).map(|key| key.to_lowercase()).unwrap_or_default();
    let sets = words.len() > skip + 1
        || command.has("e", &["unset", "unset-all", "add", "replace-all", "edit", "remove-section"])
        || skip == 2;
    let running = [
        "credential",
        "core.hookspath",
        "core.sshcommand",
        "core.pager",
        "core.editor",
        "core.fsmonitor",
        "core.gitproxy",
        "core.askpass",
        "core.attributesfile",
        "url.",
        "http.proxy",
        "http.sslverify",
        "alias.",
        "filter.",
        "diff.external",
        "difftool.",
        "mergetool.",
        "pager.",
        "sequence.editor",
        "gpg.program",
        "include.",
        "includeif.",
        "init.templatedir",
        "protocol.",
        "uploadpack.",
        "receive.",
        "safe.directory",
        "ssh.variant",
        "sendemail.",
        "remote.origin.url",
        "remote.origin.pushurl",
    ];
    let is_alias = key.starts_with("alias.")
        && !words.get(skip + 1).is_some_and(|value| {
            value.starts_with('!')
                || value.contains("push")
                || value.contains("reset")
                || value.contains("clean")
        });
    let is_running = running.iter().any(|start| key.starts_with(start)) && !is_alias;
    let is_global = command.has_word(&["--global", "--system"]);
    input.found_if(!reads && sets && (is_running || is_global) || has_hooks)
}
