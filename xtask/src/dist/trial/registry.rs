//! An npm registry on this machine, with the packages that were made: npm chooses and fetches them as everybody's does.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Scratch, said};

/// How long a client may take for its question.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);

/// What it answers, by path.
type Pages = BTreeMap<String, Vec<u8>>;

/// A registry that runs until it is dropped.
pub(super) struct Registry {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Registry {
    /// Starts one that has every npm package of the folder.
    pub(super) fn start(scratch: &Scratch) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let pages = pages(scratch, &format!("http://{address}"))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let server = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                for stream in listener.incoming() {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    // A client that is gone asks for nothing.
                    let _ = stream.map_err(anyhow::Error::from).and_then(|stream| answer(&stream, &pages));
                }
            }
        });
        Ok(Self { address, is_over, server: Some(server) })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // It waits for a client that asks.
        let _ = TcpStream::connect(self.address);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

/// One page about each package, and the package.
fn pages(scratch: &Scratch, url: &str) -> Result<Pages> {
    let mut pages = Pages::new();
    for entry in fs_err::read_dir(&scratch.packages)? {
        let entry = entry?;
        let (path, file) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.extension().is_none_or(|extension| extension != "tgz") {
            continue;
        }
        let about = said(scratch.command("tar").arg("-xzOf").arg(&path).arg("package/package.json"))?;
        let mut about: Value = serde_json::from_str(&about)?;
        let name = about["name"].as_str().context("a package without a name")?.to_owned();
        about["dist"] = json!({"tarball": format!("{url}/{name}/-/{file}")});
        let page = json!({
            "name": name, "dist-tags": {"latest": scratch.version}, "versions": {&scratch.version: about},
        });
        pages.insert(format!("/{name}/-/{file}"), fs_err::read(&path)?);
        pages.insert(format!("/{name}"), page.to_string().into_bytes());
    }
    Ok(pages)
}

fn answer(mut stream: &TcpStream, pages: &Pages) -> Result<()> {
    stream.set_read_timeout(Some(QUESTION_TIMEOUT))?;
    let mut lines = BufReader::new(stream).lines();
    let question = lines.next().context("nothing is asked")??;
    let path = question.split(' ').nth(1).unwrap_or_default();
    // The rest of the question, up to its end.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (status, body) = pages.get(path).map_or(("404 Not Found", &b"{}"[..]), |body| ("200 OK", body));
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(body)?;
    Ok(())
}
