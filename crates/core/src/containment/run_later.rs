//! Files that run by themselves, later and outside: when a person opens the folder, commits, installs or builds.
//!
//! An agent has good reasons to write most of them, so they are not protected. A person should know of them before going on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tools::fits;

/// When files of a kind run.
struct Kind {
    /// What runs them.
    when: &'static str,
    /// Their names, or the ends of their paths: `*` stands for any number of characters of one name.
    files: &'static [&'static str],
}

const KINDS: [Kind; 9] = [
    Kind {
        when: "git runs it",
        files: &[
            ".githooks/*",
            ".husky/*",
            ".husky/_/*",
            "hooks/pre-commit",
            "hooks/post-checkout",
            ".pre-commit-config.yaml",
            "lefthook.yml",
            ".lefthook.yml",
            "lefthook.yaml",
            ".overcommit.yml",
        ],
    },
    Kind { when: "git in that folder obeys it", files: &[".git"] },
    Kind {
        when: "the shell runs it in that folder",
        files: &[
            ".envrc",
            ".autoenv",
            ".autoenv.zsh",
            ".env.zsh",
            "mise.toml",
            ".mise.toml",
            ".mise/config.toml",
            ".config/mise.toml",
            "devbox.json",
            "flake.nix",
            "shell.nix",
        ],
    },
    Kind {
        when: "an editor runs it",
        files: &[
            ".vscode/tasks.json",
            ".vscode/settings.json",
            ".vscode/launch.json",
            "*.code-workspace",
            ".idea/runConfigurations/*",
            ".idea/externalDependencies.xml",
            ".run/*",
            ".zed/tasks.json",
            ".zed/settings.json",
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".vimrc",
            ".dir-locals.el",
            ".devcontainer/devcontainer.json",
            ".devcontainer.json",
            ".gdbinit",
            ".lldbinit",
        ],
    },
    Kind {
        when: "an agent obeys it",
        files: &[
            ".cursor/mcp.json",
            ".cursor/hooks.json",
            "opencode.json",
            "opencode.jsonc",
            ".amp/settings.json",
            ".pi/settings.json",
            ".aider.conf.yml",
            ".windsurf/hooks.json",
            ".kiro/hooks/*",
        ],
    },
    Kind {
        when: "installing runs it",
        files: &[
            ".npmrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "setup.py",
            "binding.gyp",
            "conftest.py",
            "sitecustomize.py",
            "usercustomize.py",
            "*.pth",
            "extconf.rb",
        ],
    },
    Kind {
        when: "building runs it",
        files: &[
            "build.rs",
            ".cargo/config.toml",
            ".cargo/config",
            ".mvn/jvm.config",
            ".mvn/extensions.xml",
            "init.gradle",
            ".bazelrc",
        ],
    },
    Kind {
        when: "CI runs it",
        files: &[
            ".github/workflows/*",
            ".github/actions/*/action.yml",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            "Jenkinsfile",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            ".travis.yml",
            ".buildkite/*",
            ".woodpecker.yml",
            ".drone.yml",
        ],
    },
    Kind { when: "its scripts run", files: &["package.json", "composer.json"] },
];

/// A file that is new or different, and what runs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LaterFile {
    /// From the project on.
    pub path: String,
    /// What runs it, in words.
    pub when: String,
}

/// What runs a file, by its path from the project on; nothing where nothing does.
pub fn runs(path: &str) -> Option<&'static str> {
    let is_meant = |pattern: &str| {
        let (mut names, mut parts) = (path.rsplit('/'), pattern.rsplit('/'));
        parts.all(|part| names.next().is_some_and(|name| fits(name, part)))
    };
    KINDS.iter().find(|kind| kind.files.iter().any(|pattern| is_meant(pattern))).map(|kind| kind.when)
}

/// The part of a file that runs: of some only the scripts in it. Nothing where there are none.
pub fn running_part(path: &str, text: &str) -> Option<String> {
    if !["package.json", "composer.json"].contains(&path.rsplit('/').next().unwrap_or_default()) {
        return Some(text.to_owned());
    }
    let whole: Value = serde_json::from_str(text).ok()?;
    whole.get("scripts").map(Value::to_string)
}

/// What is new or different of what runs later.
pub fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<LaterFile> {
    let other = after.iter().filter(|(path, now)| before.get(*path) != Some(now));
    other
        .filter_map(|(path, _)| Some(LaterFile { path: path.clone(), when: runs(path)?.to_owned() }))
        .collect()
}

/// What a person is told of them.
pub fn explained(files: &[LaterFile]) -> String {
    let named: Vec<String> = files.iter().map(|file| format!("{} ({})", file.path, file.when)).collect();
    format!("New or changed, and runs later without being asked: {}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_by_itself_is_known() {
        for (path, when) in [
            (".envrc", Some("the shell runs it in that folder")),
            ("sub/.envrc", Some("the shell runs it in that folder")),
            (".husky/pre-commit", Some("git runs it")),
            (".vscode/tasks.json", Some("an editor runs it")),
            ("a/b/.vscode/tasks.json", Some("an editor runs it")),
            ("vendor/x/.git", Some("git in that folder obeys it")),
            ("my.code-workspace", Some("an editor runs it")),
            (".github/workflows/ci.yml", Some("CI runs it")),
            ("web/package.json", Some("its scripts run")),
            ("tasks.json", None),
            ("src/main.rs", None),
            ("husky/pre-commit", None),
            ("package.json.md", None),
        ] {
            assert_eq!(runs(path), when, "{path}");
        }
    }

    #[test]
    fn of_a_package_only_its_scripts_run() {
        let part = |text: &str| running_part("web/package.json", text);
        assert_eq!(
            part(r#"{"version": "1", "scripts": {"a": "b"}}"#),
            part(r#"{"version": "2", "scripts": {"a": "b"}}"#)
        );
        assert_ne!(
            part(r#"{"scripts": {"a": "b"}}"#),
            part(r#"{"scripts": {"a": "b", "postinstall": "x"}}"#)
        );
        assert_eq!((part("{}"), part("nonsense")), (None, None));
        assert_eq!(running_part(".envrc", "x"), Some("x".to_owned()));
    }

    #[test]
    fn what_is_new_or_different_is_named() {
        let of = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
            files.iter().map(|(path, print)| ((*path).to_owned(), (*print).to_owned())).collect()
        };
        let before = of(&[(".envrc", "1"), (".husky/a", "1"), (".npmrc", "1")]);
        let after = of(&[(".envrc", "2"), (".husky/a", "1"), ("x/.git", "1")]);
        let found = changed(&before, &after);
        assert_eq!(found.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), [".envrc", "x/.git"]);
        assert_eq!(
            explained(&found),
            "New or changed, and runs later without being asked: .envrc (the shell runs it in that folder); x/.git (git in that folder obeys it)"
        );
    }
}
