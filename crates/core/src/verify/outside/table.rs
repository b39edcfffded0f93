//! Which files are read before a guardrail's own, and what of them judges: the table.

use std::path::Path;

/// Where a file of the table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// In the home directory.
    Home,
    /// Where the variable says, else below the home directory.
    Variable(&'static str, &'static str),
    /// In a folder above the project.
    Above,
}

/// What of a file judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgingPart {
    /// All of it.
    Whole,
    /// The sections of git's configuration that change what git does to files, or what it runs.
    GitConfig,
    /// The lines of a Python path file that do not lead into the project.
    PathFile,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct StartUp {
    /// Who reads it.
    pub read_by: &'static str,
    /// Where it is.
    pub start: Start,
    /// The paths; a `*` stands for any part of one name.
    pub names: &'static [&'static str],
    /// What of it judges.
    pub judging: JudgingPart,
}

/// Files that are read before a guardrail's own.
pub const START_UP: [StartUp; 17] = [
    whole("Python", Start::Home, &[".pydistutils.cfg"]),
    whole(
        "Python",
        Start::Home,
        &[
            ".local/lib/python3*/site-packages/usercustomize.py",
            ".local/lib/python3*/site-packages/sitecustomize.py",
            ".pyenv/versions/*/lib/python3*/site-packages/usercustomize.py",
            ".pyenv/versions/*/lib/python3*/site-packages/sitecustomize.py",
        ],
    ),
    StartUp {
        read_by: "Python",
        start: Start::Home,
        names: &[
            ".local/lib/python3*/site-packages/*.pth",
            ".pyenv/versions/*/lib/python3*/site-packages/*.pth",
        ],
        judging: JudgingPart::PathFile,
    },
    whole("pip", Start::Home, &[".pip/pip.conf"]),
    whole("pip", Start::Variable("XDG_CONFIG_HOME", ".config"), &["pip/pip.conf"]),
    whole("cargo", Start::Variable("CARGO_HOME", ".cargo"), &["config.toml", "config"]),
    whole("cargo", Start::Above, &[".cargo/config.toml", ".cargo/config", "rust-toolchain.toml"]),
    whole("npm, yarn, pnpm or bun", Start::Home, &[".npmrc", ".yarnrc", ".yarnrc.yml", ".bunfig.toml"]),
    whole("pnpm", Start::Variable("XDG_CONFIG_HOME", ".config"), &["pnpm/rc"]),
    whole(
        "node",
        Start::Above,
        &[".npmrc", ".mocharc.json", ".mocharc.js", "jest.config.js", "babel.config.js"],
    ),
    whole("pytest", Start::Above, &["pytest.ini", "tox.ini", "setup.cfg", "conftest.py"]),
    whole("go", Start::Variable("XDG_CONFIG_HOME", ".config"), &["go/env"]),
    whole("go", Start::Above, &["go.work"]),
    whole(
        "Java or Ruby",
        Start::Home,
        &[
            ".m2/settings.xml",
            ".mavenrc",
            ".gradle/gradle.properties",
            ".gradle/init.gradle",
            ".gradle/init.d/*",
            ".rspec",
            ".bundle/config",
            ".gemrc",
        ],
    ),
    StartUp { read_by: "git", start: Start::Home, names: &[".gitconfig"], judging: JudgingPart::GitConfig },
    StartUp {
        read_by: "git",
        start: Start::Variable("XDG_CONFIG_HOME", ".config"),
        names: &["git/config", "git/attributes"],
        judging: JudgingPart::GitConfig,
    },
    whole("zsh", Start::Home, &[".zshenv"]),
];

/// Variables that name a file which is read before a guardrail's own, with who reads it.
pub const NAMED_BY: [(&str, &str); 6] = [
    ("BASH_ENV", "bash"),
    ("ENV", "the shell"),
    ("GIT_CONFIG_GLOBAL", "git"),
    ("NPM_CONFIG_USERCONFIG", "npm"),
    ("PIP_CONFIG_FILE", "pip"),
    ("GOENV", "go"),
];

/// Files that only shells read which a person logs in with, or types into.
pub const LOGIN_SHELL: [StartUp; 2] = [
    whole("the shell", Start::Home, &[".profile", ".bash_profile", ".bash_login", ".zprofile", ".zlogin"]),
    whole("the shell", Start::Home, &[".bashrc", ".zshrc", ".config/fish/config.fish"]),
];

/// What a Python interpreter reads, below the folder that it is installed in.
pub const PYTHON: [StartUp; 2] = [
    whole(
        "Python",
        Start::Home,
        &[
            "lib/python3*/site-packages/sitecustomize.py",
            "lib/python3*/site-packages/usercustomize.py",
            "lib/python3*/sitecustomize.py",
        ],
    ),
    StartUp {
        read_by: "Python",
        start: Start::Home,
        names: &["lib/python3*/site-packages/*.pth"],
        judging: JudgingPart::PathFile,
    },
];

const fn whole(read_by: &'static str, start: Start, names: &'static [&'static str]) -> StartUp {
    StartUp { read_by, start, names, judging: JudgingPart::Whole }
}

/// Whether a command starts a shell that reads what a person's shell reads.
pub fn starts_login_shell(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let is_shell =
            ["sh", "bash", "zsh", "ksh", "dash", "fish"].contains(&word.rsplit('/').next().unwrap_or(word));
        let options = words[at + 1..].iter().take_while(|word| word.starts_with('-'));
        is_shell && options.into_iter().any(|option| is_login_option(option))
    })
}

fn is_login_option(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => long == "login" || long == "interactive",
        None => option.contains(['l', 'i']),
    }
}

/// Sections of git's configuration that change neither files nor what is run.
const HARMLESS: [&str; 14] = [
    "advice",
    "branch",
    "color",
    "commit",
    "credential",
    "gui",
    "init",
    "log",
    "pull",
    "push",
    "rerere",
    "safe",
    "tag",
    "user",
];

/// What of a file judges, to be compared.
pub fn judging_part(judging: JudgingPart, contents: &[u8], project: &Path) -> Vec<u8> {
    match judging {
        JudgingPart::Whole => contents.to_vec(),
        JudgingPart::GitConfig => lines(contents, git_lines),
        JudgingPart::PathFile => {
            let is_own = |line: &&str| Path::new(line.trim()).starts_with(project);
            lines(contents, |text| {
                text.lines()
                    .filter(|line| !line.trim().is_empty() && !is_own(line))
                    .map(str::to_owned)
                    .collect()
            })
        }
    }
}

fn lines(contents: &[u8], pick: impl Fn(&str) -> Vec<String>) -> Vec<u8> {
    pick(&String::from_utf8_lossy(contents)).join("\n").into_bytes()
}

fn git_lines(text: &str) -> Vec<String> {
    let mut is_harmless = false;
    let mut kept = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.split([' ', ']', '.', '"']).next().unwrap_or_default().to_ascii_lowercase();
            is_harmless = HARMLESS.contains(&name.as_str());
        }
        if !is_harmless && !line.is_empty() && !line.starts_with(['#', ';']) {
            kept.push(line.to_owned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn part(judging: JudgingPart, contents: &str, expected: &str) {
        let found = judging_part(judging, contents.as_bytes(), Path::new("/home/me/project"));
        assert_eq!(String::from_utf8_lossy(&found), expected);
    }

    #[test]
    fn shells_that_read_what_a_persons_shell_reads() {
        for command in
            ["bash -lc 'npm test'", "zsh -i -c make", "bash --login run.sh", "fish --interactive -c make"]
        {
            assert!(starts_login_shell(command), "{command}");
        }
        for command in ["bash run.sh -l", "ls -li", "bash -c make", "bash --norc run.sh", "sh -eu run.sh"] {
            assert!(!starts_login_shell(command), "{command}");
        }
    }

    #[test]
    fn a_name_for_commits_is_no_change_of_git() {
        part(JudgingPart::GitConfig, "[user]\n\tname = x\n[safe]\n\tdirectory = *\n", "");
        part(
            JudgingPart::GitConfig,
            "[user]\n name = x\n[core]\n hooksPath = /tmp/hooks\n# note\n[credential \"x\"]\n helper = y\n",
            "[core]\nhooksPath = /tmp/hooks",
        );
        part(JudgingPart::GitConfig, "[include]\n path = ~/other\n", "[include]\npath = ~/other");
        part(JudgingPart::GitConfig, "[filter \"x\"]\nclean = y\n", "[filter \"x\"]\nclean = y");
        // What is not understood is kept.
        part(JudgingPart::GitConfig, "*.py filter=x\n", "*.py filter=x");
    }

    #[test]
    fn an_editable_install_of_the_project_is_no_change_of_python() {
        part(JudgingPart::PathFile, "/home/me/project\n/home/me/project/src\n", "");
        part(JudgingPart::PathFile, "/home/me/project-2\n", "/home/me/project-2");
        part(JudgingPart::PathFile, "import os; os.system('x')\n", "import os; os.system('x')");
    }

    #[test]
    fn every_row_of_the_table_is_read_by_someone_and_relative() {
        for row in START_UP.iter().chain(&LOGIN_SHELL).chain(&PYTHON) {
            assert!(!row.read_by.is_empty() && !row.names.is_empty());
            for name in row.names {
                assert!(Path::new(name).is_relative() && !name.contains(".."), "{name}");
                assert!(name.split('/').all(|part| part.matches('*').count() <= 1), "{name}");
            }
        }
    }
}
