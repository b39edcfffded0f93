//! Which paths a policy opens, closes and hides.

use ralph_guard::{Decision, ToolCall};
use serde_json::json;

use super::*;

fn places() -> Places {
    Places {
        project: "/srv/project".into(),
        hidden: secrets_in_home().map(|name| Path::new("/home/me").join(name)).collect(),
        git_rules: vec!["/srv/project/.git/modules/one/config".into()],
        git: Some(GitPlaces {
            dir: "/srv/project/.git".into(),
            common: "/srv/project/.git".into(),
            link: None,
        }),
        tasks: vec!["/srv/project/.ralph/tasks/one".into()],
        secrets: vec!["/srv/project/.env".into()],
        own: vec!["/state/tmp".into()],
        ..Places::default()
    }
}

/// What may be done at a path: the deepest layer decides.
fn access(layers: &[Layer], path: &str) -> Access {
    let deepest = layers.iter().rev().find(|layer| Path::new(path).starts_with(&layer.path));
    deepest.map_or(Access::Read, |layer| layer.access)
}

#[test]
fn the_deepest_layer_decides() {
    let layers = layers(&places());
    for (path, expected) in [
        ("/etc/passwd", Access::Read),
        ("/home/me/x", Access::Read),
        ("/home/me/.ssh/id", Access::Hide),
        ("/home/me/.netrc", Access::Hide),
        ("/srv/x", Access::Read),
        ("/srv/project/src/x", Access::Write),
        ("/srv/project/.ralph/settings.json", Access::Read),
        ("/srv/project/.ralph/tasks/one/DONE", Access::Write),
        ("/srv/project/.ralph/tasks/one/TASK.md", Access::Read),
        ("/srv/project/.ralph/tasks/one/runs/1", Access::Read),
        ("/srv/project/.ralph-active", Access::Read),
        ("/srv/project/.claude/settings.json", Access::Read),
        ("/srv/project/.claude/settings.local.json", Access::Read),
        ("/srv/project/.claude/hooks/x", Access::Read),
        ("/srv/project/.claude/rules/x.md", Access::Write),
        ("/srv/project/.codex/config.toml", Access::Read),
        ("/srv/project/.github/hooks/x", Access::Read),
        ("/srv/project/.github/workflows/x", Access::Write),
        ("/srv/project/.mcp.json", Access::Read),
        ("/srv/project/.git/index", Access::Write),
        ("/srv/project/.git/config", Access::Read),
        ("/srv/project/.git/hooks/pre-commit", Access::Read),
        ("/srv/project/.git/modules/one/config", Access::Read),
        ("/srv/project/.git/modules/one/index", Access::Write),
        ("/srv/project/.env", Access::Hide),
        ("/state/tmp/x", Access::Write),
    ] {
        assert_eq!(access(&layers, path), expected, "{path}");
    }
}

#[test]
fn nothing_is_moved_away_with_what_is_protected_in_it() {
    let git_rules =
        ["/srv/project/.git/modules/one/config", "/srv/project/.claude/a/hooks", "/srv/project/a/b/hooks"];
    let layers = layers(&Places { git_rules: git_rules.map(PathBuf::from).to_vec(), ..places() });
    let layer =
        |path: &str| layers.iter().find(|layer| layer.path == Path::new(path)).map(|layer| layer.access);
    for path in
        ["/srv/project/.git/modules", "/srv/project/.git/modules/one", "/srv/project/a/b", "/srv/project/a"]
    {
        assert_eq!(layer(path), Some(Access::Write), "{path}");
    }
    assert_eq!(layer("/srv/project/.claude"), Some(Access::Read));
    assert_eq!(layer("/srv/project/.claude/a"), None);
}

#[test]
fn what_the_user_opens_is_open() {
    let writable = vec!["/srv/project/.claude".into(), "/home/me/.cargo".into()];
    let layers = layers(&Places { writable, ..places() });
    assert_eq!(access(&layers, "/srv/project/.claude/commands/x"), Access::Write);
    assert_eq!(access(&layers, "/home/me/.cargo/registry"), Access::Write);
    assert_eq!(access(&layers, "/home/me/.cargo/credentials.toml"), Access::Hide);
}

#[test]
fn a_working_tree_shares_its_repository_but_not_its_rules() {
    let git = GitPlaces {
        dir: "/main/.git/worktrees/one".into(),
        common: "/main/.git".into(),
        link: Some("/srv/project/.git".into()),
    };
    let layers = layers(&Places { git: Some(git), ..places() });
    for (path, expected) in [
        ("/main/src", Access::Read),
        ("/main/.git/objects/x", Access::Write),
        ("/main/.git/config", Access::Read),
        ("/main/.git/hooks/x", Access::Read),
        ("/main/.git/worktrees/one/HEAD", Access::Write),
        ("/main/.git/worktrees/one/commondir", Access::Read),
        ("/main/.git/worktrees/one/config.worktree", Access::Read),
        ("/srv/project/.git", Access::Read),
    ] {
        assert_eq!(access(&layers, path), expected, "{path}");
    }
}

#[test]
fn nothing_needed_is_hidden() {
    let project = PathBuf::from("/home/me/.docker/project");
    let layers = layers(&Places { project, git: None, ..places() });
    assert_eq!(access(&layers, "/home/me/.docker/config.json"), Access::Hide);
    assert_eq!(access(&layers, "/home/me/.docker/project/x"), Access::Write);
}

#[test]
fn a_repository_that_is_not_there_is_not_made() {
    let above = GitPlaces { dir: "/srv/.git".into(), common: "/srv/.git".into(), link: None };
    for git in [None, Some(above)] {
        let layers = layers(&Places { git, git_rules: Vec::new(), ..places() });
        assert_eq!(access(&layers, "/srv/project/.git/config"), Access::Read);
        assert_eq!(access(&layers, "/srv/project/src/x"), Access::Write);
    }
}

#[test]
fn of_a_home_only_tools_are_seen() {
    let shown = ["/home/me/.cargo", "/home/me/.gitconfig"].map(PathBuf::from).to_vec();
    let (homes, project) = (vec!["/home/me".into()], PathBuf::from("/home/me/src/project"));
    let places = Places { homes, shown, project, git: None, ..places() };
    for layers in [layers(&places), layers_beside(&places)] {
        for (path, expected) in [
            ("/home/me/letter.txt", Access::Hide),
            ("/home/me/src/other/x", Access::Hide),
            ("/home/me/.ssh/id", Access::Hide),
            ("/home/me/.cargo/bin/x", Access::Read),
            ("/home/me/.cargo/credentials.toml", Access::Hide),
            ("/home/me/.gitconfig", Access::Read),
            ("/home/you/x", Access::Read),
        ] {
            assert_eq!(access(&layers, path), expected, "{path}");
        }
        // A secret that is hidden with its home needs no layer of its own.
        assert!(layers.iter().all(|layer| layer.path != Path::new("/home/me/.ssh")), "{layers:?}");
        assert!(is_partly_seen(Path::new("/home/me"), &layers, &[], &[]));
        assert!(!is_partly_seen(Path::new("/home/me/.cargo/credentials.toml"), &layers, &[], &[]));
    }
    assert_eq!(access(&layers(&places), "/home/me/src/project/x"), Access::Write);
}

/// The sandbox and the guard keep lists of their own, because the guard also names files in homes and leaves open
/// what an agent may well write. Neither may forget what the other knows.
#[test]
fn what_the_sandbox_protects_is_guarded_too() {
    let ctx = ralph_guard::Context::new("/home/dev/proj", "/home/dev");
    for name in PROTECTED {
        let file = if name == ".claude" { ".claude/settings.json" } else { name };
        let input = json!({"file_path": format!("/home/dev/proj/{file}")});
        let write = ralph_guard::judge(&ToolCall::from_hook("Write", &input), &ctx);
        assert_eq!(write.reason().map(|finding| &*finding.rule), Some("harness-files"), "{file}");
        let shell = ToolCall::Shell { command_line: format!("echo x > {file}") };
        assert_eq!(ralph_guard::judge(&shell, &ctx).decision, Decision::Block, "{file}");
    }
}

#[test]
fn beside_the_project_only_what_is_ralphs_or_opened_can_be_written() {
    let writable = vec!["/srv/project/out".into(), "/cache".into()];
    let beside = layers_beside(&Places { writable, ..places() });
    for (path, expected) in [
        ("/home/me/.ssh/id", Access::Hide),
        ("/state/tmp/x", Access::Write),
        ("/cache/x", Access::Write),
        ("/srv/project/out/x", Access::Read),
        ("/srv/project/.env", Access::Read),
    ] {
        assert_eq!(access(&beside, path), expected, "{path}");
    }
}

#[test]
fn secrets_of_a_project_are_known_by_their_names() {
    for path in [".env", "a/.env.local", ".envrc", "deploy/id_rsa"] {
        assert!(is_secret(path), "{path}");
    }
    for path in ["env", "a/.env/b.rs", "src/main.rs", "a.env.rs"] {
        assert!(!is_secret(path), "{path}");
    }
}
