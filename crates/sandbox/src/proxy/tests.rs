//! The proxy with real sockets on loopback.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use super::*;

/// A server that answers every connection with what it was sent first.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = [0; 1024];
            let length = stream.read(&mut bytes).unwrap_or(0);
            let _ = stream.write_all(&bytes[..length]);
        }
    });
    port
}

struct World {
    port: u16,
    log: tempfile::NamedTempFile,
}

impl World {
    fn new(hosts: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let log = tempfile::NamedTempFile::new().expect("a file");
        let file = log.reopen().expect("a file");
        let hosts = hosts.iter().map(|host| Host::parse(host).expect("a host")).collect();
        serve(hosts, vec![listener.into()], &[port], Log::new(Some(file))).expect("it serves");
        Self { port, log }
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the proxy");
        stream.write_all(request.as_bytes()).expect("it listens");
        stream.shutdown(Shutdown::Write).expect("a connection");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn logged(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.log.path()).expect("the log");
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn listed_hosts_are_reached_both_ways() {
    let server = echo();
    let world = World::new(&[&format!("127.0.0.1:{server}")]);
    let answer = world.ask(&format!("CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\nhello"));
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nhello");
    let answer =
        world.ask(&format!("GET http://127.0.0.1:{server}/x HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"));
    assert_eq!(answer, "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_eq!(world.logged(), [format!("{{\"host\":\"127.0.0.1:{server}\"}}")]);
}

#[test]
fn everything_else_is_refused_and_written_down_once() {
    let server = echo();
    let world = World::new(&["api.example.com", &format!("127.0.0.1:{}", echo())]);
    for target in [
        format!("127.0.0.1:{server}"),
        format!("localhost:{server}"),
        format!("[::1]:{server}"),
        format!("[::ffff:127.0.0.1]:{server}"),
        "169.254.169.254:80".to_owned(),
        "evil.example.org:443".to_owned(),
        "api.example.com:22".to_owned(),
    ] {
        for _ in 0..2 {
            let answer = world.ask(&format!("CONNECT {target} HTTP/1.1\r\n\r\nhello"));
            assert!(
                answer.starts_with("HTTP/1.1 403 ") && answer.contains("sandbox.hosts"),
                "{target}: {answer}"
            );
        }
        let answer = world.ask(&format!("GET http://{target}/ HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403 "), "{target}: {answer}");
    }
    assert_eq!(world.logged().len(), 7, "{:?}", world.logged());
    assert!(world.ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

#[test]
fn a_listed_name_must_not_lead_to_the_machine() {
    let proxy =
        Proxy { hosts: Vec::new(), upstream: None, log: Mutex::default(), connections: AtomicUsize::new(0) };
    let request = Request { host: "localhost".to_owned(), port: echo(), head: None, rest: Vec::new() };
    let error = proxy.connect(&request, HostVerdict::Named).expect_err("it leads inside");
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    proxy.connect(&request, HostVerdict::Explicit).expect("it was listed to the letter");
}
