//! A cable between a client and its server that can be cut: connections stay open, nothing gets through.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// One way of the cable.
#[derive(Clone, Default)]
struct Way(Arc<(Mutex<bool>, Condvar)>);

/// A cable to a port of this machine. Its threads end with the program.
#[derive(Clone)]
pub struct Cable {
    port: u16,
    out: Way,
    back: Way,
    /// How many bytes the client has sent.
    sent: Arc<AtomicU64>,
}

impl Way {
    fn set(&self, is_cut: bool) {
        *self.0.0.lock().expect("the lock") = is_cut;
        self.0.1.notify_all();
    }

    fn pass(&self) {
        let cut = self.0.0.lock().expect("the lock");
        drop(self.0.1.wait_while(cut, |is_cut| *is_cut).expect("the lock"));
    }
}

impl Cable {
    /// A cable to this port.
    pub fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let cable = Self { port, out: Way::default(), back: Way::default(), sent: Arc::default() };
        let (out, back, sent) = (cable.out.clone(), cable.back.clone(), cable.sent.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                let (from, to) = (client.try_clone().expect("a copy"), server.try_clone().expect("a copy"));
                pump(from, to, out.clone(), Some(sent.clone()));
                pump(server, client, back.clone(), None);
            }
        });
        cable
    }

    /// The address of its near end, as clients of a board name it.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Nothing gets through any more, and no one is told.
    pub fn cut(&self) {
        self.out.set(true);
        self.back.set(true);
    }

    /// What the client says arrives; the answers do not.
    pub fn cut_answers(&self) {
        self.back.set(true);
    }

    /// Everything gets through, also what waited.
    pub fn heal(&self) {
        self.out.set(false);
        self.back.set(false);
    }

    /// How many bytes the client has sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, way: Way, sent: Option<Arc<AtomicU64>>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            way.pass();
            if let Some(sent) = &sent {
                sent.fetch_add(count as u64, Ordering::SeqCst);
            }
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
