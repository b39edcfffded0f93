//! What a process inside a sandbox sees of a home: tools, and nothing of what a person keeps there.
//!
//! Secrets among this (`.cargo/credentials.toml`, `.m2/settings.xml`) are hidden all the same.

use crate::key_mask::masked;

/// Tools, their caches, and the settings that they go by. `*` stands for any number of characters of a name.
pub const TOOL_FOLDERS: [&str; 118] = [
    // Rust, Go, C and others that compile.
    ".cargo",
    ".rustup",
    "go",
    ".goenv",
    ".gvm",
    ".config/go",
    ".zig",
    ".zvm",
    ".ghcup",
    ".cabal",
    ".stack",
    ".opam",
    ".elan",
    ".swiftly",
    ".local/share/swiftly",
    ".juliaup",
    ".julia",
    ".nimble",
    ".choosenim",
    ".roswell",
    ".foundry/bin",
    ".cache/ccache",
    ".cache/sccache",
    ".cache/bazel",
    ".cache/bazelisk",
    ".cache/go-build",
    ".cache/golangci-lint",
    // JavaScript.
    ".nvm",
    ".fnm",
    ".local/share/fnm",
    ".n",
    ".nodenv",
    ".volta",
    ".bun",
    ".deno",
    ".npm",
    ".npm-global",
    ".npm-packages",
    ".local/share/pnpm",
    ".pnpm-store",
    ".cache/pnpm",
    ".yarn",
    ".cache/yarn",
    ".cache/node",
    ".node-gyp",
    ".cache/node-gyp",
    ".cache/deno",
    ".cache/ms-playwright",
    ".cache/puppeteer",
    ".cache/Cypress",
    ".cache/selenium",
    ".cache/prisma",
    ".cache/turbo",
    // Python.
    ".pyenv",
    ".local/lib",
    ".local/share/uv",
    ".config/uv",
    ".cache/uv",
    ".cache/pip",
    ".cache/pre-commit",
    ".cache/pypoetry",
    ".cache/pdm",
    ".cache/hatch",
    ".local/share/hatch",
    ".local/share/pypoetry",
    ".local/share/pipx",
    ".local/share/virtualenvs",
    ".local/pipx",
    ".virtualenvs",
    ".conda",
    ".mamba",
    "micromamba",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "mambaforge",
    ".rye",
    // Ruby, PHP, Perl, Elixir, Erlang.
    ".rbenv",
    ".rvm",
    ".rubies",
    ".gem",
    ".local/share/gem",
    ".bundle",
    ".phpenv",
    ".composer",
    ".config/composer",
    ".cache/composer",
    ".plenv",
    "perl5",
    ".mix",
    ".hex",
    ".kerl",
    ".kiex",
    ".cache/rebar3",
    // Java and what runs beside it, .NET, Dart.
    ".sdkman",
    ".jenv",
    ".jabba",
    ".m2",
    ".gradle",
    ".ivy2",
    ".sbt",
    ".cache/coursier",
    ".konan",
    ".dotnet",
    ".nuget",
    ".pub-cache",
    // Several languages.
    ".asdf",
    ".local/share/mise",
    ".local/state/mise",
    ".config/mise",
    ".proto",
    ".linuxbrew",
    ".nix-profile",
    ".local/state/nix",
    // Programs, and what most of them go by.
    ".local/bin",
    "bin",
    ".gitconfig*",
    ".config/git",
];

/// Single files that tools look for.
pub const TOOL_FILES: [&str; 12] = [
    ".gitignore*",
    ".gitattributes",
    ".asdfrc",
    ".tool-versions",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".editorconfig",
    ".inputrc",
    ".terminfo",
    ".rustfmt.toml",
];

/// What shells read when they begin: it says where tools are. Shown unless a key is among it.
pub const STARTUP_FILES: [&str; 10] = [
    ".profile",
    ".bash_profile",
    ".bash_login",
    ".bashrc",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".config/fish/config.fish",
    ".config/fish/conf.d",
];

/// Variables that name the folder of a tool, wherever that is.
pub const TOOL_VARIABLES: [&str; 36] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "GOMODCACHE",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "VOLTA_HOME",
    "BUN_INSTALL",
    "DENO_INSTALL",
    "PNPM_HOME",
    "NODE_PATH",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "PIPX_HOME",
    "PYTHONUSERBASE",
    "RBENV_ROOT",
    "GEM_HOME",
    "JAVA_HOME",
    "SDKMAN_DIR",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "DOTNET_ROOT",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_EXEC_PATH",
];

/// Whether a text that a shell reads sets a variable whose name says that its value is a secret, or has a key in it.
pub fn sets_a_secret(text: &str) -> bool {
    let is_secret = |line: &str| {
        let line = line.trim_start();
        let line = ["export ", "set -gx ", "set -Ux ", "set -x ", "typeset -x ", "declare -x "]
            .into_iter()
            .find_map(|word| line.strip_prefix(word))
            .unwrap_or(line);
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let value = rest.strip_prefix(['=', ' ']).unwrap_or_default().trim().trim_matches(['"', '\'']);
        // What is asked of a program or of another variable is not in the file.
        let is_literal = !value.is_empty() && !value.starts_with(['$', '`', '(']);
        is_literal && ralph_guard::is_secret_variable(name)
    };
    text.lines().any(is_secret) || masked(text) != text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_files_with_keys_in_them_are_noticed() {
        for text in [
            "export OPENAI_API_KEY=abc",
            "  export GITHUB_TOKEN='x'\n",
            "PATH=/x\nDB_PASSWORD=hunter2",
            "set -gx NPM_TOKEN abc",
            &format!("alias x='curl -H ghp_{}'", "a1".repeat(18)),
        ] {
            assert!(sets_a_secret(text), "{text}");
        }
        for text in [
            "",
            "export PATH=$HOME/bin:$PATH",
            "export NVM_DIR=\"$HOME/.nvm\"",
            "export GITHUB_TOKEN=$(gh auth token)",
            "export API_KEY=\"$(pass show key)\"",
            "# export API_KEY=abc",
            "[ -s \"$NVM_DIR/nvm.sh\" ] && . \"$NVM_DIR/nvm.sh\"",
        ] {
            assert!(!sets_a_secret(text), "{text}");
        }
    }
}
