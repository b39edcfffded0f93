//! Which variables are seen inside.

use super::*;

#[track_caller]
fn check(agent: &str, more: &[&str], set: &[&str], name: &str, expected: bool) {
    let more: Vec<String> = more.iter().map(|it| (*it).to_owned()).collect();
    let passed = Passed { agent, more: &more, is_set: &|name| set.contains(&name) };
    assert_eq!(passed.has(name), expected, "{agent} {name}");
}

#[test]
fn what_is_needed_passes_and_keys_of_others_do_not() {
    for name in ["PATH", "HOME", "LC_ALL", "CARGO_HOME", "RUST_LOG", "VIRTUAL_ENV", "GOFLAGS", "RALPH_X"] {
        check("claude", &[], &[], name, true);
    }
    for name in [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_PROFILE",
        "GITHUB_TOKEN",
        "DATABASE_URL",
        "STRIPE_KEY",
        "OPENAI_API_KEY",
        "npm_config__authToken",
        "PIP_INDEX_URL",
        "SSH_AUTH_SOCK",
        "GIT_CONFIG_VALUE_0",
        "GIT_ASKPASS",
        "KUBECONFIG",
        // A pattern does not open what speaks of a secret.
        "CARGO_REGISTRY_TOKEN",
        "CARGO_REGISTRIES_MINE_TOKEN",
        "MISE_GITHUB_TOKEN",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "HOMEBREW_GITHUB_API_TOKEN",
        "POETRY_PYPI_TOKEN_PYPI",
        "GO_SECRET",
    ] {
        check("claude", &[], &[], name, false);
    }
}

#[test]
fn an_agent_gets_the_keys_of_its_own_vendor() {
    for (agent, name) in [
        ("claude", "ANTHROPIC_API_KEY"),
        ("claude", "CLAUDE_CODE_OAUTH_TOKEN"),
        ("codex", "OPENAI_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("qwen", "DASHSCOPE_API_KEY"),
        ("amp", "AMP_API_KEY"),
        ("copilot", "GITHUB_TOKEN"),
        ("opencode", "OPENROUTER_API_KEY"),
        ("pi", "OPENROUTER_API_KEY"),
        ("text", "ANTHROPIC_API_KEY"),
    ] {
        check(agent, &[], &[], name, true);
    }
    check("codex", &[], &[], "ANTHROPIC_API_KEY", false);
    check("claude", &[], &["CLAUDE_CODE_USE_BEDROCK"], "AWS_SECRET_ACCESS_KEY", true);
    check("claude", &[], &["CLAUDE_CODE_USE_BEDROCK"], "GOOGLE_APPLICATION_CREDENTIALS", false);
    check("claude", &[], &["CLAUDE_CODE_USE_VERTEX"], "GOOGLE_APPLICATION_CREDENTIALS", true);
}

#[test]
fn the_user_names_more() {
    check("claude", &["DATABASE_URL", "APP_*"], &[], "DATABASE_URL", true);
    check("claude", &["DATABASE_URL", "APP_*"], &[], "APP_TOKEN", true);
    check("claude", &["DATABASE_URL"], &[], "DATABASE_URL_2", false);
    for (text, expected) in [
        ("A", true),
        ("A_*", true),
        ("a1", true),
        ("", false),
        ("*", false),
        ("1A", false),
        ("A=B", false),
        ("A*B", false),
    ] {
        assert_eq!(is_pattern(text), expected, "{text}");
    }
}

#[test]
fn every_agent_gets_what_it_is_set_up_with() {
    for (agent, name) in [
        ("claude", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        ("codex", "CODEX_HOME"),
        ("gemini", "GEMINI_CLI_X"),
        ("gemini", "GOOGLE_CLOUD_PROJECT"),
        ("qwen", "QWEN_MODEL"),
        ("amp", "AMP_URL"),
        ("copilot", "GH_HOST"),
        ("opencode", "OPENCODE_CONFIG"),
        ("opencode", "CEREBRAS_API_KEY"),
        ("pi", "PI_X"),
    ] {
        assert!(of_agent(agent).iter().any(|pattern| fits(name, pattern)), "{agent} {name}");
        let stranger = if agent == "amp" { "claude" } else { "amp" };
        assert!(!of_agent(stranger).iter().any(|pattern| fits(name, pattern)), "{stranger} {name}");
    }
}

#[test]
fn what_stays_outside_is_named_in_part() {
    let names = |count: usize| (1..=count).map(|nth| format!("V{nth}")).collect::<Vec<_>>();
    assert_eq!(stays_outside(&[]), None);
    for (count, expected) in
        [(1, "V1. To"), (5, "V1, V2, V3, V4, V5. To"), (7, "V1, V2, V3, V4, V5 and 2 more. To")]
    {
        let text = stays_outside(&names(count)).expect("some stay");
        assert!(text.starts_with(&format!("Variables that stay outside: {expected}")), "{text}");
        assert!(text.ends_with("\"env\": [\"V1\"]}"), "{text}");
    }
}
