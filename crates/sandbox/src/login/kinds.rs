//! How agents keep their state and their logins.

/// How an agent keeps its state.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The variable that says where.
    pub(super) variable: &'static str,
    /// Where it is below that.
    pub(super) below: &'static str,
    /// Where it is without the variable, in the user's home.
    pub(super) folder: &'static str,
    /// The login in it that agents renew; nothing where a login stays as it is.
    pub(super) credential: Option<&'static str>,
    /// Variables that make a login unnecessary.
    pub(super) keys: &'static [&'static str],
    /// What is copied: the agent may change its copy.
    pub(super) copied: &'static [&'static str],
    /// What is only read.
    pub(super) linked: &'static [&'static str],
    /// Whether others have their places beside it, by the same variable.
    pub(super) has_neighbours: bool,
    /// Variables of more places, and where those are without them. Files of its folder there are copied, folders are
    /// only read.
    pub(super) more: &'static [(&'static str, &'static str)],
    /// Files that it must find in the project, or it would fail to write them where nothing can be written.
    pub(super) expected: &'static [(&'static str, &'static str)],
}

/// Nothing of its own.
const PLAIN: Kind = Kind {
    name: "",
    variable: "",
    below: "",
    folder: "",
    credential: None,
    keys: &[],
    copied: &[],
    linked: &[],
    has_neighbours: false,
    more: &[],
    expected: &[],
};

/// All agents that ralph knows.
pub(super) const KINDS: [Kind; 8] = [
    Kind {
        name: "claude",
        variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        credential: Some(".credentials.json"),
        keys: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        copied: &["settings.json", ".claude.json"],
        linked: &["CLAUDE.md", "agents", "commands", "skills", "output-styles", "plugins", "rules"],
        ..PLAIN
    },
    Kind {
        name: "codex",
        variable: "CODEX_HOME",
        folder: ".codex",
        credential: Some("auth.json"),
        keys: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        copied: &["config.toml"],
        linked: &["AGENTS.md", "prompts", "skills", "rules"],
        ..PLAIN
    },
    Kind {
        name: "gemini",
        variable: "GEMINI_CLI_HOME",
        below: ".gemini",
        folder: ".gemini",
        credential: Some("oauth_creds.json"),
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        copied: &["settings.json", "google_accounts.json", "installation_id", "trustedFolders.json", ".env"],
        linked: &["GEMINI.md", "agents", "commands", "extensions", "policies", "skills"],
        ..PLAIN
    },
    Kind {
        name: "qwen",
        variable: "QWEN_HOME",
        folder: ".qwen",
        credential: Some("oauth_creds.json"),
        keys: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        copied: &["settings.json", "installation_id", "trustedFolders.json", ".env"],
        linked: &["QWEN.md", "agents", "commands", "extensions", "skills"],
        ..PLAIN
    },
    // These two know many models, so one key does not make another login unnecessary.
    Kind {
        name: "opencode",
        variable: "XDG_DATA_HOME",
        below: "opencode",
        folder: ".local/share/opencode",
        credential: Some("auth.json"),
        copied: &["mcp-auth.json"],
        linked: &["bin"],
        has_neighbours: true,
        more: &[("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state")],
        expected: &[(
            ".opencode/.gitignore",
            "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore",
        )],
        ..PLAIN
    },
    Kind {
        name: "pi",
        variable: "PI_CODING_AGENT_DIR",
        folder: ".pi/agent",
        credential: Some("auth.json"),
        copied: &["settings.json", "models.json"],
        linked: &["AGENTS.md", "SYSTEM.md", "bin", "extensions", "prompts", "skills", "themes", "tools"],
        ..PLAIN
    },
    Kind {
        name: "amp",
        variable: "XDG_DATA_HOME",
        below: "amp",
        folder: ".local/share/amp",
        credential: Some("secrets.json"),
        keys: &["AMP_API_KEY"],
        has_neighbours: true,
        ..PLAIN
    },
    // Its token stands among its settings and is not renewed.
    Kind {
        name: "copilot",
        variable: "COPILOT_HOME",
        folder: ".copilot",
        keys: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        copied: &["config.json", "mcp-config.json", "permissions-config.json"],
        linked: &["agents", "copilot-instructions.md", "skills"],
        ..PLAIN
    },
];

/// Where logins are beside the agents' own folders.
pub(super) const ELSEWHERE: [&str; 2] = [".claude.json", ".config/github-copilot"];
