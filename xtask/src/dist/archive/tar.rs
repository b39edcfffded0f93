//! The archive of everything else: `ustar`, with the folders that its files need.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use super::{Entry, MADE_AT};

/// Everything comes in blocks of this size.
const BLOCK: usize = 512;
/// The longest name that the header has room for.
const MAX_NAME_LEN: usize = 100;

/// All of it, in the order of the names. Folders come before what is in them.
pub(in crate::dist) fn tar(entries: &[Entry], prefix: &str) -> Result<Vec<u8>> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    let mut folders = BTreeSet::new();
    let mut archive = Vec::new();
    for entry in sorted {
        for (index, _) in entry.path.match_indices('/') {
            if folders.insert(&entry.path[..index]) {
                archive.extend_from_slice(&header(
                    &format!("{prefix}{}/", &entry.path[..index]),
                    0o755,
                    0,
                    b'5',
                )?);
            }
        }
        archive.extend_from_slice(&header(
            &format!("{prefix}{}", entry.path),
            entry.mode(),
            entry.bytes.len(),
            b'0',
        )?);
        archive.extend_from_slice(&entry.bytes);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

fn header(name: &str, mode: u32, size: usize, kind: u8) -> Result<[u8; BLOCK]> {
    ensure!(name.len() < MAX_NAME_LEN, "the name `{name}` is too long");
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        header.get_mut(at..at + text.len()).context("a field is too long")?.copy_from_slice(text.as_bytes());
        anyhow::Ok(())
    };
    put(0, name)?;
    put(100, &format!("{mode:07o}"))?;
    put(108, "0000000")?;
    put(116, "0000000")?;
    put(124, &format!("{size:011o}"))?;
    put(136, &format!("{MADE_AT:011o}"))?;
    put(148, "        ")?;
    put(257, "ustar\x0000root")?;
    put(297, "root")?;
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Ok(header)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_tar_of_the_machine_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let entries =
            [Entry::program("b/c/run", "#!/bin/sh\n"), Entry::new("b/a", vec![7; 1000]), Entry::new("z", "")];
        let path = folder.path().join("x.tar");
        fs_err::write(&path, tar(&entries, "./").expect("an archive")).expect("a file");
        let run = |args: &[&str]| {
            let output = Command::new("tar").args(args).current_dir(folder.path()).output().expect("tar");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert_eq!(
            run(&["-tf", "x.tar"]).lines().collect::<Vec<_>>(),
            ["./b/", "./b/a", "./b/c/", "./b/c/run", "./z"]
        );
        run(&["-xf", "x.tar"]);
        assert_eq!(fs_err::read(folder.path().join("b/a")).expect("a file"), [7; 1000]);
        let listed = run(&["-tvf", "x.tar"]);
        assert!(listed.contains("-rwxr-xr-x root/root") && listed.contains("1985-10-26"), "{listed}");
        assert!(tar(&[Entry::new("n".repeat(200), "")], "").is_err());
    }
}
