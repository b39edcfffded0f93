//! What an agent in a lane tries to do to the user's repository, and cannot.

use serde_json::json;

use super::{commit, project, repository};
use crate::{contained::works, env::Env, stories::story};

/// What a user has in a repository beside its commits.
fn belongings(env: &Env) {
    env.write(".git/hooks/post-merge", "#!/bin/sh\ntouch \"$FLEET_RECORD.hooked\"\n");
    for hook in ["post-checkout", "post-commit", "reference-transaction", "pre-commit"] {
        env.sh(&format!("cp .git/hooks/post-merge .git/hooks/{hook}")).exits(0);
    }
    env.write("check.sh", "true # stashed\n");
    env.git(&["-c", "core.hooksPath=/dev/null", "stash", "--quiet"]);
    let beside = env.root().join("beside").display().to_string();
    env.git(&["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "-b", "beside", &beside]);
    env.git(&["config", "alias.mine", "status"]);
    env.sh("chmod +x .git/hooks/*").exits(0);
}

#[test]
fn an_agent_in_a_lane_reaches_nothing_of_the_users_repository() {
    let attack = r"
        git config core.fsmonitor 'touch /tmp/never'; git config core.hooksPath hooks; git config user.name Mallory
        mkdir -p .git/hooks && printf '#!/bin/sh\ntouch hooked\n' >.git/hooks/post-merge && chmod +x .git/hooks/post-merge
        cp .git/hooks/post-merge .git/hooks/post-checkout
        git tag stolen; git branch other; echo x >stashed; git add stashed; git stash --quiet
        git worktree add --quiet ../elsewhere HEAD; git update-ref refs/heads/evil HEAD; git remote add origin /nowhere
        echo done >A.txt
    ";
    let env = project(&[(story("A"), attack)], "sh check.sh");
    let before = repository(&env);
    env.ralph(&["fleet"]).exits(6).says("protected files were changed: .git/config");
    assert_eq!(repository(&env), before);
    assert!(!env.path("A.txt").exists() && !env.path("hooked").exists());
    env.ralph(&["fleet", "discard", "A"]).exits(0);
    // The next work in the same lane finds nothing of it.
    env.write(
        "work-A",
        "git config core.hooksPath && exit 1\ntest ! -e .git/hooks && echo clean >clean.txt\n",
    );
    commit(&env);
    env.ralph(&["fleet"]).exits(0);
    assert_eq!(env.read("clean.txt"), "clean\n");
    assert_eq!(repository(&env), before);
}

#[test]
fn hooks_stash_worktrees_and_configuration_of_the_user_stay_as_they_are() {
    let env = project(
        &[(story("A"), "echo done >A.txt; git stash list >>A.txt; git config --get-regexp alias >>A.txt\n")],
        "sh check.sh",
    );
    belongings(&env);
    let before = repository(&env);
    env.ralph(&["fleet"]).exits(0);
    // Nothing of them is in the lane, none of the hooks ran in it or when it landed.
    assert_eq!(env.read("A.txt"), "done\n");
    assert!(!env.root().join("record.hooked").exists());
    assert_eq!(repository(&env), before);
    assert_eq!(env.git(&["stash", "show", "-p"]).matches("+true # stashed").count(), 1);
}

#[test]
fn a_lane_in_a_sandbox_cannot_write_to_the_users_repository() {
    if !works("embedded") {
        return;
    }
    let attack = r"
        target=$FLEET_PROJECT
        echo '[alias] evil = !true' >>$target/.git/config
        printf '#!/bin/sh\ntouch hooked\n' >$target/.git/hooks/post-merge
        git -C $target stash drop
        git -C $target worktree add --quiet $target/../evil HEAD
        git -C $target worktree remove --force ../beside
        git -C $target update-ref refs/heads/evil HEAD
        echo evil >$target/A.txt; rm -rf $target/.git/refs
        rm -rf ../../../fleets ../../lanes ../claim.json
        echo done >A.txt
    ";
    let env = project(&[(story("A"), attack)], "sh check.sh").settings(json!({"sandbox": "auto"}));
    let target = env.project().display().to_string();
    let env = env.settings(json!({"agent": {"env": {"FLEET_PROJECT": target}}}));
    belongings(&env);
    let before = repository(&env);
    env.ralph(&["fleet"]).exits(0);
    assert_eq!(repository(&env), before);
    assert_eq!(env.read("A.txt"), "done\n");
    env.nothing_left();
}

/// Where it usually is: the sandbox hides that home, and what the lane's repository borrows from lies in it.
#[test]
fn a_lane_in_a_sandbox_commits_where_the_state_is_in_the_users_home() {
    for level in ["bwrap", "embedded", "landlock"] {
        if !works(level) {
            continue;
        }
        let work = "git log --format=%s -1 >A.txt && git status --short >>A.txt\n";
        let env = project(&[(story("A"), work)], "sh check.sh").settings(json!({"sandbox": level}));
        let state = env.root().join("home/.local/state/ralph").display().to_string();
        let env = env.variable("RALPH_STATE_DIR", &state);
        env.ralph(&["fleet"]).exits(0);
        assert!(env.read("A.txt").starts_with("Begin A\n"), "{level}: {}", env.read("A.txt"));
    }
}
