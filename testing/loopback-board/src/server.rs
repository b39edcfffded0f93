//! A server in a folder of its own: its port, its end, its return.

use std::{
    env, fs, io,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// No server takes longer until it listens, on a machine that is ten times slower and busy besides.
const START_TIMEOUT: Duration = Duration::from_mins(2);
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// A running server; it ends with this, however that ends.
pub struct Server {
    // Fields end in this order: the folder must not go before the server in it.
    process: Option<Running>,
    /// Where it listens for clients.
    pub port: u16,
    /// Where its streams, its log and its configuration are.
    pub dir: TempDir,
    program: PathBuf,
    address: SocketAddr,
}

struct Running {
    server: Child,
    /// Ends the server when this program is killed: its input ends then.
    watcher: Child,
}

impl Server {
    /// One with streams on the disk, which listens on this address, and has more in its configuration.
    pub fn start(program: &Path, host: IpAddr, more: &str) -> io::Result<Self> {
        Self::with_streams(program, host, "", more)
    }

    /// The same with more settings for its streams, each with a comma before it.
    pub fn with_streams(program: &Path, host: IpAddr, streams: &str, more: &str) -> io::Result<Self> {
        let dir = TempDir::new()?;
        let address = SocketAddr::new(host, free_port()?);
        let store = dir.path().join("store").display().to_string();
        // By itself a server takes a part of what is free, which is little where the folder is in memory.
        let text = format!(
            "listen: \"{address}\"\njetstream {{ store_dir: {store:?}, max_mem: 64M, max_file: 8G{streams} }}\n{more}\n"
        );
        Self::from_config(program, dir, &text, address)
    }

    /// One with this configuration, which says that it listens on this address.
    pub fn from_config(program: &Path, dir: TempDir, text: &str, address: SocketAddr) -> io::Result<Self> {
        fs::write(dir.path().join("server.conf"), text)?;
        let mut server =
            Self { process: None, port: address.port(), dir, program: program.to_owned(), address };
        server.start_again()?;
        Ok(server)
    }

    /// The address that clients of this machine use.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it where it was killed, and waits until it listens.
    pub fn start_again(&mut self) -> io::Result<()> {
        self.process = Some(Running::start(&self.program, self.dir.path())?);
        let host =
            if self.address.ip().is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { self.address.ip() };
        let start = Instant::now();
        while TcpStream::connect((host, self.port)).is_err() {
            if START_TIMEOUT < start.elapsed() {
                return Err(io::Error::other(format!("the server does not listen:\n{}", self.log())));
            }
            thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }

    /// What it has said of itself.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("server.log")).unwrap_or_default()
    }

    /// A path in its folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

impl Running {
    fn start(program: &Path, dir: &Path) -> io::Result<Self> {
        let log = fs::OpenOptions::new().create(true).append(true).open(dir.join("server.log"))?;
        let server = Command::new(program)
            .arg("--config")
            .arg(dir.join("server.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let script = format!("read -r _; kill -9 {}", server.id());
        let watcher = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { server, watcher })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The watcher first: a number must not be used again before it is gone.
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Three servers on loopback that are one, for streams with three replicas, with more settings for these.
pub fn cluster(program: &Path, streams: &str) -> io::Result<Vec<Server>> {
    let ports = (0..3).map(|_| Ok((free_port()?, free_port()?))).collect::<io::Result<Vec<_>>>()?;
    let routes: Vec<String> =
        ports.iter().map(|(_, route)| format!("\"nats://127.0.0.1:{route}\"")).collect();
    let start = |(index, (client, route)): (usize, &(u16, u16))| {
        let dir = TempDir::new()?;
        let text = format!(
            "server_name: n{index}\nlisten: \"127.0.0.1:{client}\"\n\
             jetstream {{ store_dir: \"{}\", max_mem: 64M, max_file: 8G{streams} }}\n\
             cluster {{ name: c, listen: \"127.0.0.1:{route}\", routes: [{}] }}\n",
            dir.path().join("store").display(),
            routes.join(", ")
        );
        Server::from_config(program, dir, &text, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), *client))
    };
    ports.iter().enumerate().map(start).collect()
}

/// The server of this machine, if there is one: `$RALPH_TEST_NATS_SERVER`, what `cargo xtask ci --install` has put beside the
/// program that asks, or one on the path.
pub fn find_server() -> Option<PathBuf> {
    let named = env::var_os("RALPH_TEST_NATS_SERVER").map(PathBuf::from);
    let usual = env::var_os("PATH").unwrap_or_default();
    let usual: Vec<PathBuf> = env::split_paths(&usual).map(|dir| dir.join("nats-server")).collect();
    let ours = beside("tools/for-nats-server/bin/nats-server");
    named.into_iter().chain(ours).chain(usual).find(|path| path.is_file())
}

/// The server of Debian, which may be too old for a board: what `cargo xtask ci --install` has unpacked, or the one that is
/// installed.
pub fn find_old_server() -> Option<PathBuf> {
    let installed = PathBuf::from("/usr/sbin/nats-server");
    beside("tools/debian/nats-server/usr/sbin/nats-server").chain([installed]).find(|path| path.is_file())
}

/// Where a file may be that the project's chores have put into the folder that programs are built into.
fn beside(name: &str) -> impl Iterator<Item = PathBuf> {
    let asking = env::current_exe().unwrap_or_default();
    let all: Vec<PathBuf> = asking.ancestors().map(|dir| dir.join(name)).collect();
    all.into_iter()
}

/// A port of loopback that nothing listens on.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
