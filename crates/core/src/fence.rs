//! Proves the fence: what touches the world is refused in this crate, however it is imported.
//!
//! Every line here is forbidden by `clippy.toml` and expected to be. If clippy let one pass, the expectation would be
//! unfulfilled, and `cargo clippy --all-targets -- -D warnings` would fail. No code calls any of this.

use std::{
    env, fs, io,
    net::ToSocketAddrs,
    path::Path,
    process, thread,
    time::{Duration, Instant, SystemTime},
};

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// One use of a function that `clippy.toml` names.
macro_rules! refused {
    ($($call:expr;)*) => {
        $(
            #[expect(clippy::disallowed_methods, reason = "it proves that clippy refuses it")]
            let _ = $call;
        )*
    };
}

fn files(path: &Path, permissions: fs::Permissions) {
    refused! {
        fs::canonicalize(path);
        fs::copy(path, path);
        fs::create_dir(path);
        fs::create_dir_all(path);
        fs::exists(path);
        fs::hard_link(path, path);
        fs::metadata(path);
        fs::read(path);
        fs::read_dir(path);
        fs::read_link(path);
        fs::read_to_string(path);
        fs::remove_dir(path);
        fs::remove_dir_all(path);
        fs::remove_file(path);
        fs::rename(path, path);
        fs::set_permissions(path, permissions);
        fs::symlink_metadata(path);
        fs::write(path, "");
        std::os::unix::fs::symlink(path, path);
        path.canonicalize();
        path.exists();
        path.is_dir();
        path.is_file();
        path.is_symlink();
        path.metadata();
        path.read_dir();
        path.read_link();
        path.symlink_metadata();
        path.try_exists();
        std::path::absolute(path);
        path.to_owned().exists();
        path.parent().map(Path::exists);
    }
}

fn environment() {
    refused! {
        env::args();
        env::args_os();
        env::current_dir();
        env::current_exe();
        env::home_dir();
        env::remove_var::<&str> as unsafe fn(&'static str);
        env::set_current_dir("/");
        env::set_var::<&str, &str> as unsafe fn(&'static str, &'static str);
        env::temp_dir();
        env::var("HOME");
        env::var_os("HOME");
        env::vars();
        env::vars_os();
    }
}

fn world(since: Instant, then: SystemTime) {
    refused! {
        process::abort as fn() -> !;
        process::exit as fn(i32) -> !;
        process::id();
        io::stderr();
        io::stdin();
        io::stdout();
        Timestamp::now();
        Zoned::now();
        TimeZone::get("UTC");
        TimeZone::system();
        since.elapsed();
        Instant::now();
        then.elapsed();
        SystemTime::now();
        thread::available_parallelism();
        thread::park();
        thread::scope(|_| ());
        thread::sleep(Duration::ZERO);
        thread::spawn(|| ());
        thread::yield_now();
        "localhost:80".to_socket_addrs();
    }
}

/// One use of a type that `clippy.toml` names.
macro_rules! refused_types {
    ($($name:ident: $type:ty;)*) => {
        $(
            #[expect(clippy::disallowed_types, reason = "it proves that clippy refuses it")]
            type $name = $type;
        )*
    };
}

refused_types! {
    File: fs::File;
    OpenOptions: fs::OpenOptions;
    DirBuilder: fs::DirBuilder;
    ReadDir: fs::ReadDir;
    Command: process::Command;
    Child: process::Child;
    Builder: thread::Builder;
    JoinHandle: thread::JoinHandle<()>;
    TcpListener: std::net::TcpListener;
    TcpStream: std::net::TcpStream;
    UdpSocket: std::net::UdpSocket;
    UnixDatagram: std::os::unix::net::UnixDatagram;
    UnixListener: std::os::unix::net::UnixListener;
    UnixStream: std::os::unix::net::UnixStream;
}
