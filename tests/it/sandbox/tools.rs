//! Package managers and version managers inside a sandbox whose packages are open: what the user has can be used, new
//! things can be put beside it, and the user's own folder stays as it is.
//!
//! The folders are laid out as the tools do it, so that no tool need be on the machine.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;

use super::works;
use crate::env::{Env, done, shell};

const LEVELS: [&str; 3] = ["embedded", "bwrap", "landlock"];

/// A world whose home has these files; programs print their own path.
fn world(present: &[&str]) -> Env {
    let env = Env::new().with_git().settings(json!({"sandbox": {"packages": true}}));
    // The other tests have the machine's.
    let toolchains = env.root().join("home/.rustup").display().to_string();
    let env = env.variable("RUSTUP_HOME", &toolchains);
    for name in present {
        let path = env.root().join("home").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, "#!/bin/sh\necho the user\\'s\n").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }
    env
}

/// All files and links below a folder.
fn all(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(all(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found.sort();
    found
}

/// The script works inside, twice, and changes nothing of the user's.
#[track_caller]
fn check(present: &[&str], script: &str) {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = world(present);
        let home = env.root().join("home");
        let before = all(&home);
        let exec =
            |script: &str| env.ralph(&["sandbox", "exec", "--level", level, "--", "sh", "-ec", script]);
        exec(script).exits(0);
        exec(script).exits(0);
        assert_eq!(all(&home), before, "{level}");
        // Without packages nothing of a home can be written.
        let env = env.settings(json!({"sandbox": {"packages": false}}));
        let refused = env.ralph(&["sandbox", "exec", "--level", level, "--", "sh", "-ec", script]);
        assert_ne!(refused.code, Some(0), "{level}");
    }
}

#[test]
fn cargo_adds_crates_to_the_user_s() {
    check(
        &[
            ".cargo/bin/cargo-x",
            ".cargo/config.toml",
            ".cargo/registry/cache/index-1/old-1.0.0.crate",
            ".cargo/registry/src/index-1/old-1.0.0/.cargo-ok",
            ".cargo/registry/index/index-1/.cache/ol/d",
        ],
        "cd \"$CARGO_HOME\"; test -r config.toml; cargo-x; cat registry/src/index-1/old-1.0.0/.cargo-ok
         echo new >registry/index/index-1/.cache/ol/d; mkdir -p registry/src/index-1/new-1.0.0
         cat registry/cache/index-1/old-1.0.0.crate; echo x >registry/cache/index-1/new-1.0.0.crate
         printf '#!/bin/sh\\n' >bin/cargo-new; chmod +x bin/cargo-new; cargo-new; touch .package-cache",
    );
}

#[test]
fn rustup_adds_toolchains_to_the_user_s() {
    check(
        &[".rustup/toolchains/stable/bin/rustc", ".rustup/settings.toml", ".rustup/update-hashes/stable"],
        "cd \"$RUSTUP_HOME\"; toolchains/stable/bin/rustc; mkdir -p toolchains/nightly downloads tmp
         echo x >>settings.toml; cat update-hashes/stable; echo x >update-hashes/nightly",
    );
}

#[test]
fn go_takes_the_user_s_modules_for_a_proxy() {
    check(
        &["go/bin/tool", "go/pkg/mod/cache/download/example.com/m/@v/list", ".config/go/env"],
        "case $GOPROXY in file://$HOME/go/pkg/mod/cache/download,*) ;; *) exit 1;; esac
         cat \"$HOME/go/pkg/mod/cache/download/example.com/m/@v/list\"
         tool; mkdir -p \"$GOMODCACHE/example.com/m@v1\" \"$GOPATH/pkg/sumdb\"; test \"$GOFLAGS\" = -modcacherw
         printf '#!/bin/sh\\n' >\"$GOPATH/bin/new\"; chmod +x \"$GOPATH/bin/new\"; new",
    );
}

#[test]
fn nvm_adds_versions_to_the_user_s() {
    check(
        &[".nvm/nvm.sh", ".nvm/versions/node/v20.0.0/bin/node", ".nvm/alias/default"],
        ". \"$NVM_DIR/nvm.sh\"; cd \"$NVM_DIR\"; versions/node/v20.0.0/bin/node
         mkdir -p versions/node/v22.0.0/bin .cache/bin; echo 22 >alias/default",
    );
}

#[test]
fn pyenv_adds_versions_to_the_user_s() {
    check(
        &[".pyenv/bin/pyenv", ".pyenv/libexec/pyenv", ".pyenv/versions/3.12.1/bin/python", ".pyenv/version"],
        "cd \"$PYENV_ROOT\"; bin/pyenv; versions/3.12.1/bin/python; mkdir -p versions/3.13.0 shims
         echo 3.13.0 >version; printf '#!/bin/sh\\n' >shims/python3.13; chmod +x shims/python3.13; python3.13",
    );
}

#[test]
fn asdf_adds_versions_to_the_user_s() {
    check(
        &[
            ".asdf/plugins/nodejs/bin/install",
            ".asdf/installs/nodejs/20.0.0/bin/node",
            ".asdf/shims/only-here",
        ],
        "cd \"$ASDF_DATA_DIR\"; plugins/nodejs/bin/install; installs/nodejs/20.0.0/bin/node; only-here
         mkdir -p installs/nodejs/22.0.0 downloads; echo x >>shims/only-here",
    );
}

#[test]
fn mise_adds_versions_to_the_user_s() {
    check(
        &[
            ".local/share/mise/installs/node/20.0.0/bin/node",
            ".local/share/mise/shims/only-here",
            ".local/state/mise/trusted-configs/a",
        ],
        "cd \"$MISE_DATA_DIR\"; installs/node/20.0.0/bin/node; only-here; mkdir -p installs/node/22.0.0
         cat \"$MISE_STATE_DIR/trusted-configs/a\"; touch \"$MISE_STATE_DIR/trusted-configs/b\"",
    );
}

#[test]
fn uv_adds_versions_and_tools_to_the_user_s() {
    check(
        &[".local/share/uv/python/cpython-3.12/bin/python", ".local/share/uv/tools/ruff/bin/ruff"],
        "cd \"$UV_PYTHON_INSTALL_DIR\"; cpython-3.12/bin/python; mkdir -p cpython-3.13; touch .lock
         cd \"$UV_TOOL_DIR\"; ruff/bin/ruff; mkdir -p black \"$UV_CACHE_DIR\"
         printf '#!/bin/sh\\n' >\"$XDG_BIN_HOME/black\"; chmod +x \"$XDG_BIN_HOME/black\"; black",
    );
}

#[test]
fn pip_installs_beside_the_user_s_packages() {
    check(
        &[".local/lib/python3.12/site-packages/old/__init__.py"],
        "cd \"$PYTHONUSERBASE/lib/python3.12/site-packages\"; cat old/__init__.py; mkdir -p new \"$PYTHONUSERBASE/bin\"",
    );
}

#[test]
fn a_link_that_an_agent_leaves_leads_nowhere() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = world(&[".rustup/toolchains/stable/bin/rustc"]);
        let victim = env.root().join("victim");
        fs::create_dir(&victim).expect("a folder");
        let exec =
            |script: &str| env.ralph(&["sandbox", "exec", "--level", level, "--", "sh", "-ec", script]);
        exec(&format!("cd \"$RUSTUP_HOME\"; rm -r toolchains; ln -s {} toolchains", victim.display()))
            .exits(0);
        exec("true").exits(0);
        assert_eq!(all(&victim), Vec::<String>::new(), "{level}");
    }
}

#[test]
fn what_an_agent_does_to_its_crates_is_not_seen_by_the_judge() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = world(&[".cargo/registry/src/index-1/old-1.0.0/lib.rs"]);
        // A new crate, and one in the place of the user's; both can be written in the judge, too.
        let spoil = "cd \"$CARGO_HOME/registry/src/index-1\"; mkdir -p new-1.0.0; touch new-1.0.0/spoilt
                     rm old-1.0.0; mkdir old-1.0.0; touch old-1.0.0/spoilt";
        let guardrail = "test -z \"$RALPH_JUDGE\" || ( cd \"$CARGO_HOME/registry/src/index-1\" && test -e old-1.0.0/lib.rs \
                         && test ! -e new-1.0.0 && mkdir new-1.0.0 )";
        let env = env.turns(json!([[shell(spoil), done()]])).guardrails(&[guardrail, guardrail]);
        let record = env.root().join("script.json.d");
        fs::create_dir_all(&record).expect("a folder");
        let env = env.settings(json!({"sandbox": {"writable": [record]}}));
        env.run(&["--sandbox", level, "-m", "2"]).exits(0);
        assert!(2 <= env.events("judge_gate_ended").len(), "{level}");
    }
}
