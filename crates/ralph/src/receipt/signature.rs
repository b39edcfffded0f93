//! Who vouches for a receipt, by what `ssh-keygen` says and by whom the verifier trusts.

use std::{ffi::OsString, io::Write, path::Path, time::Duration};

use ralph_core::receipt::{
    NAMESPACE,
    envelope::Envelope,
    signers::{Signer, lines_for},
    sshsig::{SshSignature, armoured},
    verdict::{VerdictItem, VerdictTopic},
};
use ralph_sys::{
    calls::{refusal, succeeded, unattended},
    error::Result,
    process::{Captured, Supervisor},
};

/// Nothing that only computes takes longer.
const CHECK_TIMEOUT: Duration = Duration::from_mins(1);
/// Most of what it says.
const MAX_OUTPUT_LEN: usize = 64 * 1024;
/// An envelope with more signatures is none of ralph's.
const MAX_SIGNATURES: usize = 8;

/// The file of allowed signers, as the verifier has it.
pub(super) struct Allowed {
    /// What people call it.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// Who signed, if that can be told.
pub(super) struct Vouched {
    pub(super) item: VerdictItem,
    /// As the file of signers names them.
    pub(super) signer: Option<String>,
    /// The key, as `ssh-keygen -l` shows it.
    pub(super) key: Option<String>,
}

/// Looks at the signatures of a receipt: one that is trusted is enough.
pub(super) fn check(
    supervisor: &mut Supervisor,
    envelope: &Envelope,
    allowed: Option<&Allowed>,
) -> Result<Vouched> {
    let without_signer = |item| Vouched { item, signer: None, key: None };
    if envelope.signatures.is_empty() {
        let item = VerdictItem::unknown(VerdictTopic::Signature, "no one has signed it".to_owned())
            .hint("the person who ran it can: ralph sign RUN");
        return Ok(without_signer(item));
    }
    if MAX_SIGNATURES < envelope.signatures.len() {
        return Ok(without_signer(VerdictItem::broken(
            VerdictTopic::Signature,
            "it has too many signatures".to_owned(),
        )));
    }
    let Ok(bytes) = envelope.signed_bytes() else {
        return Ok(without_signer(VerdictItem::broken(
            VerdictTopic::Signature,
            "there is nothing that could be signed".to_owned(),
        )));
    };
    let folder = tempfile::Builder::new().prefix("ralph-verify-").tempdir()?;
    let mut last = None;
    for signature in &envelope.signatures {
        let vouched = one(supervisor, &signature.sig, &bytes, allowed, folder.path())?;
        if vouched.signer.is_some() {
            return Ok(vouched);
        }
        last = Some(vouched);
    }
    Ok(last.unwrap_or_else(|| {
        without_signer(VerdictItem::unknown(VerdictTopic::Signature, "no one has signed it".to_owned()))
    }))
}

fn one(
    supervisor: &mut Supervisor,
    body: &str,
    bytes: &[u8],
    allowed: Option<&Allowed>,
    folder: &Path,
) -> Result<Vouched> {
    let without_signer = |item| Vouched { item, signer: None, key: None };
    let broken = |text: &str| without_signer(VerdictItem::broken(VerdictTopic::Signature, text.to_owned()));
    let Some(read) = SshSignature::read(body) else { return Ok(broken("the signature cannot be read")) };
    if read.namespace != NAMESPACE {
        return Ok(broken("the signature was made for something else"));
    }
    let file = |name: &str, text: &[u8]| -> Result<OsString> {
        let path = folder.join(name);
        fs_err::File::create(&path)?.write_all(text)?;
        Ok(path.into())
    };
    let signature = file("signature", armoured(body).as_bytes())?;
    let mut ask = |words: Vec<OsString>| -> Result<Captured> {
        let spec = unattended("ssh-keygen".into(), folder, words).input(bytes).within(CHECK_TIMEOUT);
        Ok(supervisor.capture(spec, MAX_OUTPUT_LEN)?)
    };
    let key = read.fingerprint();
    let mut why = None;
    let lines =
        allowed.map(|it| lines_for(&String::from_utf8_lossy(&it.text), &read.key)).unwrap_or_default();
    if let Some(allowed) = allowed.filter(|_| !lines.is_empty()) {
        let list = file("signers", &allowed.text)?;
        for Signer { principal, .. } in &lines {
            let mut words: Vec<OsString> = ["-Y", "verify", "-n", NAMESPACE].map(OsString::from).to_vec();
            words.extend(["-f".into(), list.clone(), "-I".into(), principal.into()]);
            words.extend(["-s".into(), signature.clone()]);
            let captured = ask(words)?;
            if succeeded(&captured) {
                let item =
                    VerdictItem::holds(VerdictTopic::Signature, format!("signed by {principal} ({key})"));
                return Ok(Vouched { item, signer: Some(principal.clone()), key: Some(key) });
            }
            why = Some(refusal(&captured));
        }
    }
    let mut words: Vec<OsString> = ["-Y", "check-novalidate", "-n", NAMESPACE].map(OsString::from).to_vec();
    words.extend(["-s".into(), signature]);
    if !succeeded(&ask(words)?) {
        return Ok(broken("the signature is not one of this receipt: one of the two was changed"));
    }
    Ok(Vouched { item: untrusted(&read, allowed, &lines, why), signer: None, key: Some(key) })
}

/// A good signature of a key that the verifier does not trust for this.
fn untrusted(
    read: &SshSignature,
    allowed: Option<&Allowed>,
    lines: &[Signer],
    why: Option<String>,
) -> VerdictItem {
    let key = read.fingerprint();
    let line = |who: &str| format!("{who} namespaces=\"{NAMESPACE}\" {}", read.key_line());
    let unknown = |text: String| VerdictItem::unknown(VerdictTopic::Signature, text);
    let Some(allowed) = allowed else {
        return unknown(format!("signed with {key}; you have no file of allowed signers"))
            .hint("name one: --allowed-signers FILE, or: git config --global gpg.ssh.allowedSignersFile FILE")
            .hint(format!("if you trust the key, write into it: {}", line("WHO")));
    };
    let limited = lines
        .iter()
        .find(|it| it.namespaces.as_ref().is_some_and(|all| !all.iter().any(|it| it == NAMESPACE)));
    match (lines.first(), limited) {
        (None, _) => unknown(format!("signed with {key}, which is not in {}", allowed.name))
            .hint(format!("if you trust the key, add the line: {}", line("WHO"))),
        (Some(_), Some(signer)) => unknown(format!(
            "signed by {} ({key}), whose line in {} does not allow `{NAMESPACE}`",
            signer.principal, allowed.name
        ))
        .hint(format!("add the line: {}", line(&signer.principal))),
        (Some(signer), None) => {
            let why = why.unwrap_or_default();
            let why = why.lines().next().unwrap_or("ssh-keygen refuses it").to_owned();
            unknown(format!(
                "signed by {} ({key}), whom {} does not allow it: {why}",
                signer.principal, allowed.name
            ))
        }
    }
}
