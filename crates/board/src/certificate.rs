//! An authority of a board's own, and the certificate of its server.

use std::time::{Duration, SystemTime};

use ralph_sys::error::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

/// How long a certificate counts: a board that is started again after that makes new ones.
const MAX_AGE: Duration = Duration::from_hours(10 * 365 * 24);
/// Clocks differ.
const MAX_CLOCK_ERROR: Duration = Duration::from_hours(24);

/// Certificates in PEM.
pub struct Certificates {
    /// Of the authority; clients get this. Its key is thrown away, so no one can make a second server.
    pub ca: String,
    /// Of the server.
    pub server: String,
    /// The key of the server.
    pub server_key: String,
}

impl Certificates {
    /// Makes an authority, and a certificate for a server that is reached under these names.
    pub fn make(names: &[String], now: SystemTime) -> Result<Self> {
        let what = "cannot make a certificate";
        let mut ca = params(&[], "ralph fleet board", now)?;
        ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().context(what)?).context(what)?;
        let mut server = params(names, "ralph fleet board server", now)?;
        server.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().context(what)?;
        let server = server.signed_by(&key, &ca).context(what)?;
        Ok(Self { ca: ca.pem(), server: server.pem(), server_key: key.serialize_pem() })
    }
}

fn params(names: &[String], common: &str, now: SystemTime) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(names).context("a name that no certificate can have")?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    params.distinguished_name = name;
    params.not_before = (now - MAX_CLOCK_ERROR).into();
    params.not_after = (now + MAX_AGE).into();
    Ok(params)
}
