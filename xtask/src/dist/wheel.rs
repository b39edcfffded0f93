//! The Python package: `pip install ralph-loop`, `uvx ralph-loop`.

use std::fmt::Write;

use anyhow::Result;

use super::{
    Package,
    archive::{Entry, zip::zip},
    contents::Contents,
};

/// What the registry shows; the rest is filled in.
const METADATA: &str = include_str!("../../../packaging/wheel/METADATA");
/// `uvx ralph-loop` looks for a program with the package's name.
const BY_PACKAGE_NAME: &str = include_str!("../../../packaging/wheel/ralph-loop");

/// The wheel.
pub(super) fn make(contents: &Contents) -> Result<Package> {
    let stem = format!("ralph_loop-{}", contents.version);
    let (info, data) = (format!("{stem}.dist-info"), format!("{stem}.data"));
    let mut entries = vec![
        Entry::program(format!("{data}/scripts/ralph"), &*contents.program),
        Entry::program(format!("{data}/scripts/ralph-loop"), BY_PACKAGE_NAME),
    ];
    entries.extend(contents.manual.iter().map(|page| page.below(&format!("{data}/data/share/man/man1"))));
    for script in &contents.completions {
        let place = match script.path.as_str() {
            "ralph.bash" => "bash-completion/completions/ralph",
            "_ralph" => "zsh/site-functions/_ralph",
            _ => "fish/vendor_completions.d/ralph.fish",
        };
        entries.push(Entry::new(format!("{data}/data/share/{place}"), &*script.bytes));
    }
    let texts = contents.texts.iter();
    let readme = texts.clone().find(|text| text.path == "README.md").map(|text| text.bytes.clone());
    let mut metadata = METADATA.replace("{version}", &contents.version).into_bytes();
    metadata.extend(readme.unwrap_or_default());
    entries.push(Entry::new(format!("{info}/METADATA"), metadata));
    let mut about = "Wheel-Version: 1.0\nGenerator: ralph\nRoot-Is-Purelib: false\n".to_owned();
    for tag in contents.target.wheel.split('.') {
        let _ = writeln!(about, "Tag: py3-none-{tag}");
    }
    entries.push(Entry::new(format!("{info}/WHEEL"), about));
    let licences = texts.filter(|text| text.path.starts_with("LICENSE"));
    entries.extend(licences.map(|text| text.below(&format!("{info}/licenses"))));
    entries.push(Entry::new(format!("{info}/sboms/ralph.cdx.json"), &*contents.sbom));
    entries.push(record(&info, &entries));
    let name = format!("{stem}-py3-none-{}.whl", contents.target.wheel);
    Ok(Package { name, bytes: zip(&entries)? })
}

/// The list of all files with their digests.
fn record(info: &str, entries: &[Entry]) -> Entry {
    let path = format!("{info}/RECORD");
    let mut lines = String::new();
    for entry in entries {
        let _ =
            writeln!(lines, "{},sha256={},{}", entry.path, url_safe_digest(&entry.bytes), entry.bytes.len());
    }
    let _ = writeln!(lines, "{path},,");
    Entry::new(path, lines)
}

/// As wheels want it: base 64 for addresses, without the padding.
fn url_safe_digest(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digest = Sha256::digest(bytes);
    let mut text = String::new();
    for chunk in digest.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for index in 0..=chunk.len() {
            let letter = (bits >> (18 - 6 * index)) & 63;
            text.extend(LETTERS.get(letter as usize).map(|letter| char::from(*letter)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_everybody() {
        assert_eq!(url_safe_digest(b""), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
    }
}
