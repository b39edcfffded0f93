//! The connection to the servers, for code that blocks.
//!
//! The client needs a runtime that runs all the time: it answers the server's pings and reconnects. One thread drives a
//! current-thread runtime; every other thread waits for futures through its handle.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use async_nats::{Client, ConnectOptions, Event, jetstream};
use ralph_sys::error::{Context, Error, Result};
use tokio::{runtime, sync::oneshot};

use crate::{address::BoardAddress, login::Login, name::Name, secret, version::Version};

/// How long to wait for an answer of a server.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often each side asks whether the other is there.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// A connection to a board. Copies share it; it ends with the last one.
#[derive(Clone)]
pub struct Board {
    link: Arc<Link>,
}

/// What all copies share.
pub(crate) struct Link {
    runtime: runtime::Handle,
    pub(crate) client: Client,
    pub(crate) streams: jetstream::Context,
    /// The prefix of the interface of the streams.
    pub(crate) api: String,
    name: Name,
    complaint: Complaint,
    /// The thread ends when this is dropped.
    _end: oneshot::Sender<()>,
}

/// The last thing that the server complained about: a request that is not allowed has no other answer.
type Complaint = Arc<Mutex<Option<String>>>;

impl Board {
    /// Connects, and refuses a server that is too old.
    pub fn connect(address: &BoardAddress, login: &Login) -> Result<Self> {
        let complaint = Complaint::default();
        let options = options(address, login, complaint.clone())?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        thread::Builder::new().name("board".to_owned()).spawn(move || runtime.block_on(ended))?;
        let api = login.api.clone().unwrap_or_else(|| "$JS.API".to_owned());
        let urls = address.urls().to_vec();
        let (client, streams) = handle
            .block_on(async {
                let client = options.connect(urls).await?;
                // It starts a task, so not outside of the runtime.
                let streams = jetstream::ContextBuilder::new()
                    .timeout(ANSWER_TIMEOUT)
                    .ack_timeout(ANSWER_TIMEOUT)
                    .api_prefix(&api)
                    .build(client.clone());
                Ok::<_, async_nats::ConnectError>((client, streams))
            })
            .context(format!("cannot connect to the board at {address}"))?;
        Version::check(&client.server_info().version)?;
        let name = login.name.clone();
        Ok(Self {
            link: Arc::new(Link { runtime: handle, client, streams, api, name, complaint, _end: end }),
        })
    }

    /// As whom this is connected.
    pub fn name(&self) -> &Name {
        &self.link.name
    }

    /// What the server calls its version.
    pub fn server_version(&self) -> String {
        self.link.client.server_info().version
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }
}

impl Link {
    /// Blocks until the future is there.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// An error with what the server complained about last.
    pub(crate) fn error(&self, what: &str, why: &dyn std::fmt::Display) -> Error {
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take();
        match complaint {
            Some(complaint) => Error::new(format_args!("{what}: {why} (the board says: {complaint})")),
            None => Error::new(format_args!("{what}: {why}")),
        }
    }
}

fn options(address: &BoardAddress, login: &Login, complaint: Complaint) -> Result<ConnectOptions> {
    let mut options = ConnectOptions::new()
        .name(&login.name)
        // Answers to this client only: the server lets no one else subscribe to them.
        .custom_inbox_prefix(format!("_INBOX_{}", login.name))
        .ping_interval(PING_INTERVAL)
        .request_timeout(Some(ANSWER_TIMEOUT))
        .event_callback(move |event| {
            if let Event::ServerError(_) | Event::ClientError(_) = event {
                *complaint.lock().unwrap_or_else(PoisonError::into_inner) = Some(event.to_string());
            }
            std::future::ready(())
        });
    if let Some(path) = &login.seed {
        options = options.nkey(secret::read(path)?);
    }
    if let Some(path) = &login.ca {
        fs_err::metadata(path)?;
        options = options.add_root_certificates(path.clone()).require_tls(true).tls_first();
    } else if address.is_tls() {
        options = options.require_tls(true);
    }
    Ok(options)
}
