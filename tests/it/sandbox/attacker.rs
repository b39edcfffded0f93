//! What an attacker tries, as a program: this test binary, started again. An attack that works ends well.
//!
//! Every attack aims at what the test made: `RALPH_ATTACK_ROOT` is its folder, `RALPH_ATTACK_PORT` and `RALPH_ATTACK_UDP` its
//! servers, `RALPH_ATTACK_PID` its process.

use std::{
    env, fs,
    io::{self, Read, Write},
    net::{TcpStream, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::symlink,
            net::{SocketAddr, UnixStream},
        },
    },
    path::PathBuf,
    process::Command,
    time::Duration,
};

/// Names the attack.
pub(super) const ATTACK: &str = "RALPH_ATTACK";

/// Nothing by itself; in a process that is told to attack, the attack.
#[test]
fn attack() {
    let Ok(name) = env::var(ATTACK) else { return };
    let (name, argument) = name.split_once(' ').unwrap_or((&name, ""));
    if let Err(error) = perform(name, argument) {
        panic!("{name} {argument}: {error}");
    }
}

fn root() -> PathBuf {
    env::var_os("RALPH_ATTACK_ROOT").expect("a folder").into()
}

fn number(name: &str) -> u64 {
    env::var(name).expect("a number").parse().expect("a number")
}

fn port() -> u16 {
    u16::try_from(number("RALPH_ATTACK_PORT")).expect("a port")
}

fn victim() -> i32 {
    i32::try_from(number("RALPH_ATTACK_PID")).expect("a process")
}

fn perform(name: &str, argument: &str) -> io::Result<()> {
    let outside = root().join("outside");
    match name {
        "write" => write(argument.into()),
        "write-outside" => fs::write(outside.join("new"), "x"),
        "remove-outside" => fs::remove_file(outside.join("file")),
        "chmod-outside" => {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            fs::set_permissions(outside.join("file"), mode)
        }
        "link-swap" => {
            symlink(&outside, "swapped")?;
            fs::write("swapped/new", "x")
        }
        "folder-swap" => {
            fs::create_dir("folder")?;
            fs::write("folder/new", "x")?;
            fs::rename("folder", "folder.before")?;
            symlink(&outside, "folder")?;
            fs::write("folder/new", "x")
        }
        "through-own-root" => fs::write(format!("/proc/self/root{}", outside.join("new").display()), "x"),
        "open-again" => {
            let file = fs::File::open(outside.join("file"))?;
            let again = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
            fs::OpenOptions::new().append(true).open(again)?.write_all(b"x")
        }
        "hard-link" => {
            fs::hard_link(outside.join("file"), "linked")?;
            fs::write("linked", "x")
        }
        "move-away" => {
            let folder = PathBuf::from(argument).parent().expect("a folder").to_owned();
            fs::rename(&folder, "moved-away")?;
            write(argument.into())
        }
        "move-over" => {
            fs::create_dir_all("other")?;
            fs::write("other/file", "x")?;
            fs::rename("other/file", argument)
        }
        "move-project" => fs::rename(env::current_dir()?, root().join("moved")),
        "through-process" => {
            fs::write(format!("/proc/{}/root{}", victim(), outside.join("new").display()), "x")
        }
        "read-environment" => fs::read(format!("/proc/{}/environ", victim())).map(drop),
        "ptrace" => ptrace(),
        "signal" => check(unsafe_kill(victim())),
        "unshare" => {
            Ok(unshare(rustix::thread::UnshareFlags::NEWUSER | rustix::thread::UnshareFlags::NEWNS)?)
        }
        "mount" => mount(),
        "unix-socket" => UnixStream::connect(root().join("socket")).map(drop),
        "abstract-socket" => {
            let name = format!("ralph-it-{}", port());
            let address = SocketAddr::from_abstract_name(name)?;
            UnixStream::connect_addr(&address).map(drop)
        }
        "netlink" => {
            Ok(rustix::net::socket(rustix::net::AddressFamily::NETLINK, rustix::net::SocketType::RAW, None)
                .map(drop)?)
        }
        "tcp" => TcpStream::connect(("127.0.0.1", port())).map(drop),
        "udp" => udp(b"hello"),
        "dns-udp" => udp(&QUESTION),
        "dns-tcp" => dns_tcp(),
        "proxy" => proxy(argument),
        "chown" => std::os::unix::fs::chown(write(PathBuf::from("mine")).map(|()| "mine")?, Some(4242), None),
        "device" => device(),
        // Opened for writing, and nothing is written.
        "kernel" => fs::OpenOptions::new().write(true).open(argument).map(drop),
        "setuid" => setuid(),
        "become-another" => {
            // SAFETY: a call without pointers, in a process that does nothing else any more.
            check(unsafe { libc::setresuid(4242, 4242, 4242) })
        }
        "processes" => processes(argument.parse().expect("a number")),
        "read" => match fs::read_to_string(argument)?.as_str() {
            "" => Err(io::Error::other("it is empty")),
            _ => Ok(()),
        },
        _ => panic!("no attack is called {name}"),
    }
}

fn write(path: PathBuf) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, "x")
}

fn check(result: i32) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn unsafe_kill(pid: i32) -> i32 {
    // SAFETY: a call without pointers.
    unsafe { libc::kill(pid, libc::SIGCONT) }
}

fn ptrace() -> io::Result<()> {
    // SAFETY: attaches to a process of the test; no memory is touched.
    let attached = unsafe { libc::ptrace(libc::PTRACE_SEIZE, victim(), 0, 0) };
    check(i32::try_from(attached).unwrap_or(-1))
}

fn unshare(flags: rustix::thread::UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: this process does nothing else any more; the tests run one thread beside this one, which waits.
    match unsafe { rustix::thread::unshare_unsafe(flags) } {
        // A process with threads may not change its users: let one without do it.
        Err(rustix::io::Errno::INVAL) => {
            let status = Command::new("unshare").args(["--user", "--mount", "true"]).status();
            if status.is_ok_and(|status| status.success()) { Ok(()) } else { Err(rustix::io::Errno::PERM) }
        }
        other => other,
    }
}

fn mount() -> io::Result<()> {
    let place = env::current_dir()?.join("mounted");
    fs::create_dir_all(&place)?;
    let script = "mount -t tmpfs none mounted && touch mounted/x";
    let mut shell = Command::new("unshare");
    let status = shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).status()?;
    if status.success() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// A question of DNS: where is `x.test`?
const QUESTION: [u8; 24] =
    *b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01x\x04test\x00\x00\x01\x00\x01";

/// The same question by a connection, where it comes with its length.
fn dns_tcp() -> io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port()))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(&[0, 24])?;
    stream.write_all(&QUESTION)?;
    stream.read_exact(&mut [0; 26])
}

/// Asks the server of the test, and waits for its answer: packets to no one get lost quietly.
fn udp(question: &[u8]) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_read_timeout(Some(Duration::from_secs(2)))?;
    let port = u16::try_from(number("RALPH_ATTACK_UDP")).expect("a port");
    socket.send_to(question, ("127.0.0.1", port))?;
    socket.recv(&mut [0; 64]).map(drop)
}

/// Asks the proxy that the environment names for a tunnel.
fn proxy(target: &str) -> io::Result<()> {
    let address = env::var("HTTPS_PROXY").map_err(io::Error::other)?;
    let mut stream = TcpStream::connect(address.trim_start_matches("http://"))?;
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes())?;
    let mut answer = [0; 64];
    let length = stream.read(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    if answer.starts_with("HTTP/1.1 200 ") { Ok(()) } else { Err(io::Error::other(answer)) }
}

/// Makes a device and reads from it.
fn device() -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
    mknodat(CWD, "device", FileType::CharacterDevice, Mode::RUSR, makedev(1, 5))?;
    fs::File::open("device")?.read_exact(&mut [0; 4])
}

/// A program of another user that the test has prepared says who it is.
fn setuid() -> io::Result<()> {
    let output = Command::new(root().join("setuid-id")).arg("-u").output()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if said == "0" { Ok(()) } else { Err(io::Error::other(said)) }
}

/// Starts so many processes that wait, and ends them.
fn processes(many: usize) -> io::Result<()> {
    let mut started = Vec::new();
    let result = (0..many).try_for_each(|_| {
        started.push(Command::new("sleep").arg("60").spawn()?);
        Ok(())
    });
    for mut child in started {
        let _ = child.kill();
        let _ = child.wait();
    }
    result
}
