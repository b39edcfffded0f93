//! A cable between a worker and the server that can be cut: nothing gets through then, and nobody is told.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// How often a cable that is cut looks whether it is whole again.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Cable {
    port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Cable {
    /// A cable to a port of this machine. Its threads end with the test program.
    pub(super) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                for (from, to) in [(near.try_clone(), far.try_clone()), (far.try_clone(), near.try_clone())] {
                    let cut = Arc::clone(&cut);
                    let (from, to) = (from.expect("a socket"), to.expect("a socket"));
                    thread::spawn(move || carry(from, to, &cut));
                }
            }
        });
        Self { port, is_cut }
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(super) fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count) = from.read(&mut buffer) {
        while is_cut.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
        if count == 0 || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
