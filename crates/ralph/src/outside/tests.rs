//! Looks at homes, PATHs and interpreters that were made for it.

use super::*;
use ralph_core::{
    engine::{
        plan::{Check, Gate, When},
        presets,
    },
    setup::PromptSource,
};

struct World {
    root: tempfile::TempDir,
    plan: Plan,
    setup: Setup,
}

impl World {
    fn new(command: &str) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        for name in ["home", "bin", "early", "up/project"] {
            fs::create_dir_all(at(name)).expect("made");
        }
        let gate = Gate::new(Check::Command { command: command.to_owned() }, When::EveryTurn);
        let plan = presets::run("DONE", vec![gate]);
        let mut setup = Setup::new(&at("up/project"), "agent", PromptSource::Text("do".to_owned()));
        let path = format!("{}:{}", at("early").display(), at("bin").display());
        setup.guardrail_env.insert("PATH".to_owned(), path);
        setup.guardrail_env.insert("HOME".to_owned(), at("home").display().to_string());
        for name in ["XDG_CONFIG_HOME", "CARGO_HOME", "BASH_ENV", "ENV", "GIT_CONFIG_GLOBAL"] {
            setup.guardrail_env.insert(name.to_owned(), String::new());
        }
        let world = Self { root, plan, setup };
        world.program("bin/sh", "shell");
        world
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        let path = self.root.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
    }

    fn look(&self, known: Option<&OutsideSeen>) -> OutsideSeen {
        Outside::of(&self.plan, &self.setup, known).expect("a command").look()
    }

    /// What is different after this.
    #[track_caller]
    fn changed(&self, change: impl FnOnce(&Self)) -> Vec<String> {
        let before = self.look(None);
        change(self);
        let now = self.look(Some(&before));
        let root = format!("{}/", self.root.path().display());
        let files = before.changed_files(&now).into_iter().map(|it| it.words());
        let programs = before.changed_programs(&now).into_iter().map(|it| it.words());
        files.chain(programs).map(|words| words.replace(&root, "")).collect()
    }
}

#[test]
fn files_that_are_read_before_others_are_compared() {
    for (name, text, expected) in [
        ("home/.cargo/config.toml", "[alias]\n", "home/.cargo/config.toml (cargo reads it) was added"),
        ("home/.gitconfig", "[core]\n pager = x\n", "home/.gitconfig (git reads it) was added"),
        ("home/.config/go/env", "GOFLAGS=-run=x\n", "home/.config/go/env (go reads it) was added"),
        ("up/conftest.py", "import x\n", "up/conftest.py (pytest reads it) was added"),
        (
            "home/.local/lib/python3.11/site-packages/usercustomize.py",
            "x",
            "home/.local/lib/python3.11/site-packages/usercustomize.py (Python reads it) was added",
        ),
    ] {
        let world = World::new("make test");
        assert_eq!(world.changed(|world| world.write(name, text)), [expected]);
        assert_eq!(world.changed(|_| {}), [""; 0]);
        let changed = world.changed(|world| world.write(name, &format!("{text}y = 1\n")));
        assert_eq!(changed, [expected.replace("added", "changed")]);
        let removed = world.changed(|world| fs::remove_file(world.root.path().join(name)).expect("removed"));
        assert_eq!(removed, [expected.replace("added", "removed")]);
    }
}

#[test]
fn honest_work_changes_nothing_that_judges() {
    let world = World::new("make test");
    for (name, text) in [
        ("home/.gitconfig", "[user]\n name = Ada\n[safe]\n directory = /x\n"),
        ("home/.bashrc", "export PATH=$HOME/bin:$PATH\n"),
        ("home/.config/ralph/settings.json", "{}"),
        ("home/.cargo/credentials.toml", "x"),
        ("up/project/conftest.py", "x"),
        ("up/project/.venv/lib/python3.11/site-packages/x.pth", "import x"),
        ("bin/other", "a program that nobody asked for"),
    ] {
        assert_eq!(world.changed(|world| world.write(name, text)), [""; 0], "{name}");
    }
    let touched = world.changed(|world| {
        let text = "[core]\n editor = x\n";
        world.write("home/.config/git/config", text);
    });
    assert_eq!(touched.len(), 1);
    // Written again with the same contents.
    assert_eq!(
        world.changed(|world| world.write("home/.config/git/config", "[core]\n editor = x\n")),
        [""; 0]
    );
}

#[test]
fn the_files_of_a_persons_shell_count_where_a_guardrail_starts_one() {
    let world = World::new("bash -lc 'make test'");
    assert_eq!(
        world.changed(|world| world.write("home/.profile", "alias make=true\n")),
        ["home/.profile (the shell reads it) was added"]
    );
}

#[test]
fn programs_are_found_as_a_shell_finds_them_and_compared() {
    let world = World::new("make test");
    world.write("up/project/Makefile", "test:\n\tlint .\n\t./run.sh\n");
    world.program("bin/make", "#!/usr/bin/env runner\n");
    world.program("bin/lint", "one");
    let seen = world.look(None);
    let names: Vec<&String> = seen.programs.keys().collect();
    assert_eq!(names, ["lint", "make", "runner", "sh"]);
    assert_eq!(
        world.changed(|world| world.program("early/lint", "exit 0")),
        ["`lint` is early/lint instead of bin/lint"]
    );
    assert_eq!(
        world.changed(|world| world.program("early/lint", "exit 1")),
        ["`lint` (early/lint) was changed"]
    );
    assert_eq!(
        world.changed(|world| world.program("bin/runner", "x")),
        ["`runner` is bin/runner and was not there before"]
    );
    // The agent's own edits of the recipe do not say what is compared.
    assert_eq!(
        world.changed(|world| {
            world.write("up/project/Makefile", "test:\n\ttrue\n");
            world.program("bin/make", "x");
        }),
        ["`make` (bin/make) was changed"]
    );
}

#[test]
fn scripts_may_be_installed_again_and_compiled_programs_may_not() {
    let world = World::new("lint");
    world.program("bin/lint", "one");
    assert_eq!(world.changed(|world| world.program("bin/lint", "one")), Vec::<String>::new());
    let compiled = "1".repeat(17 * 1024);
    world.program("bin/lint", &compiled);
    assert_eq!(
        world.changed(|world| world.program("bin/lint", &compiled)),
        ["`lint` (bin/lint) was changed"]
    );
}

#[test]
fn the_packages_of_the_interpreter_in_use_are_compared() {
    let world = World::new("python3 -m unittest");
    world.program("bin/python3", "interpreter");
    assert_eq!(
        world.changed(|world| world.write("lib/python3.11/site-packages/evil.pth", "import os\n")),
        ["lib/python3.11/site-packages/evil.pth (Python reads it) was added"]
    );
    let own = format!("{}\n", world.setup.project.display());
    let editable = world.changed(|world| world.write("lib/python3.11/site-packages/own.pth", &own));
    assert_eq!(editable, [""; 0]);
}
