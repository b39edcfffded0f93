//! The ways into an agent beside the login that it keeps and the usual keys.
//!
//! "Not logged in" is said only when it is certain, so everything that may log an agent in is here: better an agent that
//! ralph cannot judge than one that it misjudges.

/// The ways into one agent.
pub(super) struct Ways {
    /// More variables.
    pub(super) keys: &'static [&'static str],
    /// Files that may have a key in them, each with the words that say so; without words it is enough that the file is
    /// there. `~/` is the home, `./` the project, `.../` the project and every folder above it; the rest is in the
    /// agent's folder.
    pub(super) files: &'static [(&'static str, &'static [&'static str])],
    /// How flags begin that may name a key or another service.
    pub(super) flags: &'static [&'static str],
    /// Why a login that is not found may be there.
    pub(super) unsure: Option<&'static str>,
}

/// Keys of services that agents for many models know.
const PROVIDERS: [&str; 12] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "CEREBRAS_API_KEY",
    "ZAI_API_KEY",
];

/// What stands in Claude Code's settings where they log it in.
const CLAUDE_WORDS: &[&str] = &["apiKeyHelper", "ANTHROPIC_", "CLAUDE_CODE_"];

/// All ways into this agent.
pub(super) fn ways(agent: &str) -> Ways {
    let keychain = cfg!(target_os = "macos").then_some("its login may be in the keychain");
    match agent {
        "claude" => Ways {
            keys: &[
                "CLAUDE_CODE_USE_FOUNDRY",
                "CLAUDE_CODE_USE_GATEWAY",
                "CLAUDE_CODE_USE_MANTLE",
                "CLAUDE_CODE_USE_ANTHROPIC_AWS",
                "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
                "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
                "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
                "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
                "ANTHROPIC_PROFILE",
                "ANTHROPIC_IDENTITY_TOKEN",
                "ANTHROPIC_IDENTITY_TOKEN_FILE",
            ],
            files: &[
                ("settings.json", CLAUDE_WORDS),
                (".claude.json", &["primaryApiKey"]),
                ("~/.claude.json", &["primaryApiKey"]),
                ("./.claude/settings.json", CLAUDE_WORDS),
                ("./.claude/settings.local.json", CLAUDE_WORDS),
                ("/etc/claude-code/managed-settings.json", &[]),
                ("~/.config/anthropic", &[]),
            ],
            flags: &["--settings"],
            unsure: keychain,
        },
        "codex" => Ways {
            keys: &["CODEX_ACCESS_TOKEN"],
            files: &[
                ("config.toml", &["model_provider", "credentials_store", "oss_provider"]),
                ("./.codex/config.toml", &["model_provider"]),
                ("/etc/codex", &[]),
            ],
            flags: &["-c", "--config", "-p", "--profile", "--oss", "--local-provider"],
            unsure: keychain,
        },
        "gemini" => Ways {
            keys: &["GOOGLE_GENAI_USE_GCA"],
            files: &[
                ("settings.json", &["selectedType"]),
                (".env", &[]),
                ("~/.env", &[]),
                (".../.env", &[]),
                (".../.gemini/.env", &[]),
                ("./.gemini/settings.json", &["selectedType"]),
                ("/etc/gemini-cli", &[]),
            ],
            flags: &[],
            unsure: keychain,
        },
        "qwen" => Ways {
            keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
            files: &[
                ("settings.json", &["selectedType", "apiKey", "API_KEY", "modelProviders"]),
                (".env", &[]),
                ("~/.env", &[]),
                (".../.env", &[]),
                (".../.qwen/.env", &[]),
                ("./.qwen/settings.json", &["selectedType", "apiKey", "API_KEY", "modelProviders"]),
                ("/etc/qwen-code", &[]),
            ],
            flags: &["--auth-type", "--openai-api-key"],
            unsure: keychain,
        },
        "opencode" => Ways {
            keys: &PROVIDERS,
            files: &[],
            flags: &[],
            unsure: Some("it has models that need no login"),
        },
        "pi" => Ways {
            keys: &PROVIDERS,
            files: &[("models.json", &["apiKey", "baseUrl"]), ("extensions", &[])],
            flags: &["--api-key", "--provider", "-e", "--extension"],
            unsure: None,
        },
        "amp" => Ways {
            keys: &[],
            files: &[],
            // Another server, with a login of its own.
            flags: &["--settings-file"],
            unsure: keychain,
        },
        "copilot" => Ways {
            keys: &["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BASE_URL"],
            files: &[],
            flags: &[],
            unsure: Some("its login may be in the keychain, or that of gh"),
        },
        _ => Ways { keys: &[], files: &[], flags: &[], unsure: None },
    }
}
