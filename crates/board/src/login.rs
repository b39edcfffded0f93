//! As whom a process comes to a board. Secrets are in files that only their owner can read, never in arguments.

use std::path::{Path, PathBuf};

use ralph_sys::error::{Context, Error, Result};
use serde::{Deserialize, Serialize};

use crate::{
    address::BoardAddress,
    key::{Key, PublicKey},
    name::Name,
    secret,
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
    /// A process without a key.
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
                "`{}` is not a login: copy a folder that `ralph fleet board` wrote",
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
        secret::make_dir(dir)?;
        let (name, key, api) = who;
        let described =
            Described { board: board.to_string(), name: name.clone(), api: api.map(str::to_owned) };
        secret::write(&dir.join(SEED), &key.seed()?)?;
        secret::write(&dir.join(CA), ca)?;
        secret::write(&dir.join(LANDER), &format!("{}\n", lander.as_str()))?;
        secret::write(&dir.join(DESCRIBED), &format!("{}\n", serde_json::to_string_pretty(&described)?))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
}
