//! As whom somebody comes to a board. Secrets are in files that only their owner can read, never in arguments.

use std::{
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use fs_err::{OpenOptions, os::unix::fs::OpenOptionsExt};
use ralph_sys::error::{Context, Error, Result};
use serde::{Deserialize, Serialize};

use crate::{
    address::BoardAddress,
    key::{Key, PublicKey},
    name::Name,
};

/// Who comes, and what proves it.
#[derive(Clone, Debug)]
pub struct Login {
    /// The author of entries, parcels and events. A board with roles accepts no other.
    pub name: Name,
    /// A file with the seed of a key, of mode 600. Without it the board must let everybody in.
    pub seed: Option<PathBuf>,
    /// The authority that signed the server's certificate; with it TLS is a must, from the first byte.
    pub ca: Option<PathBuf>,
    /// Where the interface of the streams is, if they are in another account.
    pub api: Option<String>,
}

impl Login {
    /// Somebody without a key.
    pub fn anonymous(name: Name) -> Self {
        Self { name, seed: None, ca: None, api: None }
    }
}

/// A folder that `ralph fleet board` writes: everything that one machine needs, to be copied there.
#[derive(Clone, Debug)]
pub struct LoginDir {
    /// Where the board is.
    pub board: BoardAddress,
    /// As whom to come.
    pub login: Login,
    /// Whose postings a worker takes.
    pub lander: PublicKey,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    board: String,
    name: Name,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    api: Option<String>,
}

const DESCRIBED: &str = "login.json";
const SEED: &str = "seed";
const CA: &str = "ca.pem";
const LANDER: &str = "lander.pub";

impl LoginDir {
    /// Reads a folder.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(DESCRIBED);
        let text = fs_err::read(&path).map_err(|error| {
            Error::from(error).hint(format!(
                "`{}` is no login: copy a folder that `ralph fleet board` wrote",
                dir.display()
            ))
        })?;
        let described: Described =
            serde_json::from_slice(&text).context(format!("{} cannot be read", path.display()))?;
        let lander = PublicKey::parse(&fs_err::read_to_string(dir.join(LANDER))?)?;
        let login = Login {
            name: described.name,
            seed: Some(dir.join(SEED)),
            ca: Some(dir.join(CA)),
            api: described.api,
        };
        Ok(Self { board: described.board.parse()?, login, lander })
    }

    /// Writes a folder that only its owner can read.
    pub fn write(
        dir: &Path,
        board: &BoardAddress,
        who: (&Name, &Key, Option<&str>),
        (ca, lander): (&str, &PublicKey),
    ) -> Result<()> {
        make_private_dir(dir)?;
        let (name, key, api) = who;
        let described =
            Described { board: board.to_string(), name: name.clone(), api: api.map(str::to_owned) };
        write_private(&dir.join(SEED), &key.seed()?)?;
        write_private(&dir.join(CA), ca)?;
        write_private(&dir.join(LANDER), &format!("{}\n", lander.as_str()))?;
        write_private(&dir.join(DESCRIBED), &format!("{}\n", serde_json::to_string_pretty(&described)?))
    }
}

/// Makes a folder that only its owner can enter.
pub(crate) fn make_private_dir(dir: &Path) -> Result<()> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.context(format!("cannot make {}", dir.display()))
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    Ok(())
}

/// Reads a secret from a file that nobody else can read.
pub(crate) fn read_secret(path: &Path) -> Result<String> {
    let mode = fs_err::metadata(path)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::new(format_args!(
            "others can read the key in {} (mode {mode:o})",
            path.display()
        ))
        .hint(format!("chmod 600 {}", path.display())));
    }
    Ok(fs_err::read_to_string(path)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_written_and_read() {
        let temp = tempfile::tempdir().expect("a folder");
        let dir = temp.path().join("logins/w1");
        let (key, lander) = (Key::generate(), Key::generate());
        let board = "tls://host:1".parse().expect("an address");
        let name = "w1".parse().expect("a name");
        LoginDir::write(&dir, &board, (&name, &key, Some("X.API")), ("CA", &lander.public()))
            .expect("written");
        let read = LoginDir::read(&dir).expect("read");
        assert_eq!((read.board, read.lander, read.login.name), (board, lander.public(), name));
        assert_eq!(read.login.api.as_deref(), Some("X.API"));
        let seed = read.login.seed.expect("a seed");
        assert_eq!(Key::read(&seed).expect("the key").public(), key.public());
        assert_eq!(fs_err::metadata(&seed).expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs_err::metadata(&dir).expect("a folder").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("seed");
        write_private(&path, &Key::generate().seed().expect("a seed")).expect("written");
        assert!(Key::read(&path).is_ok());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
        let error = Key::read(&path).err().expect("refused");
        assert!(error.to_string().contains("others can read the key"), "{error}");
        assert_eq!(error.hints(), [format!("chmod 600 {}", path.display())]);
    }
}
