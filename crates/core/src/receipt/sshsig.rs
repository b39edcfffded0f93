//! The signatures that `ssh-keygen -Y sign` makes: their armour, and what they say about themselves.

use sha2::{Digest, Sha256};

use super::base64;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
/// As many characters a line of an armour has.
const LINE_LEN: usize = 70;

/// A signature as far as it can be read without checking it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshSignature {
    /// The public key that it says it was made with, in base64.
    pub key: String,
    /// What it was made for.
    pub namespace: String,
}

/// The base64 inside of an armour.
pub fn unarmoured(text: &str) -> Option<String> {
    let body = text.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
    let body: String = body.split_whitespace().collect();
    base64::decode(&body).map(|_| body)
}

/// The armour around base64.
pub fn armoured(body: &str) -> String {
    let body: Vec<char> = body.split_whitespace().flat_map(str::chars).collect();
    let lines: Vec<String> = body.chunks(LINE_LEN).map(|line| line.iter().collect()).collect();
    format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"))
}

impl SshSignature {
    /// Reads a signature in base64.
    pub fn read(body: &str) -> Option<Self> {
        let bytes = base64::decode(body)?;
        let rest = bytes.strip_prefix(b"SSHSIG")?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        if u32::from_be_bytes(*version) != 1 {
            return None;
        }
        let (key, rest) = string(rest)?;
        let (namespace, _) = string(rest)?;
        Some(Self { key: base64::encode(key), namespace: String::from_utf8(namespace.to_vec()).ok()? })
    }

    /// The key as `ssh-keygen -l` shows it.
    pub fn fingerprint(&self) -> String {
        let key = base64::decode(&self.key).unwrap_or_default();
        format!("SHA256:{}", base64::encode(&Sha256::digest(&key)).trim_end_matches('='))
    }

    /// The key as files of signers have it.
    pub fn key_line(&self) -> String {
        let key = base64::decode(&self.key).unwrap_or_default();
        let kind =
            string(&key).map(|(kind, _)| String::from_utf8_lossy(kind).into_owned()).unwrap_or_default();
        format!("{kind} {}", self.key)
    }
}

/// Bytes with their length before them.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `ssh-keygen -Y sign -n ralph-receipt` of OpenSSH.
    const SIGNATURE: &str = "-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgiKQrplgQDTBCRH083B8sVGXyR6
y4t/cF6RcUG409WFUAAAANcmFscGgtcmVjZWlwdAAAAAAAAAAGc2hhNTEyAAAAUwAAAAtz
c2gtZWQyNTUxOQAAAEBgTDyOpeD2fvipFUHFIzITo7BeH5OgZMBKOFfPJvxnCP8nL3Rv0k
39kE5gDWfNgjwy/iqiSHt79AdhwRodrXoN
-----END SSH SIGNATURE-----
";

    #[test]
    fn a_signature_says_its_key_and_what_it_is_for() {
        let body = unarmoured(SIGNATURE).expect("a signature");
        assert_eq!(armoured(&body), SIGNATURE);
        let read = SshSignature::read(&body).expect("a signature");
        assert_eq!(read.namespace, "ralph-receipt");
        assert_eq!(
            read.key_line(),
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIikK6ZYEA0wQkR9PNwfLFRl8kesuLf3BekXFBuNPVhV"
        );
        assert_eq!(read.fingerprint(), "SHA256:jSFCsKvFHm7h40a+7CZcQgnBw8PKmatlsWB4QlK5ML0");
    }

    #[test]
    fn what_is_no_signature_is_none() {
        for text in ["", "AAAA", "U1NIU0lH", "U1NIU0lHAAAAAgAAAAA="] {
            assert_eq!(SshSignature::read(text), None, "{text}");
        }
        assert_eq!(unarmoured("-----BEGIN SSH SIGNATURE-----"), None);
    }
}
