//! An agent's login in a folder of its own: what is copied, linked, renewed and hidden.

use super::*;

struct World {
    _root: tempfile::TempDir,
    theirs: PathBuf,
    login: Login,
    copy: PathBuf,
}

fn world(keys: &[(&str, &str)]) -> World {
    let root = tempfile::tempdir().expect("a folder");
    let theirs = root.path().join("home/.claude");
    std::fs::create_dir_all(theirs.join("skills")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(theirs.join(name), text).expect("a file");
    write(".credentials.json", r#"{"token":{"access":"a","refresh":"b","until":1}}"#);
    write("settings.json", "{}");
    std::fs::write(root.path().join("home/.claude.json"), "{}").expect("a file");
    let set = |name: &str| match name {
        "CLAUDE_CONFIG_DIR" => Some(theirs.display().to_string()),
        _ => keys.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()),
    };
    let state = std::fs::canonicalize(root.path()).expect("a path").join("state");
    let mut login = Login::prepare("claude", &state, &set).expect("it can be made").expect("it has one");
    login.renew();
    World {
        theirs: theirs.join(".credentials.json"),
        login,
        copy: state.join("claude/.credentials.json"),
        _root: root,
    }
}

#[test]
fn the_folder_has_what_the_user_has() {
    let world = world(&[]);
    let folder = world.copy.parent().expect("a folder");
    for name in [".credentials.json", "settings.json", ".claude.json"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    assert!(folder.join("skills").is_symlink());
    assert_eq!(world.login.variables().next().expect("one").0, "CLAUDE_CONFIG_DIR");
}

#[test]
fn links_in_the_place_of_a_login_lead_nowhere() {
    let mut world = world(&[]);
    let folder = world.copy.parent().expect("a folder").to_owned();
    let victim = folder.join("../../victim");
    std::fs::write(&victim, r#"{"token":{"access":"x","refresh":"y","until":3}}"#).expect("a file");
    let victim = std::fs::canonicalize(victim).expect("a path");
    std::fs::remove_file(&world.copy).expect("the copy");
    symlink(&victim, &world.copy).expect("a link");
    let before = std::fs::read(&world.theirs).expect("a file");
    world.login.keep();
    assert_eq!(std::fs::read(&world.theirs).expect("a file"), before);
    std::fs::write(&world.theirs, r#"{"token":{"access":"n","refresh":"n","until":4}}"#).expect("a file");
    world.login.renew();
    assert!(!std::fs::read_to_string(&victim).expect("a file").contains("\"n\""));
    assert!(!world.copy.is_symlink());
    // The whole folder, in a run that goes on.
    let elsewhere = std::fs::canonicalize(folder.join("..")).expect("a path").join("elsewhere");
    std::fs::rename(&folder, &elsewhere).expect("it can be moved");
    symlink(&elsewhere, &folder).expect("a link");
    let state = folder.parent().expect("a folder");
    assert!(Login::prepare("claude", state, &|_| None).is_err());
}

#[test]
fn a_renewed_token_is_kept_and_nothing_else() {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a file");
    for (written, is_kept) in [
        (r#"{"token":{"access":"c","refresh":"d","until":2}}"#, true),
        (r#"{"token":{"access":"c","refresh":"d","until":2},"more":1}"#, true),
        (r#"{"token":{"access":"","refresh":"d","until":2}}"#, false),
        (r#"{"token":{"access":"c"}}"#, false),
        ("{}", false),
        ("nonsense", false),
        ("", false),
    ] {
        let mut world = world(&[]);
        std::fs::write(&world.copy, written).expect("a file");
        world.login.keep();
        assert_eq!(read(&world.theirs) == written, is_kept, "{written}");
    }
    // The user logged in again meanwhile.
    let mut world = world(&[]);
    std::fs::write(&world.copy, r#"{"token":{"access":"c","refresh":"d","until":2}}"#).expect("a file");
    let newer = r#"{"token":{"access":"x","refresh":"y","until":3}}"#;
    std::fs::write(&world.theirs, newer).expect("a file");
    world.login.keep();
    assert_eq!(read(&world.theirs), newer);
    world.login.renew();
    assert_eq!(read(&world.copy), newer);
    world.login.forget();
    assert!(!world.copy.exists());
}

#[test]
fn every_agent_has_a_folder_of_its_own() {
    let root = tempfile::tempdir().expect("a folder");
    for kind in &KINDS {
        let place = root.path().join("home").join(kind.name);
        let theirs = place.join(kind.below);
        std::fs::create_dir_all(theirs.parent().expect("a folder").join("neighbour")).expect("a folder");
        for name in kind.credential.iter().chain(kind.copied) {
            std::fs::create_dir_all(&theirs).expect("a folder");
            std::fs::write(theirs.join(name), r#"{"token":"a"}"#).expect("a file");
        }
        let set = |name: &str| (name == kind.variable).then(|| place.display().to_string());
        let state = std::fs::canonicalize(root.path()).expect("a path").join("state");
        let mut login = Login::prepare(kind.name, &state, &set).expect("it works").expect("it has one");
        login.renew();
        let (name, value) = login.variables().next().expect("one");
        let folder = PathBuf::from(value.expect("a folder"));
        assert_eq!((name.as_str(), folder.as_path()), (kind.variable, &*state.join(kind.name)));
        let own = folder.join(kind.below);
        for name in kind.credential.iter().chain(kind.copied) {
            let mode = std::fs::metadata(own.join(name)).expect("a copy").permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o77, 0, "{name}");
        }
        assert_eq!(folder.join("neighbour").is_symlink(), kind.has_neighbours, "{}", kind.name);
        // A program that renews its login does so in its own folder, and the user has it afterwards.
        if let Some(credential) = kind.credential {
            std::fs::write(own.join(credential), r#"{"token":"b"}"#).expect("a file");
            login.keep();
            let kept = std::fs::read_to_string(theirs.join(credential)).expect("a file");
            assert_eq!(kept, r#"{"token":"b"}"#);
        }
    }
}

#[test]
fn logins_of_others_are_hidden() {
    let Some(home) = home() else { return };
    let hidden = hidden("claude", &|_| None);
    for path in [".claude/.credentials.json", ".codex", ".pi/agent", ".local/share/amp", ".copilot"] {
        assert!(hidden.contains(&home.join(path)), "{path}");
    }
    assert!(!hidden.contains(&home.join(".claude")));
    let hidden = super::hidden("", &|name| (name == "CODEX_HOME").then(|| "/there".to_owned()));
    for path in [home.join(".codex/auth.json"), "/there/auth.json".into(), home.join(".copilot/config.json")]
    {
        assert!(hidden.contains(&path), "{path:?} {hidden:?}");
    }
    assert!(!hidden.contains(&home.join(".codex")));
}

#[test]
fn a_key_makes_the_login_unnecessary() {
    let world = world(&[("ANTHROPIC_API_KEY", "k")]);
    assert!(!world.copy.exists());
}
