//! The shapes of keys, as data.

/// How a key looks.
pub(super) struct Shape {
    /// What it begins with; this much of it is shown.
    pub(super) begin: &'static str,
    /// Whether it counts only where no word goes on: some beginnings are ends of words.
    pub(super) is_alone: bool,
    /// What follows.
    pub(super) rest: Rest,
}

/// What follows the beginning of a key.
pub(super) enum Rest {
    /// As many such letters as there are, but not fewer than these, and what `needs` says of them.
    Token { letters: fn(u8) -> bool, least: usize, needs: fn(&[u8]) -> bool },
    /// Exactly as many.
    Exact { letters: fn(u8) -> bool, length: usize },
    /// What separates a name from its value, and the value.
    Value { letters: fn(u8) -> bool, least: usize },
    /// The kind of a file, its dashes, and the file.
    Armor,
}

const fn shape(begin: &'static str, rest: Rest) -> Shape {
    Shape { begin, is_alone: false, rest }
}

/// A beginning that is also the end of words.
const fn alone(begin: &'static str, rest: Rest) -> Shape {
    Shape { begin, is_alone: true, rest }
}

/// At least as many letters and digits.
const fn plain(least: usize) -> Rest {
    Rest::Token { letters: is_plain, least, needs: has_digit }
}

/// The same with `-` and `_`.
const fn dashed(least: usize) -> Rest {
    Rest::Token { letters: is_dashed, least, needs: is_random }
}

/// The same with dots.
const fn dotted(least: usize, needs: fn(&[u8]) -> bool) -> Rest {
    Rest::Token { letters: is_dotted, least, needs }
}

/// All of them. Of two that begin alike the longer one comes first.
pub(super) const SHAPES: [Shape; 47] = [
    // Anthropic, OpenAI, OpenRouter, DeepSeek and others.
    alone("sk-ant-", dashed(16)),
    alone("sk-", dashed(20)),
    alone("xai-", plain(40)),
    alone("gsk_", plain(40)),
    alone("pplx-", plain(40)),
    alone("hf_", plain(30)),
    alone("r8_", plain(30)),
    // Google: keys, access and refresh tokens, client secrets.
    shape("AIza", Rest::Token { letters: is_dashed, least: 35, needs: has_digit }),
    alone("ya29.", dotted(30, has_digit)),
    shape("GOCSPX-", dashed(20)),
    // Amazon: the id, and the secret by the name it goes by.
    shape("AKIA", Rest::Exact { letters: is_upper, length: 16 }),
    shape("ASIA", Rest::Exact { letters: is_upper, length: 16 }),
    shape("aws_secret_access_key", Rest::Value { letters: is_base64, least: 40 }),
    shape("AWS_SECRET_ACCESS_KEY", Rest::Value { letters: is_base64, least: 40 }),
    shape("SecretAccessKey", Rest::Value { letters: is_base64, least: 40 }),
    // Hosts of repositories.
    shape("github_pat_", Rest::Token { letters: is_dashed, least: 36, needs: has_digit }),
    shape("ghp_", plain(36)),
    shape("gho_", plain(36)),
    shape("ghu_", plain(36)),
    shape("ghs_", plain(36)),
    shape("ghr_", plain(36)),
    shape("glpat-", dotted(20, has_digit)),
    shape("gldt-", dotted(20, has_digit)),
    shape("glrt-", dotted(20, has_digit)),
    shape("glptt-", dashed(20)),
    shape("ATATT3", dashed(60)),
    shape("ATBB", plain(28)),
    // Registries.
    shape("npm_", plain(36)),
    shape("pypi-AgE", dashed(40)),
    shape("rubygems_", plain(40)),
    shape("dckr_pat_", dashed(20)),
    // Talk, mail, money, shops, tickets.
    shape("xoxb-", dashed(20)),
    shape("xoxp-", dashed(20)),
    shape("xoxa-", dashed(20)),
    shape("xoxe-", dashed(20)),
    shape("xapp-", dashed(20)),
    shape("hooks.slack.com/services/", Rest::Token { letters: is_path, least: 30, needs: has_digit }),
    alone("SG.", dotted(60, has_digit)),
    shape("sk_live_", plain(20)),
    shape("rk_live_", plain(20)),
    shape("shpat_", plain(32)),
    shape("lin_api_", plain(32)),
    // Clouds and databases.
    shape("dop_v1_", plain(60)),
    shape("sbp_", plain(40)),
    // Signed tokens, private keys.
    shape("eyJ", dotted(40, is_signed)),
    shape("AGE-SECRET-KEY-1", Rest::Token { letters: is_upper, least: 50, needs: has_digit }),
    shape("-----BEGIN ", Rest::Armor),
];

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_dashed(byte: u8) -> bool {
    is_plain(byte) || byte == b'-' || byte == b'_'
}

fn is_dotted(byte: u8) -> bool {
    is_dashed(byte) || byte == b'.'
}

fn is_path(byte: u8) -> bool {
    is_plain(byte) || byte == b'/'
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_base64(byte: u8) -> bool {
    is_plain(byte) || b"+/=".contains(&byte)
}

fn has_digit(rest: &[u8]) -> bool {
    rest.iter().any(u8::is_ascii_digit)
}

/// No words that are joined by dashes.
fn is_random(rest: &[u8]) -> bool {
    let has_both = rest.iter().any(u8::is_ascii_uppercase) && rest.iter().any(u8::is_ascii_lowercase);
    2 <= rest.iter().filter(|byte| byte.is_ascii_digit()).count() || has_both
}

/// A header, what is signed, and the signature: the second part is JSON as well.
fn is_signed(rest: &[u8]) -> bool {
    let mut parts = rest.split(|byte| *byte == b'.');
    let (head, body, signature) = (parts.next(), parts.next(), parts.next());
    head.is_some_and(|head| 8 <= head.len())
        && body.is_some_and(|body| body.starts_with(b"eyJ") && 8 <= body.len())
        && signature.is_some_and(|signature| 8 <= signature.len())
}
