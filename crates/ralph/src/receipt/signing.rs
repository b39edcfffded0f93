//! Signs receipts with the key that the user's git signs with, by `ssh-keygen`, without a terminal and within seconds.

use std::{
    ffi::OsString,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::receipt::{
    NAMESPACE,
    envelope::{Envelope, Signature},
    sshsig::{SshSignature, unarmoured},
};
use ralph_sys::{
    calls::{looking_git, refusal, succeeded, unattended},
    error::{Context, Error, Result},
    process::Supervisor,
};

/// A key that answers later waits for a person: a passphrase, a touch, a confirmation.
const SIGN_TIMEOUT: Duration = Duration::from_secs(10);
/// Most of what the programs say.
const MAX_OUTPUT_LEN: usize = 64 * 1024;

/// What the user's git signs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SigningKey {
    /// An SSH key in a file, private or public.
    File(PathBuf),
    /// A public key as text; its private part is in the agent.
    Text(String),
    /// A key of another kind, which receipts cannot be signed with.
    Other(String),
    /// None.
    None,
}

impl SigningKey {
    /// What no process of an agent may reach: the key's files, and the socket of the agent that holds it.
    pub(crate) fn secrets(&self) -> Vec<PathBuf> {
        let mut secrets = Vec::new();
        if let Self::File(path) = self {
            secrets.push(private_part(path));
        }
        secrets.extend(std::env::var_os("SSH_AUTH_SOCK").filter(|path| !path.is_empty()).map(PathBuf::from));
        secrets
    }
}

/// The private part of a key of which a file has one part.
fn private_part(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "pub") {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

/// Finds out what the user's git signs with.
pub(crate) fn key(supervisor: &mut Supervisor, project: &Path) -> SigningKey {
    let words = ["config", "-z", "--get-regexp", r"^(gpg\.format|user\.signingkey)$"];
    let spec = looking_git(project, words.map(OsString::from).to_vec());
    let Ok(captured) = supervisor.capture(spec, MAX_OUTPUT_LEN) else { return SigningKey::None };
    let (mut format, mut key) = (None, None);
    for setting in String::from_utf8_lossy(&captured.out).split('\0') {
        match setting.split_once('\n') {
            Some(("gpg.format", value)) => format = Some(value.to_owned()),
            Some(("user.signingkey", value)) => key = Some(value.to_owned()),
            _ => {}
        }
    }
    let Some(key) = key.filter(|key| !key.is_empty()) else { return SigningKey::None };
    let literal = key.strip_prefix("key::").or_else(|| key.starts_with("ssh-").then_some(key.as_str()));
    match (format.as_deref(), literal) {
        (Some("ssh"), Some(text)) => SigningKey::Text(text.to_owned()),
        (Some("ssh"), None) => SigningKey::File(from_home(&key, project)),
        (other, _) => SigningKey::Other(other.unwrap_or("openpgp").to_owned()),
    }
}

fn from_home(key: &str, project: &Path) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (key.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => project.join(key),
    }
}

/// Signs a receipt, without asking a person for a passphrase.
pub(crate) fn sign(
    supervisor: &mut Supervisor,
    key: &SigningKey,
    envelope: &Envelope,
    folder: &Path,
) -> Result<Signature> {
    let mut args: Vec<OsString> = ["-Y", "sign", "-q", "-n", NAMESPACE].map(OsString::from).to_vec();
    let mut public = None;
    match key {
        SigningKey::File(path) => args.extend(["-f".into(), path.into()]),
        SigningKey::Text(text) => {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600))?;
            args.extend(["-U".into(), "-f".into(), file.path().into()]);
            public = Some(file);
        }
        SigningKey::Other(format) => return Err(other_format(format)),
        SigningKey::None => return Err(no_key()),
    }
    let bytes = envelope.signed_bytes().map_err(Error::new)?;
    let spec = unattended("ssh-keygen".into(), folder, args)
        .input(bytes)
        .without("SSH_ASKPASS")
        .without("DISPLAY")
        .without("WAYLAND_DISPLAY")
        .within(SIGN_TIMEOUT);
    let captured = supervisor.capture(spec, MAX_OUTPUT_LEN).context("cannot run ssh-keygen")?;
    drop(public);
    if captured.ended.cause.is_some() {
        return Err(Error::new(format!("the key did not answer within {} s", SIGN_TIMEOUT.as_secs()))
            .hint("unlock it (ssh-add), then: ralph sign RUN"));
    }
    let body = unarmoured(&String::from_utf8_lossy(&captured.out)).filter(|_| succeeded(&captured));
    let signature = body.as_deref().and_then(SshSignature::read).filter(|it| it.namespace == NAMESPACE);
    if let (Some(sig), Some(read)) = (body, signature) {
        return Ok(Signature { keyid: read.fingerprint(), sig });
    }
    let said = refusal(&captured);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no signature");
    Err(Error::new(format!("ssh-keygen: {last}"))
        .hint("add the key to your agent (ssh-add), then: ralph sign RUN"))
}

/// There is no key to sign with.
pub(crate) fn no_key() -> Error {
    Error::new("git has no SSH signing key")
        .hint("git config --global gpg.format ssh")
        .hint("git config --global user.signingkey ~/.ssh/id_ed25519.pub")
}

fn other_format(format: &str) -> Error {
    let name = if format == "openpgp" { "a GPG key" } else { format };
    Error::new(format!("git signs with {name}; receipts are signed with SSH keys"))
        .hint("git config gpg.format ssh")
        .hint("git config user.signingkey ~/.ssh/id_ed25519.pub")
}
