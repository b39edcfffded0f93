//! The folders that package managers and version managers keep in a home, where nothing can be written inside a sandbox.
//!
//! With `packages` each gets a folder of its own beside the caches of the project, by the variable that names it. What
//! the user has is linked into it, so that nothing is downloaded twice; what is new stays there. Programs and settings
//! of the user are never changed: they run later, outside.

/// A folder that a tool keeps.
pub struct ToolFolder {
    /// The tool, and the name of its folder inside.
    pub name: &'static str,
    /// The variable that says where the folder is.
    pub variable: &'static str,
    /// Where it is without the variable, in the user's home.
    pub usual: &'static str,
    /// Whether the tool makes it when it is not there.
    pub made: Made,
    /// What is linked one by one: `*` stands for any number of characters of one name. The folders above are the
    /// sandbox's own, so that more can be put beside the links.
    pub linked: &'static [&'static str],
    /// What is copied, because the tool changes it.
    pub copied: &'static [&'static str],
    /// The folder in it whose programs are found first.
    pub programs: Option<&'static str>,
}

/// When a folder is given to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Also where the user has none: the tool makes it.
    Always,
    /// Where the user has one.
    IfThere,
}

/// Nothing of its own.
const PLAIN: ToolFolder = ToolFolder {
    name: "",
    variable: "",
    usual: "",
    made: Made::IfThere,
    linked: &[],
    copied: &[],
    programs: None,
};

/// All folders that ralph knows.
pub const TOOLS: [ToolFolder; 12] = [
    // What is unpacked is linked, too, so that only new crates are.
    ToolFolder {
        name: "cargo",
        variable: "CARGO_HOME",
        usual: ".cargo",
        made: Made::Always,
        linked: &[
            "bin/*",
            "config.toml",
            "config",
            "env",
            "registry/cache/*/*",
            "registry/src/*/*",
            "git/db/*",
            "git/checkouts/*/*",
        ],
        copied: &["registry/index"],
        programs: Some("bin"),
    },
    ToolFolder {
        name: "rustup",
        variable: "RUSTUP_HOME",
        usual: ".rustup",
        linked: &["toolchains/*", "update-hashes/*"],
        copied: &["settings.toml"],
        ..PLAIN
    },
    // Modules come from the user's own by `GOPROXY`: unpacked ones lie in folders of any depth.
    ToolFolder {
        name: "go",
        variable: "GOPATH",
        usual: "go",
        made: Made::Always,
        linked: &["bin/*", "src"],
        programs: Some("bin"),
        ..PLAIN
    },
    ToolFolder {
        name: "nvm",
        variable: "NVM_DIR",
        usual: ".nvm",
        linked: &["nvm.sh", "nvm-exec", "bash_completion", "default-packages", "versions/*/*"],
        copied: &["alias"],
        ..PLAIN
    },
    // Shims of the user's name the user's folder; those that it makes itself come first.
    ToolFolder {
        name: "pyenv",
        variable: "PYENV_ROOT",
        usual: ".pyenv",
        linked: &["bin", "libexec", "completions", "plugins", "pyenv.d", "src", "versions/*"],
        copied: &["version"],
        programs: Some("shims"),
        ..PLAIN
    },
    ToolFolder {
        name: "asdf",
        variable: "ASDF_DATA_DIR",
        usual: ".asdf",
        linked: &["bin", "lib", "asdf.sh", "completions", "plugins/*", "installs/*/*"],
        copied: &["shims"],
        programs: Some("shims"),
        ..PLAIN
    },
    ToolFolder {
        name: "mise",
        variable: "MISE_DATA_DIR",
        usual: ".local/share/mise",
        made: Made::Always,
        linked: &["plugins/*", "installs/*/*", "shims/*"],
        programs: Some("shims"),
        ..PLAIN
    },
    // Which files it may obey.
    ToolFolder {
        name: "mise-state",
        variable: "MISE_STATE_DIR",
        usual: ".local/state/mise",
        made: Made::Always,
        linked: &["trusted-configs/*", "tracked-configs/*"],
        ..PLAIN
    },
    ToolFolder {
        name: "uv-python",
        variable: "UV_PYTHON_INSTALL_DIR",
        usual: ".local/share/uv/python",
        made: Made::Always,
        linked: &["*"],
        ..PLAIN
    },
    ToolFolder {
        name: "uv-tools",
        variable: "UV_TOOL_DIR",
        usual: ".local/share/uv/tools",
        made: Made::Always,
        linked: &["*"],
        ..PLAIN
    },
    ToolFolder {
        name: "uv-bin",
        variable: "XDG_BIN_HOME",
        usual: ".local/bin",
        made: Made::Always,
        linked: &["*"],
        programs: Some(""),
        ..PLAIN
    },
    // Where pip installs to when it may not write beside the interpreter.
    ToolFolder {
        name: "python",
        variable: "PYTHONUSERBASE",
        usual: ".local",
        made: Made::Always,
        linked: &["lib/python*/site-packages/*"],
        programs: Some("bin"),
        ..PLAIN
    },
];

/// Whether a name fits a pattern with at most one `*`.
pub fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, after)) => {
            let rest = name.strip_prefix(before);
            rest.is_some_and(|rest| rest.ends_with(after))
        }
    }
}

/// Where Go gets modules from inside: first from what the user has, then from where the user would.
pub fn go_proxy(downloads: &str, configured: Option<&str>) -> String {
    let usual = "https://proxy.golang.org,direct";
    format!("file://{downloads},{}", configured.filter(|it| !it.is_empty()).unwrap_or(usual))
}

/// Go's flags with one that lets folders of modules be removed.
pub fn go_flags(configured: Option<&str>) -> String {
    format!("{} -modcacherw", configured.unwrap_or_default()).trim_start().to_owned()
}

/// A value of the file that `go env -w` writes.
pub fn go_setting<'a>(file: &'a str, name: &str) -> Option<&'a str> {
    file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns() {
        for (name, pattern, expected) in [
            ("python3.12", "python*", true),
            ("pypy3", "python*", false),
            ("a.crate", "*", true),
            ("bin", "bin", true),
            ("bin2", "bin", false),
            ("a.toml", "*.toml", true),
            ("a.json", "*.toml", false),
        ] {
            assert_eq!(fits(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn no_two_tools_share_a_name_or_a_variable() {
        for (index, tool) in TOOLS.iter().enumerate() {
            let others = &TOOLS[index + 1..];
            assert!(
                others.iter().all(|it| it.name != tool.name && it.variable != tool.variable),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn every_tool_gets_what_it_needs() {
        let expected: [(&str, &[&str], Option<&str>, Made); 12] = [
            ("cargo", &["registry/index"], Some("bin"), Made::Always),
            ("rustup", &["settings.toml"], None, Made::IfThere),
            ("go", &[], Some("bin"), Made::Always),
            ("nvm", &["alias"], None, Made::IfThere),
            ("pyenv", &["version"], Some("shims"), Made::IfThere),
            ("asdf", &["shims"], Some("shims"), Made::IfThere),
            ("mise", &[], Some("shims"), Made::Always),
            ("mise-state", &[], None, Made::Always),
            ("uv-python", &[], None, Made::Always),
            ("uv-tools", &[], None, Made::Always),
            ("uv-bin", &[], Some(""), Made::Always),
            ("python", &[], Some("bin"), Made::Always),
        ];
        for (tool, (name, copied, programs, made)) in TOOLS.iter().zip(expected) {
            assert_eq!((tool.name, tool.copied, tool.programs, tool.made), (name, copied, programs, made));
            // Without a variable nothing leads the tool to its folder; without links everything is downloaded again.
            assert!(!tool.variable.is_empty() && !tool.usual.is_empty() && !tool.linked.is_empty(), "{name}");
        }
    }

    #[test]
    fn go_asks_the_user_s_modules_first() {
        let file = "GOFLAGS=-mod=mod\nGOPROXY=https://go.example.com\n";
        assert_eq!(go_setting(file, "GOPROXY"), Some("https://go.example.com"));
        assert_eq!(go_setting(file, "GO"), None);
        assert_eq!(go_proxy("/m", go_setting(file, "GOPROXY")), "file:///m,https://go.example.com");
        assert_eq!(go_proxy("/m", None), "file:///m,https://proxy.golang.org,direct");
        assert_eq!(go_flags(go_setting(file, "GOFLAGS")), "-mod=mod -modcacherw");
        assert_eq!(go_flags(None), "-modcacherw");
    }
}
