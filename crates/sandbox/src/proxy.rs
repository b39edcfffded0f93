//! The only way out of a sandbox: a proxy that knows the list of hosts. Threads, because each connection blocks on
//! one thing at a time.

mod request;
mod upstream;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use ralph_core::containment::contact::Contact;
use ralph_core::containment::hosts::{Host, HostVerdict, is_public, judge};

use request::Request;
use upstream::Upstream;

/// As many connections there may be at once.
const MAX_CONNECTIONS: usize = 256;
/// As many different hosts are written down.
const MAX_LOGGED_HOSTS: usize = 1000;
/// How long a server may take to answer a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Where contacts are written down, each once.
#[derive(Default)]
pub(super) struct Log {
    file: Option<File>,
    known: BTreeSet<Contact>,
}

impl Log {
    pub(super) fn new(file: Option<File>) -> Self {
        Self { file, known: BTreeSet::new() }
    }

    fn note(&mut self, contact: &Contact) {
        if MAX_LOGGED_HOSTS <= self.known.len() || !self.known.insert(contact.clone()) {
            return;
        }
        if let (Some(file), Ok(line)) = (&mut self.file, serde_json::to_string(contact)) {
            // A full disk loses the record, not the connection.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

struct Proxy {
    hosts: Vec<Host>,
    upstream: Option<Upstream>,
    log: Mutex<Log>,
    connections: AtomicUsize,
}

/// Answers on the first socket as a proxy, on the others for the same port of the machine.
pub(super) fn serve(hosts: Vec<Host>, sockets: Vec<OwnedFd>, ports: &[u16], log: Log) -> io::Result<()> {
    let upstream = Upstream::from_environment();
    let proxy = Arc::new(Proxy { hosts, upstream, log: Mutex::new(log), connections: AtomicUsize::new(0) });
    let ways = std::iter::once(None).chain(ports.iter().skip(1).map(|port| Some(*port)));
    for (socket, port) in sockets.into_iter().zip(ways) {
        let (listener, proxy) = (TcpListener::from(socket), proxy.clone());
        thread::Builder::new().name("proxy".to_owned()).spawn(move || proxy.accept(&listener, port))?;
    }
    Ok(())
}

impl Proxy {
    fn accept(self: &Arc<Self>, listener: &TcpListener, port: Option<u16>) {
        for stream in listener.incoming().flatten() {
            let proxy = self.clone();
            if MAX_CONNECTIONS <= proxy.connections.fetch_add(1, Ordering::Relaxed) {
                proxy.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            // A client that goes away, or a machine out of threads, loses this connection alone.
            let _ = thread::Builder::new().name("connection".to_owned()).spawn(move || {
                let _ = match port {
                    Some(port) => forward(stream, port),
                    None => proxy.answer(stream),
                };
                proxy.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    fn answer(&self, mut client: TcpStream) -> io::Result<()> {
        let Some(request) = Request::read(&mut client)? else {
            return refuse(&mut client, "400 Bad Request", "this is a proxy: ask it for a host");
        };
        let name = format!("{}:{}", request.host, request.port);
        let verdict = judge(&self.hosts, &request.host, request.port);
        let refused = match verdict {
            HostVerdict::Refused(why) => Some(why),
            HostVerdict::Named | HostVerdict::Explicit => None,
        };
        if let Some(why) = refused {
            self.note(name.clone(), Some(why));
            let how =
                format!("{name}: {why}. The user can add it to sandbox.hosts in the settings of ralph.");
            return refuse(&mut client, "403 Forbidden", &how);
        }
        let server = match self.connect(&request, verdict) {
            Ok(server) => server,
            Err(error) => {
                let why = (error.kind() == io::ErrorKind::PermissionDenied).then(|| error.to_string());
                self.note(name.clone(), why.as_deref());
                return refuse(&mut client, "502 Bad Gateway", &format!("{name}: {error}"));
            }
        };
        self.note(name, None);
        pass_on(client, server, &request)
    }

    /// A connection to the host; a name in the list must not lead to the machine itself or its neighbourhood.
    fn connect(&self, request: &Request, verdict: HostVerdict) -> io::Result<TcpStream> {
        if let Some(upstream) = self.upstream.as_ref().filter(|it| it.serves(&request.host, verdict)) {
            return upstream.connect(&request.host, request.port);
        }
        let mut last = io::Error::new(io::ErrorKind::NotFound, "it has no address");
        for address in (request.host.as_str(), request.port).to_socket_addrs()? {
            if verdict != HostVerdict::Explicit && !is_public(address.ip()) {
                last = io::Error::new(io::ErrorKind::PermissionDenied, "it leads to an inner address");
                continue;
            }
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn note(&self, host: String, refused: Option<&str>) {
        let contact = Contact { host, refused: refused.map(str::to_owned) };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).note(&contact);
    }
}

fn pass_on(mut client: TcpStream, mut server: TcpStream, request: &Request) -> io::Result<()> {
    match &request.head {
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Some(head) => server.write_all(head)?,
    }
    server.write_all(&request.rest)?;
    pump(client, server)
}

fn forward(client: TcpStream, port: u16) -> io::Result<()> {
    pump(client, TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), CONNECT_TIMEOUT)?)
}

/// Carries bytes both ways until both have no more.
fn pump(client: TcpStream, server: TcpStream) -> io::Result<()> {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let there = thread::Builder::new().name("there".to_owned()).spawn(move || carry(from, to))?;
    carry(server, client);
    let _ = there.join();
    Ok(())
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    // A side that breaks off ends the connection; that is no news.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

fn refuse(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("ralph's sandbox: {why}\n");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n"
    );
    client.write_all(format!("{head}\r\n{body}").as_bytes())?;
    client.shutdown(Shutdown::Write)
}

#[cfg(test)]
mod tests;
