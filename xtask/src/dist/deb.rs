//! The Debian package.

use anyhow::Result;

use super::{
    Package,
    archive::{Entry, MADE_AT, ar::ar, gzip, tar::tar},
    contents::Contents,
    md5::md5,
};

/// What `control` says; the rest is filled in.
const CONTROL: &str = include_str!("../../../packaging/deb/control");
const COPYRIGHT: &str = include_str!("../../../packaging/deb/copyright");
/// What lintian is told: that a program is static is the point of it.
const OVERRIDES: &str = include_str!("../../../packaging/deb/lintian-overrides");

/// The package; nothing where there is no Debian.
pub(super) fn make(contents: &Contents) -> Result<Option<Package>> {
    let Some(architecture) = contents.target.debian else { return Ok(None) };
    let version = format!("{}-1", contents.version);
    let files = files(contents, &version)?;
    let size: usize = files.iter().map(|entry| entry.bytes.len().div_ceil(1024)).sum();
    let control = CONTROL
        .replace("{version}", &version)
        .replace("{architecture}", architecture)
        .replace("{size}", &size.to_string());
    let sums: Vec<String> =
        files.iter().map(|entry| format!("{}  {}\n", md5(&entry.bytes), entry.path)).collect();
    let about = [Entry::new("control", control), Entry::new("md5sums", sums.concat())];
    let bytes = ar(&[
        Entry::new("debian-binary", "2.0\n"),
        Entry::new("control.tar.gz", gzip(&tar(&about, "./")?)?),
        Entry::new("data.tar.gz", gzip(&tar(&files, "./")?)?),
    ]);
    Ok(Some(Package { name: format!("ralph-loop_{version}_{architecture}.deb"), bytes }))
}

fn files(contents: &Contents, version: &str) -> Result<Vec<Entry>> {
    let date =
        jiff::Timestamp::new(i64::from(MADE_AT), 0)?.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string();
    let changelog = format!(
        "ralph-loop ({version}) unstable; urgency=medium\n\n  * Version {}; see changelog.gz.\n\n \
         -- The authors of ralph <ralph-loop@users.noreply.github.com>  {date}\n",
        contents.version
    );
    let mut files = vec![
        Entry::program("usr/bin/ralph", &*contents.program),
        Entry::new("usr/share/doc/ralph-loop/copyright", COPYRIGHT),
        Entry::new("usr/share/doc/ralph-loop/changelog.Debian.gz", gzip(changelog.as_bytes())?),
        Entry::new("usr/share/doc/ralph-loop/sbom.cdx.json.gz", gzip(&contents.sbom)?),
        Entry::new("usr/share/lintian/overrides/ralph-loop", OVERRIDES),
    ];
    for text in &contents.texts {
        let name = match text.path.as_str() {
            "CHANGELOG.md" => "changelog.gz",
            "README.md" => "README.md.gz",
            // The copyright says it.
            _ => continue,
        };
        files.push(Entry::new(format!("usr/share/doc/ralph-loop/{name}"), gzip(&text.bytes)?));
    }
    for page in &contents.manual {
        files.push(Entry::new(format!("usr/share/man/man1/{}.gz", page.path), gzip(&page.bytes)?));
    }
    for script in &contents.completions {
        let place = match script.path.as_str() {
            "ralph.bash" => "bash-completion/completions/ralph",
            "_ralph" => "zsh/vendor-completions/_ralph",
            _ => "fish/vendor_completions.d/ralph.fish",
        };
        files.push(Entry::new(format!("usr/share/{place}"), &*script.bytes));
    }
    Ok(files)
}
