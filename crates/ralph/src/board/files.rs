//! What `ralph fleet board` keeps: keys, certificates, logins and the configuration of the server.
//!
//! Keys that are there are kept, so a board that is started again lets the same machines in; a worker that is named for the
//! first time gets a login.

use std::{
    fmt::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ralph_board::{
    ADMIN, API, BoardAddress, Certificates, Key, LoginDir, Name, PublicKey, ServerConfig, WATCHER, secret,
};
use ralph_core::fleet::LANDER;
use ralph_sys::error::{Context, Error, Result};

/// Where a board is, for its server and for everybody else.
#[derive(Clone, Debug)]
pub(crate) struct BoardPlace {
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// The name that other machines reach it by.
    pub(crate) name: String,
}

/// The folder of a board, filled.
#[derive(Debug)]
pub(crate) struct BoardFiles {
    dir: PathBuf,
    /// Where everybody finds the board.
    pub(crate) address: BoardAddress,
    /// Who works.
    pub(crate) workers: Vec<Name>,
    /// The text of the configuration.
    pub(crate) config: String,
    /// Whether logins that were copied before are of no use any more.
    pub(crate) has_new_authority: bool,
}

impl BoardFiles {
    /// Writes what is missing.
    pub(crate) fn write(dir: &Path, place: &BoardPlace, named: &[Name]) -> Result<Self> {
        secret::make_dir(&dir.join(LOGINS))?;
        let reserved = [LANDER, WATCHER, ADMIN];
        if let Some(name) = named.iter().find(|name| reserved.contains(&name.as_str())) {
            return Err(Error::new(format!("a worker cannot be called `{name}`")));
        }
        let address = format!("tls://{}:{}", place.shown_name(), place.listen.port()).parse()?;
        let (ca, has_new_authority) = certificates(dir, place)?;
        let workers = all_workers(dir, named)?;
        let lander = key(&dir.join(LOGINS).join(LANDER))?;
        let files = Files { dir, address: &address, ca: &ca, lander: &lander.public() };
        let watcher = files.login(WATCHER, &key(&dir.join(LOGINS).join(WATCHER))?, Some(API))?;
        files.login(LANDER, &lander, None)?;
        let admin = key(&dir.join(ADMIN))?;
        files.write(&dir.join(ADMIN), ADMIN, &admin, None)?;
        let with_key = |name: &Name| {
            let key = key(&dir.join(LOGINS).join(name.as_str()))?;
            Ok((name.clone(), files.login(name.as_str(), &key, Some(API))?))
        };
        let config = ServerConfig {
            listen: place.listen.to_string(),
            store: dir.join("store"),
            certificate: (dir.join(SERVER_CERTIFICATE), dir.join(SERVER_KEY)),
            admin: admin.public(),
            lander: lander.public(),
            watcher,
            workers: workers.iter().map(with_key).collect::<Result<_>>()?,
        };
        let config = config.text();
        secret::write(&dir.join(CONFIG), &config)?;
        Ok(Self { dir: dir.to_owned(), address, workers, config, has_new_authority })
    }

    /// The folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The configuration.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.dir.join(CONFIG)
    }

    /// The login of who makes the streams.
    pub(crate) fn admin(&self) -> Result<LoginDir> {
        LoginDir::read(&self.dir.join(ADMIN))
    }

    /// What to type on which machine.
    pub(crate) fn instructions(&self, version: &str) -> String {
        let login = |name: &str| self.dir.join(LOGINS).join(name).display().to_string();
        let mut text = format!(
            "The board is at {} (nats-server {version}).\n\nOn the machine with the project, which lands:\n  ralph fleet --login {}\n",
            self.address,
            login(LANDER)
        );
        for name in &self.workers {
            let _ = writeln!(
                text,
                "\nOn the machine of worker {name}, after copying {} there as {name}.login:\n  ralph fleet work --login {name}.login",
                login(name.as_str())
            );
        }
        if self.workers.is_empty() {
            text.push_str(
                "\nThere is no worker yet: `ralph fleet board --worker NAME` makes a login for one.\n",
            );
        }
        let _ = writeln!(text, "\nTo follow the fleet from elsewhere, copy {}.", login(WATCHER));
        text.push_str("A folder of a login is a secret: copy it with scp -r -p.\n");
        text
    }
}

const LOGINS: &str = "logins";
const CONFIG: &str = "server.conf";
const SERVER_CERTIFICATE: &str = "server.pem";
const SERVER_KEY: &str = "server.key";
const CA: &str = "ca.pem";
/// The names that the certificate is for.
const NAMES: &str = "server.names";

struct Files<'a> {
    dir: &'a Path,
    address: &'a BoardAddress,
    ca: &'a str,
    lander: &'a PublicKey,
}

impl Files<'_> {
    fn login(&self, name: &str, key: &Key, api: Option<&str>) -> Result<PublicKey> {
        self.write(&self.dir.join(LOGINS).join(name), name, key, api)?;
        Ok(key.public())
    }

    fn write(&self, dir: &Path, name: &str, key: &Key, api: Option<&str>) -> Result<()> {
        LoginDir::write(dir, self.address, (&name.parse()?, key, api), (self.ca, self.lander))
    }
}

impl BoardPlace {
    /// A certificate is for names; those who are on this machine use its usual one.
    fn shown_name(&self) -> &str {
        if self.listen.ip().is_loopback() { "localhost" } else { &self.name }
    }

    fn certified(&self) -> Vec<String> {
        let mut names = vec!["localhost".to_owned(), self.shown_name().to_owned()];
        if !self.listen.ip().is_unspecified() {
            names.push(self.listen.ip().to_string());
        }
        names.sort();
        names.dedup();
        names
    }
}

/// The authority, and whether it is a new one: the old one is kept as long as it is for the same names.
fn certificates(dir: &Path, place: &BoardPlace) -> Result<(String, bool)> {
    let names = place.certified();
    let all = [CA, SERVER_CERTIFICATE, SERVER_KEY, NAMES].map(|name| dir.join(name));
    let known = fs_err::read_to_string(&all[3]).ok();
    let had_one = known.is_some();
    if known.is_some_and(|known| known.lines().eq(&names)) && all.iter().all(|path| path.exists()) {
        return Ok((fs_err::read_to_string(&all[0])?, false));
    }
    let made = Certificates::make(&names, SystemTime::now())?;
    for (path, text) in all.iter().zip([&made.ca, &made.server, &made.server_key, &names.join("\n")]) {
        secret::write(path, text)?;
    }
    Ok((made.ca, had_one))
}

/// The key of a login; a new one where there is none.
fn key(login: &Path) -> Result<Key> {
    let seed = login.join("seed");
    if seed.exists() { Key::read(&seed) } else { Ok(Key::generate()) }
}

/// Those that have a login already, and those that are named.
fn all_workers(dir: &Path, named: &[Name]) -> Result<Vec<Name>> {
    let logins = dir.join(LOGINS);
    let mut workers = named.to_vec();
    for entry in fs_err::read_dir(&logins).context("cannot read the logins")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if ![LANDER, WATCHER].contains(&name.as_str()) {
            workers.extend(name.parse::<Name>().ok());
        }
    }
    workers.sort();
    workers.dedup();
    Ok(workers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(listen: &str) -> BoardPlace {
        BoardPlace { listen: listen.parse().expect("an address"), name: "box".into() }
    }

    fn names(names: &[&str]) -> Vec<Name> {
        names.iter().map(|name| name.parse().expect("a name")).collect()
    }

    #[test]
    fn a_board_that_is_started_again_lets_the_same_machines_in() {
        let temp = tempfile::tempdir().expect("a folder");
        let first =
            BoardFiles::write(temp.path(), &place("127.0.0.1:4222"), &names(&["w1"])).expect("written");
        let seed = |name: &str| {
            fs_err::read_to_string(temp.path().join("logins").join(name).join("seed")).expect("a seed")
        };
        let before = seed("w1");
        let again = BoardFiles::write(temp.path(), &place("127.0.0.1:4222"), &[]).expect("written");
        assert_eq!((again.config, again.has_new_authority), (first.config, false));
        let more =
            BoardFiles::write(temp.path(), &place("127.0.0.1:4222"), &names(&["w2"])).expect("written");
        assert_eq!((more.workers, seed("w1")), (names(&["w1", "w2"]), before));
        assert!(!more.config.contains(&seed("w1")), "no secret in the configuration");
    }

    #[test]
    fn another_name_needs_another_certificate() {
        let temp = tempfile::tempdir().expect("a folder");
        for (listen, expected, is_new) in [
            ("127.0.0.1:4222", "tls://localhost:4222", false),
            ("[::1]:4222", "tls://localhost:4222", true),
            ("0.0.0.0:5", "tls://box:5", true),
            ("10.0.0.1:5", "tls://box:5", true),
            ("10.0.0.1:5", "tls://box:5", false),
        ] {
            let files = BoardFiles::write(temp.path(), &place(listen), &[]).expect("written");
            assert_eq!(
                (files.address.to_string().as_str(), files.has_new_authority),
                (expected, is_new),
                "{listen}"
            );
        }
    }

    #[test]
    fn a_role_is_no_worker() {
        let temp = tempfile::tempdir().expect("a folder");
        for name in ["lander", "watcher", "admin"] {
            let error =
                BoardFiles::write(temp.path(), &place("127.0.0.1:1"), &names(&[name])).expect_err("refused");
            assert_eq!(error.to_string(), format!("a worker cannot be called `{name}`"));
        }
    }
}
