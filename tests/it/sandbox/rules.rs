//! What must not be changed or seen beyond the usual places, and what a process inside finds around it.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use super::{As, Ground, can_be, is_root, refused, works};
use crate::env::{Env, Output, done, shell};

fn exec(env: &Env, command: &str) -> Output {
    env.ralph(&["sandbox", "exec", "--level", "embedded", "--", "sh", "-c", command])
}

#[test]
fn whatever_makes_git_run_programs_stays_as_it_is() {
    if !works("embedded") {
        return;
    }
    let module = |env: &Env| {
        for name in ["one", "libs/two", "one/modules/three"] {
            let folder = format!(".git/modules/{name}");
            env.write(&format!("{folder}/HEAD"), "ref: refs/heads/main");
            env.write(&format!("{folder}/config"), "");
        }
    };
    for path in ["one/config", "libs/two/config", "one/modules/three/config", "one/hooks/x", "one/commondir"]
    {
        refused("embedded", As::Me, &format!("write .git/modules/{path}"), module);
    }
    refused("embedded", As::Me, "move-away .git/modules/one/config", module);
    refused("embedded", As::Me, "move-away .git/modules/x", module);
    let configured = |env: &Env| {
        env.git(&["config", "core.hooksPath", "tools/hooks"]);
        env.git(&["config", "include.path", "../tools/shared.inc"]);
        env.git(&["config", "includeIf.onbranch:other.path", "../tools/other.inc"]);
        env.git(&["config", "extensions.worktreeConfig", "true"]);
        env.write("tools/shared.inc", "");
        env.write("tools/other.inc", "");
    };
    for path in ["tools/hooks/pre-commit", "tools/shared.inc", "tools/other.inc", ".git/config.worktree"] {
        refused("embedded", As::Me, &format!("write {path}"), configured);
    }
    refused("embedded", As::Me, "move-away tools/shared.inc", configured);
    // Beside them work goes on, and nothing is left of what stood in.
    let ground = Ground::new(As::Me);
    configured(&ground.env);
    module(&ground.env);
    ground.attack(Some("embedded"), "write tools/other").exits(0);
    ground.attack(Some("embedded"), "write .git/modules/one/index").exits(0);
    exec(&ground.env, "git commit -qm x --allow-empty && git worktree list").exits(0);
    for path in [".git/commondir", ".git/config.worktree", ".git/modules/one/commondir", "tools/hooks"] {
        assert!(!ground.env.path(path).exists(), "{path}");
    }
}

#[test]
fn other_working_trees_keep_their_rules() {
    if !works("embedded") {
        return;
    }
    let trees = |env: &Env| {
        env.git(&["worktree", "add", "-q", "../tree"]);
    };
    for name in ["commondir", "gitdir"] {
        refused("embedded", As::Me, &format!("write .git/worktrees/tree/{name}"), trees);
    }
    refused("embedded", As::Me, "move-away .git/worktrees/tree/commondir", trees);
}

#[test]
fn logins_of_all_agents_are_hidden() {
    let logins = [
        ".claude/.credentials.json",
        ".claude.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".qwen/oauth_creds.json",
        ".local/share/opencode/auth.json",
        ".local/share/amp/secrets.json",
        ".copilot/config.json",
        ".pi/agent/auth.json",
    ];
    let prepare = |env: &Env| {
        for login in logins {
            env.write(&format!("../home/{login}"), "secret");
        }
    };
    for level in ["embedded", "landlock"].into_iter().filter(|level| works(level)) {
        for login in logins.into_iter().take(if level == "landlock" { 3 } else { logins.len() }) {
            refused(level, As::Me, &format!("read ../home/{login}"), prepare);
        }
    }
}

#[test]
fn what_programs_keep_of_logins_and_keys_is_hidden() {
    let secrets = [
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".pgpass",
        ".my.cnf",
        ".mylogin.cnf",
        ".m2/settings.xml",
        ".gradle/gradle.properties",
        ".terraformrc",
        ".terraform.d/credentials.tfrc.json",
        ".config/rclone/rclone.conf",
        ".config/sops/age/keys.txt",
        ".config/containers/auth.json",
        ".docker/config.json",
        ".gem/credentials",
        ".fly/config.yml",
        ".local/share/com.vercel.cli/auth.json",
        ".huggingface/token",
        ".cache/huggingface/token",
        ".mozilla/firefox/x/key4.db",
        ".config/google-chrome/Default/Cookies",
        ".bash_history",
        ".zsh_history",
        ".python_history",
        ".psql_history",
        ".config/gh/hosts.yml",
        ".config/glab-cli/config.yml",
        ".netrc",
        ".vault-token",
        ".s3cfg",
        ".boto",
        ".config/doctl/config.yaml",
        ".config/hcloud/cli.toml",
        ".kaggle/kaggle.json",
        ".composer/auth.json",
        ".nuget/NuGet/NuGet.Config",
        ".bundle/config",
        ".config/stripe/config.toml",
        ".pulumi/credentials.json",
        ".oci/config",
        ".cargo/credentials.toml",
        ".gnupg/private-keys-v1.d/x",
    ];
    let env = Env::new();
    for name in secrets.into_iter().chain([".config/app/settings"]) {
        env.write(&format!("../home/{name}"), "secret");
    }
    env.write("deploy/server.key", "secret");
    // Of a home that is seen secrets are not.
    env.write(".ralph/settings.local.json", r#"{"sandbox": {"readable": ["~"]}}"#);
    let all = secrets.map(|name| format!("$HOME/{name}")).join(" ");
    for level in ["embedded", "bwrap", "landlock"].into_iter().filter(|level| works(level)) {
        let look = format!(
            "for file in {all}; do ! grep -qs secret \"$file\" || echo \"$file\"; done; cat $HOME/.config/app/settings"
        );
        let shown =
            env.ralph(&["sandbox", "exec", "--level", level, "--", "sh", "-c", &look]).exits(0).stdout;
        assert_eq!(shown, "secret", "{level}");
        if level != "landlock" {
            let key = env.ralph(&["sandbox", "exec", "--level", level, "--", "cat", "deploy/server.key"]);
            assert!(!key.stdout.contains("secret"), "{level}");
        }
    }
}

#[test]
fn secrets_behind_links_are_hidden() {
    let prepare = |env: &Env| {
        let home = env.root().join("home");
        fs::create_dir_all(home.join("dotfiles/ssh")).expect("a folder");
        fs::create_dir_all(home.join("dotfiles/config/gh")).expect("a folder");
        fs::write(home.join("dotfiles/ssh/id"), "secret").expect("a file");
        fs::write(home.join("dotfiles/config/gh/hosts.yml"), "secret").expect("a file");
        fs::write(home.join("dotfiles/env"), "secret").expect("a file");
        symlink("dotfiles/ssh", home.join(".ssh")).expect("a link");
        symlink("dotfiles/config", home.join(".config")).expect("a link");
        symlink(home.join("dotfiles/env"), env.path(".env")).expect("a link");
    };
    let read = [".ssh/id", "dotfiles/ssh/id", ".config/gh/hosts.yml", "dotfiles/env"];
    for level in ["embedded", "landlock"].into_iter().filter(|level| works(level)) {
        for path in read.into_iter().take(if level == "landlock" { 3 } else { read.len() }) {
            refused(level, As::Me, &format!("read ../home/{path}"), prepare);
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test must not look like one that passed")]
fn the_superuser_does_not_see_what_is_the_machines() {
    if !is_root() {
        return eprintln!("skipped: no one but the superuser could read it anyway");
    }
    if works("embedded") && fs::metadata("/etc/shadow").is_ok_and(|file| file.len() != 0) {
        // Its size is enough to know.
        exec(&Env::new(), "stat -c %s /etc/shadow").exits(0).prints("0\n");
    }
}

#[test]
fn temporary_files_have_a_folder_of_their_own() {
    if !works("embedded") {
        return;
    }
    let env = Env::new().turns(json!([
        [shell("echo \"$TMPDIR\" >tmp; mktemp >made; echo x >\"$TMPDIR/kept\"; touch /tmp/ralph-it-escaped || touch refused")],
        [shell("test -e \"$TMPDIR/kept\" && touch kept"), done()],
    ]));
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    let env = env.settings(json!({"sandbox": {"writable": [record]}}));
    env.run(&["--sandbox", "embedded"]).exits(0);
    let tmp = env.read("tmp").trim().to_owned();
    assert!(tmp.contains(&env.run_id()) && env.read("made").starts_with(&tmp), "{tmp} {}", env.read("made"));
    assert!(env.path("refused").exists() && env.path("kept").exists());
    assert!(!fs::exists(&tmp).expect("it can be looked for"), "it goes with the run");
}

#[test]
fn commits_inside_are_by_the_user() {
    if !works("embedded") {
        return;
    }
    let env = Env::new().with_git();
    fs::write(env.root().join("home/.gitconfig"), "[user]\nname = Ada\nemail = ada@example.com\n")
        .expect("a file");
    let unset =
        "unset GIT_CONFIG_GLOBAL GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL";
    for key in ["user.name", "user.email"] {
        env.git(&["config", "--unset-all", key]);
    }
    exec(&env, &format!("{unset}; git -c commit.gpgsign=false commit -qm x --allow-empty")).exits(0);
    assert_eq!(env.git(&["log", "-1", "--format=%an <%ae>"]).trim(), "Ada <ada@example.com>");
}

#[test]
fn what_cannot_be_opened_is_said() {
    if !works("embedded") {
        return;
    }
    let env = Env::new().turns(json!([[done()]]));
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    let env = env.settings(json!({"sandbox": {"writable": [record, "~/.not-there"]}}));
    let text = "sandbox.writable: `~/.not-there` is not there, so it cannot be opened";
    env.run(&["--sandbox", "embedded"]).exits(0).says(text);
    exec(&env, "true").exits(0).says(text);
}

#[test]
fn a_user_without_privileges_is_kept_as_well() {
    if !works("embedded") || !can_be(As::Nobody) {
        return;
    }
    let prepare = |env: &Env| env.write("../home/.ssh/id", "secret");
    refused("embedded", As::Nobody, "read ../home/.ssh/id", prepare);
    refused("embedded", As::Nobody, "write .git/commondir", |_| {});
}
