//! Which variables reach a process inside a sandbox: those that programs need to work, those that the agent needs for its
//! model, and those that the user names. All others stay outside, because keys are among them.

/// What programs need to work. `*` at the end stands for any rest of a name; a name that speaks of a secret does not pass by
/// it.
const USUAL: [&str; 150] = [
    // The user, the terminal, the language.
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "HOSTNAME",
    "TERM",
    "TERM_PROGRAM*",
    "TERMINFO*",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR*",
    "LS_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESS",
    "MANPATH",
    "INFOPATH",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_*",
    "CI",
    "DEBIAN_FRONTEND",
    "SOURCE_DATE_EPOCH",
    // Ralph itself.
    "RALPH_*",
    // The way out, which the sandbox names anew.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    // Git.
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXEC_PATH",
    "GIT_EDITOR",
    "GIT_PAGER",
    "GIT_TERMINAL_PROMPT",
    // Compilers.
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG*",
    "CMAKE_*",
    "CCACHE_*",
    "SCCACHE_DIR",
    // Languages and their tools.
    "CARGO_*",
    "RUSTUP_*",
    "RUSTC*",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUST_*",
    "GO*",
    "CGO_*",
    "NVM_*",
    "FNM_*",
    "VOLTA_*",
    "BUN_INSTALL*",
    "DENO_*",
    "COREPACK_*",
    "PNPM_HOME",
    "NODE_ENV",
    "NODE_PATH",
    "NODE_OPTIONS",
    "NODE_VERSION",
    "npm_config_cache",
    "npm_config_prefix",
    "NPM_CONFIG_PREFIX",
    "YARN_CACHE_FOLDER",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PUPPETEER_EXECUTABLE_PATH",
    "CHROME_BIN",
    "PYTHON*",
    "PYENV_*",
    "VIRTUAL_ENV*",
    "CONDA_*",
    "MAMBA_*",
    "PIPX_*",
    "PIP_CACHE_DIR",
    "POETRY_*",
    "UV_CACHE_DIR",
    "UV_PYTHON*",
    "UV_TOOL_*",
    "RBENV_*",
    "GEM_*",
    "BUNDLE_PATH",
    "BUNDLE_GEMFILE",
    "RUBYOPT",
    "RUBYLIB",
    "RAILS_ENV",
    "RACK_ENV",
    "APP_ENV",
    "JAVA_HOME",
    "JDK_HOME",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_*",
    "M2_HOME",
    "GRADLE_*",
    "SDKMAN_*",
    "KOTLIN_HOME",
    "ANDROID_*",
    "DOTNET_*",
    "NUGET_PACKAGES",
    "COMPOSER_HOME",
    "PERL5LIB",
    "PERL_*",
    "MIX_*",
    "ERL_*",
    "ELIXIR_*",
    "GHCUP_*",
    "STACK_ROOT",
    "ASDF_*",
    "MISE_*",
    "NIX_*",
    "HOMEBREW_*",
    "HEX_HOME",
];

/// What an agent reads for its model and for itself.
fn of_agent(agent: &str) -> &'static [&'static str] {
    match agent {
        "claude" => &[
            "ANTHROPIC_*",
            "CLAUDE_*",
            "API_TIMEOUT_MS",
            "BASH_DEFAULT_TIMEOUT_MS",
            "BASH_MAX_TIMEOUT_MS",
            "BASH_MAX_OUTPUT_LENGTH",
            "DISABLE_*",
            "ENABLE_*",
            "MAX_THINKING_TOKENS",
            "MAX_MCP_OUTPUT_TOKENS",
            "MCP_TIMEOUT",
            "MCP_TOOL_TIMEOUT",
            "IS_SANDBOX",
        ],
        "codex" => &["OPENAI_*", "CODEX_*"],
        "gemini" => &["GEMINI_*", "GOOGLE_*"],
        "qwen" => &[
            "QWEN_*",
            "DASHSCOPE_*",
            "OPENAI_*",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "GEMINI_API_KEY",
        ],
        "amp" => &["AMP_*"],
        "copilot" => &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
        "opencode" => &[
            "OPENCODE_*",
            "ANTHROPIC_*",
            "OPENAI_*",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENROUTER_API_KEY",
            "GROQ_API_KEY",
            "XAI_API_KEY",
            "MISTRAL_API_KEY",
            "DEEPSEEK_API_KEY",
            "CEREBRAS_API_KEY",
            "ZAI_API_KEY",
        ],
        // Any other agent talks to one of them.
        _ => &[
            "PI_*",
            "ANTHROPIC_*",
            "OPENAI_*",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "OPENROUTER_API_KEY",
            "GROQ_API_KEY",
            "XAI_API_KEY",
            "MISTRAL_API_KEY",
            "DEEPSEEK_API_KEY",
            "CEREBRAS_API_KEY",
            "ZAI_API_KEY",
        ],
    }
}

/// What an agent reads for its model where that is in a cloud, after the variables that say so.
const CLOUDS: [(&[&str], &[&str]); 2] = [
    (
        &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_USE_MANTLE"],
        &[
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_BEARER_TOKEN_BEDROCK",
        ],
    ),
    (
        &["CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "GOOGLE_GENAI_USE_VERTEXAI"],
        &[
            "CLOUD_ML_REGION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_CLOUD_LOCATION",
            "GCLOUD_PROJECT",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "VERTEX_REGION_*",
        ],
    ),
];

/// The variables that reach a process inside.
pub struct Passed<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// What the user names, each with a `*` at its end or without.
    pub more: &'a [String],
    /// Whether a variable is set.
    pub is_set: &'a dyn Fn(&str) -> bool,
}

impl Passed<'_> {
    /// Whether this one does.
    pub fn has(&self, name: &str) -> bool {
        let is_usual = USUAL.iter().any(|pattern| {
            fits(name, pattern) && (!pattern.ends_with('*') || !ralph_guard::is_secret_variable(name))
        });
        let clouds = || CLOUDS.iter().filter(|(switches, _)| switches.iter().any(|it| (self.is_set)(it)));
        is_usual
            || of_agent(self.agent).iter().any(|pattern| fits(name, pattern))
            || self.more.iter().any(|pattern| fits(name, pattern))
            || clouds().any(|(_, names)| names.iter().any(|pattern| fits(name, pattern)))
    }
}

fn fits(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    }
}

/// As many variables that stay outside are named.
const MAX_NAMED: usize = 5;

/// Which variables of the environment stay outside, and how to pass one; nothing where none does.
pub fn stays_outside(withheld: &[String]) -> Option<String> {
    let first = withheld.first()?;
    let named = withheld.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match withheld.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "Variables that stay outside: {named}{more}. To pass one, in .ralph/settings.local.json: \"sandbox\": {{\"env\": [\"{first}\"]}}"
    ))
}

/// Whether an entry of the settings is the name of a variable, or the beginning of one with a `*`.
pub fn is_pattern(text: &str) -> bool {
    let name = text.strip_suffix('*').unwrap_or(text);
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests;
