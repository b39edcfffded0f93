//! Commits and work that git cannot bring back.

use super::{Category, Check, Patterns, RULE, Rule, RuleInput};
use crate::{
    command::Command,
    paths::{Place, glob_matches},
    shell::RedirectKind,
    text,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "git-push-force",
        category: Category::Git,
        finds: "overwrites or deletes branches of a remote",
        instead: "Push without force; on your own branch `git push --force-with-lease origin BRANCH` may pass.",
        patterns: Patterns::new(&[
            "hg push -f|--force",
            "git|hub push|send-pack -f|--force|--mirror|--prune|-d|--delete",
            "git subtree push -f|--force",
            "git|hub push|send-pack ?* ~:?*|+?*",
            "git|hub push --force-with-lease ~main|master|trunk|develop|production|prod|release|stable|*:main|*:master|*:trunk|*:develop|*:production|*:prod|*:release|*:stable|*refs/heads/main|*refs/heads/master",
            "git|hub push --force-with-lease --all",
            // The branch may be any.
            "git|hub push --force-with-lease !?*",
            "git|hub push --force-with-lease ?* !?*",
            "jj git push --all|--deleted",
            "jj|sl|hg|fossil|bzr|brz|darcs|got ?* ~push ~--force*|--overwrite*|--allow-backwards",
            "sl|fossil|bzr|brz|darcs push|send ~--force*|--overwrite*|-f",
        ]),
        unless: Patterns::new(&["git|hub push -n"]),
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
        ..RULE
    },
    Rule {
        id: "git-fetch-force",
        category: Category::Git,
        finds: "overwrites branches here with those of a remote",
        instead: "Fetch without force, such as `git fetch origin`, and merge with `git merge --ff-only`.",
        patterns: Patterns::new(&[
            "git remote add --mirror=fetch",
            "git fetch|pull --refmap=*:refs/heads/*",
            "gh pr checkout|co -f|--force",
        ]),
        check: Check::Command(fetches_over_branches),
        matches: &[
            "git fetch origin '+refs/heads/*:refs/heads/*' --update-head-ok",
            "git fetch . +HEAD~3:main",
            "git fetch -f origin main:main",
            "git pull origin +main:main",
            "git remote add --mirror=fetch up https://example.com/x.git",
            "gh pr checkout 12 --force",
        ],
        passes: &[
            "git fetch origin main:main",
            "git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
            "git fetch --tags --force",
            "git fetch origin pull/12/head:pr-12",
            "git fetch -f origin main",
            "gh pr checkout 12",
        ],
        ..RULE
    },
    Rule {
        id: "git-discard",
        category: Category::Git,
        finds: "discards work that is not committed",
        instead: "Commit first, or `git stash push`; undo single files with `git restore FILE`.",
        patterns: Patterns::new(&[
            "git reset --hard|--merge|--keep",
            "git checkout -f|--force !-b|-B|--orphan|--theirs|--ours",
            "git checkout ~-f|--force -b|-B|--orphan",
            "git checkout|restore|reset --pathspec-from-file",
            "git checkout main|master|develop|production -B",
            "git switch -f|--force|--discard-changes",
            "git switch -C=main|-C=master|-C=develop|-C=production|--force-create=main|--force-create=master",
            "git clean -f|--force|-i|--interactive !-n",
            "git clean -c=clean.requireforce=false|-c=clean.requireforce=0|-c=clean.requireforce=no|-c=clean.requireforce=off !-n",
            "git stash clear|drop",
            "git checkout-index -f|--force -a|--all",
            "git read-tree --reset -u",
            "git submodule deinit -f|--force",
            // What is changed, or new, as a list for something that throws it away.
            "git diff|ls-files|status|ls-tree >*git?checkout*|*git?restore*",
            "git ls-files -o|--others >*xargs*rm*|*xargs*unlink*",
            // All that git knows; what is left after a search is a choice.
            "git ls-files !?* !-d|--deleted !>*grep*|*head*|*awk*|*sed*|*git?rm* >*xargs*rm*|*xargs*unlink*|*xargs*shred*",
            "git restore @xargs !-S|--staged",
            "git checkout ~-- @xargs",
        ]),
        check: Check::Command(git_discard),
        matches: &[
            "git switch -C main HEAD~20",
            "git reset --hard",
            "git checkout -- .",
            "cd ~/other && git checkout -- .",
            "git restore .",
            "git restore src/",
            "git ls-files -m | xargs git checkout --",
            "git ls-files --others --exclude-standard | xargs rm -rf",
            "git ls-files -z | xargs -0 rm -f",
            "git diff -- src tests | git apply -R",
            "git diff | patch -R -p1",
            "for f in $(git diff --name-only); do git checkout -- \"$f\"; done",
            "git diff --name-only | while read -r f; do git show \"HEAD:$f\" > \"$f\"; done",
            "git --config-env a.b=C reset --hard",
            "git checkout HEAD --pathspec-from-file=paths.txt",
            "git clean -fd",
            "git checkout -f x",
            "git stash drop",
            "git switch --discard-changes x",
            "git checkout .",
            "git reset --merge HEAD~1",
            "yes | git clean -i",
            "git submodule foreach --recursive 'git clean -fdx'",
            "python3 -c \"import git; git.Repo('.').git.clean('-xdf')\"",
            "python3 -c \"import git; git.Repo().git.stash('drop')\"",
            "node -e \"require('simple-git')().clean('fd')\"",
        ],
        passes: &[
            "git reset --soft HEAD~1",
            "git clean -n",
            "git checkout -b x",
            "git checkout -bfeature",
            "git restore --staged x",
            "git stash",
            "git stash list",
            "git restore src/a.rs",
            "git checkout -- src/a.rs",
            "git ls-files | grep '\\.snap$' | xargs rm",
            "git ls-files '*.snap' | xargs rm",
            "git ls-files | xargs wc -l",
            "git ls-files --deleted | xargs git rm",
            "git diff v1..v2 | git apply -R",
            "git diff src/a.rs | git apply -R",
            "git show HEAD:src/a.rs > src/a.rs",
            "git show HEAD:src/a.rs > /tmp/a.rs",
        ],
        ..RULE
    },
    Rule {
        id: "git-delete-branch",
        category: Category::Git,
        finds: "deletes branches, tags, worktrees or references whether they are merged or not",
        instead: "Delete a merged branch with `git branch -d NAME`.",
        patterns: Patterns::new(&[
            "git branch -D",
            "git branch -d|--delete -f|--force",
            "git branch ?* -M|-f|--force",
            "git tag|symbolic-ref -d|--delete",
            "git symbolic-ref ?* ?*",
            "git tag ?* -f|--force",
            "git update-ref -d|--stdin",
            "git update-ref ?*",
            "git worktree remove -f|--force",
            "git remote remove|rm|set-url",
            "git notes remove|prune",
        ]),
        spares: keeps_own_reference,
        matches: &[
            "git branch -D x",
            "git tag -d v1",
            "git update-ref -d refs/heads/x",
            "git branch --delete --force x",
            "git worktree remove --force x",
            "git remote remove origin",
            "git symbolic-ref HEAD refs/heads/none",
            "git update-ref refs/heads/main HEAD~5",
            "git update-ref refs/stash HEAD",
            "git update-ref \"refs/$x\" HEAD",
        ],
        passes: &[
            "git branch -d x",
            "git branch",
            "git tag v1",
            "git branch -m a b",
            "git symbolic-ref --short HEAD",
            "git worktree add ../x",
            "git update-ref refs/backup/main HEAD",
            "git update-ref -m 'before rebase' refs/wip/a HEAD~1",
            "git update-ref refs/backup/$(date +%s) HEAD",
        ],
        ..RULE
    },
    Rule {
        id: "git-rewrite",
        category: Category::Git,
        finds: "rewrites history, or removes what git keeps to restore lost work",
        instead: "Add commits; `git revert` undoes one.",
        patterns: Patterns::new(&[
            "p4 obliterate",
            "p4 revert ~//...",
            "svn revert --recursive",
            "svn delete|del|remove|rm ~*://*",
            "darcs obliterate|unpull|revert --all|-a",
            "pijul unrecord|reset",
            "fossil purge|shun|revert",
            "bzr|brz uncommit|revert",
            "cvs admin -o",
            "jj op|operation restore|undo",
            "cm|plastic undo|delete ~*",
            "hg revert -a|--all",
            "sl hide|purge",
            "git svn dcommit",
            "git annex drop|dropunused --force",
            "dvc gc|destroy",
            "bfg|git-filter-repo|git-filter-branch",
            "hg strip|purge|rollback",
            "hg update|up -C|--clean",
            "gh repo sync --force",
            "svn revert -R",
            "svn revert ~infinity|.",
            "svn cleanup --remove-unversioned|--remove-ignored",
            "jj abandon",
            "jj restore !?*",
            "sl goto|go|update|up -C|--clean",
            "jj op|operation abandon",
            "jj util gc",
            "git filter-branch|filter-repo|prune|fast-import !-n",
            "git reflog expire|delete",
            "git gc --prune !~--no-prune",
            "git rebase --root",
            "git replace ?* !-l|--list",
            "git repack -a|-A -d",
            "git lfs prune",
            "git lfs migrate import",
            "git config ~gc.reflogexpire*|gc.prune*",
        ]),
        // An editor that drops commits from the list.
        variables: &["GIT_SEQUENCE_EDITOR=*drop*|*/d|*/d'*|*/d\"*|*/d/*|*/d;*"],
        matches: &[
            "jj abandon 'all()'",
            "git filter-branch --all",
            "GIT_SEQUENCE_EDITOR=\"sed -i 's/pick/drop/'\" git rebase -i HEAD~5",
            "git filter-repo --path x",
            "git reflog expire --expire=now --all",
            "git gc --prune=now",
            "git rebase --root",
            "git prune",
            "bfg --delete-files x",
            "svn revert . --depth infinity",
            "git replace a b",
        ],
        passes: &[
            "jj log",
            "jj new main",
            "git gc",
            "git rebase main",
            "git revert HEAD",
            "git commit --amend",
            "git reflog",
        ],
        ..RULE
    },
    Rule {
        id: "git-hide",
        category: Category::Git,
        finds: "hides changes of files from git",
        instead: "Let git see what changed; name files that do not belong in the repository in `.gitignore`.",
        patterns: Patterns::new(&["git update-index --assume-unchanged|--skip-worktree"]),
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
        ..RULE
    },
];

/// What a folder with much work in it is called.
const FOLDERS: [&str; 10] =
    ["src", "lib", "app", "apps", "tests", "test", "crates", "packages", "docs", "internal"];

/// Whether a path is one of a list of all that is changed.
fn is_listed(path: &str) -> bool {
    let lists = ["$(git diff)", "$(git ls-files)", "$(git status)"];
    text::sources(path).any(|source| lists.contains(&source))
}

/// `git fetch origin +main:main`: what a branch had is gone, also while it is checked out.
fn fetches_over_branches(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let words = if command.is(&["git", "hub"]) { command.words() } else { Vec::new() };
    let [verb @ ("fetch" | "pull"), named @ ..] = &words[..] else {
        return None;
    };
    // To `pull`, `-u` is no such thing.
    let writes_head = command.has("", &["update-head-ok"]) || *verb == "fetch" && command.has("u", &[]);
    let is_forced = writes_head || command.has("f", &["force"]);
    let overwrites = |refspec: &&str| {
        let Some((source, target)) = refspec.split_once(':') else { return false };
        (is_forced || source.starts_with('+')) && is_branch(target)
    };
    input.found_if(named.iter().skip(1).any(overwrites) && !command.is_dry_run())
}

/// Whether a target of a fetch is a branch: `refs/heads/main`, `main`.
fn is_branch(target: &str) -> bool {
    let elsewhere = ["refs/", "remotes/", "tags/"];
    let is_elsewhere = elsewhere.iter().any(|start| target.starts_with(start));
    !target.is_empty() && (target.starts_with("refs/heads/") || !is_elsewhere)
}

/// Places of references that git or others use.
const USED_REFERENCES: [&str; 9] =
    ["heads", "tags", "remotes", "stash", "replace", "notes", "bisect", "rewritten", "worktree"];

/// Whether a reference is only written where an agent keeps its own: `refs/backup/main`.
fn keeps_own_reference(input: &RuleInput<'_>) -> bool {
    let words = input.command.words();
    let ["update-ref", name, _, ..] = words[..] else { return false };
    let place = name.strip_prefix("refs/").and_then(|rest| rest.split_once('/')).map(|(place, _)| place);
    place.is_some_and(|place| text::is_known(place) && !USED_REFERENCES.contains(&place))
        && !input.command.has("d", &["delete", "stdin"])
}

/// `git diff | git apply -R`: undoes what is not committed, unless it is one file or a difference of two commits.
fn undoes_changes(command: &Command) -> bool {
    let takes_back = ["git?apply*-R*", "git?apply*--reverse*", "patch*-R*", "patch*--reverse*"];
    if !command.is(&["git"])
        || !command
            .feeds
            .iter()
            .any(|next| takes_back.iter().any(|back| glob_matches(back, next)) && !next.contains("--check"))
    {
        return false;
    }
    let words = command.words();
    let Some(("diff", named)) = words.split_first().map(|(verb, named)| (*verb, named)) else { return false };
    // Two commits before `--` are a range as well.
    let before = command.args.iter().skip(1).take_while(|arg| *arg != "--");
    let has_two = command.has_word(&["--"]) && 1 < before.filter(|arg| !arg.starts_with('-')).count();
    let is_range = has_two || named.iter().any(|word| word.contains("..") && !word.starts_with("../"));
    let is_file =
        |word: &&str| word.rsplit('/').next().is_some_and(|name| 1 < name.len() && name[1..].contains('.'));
    !is_range
        && !matches!(named, [.., only] if is_file(only) && named.iter().filter(|word| is_file(word)).count() == 1)
}

/// Paths that mean everything, or much of it.
fn git_discard(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let is_overwritten = command.is(&["git"])
        && matches!(command.first_word(), Some("show" | "cat-file"))
        && command
            .redirects
            .iter()
            .any(|redirect| redirect.kind == RedirectKind::Write && is_listed(&redirect.path));
    if is_overwritten || undoes_changes(command) {
        return input.found_if(true);
    }
    let patterns = ["git checkout !--theirs|--ours", "git restore !-S|--staged", "git restore -W|--worktree"];
    if !input.runs(&patterns) || command.asks_for_help() {
        return None;
    }
    let is_whole = |path: &&str| {
        let place = input.place_of(&command.resolve_path(path, input.ctx));
        let is_everything = matches!(
            place,
            Place::ProjectRoot | Place::Unknown | Place::Outside | Place::Home(_) | Place::HomeRoot
        ) && (path.starts_with(['.', '/', '*', ':']) || path.contains('*'))
            && !path.starts_with("../..");
        let is_everything = is_everything || path.starts_with(['*', ':']);
        let is_folder = path.ends_with('/') || FOLDERS.contains(path);
        is_everything
            || *path == ":/"
            || *path == ":"
            || is_listed(path)
            || (is_folder && (path.ends_with('/') || command.has_word(&["--", "restore"])))
    };
    input.found_if(command.words().iter().skip(1).any(is_whole))
}
