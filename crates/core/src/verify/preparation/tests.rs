//! Files and what they ask for.

use super::*;
use crate::verify::keep::Fate;

/// How npm installs by a lock file.
const NPM: &str = "npm ci --no-audit --no-fund || npm install --no-save --no-audit --no-fund";

/// What there is: files with contents, and installed folders or environments (with `=` before their `pyvenv.cfg`).
fn facts(files: &[(&str, &str)], installed: &[&str]) -> ProjectFacts {
    let mut all = ProjectFacts {
        files: files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
        ..ProjectFacts::default()
    };
    for path in installed {
        match path.split_once('=') {
            Some((path, config)) => drop(all.environments.insert(path.to_owned(), config.to_owned())),
            None => drop(all.installed.insert((*path).to_owned())),
        }
    }
    all
}

#[track_caller]
fn check(files: &[(&str, &str)], installed: &[&str], expected: &[(&str, &str)]) {
    for (name, _) in files {
        let last = name.rsplit('/').next().unwrap_or(name);
        assert!(is_manifest(last), "{name} is never read");
    }
    let found = detect(&facts(files, installed));
    let steps: Vec<(&str, &str)> =
        found.steps.iter().map(|step| (step.folder.as_str(), step.command.as_str())).collect();
    assert_eq!(steps, expected, "{files:?} {installed:?}");
}

#[track_caller]
fn check_keep(files: &[(&str, &str)], installed: &[&str], expected: &[&str]) {
    assert_eq!(detect(&facts(files, installed)).keep, expected, "{files:?} {installed:?}");
}

const DEPENDENT: &str = r#"{"devDependencies": {"x": "1"}}"#;

#[test]
fn nothing_needs_nothing() {
    check(&[], &[], &[]);
    for manifest in ["Cargo.toml", "pom.xml", "build.gradle", "Makefile", "CMakeLists.txt"] {
        check(&[(manifest, "")], &[], &[]);
    }
}

#[test]
fn javascript_by_its_lock_file() {
    let package = ("package.json", DEPENDENT);
    let npm = NPM;
    check(&[package, ("package-lock.json", "{}")], &[], &[("", npm)]);
    check(&[package, ("npm-shrinkwrap.json", "{}")], &[], &[("", npm)]);
    check(&[package, ("pnpm-lock.yaml", "")], &[], &[("", "pnpm install --frozen-lockfile")]);
    check(&[package, ("yarn.lock", "")], &[], &[("", "yarn install --frozen-lockfile")]);
    check(&[package, ("yarn.lock", ""), (".yarnrc.yml", "")], &[], &[("", "yarn install --immutable")]);
    check(&[package, ("bun.lock", "")], &[], &[("", "bun install --frozen-lockfile")]);
    check(&[package, ("bun.lockb", "")], &[], &[("", "bun install --frozen-lockfile")]);
    check(&[package], &[], &[("", "npm install --no-package-lock --no-audit --no-fund")]);
    // A lock file without a manifest is someone else's, and without dependencies there is nothing to install.
    check(&[("package-lock.json", "{}")], &[], &[]);
    check(&[("package.json", r#"{"scripts": {"test": "node --test"}}"#)], &[], &[]);
    check(&[("package.json", "no JSON")], &[], &[]);
}

#[test]
fn the_named_package_manager_wins_among_several_lock_files() {
    let locks = [("package-lock.json", "{}"), ("yarn.lock", ""), ("pnpm-lock.yaml", "")];
    let with = |package: &'static str| [&[("package.json", package)][..], &locks].concat();
    check(&with(DEPENDENT), &[], &[("", "pnpm install --frozen-lockfile")]);
    check(&with(r#"{"packageManager": "npm@10.0.0"}"#), &[], &[("", NPM)]);
    check(&with(r#"{"packageManager": "yarn@4.1.0"}"#), &[], &[("", "yarn install --immutable")]);
    check(&with(r#"{"packageManager": "yarn@1.22.0"}"#), &[], &[("", "yarn install --frozen-lockfile")]);
}

#[test]
fn python_by_its_lock_file() {
    let project = ("pyproject.toml", "[project]\nname = \"x\"");
    check(&[project, ("uv.lock", "")], &[], &[("", "uv sync --frozen")]);
    check(
        &[project, ("poetry.lock", "")],
        &[],
        &[("", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction")],
    );
    check(&[project, ("pdm.lock", "")], &[".venv=x"], &[("", "pdm sync")]);
    check(
        &[("Pipfile", ""), ("Pipfile.lock", "")],
        &[],
        &[("", "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev")],
    );
}

#[test]
fn an_environment_made_by_hand_goes_before_a_lock_file_of_uv() {
    let project = [("pyproject.toml", "[project]\nname = \"x\""), ("uv.lock", "")];
    check(&project, &[".venv=home = /usr/bin\nuv = 0.9.1"], &[("", "uv sync --frozen")]);
    let by_hand =
        "/usr/bin/python3 -m venv .venv && .venv/bin/python -m pip --disable-pip-version-check install -e .";
    check(&project, &[".venv=home = /usr/bin\nversion = 3.11"], &[("", by_hand)]);
}

#[test]
fn python_as_the_working_tree_has_it() {
    let pip = "-m pip --disable-pip-version-check install";
    let project = ("pyproject.toml", "[project]\nname = \"x\"");
    // Without an environment in the project, the one outside is used as it is.
    check(&[project], &[], &[]);
    let expected = format!("/usr/bin/python3 -m venv .venv && .venv/bin/python {pip} -e .");
    check(&[project], &[".venv=home = /usr/bin\nversion = 3.11.2"], &[("", &expected)]);
    let expected = format!("/opt/python3.12 -m venv venv && venv/bin/python {pip} -e .");
    check(&[project], &["venv=home = /opt\nexecutable = /opt/python3.12"], &[("", &expected)]);
    let expected =
        format!("python3 -m venv env && env/bin/python {pip} -r requirements.txt -r requirements-dev.txt");
    let lists = [("requirements.txt", "a"), ("requirements-dev.txt", "b"), ("pyproject.toml", "[tool.ruff]")];
    check(&lists, &["env="], &[("", &expected)]);
    check(&[("tox.ini", "")], &["env="], &[("", "python3 -m venv env")]);
}

#[test]
fn python_with_what_tests_need() {
    let pip = ".venv/bin/python -m pip --disable-pip-version-check install";
    let make = "python3 -m venv .venv";
    let extras = "[project]\nname = \"x\"\n[project.optional-dependencies]\ntest = [\n  \"docs = 1\",\n]\n\"dev\" = []\ndocs = []\n[tool.x]\ntests = 1";
    check(&[("pyproject.toml", extras)], &[".venv="], &[("", &format!("{make} && {pip} -e '.[test,dev]'"))]);
    let groups = "[build-system]\n[dependency-groups]\ndev = [\"pytest\"]\nlint = []";
    let expected = format!("{make} && {pip} 'pip>=25.1' && {pip} -e . --group dev");
    check(&[("pyproject.toml", groups)], &[".venv="], &[("", &expected)]);
    let expected = format!("{make} && {pip} -e '.[tests]'");
    check(
        &[("setup.cfg", "[metadata]\n[options.extras_require]\ntests =\n  pytest\n")],
        &[".venv="],
        &[("", &expected)],
    );
    check(&[("setup.py", "setup(extras_require={'tests': []})")], &[".venv="], &[("", &expected)]);
    // The runner, where it is configured and no one declares it.
    for (file, text) in [
        ("pyproject.toml", "[project]\nname = \"x\"\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]"),
        ("pyproject.toml", "[project]\nname = \"x\"\n[tool.pytest]"),
        ("setup.cfg", "[metadata]\n[tool:pytest]"),
    ] {
        check(&[(file, text)], &[".venv="], &[("", &format!("{make} && {pip} -e . pytest"))]);
    }
    check(&[("setup.py", "setup(name='tests')")], &[".venv="], &[("", &format!("{make} && {pip} -e ."))]);
}

#[test]
fn others_by_their_manifest() {
    let local = "bundle config set --local path vendor/bundle && bundle install";
    let checked = format!("bundle check >/dev/null 2>&1 || {{ {local}; }}");
    check(&[("Gemfile", ""), ("Gemfile.lock", "")], &[], &[("", &checked)]);
    check(&[("Gemfile", "")], &["vendor/bundle"], &[("", local)]);
    let composer = "composer install --no-interaction --no-progress";
    check(&[("composer.json", "{}"), ("composer.lock", "")], &[], &[("", composer)]);
    check(&[("mix.exs", "")], &[], &[("", "mix deps.get")]);
    check(&[("pubspec.yaml", "")], &[], &[("", "dart pub get")]);
}

#[test]
fn folders_where_something_was_installed() {
    let files = [
        ("package.json", DEPENDENT),
        ("web/package.json", DEPENDENT),
        ("web/package-lock.json", "{}"),
        ("tests/fixtures/app/package.json", DEPENDENT),
        ("api/pyproject.toml", "[project]"),
        ("rb/Gemfile", ""),
    ];
    let installed = ["web/node_modules", "api/.venv=", "rb/vendor/bundle"];
    check(
        &files,
        &installed,
        &[
            ("", "npm install --no-package-lock --no-audit --no-fund"),
            (
                "api",
                "python3 -m venv .venv && .venv/bin/python -m pip --disable-pip-version-check install -e .",
            ),
            ("rb", "bundle config set --local path vendor/bundle && bundle install"),
            ("web", NPM),
        ],
    );
    let found = detect(&facts(&files, &installed));
    assert_eq!(found.steps[3].makes, ["web/node_modules"]);
    assert_eq!(found.steps[3].reads, ["web/package.json", "web/package-lock.json"]);
    assert_eq!(found.steps[1].makes, ["api/.venv"]);
}

#[test]
fn caches_that_are_worth_keeping() {
    check_keep(&[("Cargo.toml", "")], &[], &["target"]);
    check_keep(&[("pom.xml", "")], &[], &["**/target"]);
    check_keep(&[("build.gradle.kts", "")], &[], &["**/build", ".gradle"]);
    check_keep(&[("Gemfile", "")], &[], &[".bundle", "vendor/bundle"]);
    check_keep(&[("tox.ini", "")], &["venv="], &[".nox", ".tox", "venv"]);
    check_keep(&[("pyproject.toml", ""), ("uv.lock", "")], &[], &[".nox", ".tox", ".venv"]);
    // What make builds may be tracked, or be what is shipped.
    check_keep(&[("Makefile", "")], &[], &[]);
    check_keep(&[("Makefile", ""), (".gitignore", "*.o\n/build/\nobj\n")], &[], &["build", "obj"]);
    check_keep(&[(".gitignore", "build")], &[], &[]);
    let nested = [("a/pom.xml", ""), ("a/Cargo.toml", ""), ("b/Cargo.toml", "")];
    check_keep(&nested, &["a/target"], &["a/target"]);
}

#[test]
fn what_is_detected_is_kept() {
    let found = detect(&facts(&[("Cargo.toml", "")], &[]));
    let keep = kept(std::path::Path::new("sub"), &found, &["more".to_owned()]);
    assert_eq!(keep.fate(std::path::Path::new("sub/target/x")), Fate::Kept);
    assert_eq!(keep.fate(std::path::Path::new("sub/more")), Fate::Kept);
    assert_eq!(keep.fate(std::path::Path::new("target")), Fate::Dropped);
}

#[test]
fn packages_make_a_folder_where_there_are_any_and_yarn_does_not_keep_them_apart() {
    let makes = |files: &[(&str, &str)]| detect(&facts(files, &[])).steps.remove(0).makes;
    let (lock, yarn) = (("package-lock.json", "{}"), [("yarn.lock", ""), (".yarnrc.yml", "")]);
    assert_eq!(makes(&[("package.json", DEPENDENT), lock]), ["node_modules"]);
    assert_eq!(makes(&[("package.json", "{}"), lock]), [""; 0]);
    assert_eq!(makes(&[("package.json", DEPENDENT), yarn[0], yarn[1]]), [""; 0]);
    // Workspaces are packages, too, if there are any.
    let install = "npm install --no-package-lock --no-audit --no-fund";
    check(&[("package.json", r#"{"workspaces": ["a"]}"#)], &[], &[("", install)]);
    check(&[("package.json", r#"{"workspaces": []}"#)], &[], &[]);
}

#[test]
fn only_manifests_say_what_to_prepare() {
    for name in ["package.json", "requirements.txt", "Cargo.toml"] {
        assert!(is_manifest(name), "{name}");
    }
    assert!(!is_manifest("main.c"));
}
