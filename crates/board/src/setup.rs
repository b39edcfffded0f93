//! The streams and the consumer of a board: made once, and checked by everybody who could be hurt by other settings.

use std::time::Duration;

use async_nats::jetstream::{
    ErrorCode,
    consumer::{AckPolicy, pull},
    context::{ConsumerInfoErrorKind, GetStreamErrorKind},
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType},
};
use ralph_sys::error::{Error, Result};

use crate::{
    link::{Board, Link},
    subjects::{EVENTS, ITEMS, PARCELS, WORK, WORKERS},
};

/// What differs between a laptop and a cluster.
#[derive(Clone, Debug)]
pub struct Setup {
    /// On how many servers of a cluster each stream is.
    pub replicas: usize,
    /// A worker that is silent for so long is taken for dead.
    pub silence: Duration,
    /// How long events are kept.
    pub keep_events: Duration,
    /// How long parcels are kept.
    pub keep_parcels: Duration,
    /// Reserved at once: together not more than the server's `max_file`.
    pub event_bytes: i64,
    /// The same for parcels.
    pub parcel_bytes: i64,
}

impl Default for Setup {
    fn default() -> Self {
        let day = Duration::from_hours(24);
        Self {
            replicas: 1,
            silence: Duration::from_mins(1),
            keep_events: 14 * day,
            keep_parcels: 14 * day,
            event_bytes: 1 << 30,
            parcel_bytes: 4 << 30,
        }
    }
}

impl Board {
    /// Makes what is missing of the streams, and refuses streams whose settings would break a promise.
    pub fn set_up(&self, setup: &Setup) -> Result<()> {
        let link = self.link();
        for wanted in [setup.work(), setup.items(), setup.events(), setup.parcels()] {
            ensure(link, wanted)?;
        }
        setup.ensure_consumer(link)
    }
}

impl Setup {
    fn ensure_consumer(&self, link: &Link) -> Result<()> {
        let what = "cannot set up the queue";
        let stream =
            link.wait(link.streams.get_stream_no_info(WORK)).map_err(|error| link.error(what, &error))?;
        match link.wait(stream.consumer_info(WORKERS)) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ConsumerInfoErrorKind::NotFound => {}
            Err(error) => return Err(link.error(what, &error)),
        }
        let made = link.wait(stream.create_consumer(pull::Config {
            durable_name: Some(WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.silence,
            // Given again for ever: the lander counts claims in the item's log and decides when it is enough.
            max_deliver: -1,
            // As many items in work at once as there can be workers.
            max_ack_pending: 10_000,
            max_waiting: 10_000,
            ..pull::Config::default()
        }));
        made.map(drop).map_err(|error| link.error(what, &error))
    }

    fn work(&self) -> Config {
        Config {
            retention: RetentionPolicy::WorkQueue,
            // Posting an item that waits or is worked on is refused, whenever it happens: no window to get right.
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            ..self.stream(WORK, "ralph.work.*.*")
        }
    }

    fn items(&self) -> Config {
        Config { deny_delete: true, allow_direct: true, ..self.stream(ITEMS, "ralph.item.*.*.*.*") }
    }

    fn events(&self) -> Config {
        Config {
            max_age: self.keep_events,
            max_bytes: self.event_bytes,
            discard: DiscardPolicy::Old,
            allow_direct: true,
            ..self.stream(EVENTS, "ralph.events.*.*.*.*")
        }
    }

    fn parcels(&self) -> Config {
        Config {
            max_age: self.keep_parcels,
            max_bytes: self.parcel_bytes,
            // A part that is there is never written over.
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            allow_direct: true,
            ..self.stream(PARCELS, "ralph.parcel.*.*.*")
        }
    }

    fn stream(&self, name: &str, subject: &str) -> Config {
        Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            storage: StorageType::File,
            num_replicas: self.replicas,
            ..Config::default()
        }
    }
}

fn ensure(link: &Link, wanted: Config) -> Result<()> {
    let what = format!("cannot set up {}", wanted.name);
    match link.wait(link.streams.get_stream(&wanted.name)) {
        Ok(found) => return check(&found.cached_info().config, &wanted),
        Err(error) if is_missing(error.kind()) => {}
        Err(error) => return Err(link.error(&what, &error)),
    }
    let made = link.wait(link.streams.create_stream(wanted));
    made.map(drop).map_err(|error| {
        let told = link.error(&what, &error);
        // Room for all of a stream is put aside when it is made.
        if error.to_string().contains("insufficient storage") {
            return told.hint(
                "let the server use more of its disk: `jetstream { max_file: 8G }` in its configuration",
            );
        }
        told
    })
}

fn is_missing(kind: GetStreamErrorKind) -> bool {
    matches!(kind, GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// What the protocol stands on. Ages, sizes and replicas are the owner's business.
fn check(found: &Config, wanted: &Config) -> Result<()> {
    let differs = [
        ("subjects", found.subjects != wanted.subjects),
        ("retention", found.retention != wanted.retention),
        ("storage", found.storage != wanted.storage),
        ("discard", found.discard != wanted.discard),
        ("discard_new_per_subject", found.discard_new_per_subject != wanted.discard_new_per_subject),
        ("allow_direct", found.allow_direct != wanted.allow_direct),
        ("deny_delete", found.deny_delete != wanted.deny_delete),
        (
            "max_msgs_per_subject",
            found.max_messages_per_subject.max(0) != wanted.max_messages_per_subject.max(0),
        ),
    ];
    let wrong: Vec<&str> =
        differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::new(format_args!(
        "the stream {} of this board has other settings: {}",
        found.name,
        wrong.join(", ")
    ))
    .hint("something else uses its name; use another server or another account"))
}
