//! The queue: who gets which item, and who is taken for dead.
//!
//! It delivers at least once and decides nothing: the item's log does.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{
    AckKind, Message,
    consumer::{Consumer, pull},
    message::PublishMessage,
};
use futures_util::StreamExt;
use ralph_sys::error::Result;
use tokio::time::timeout;

use crate::{
    link::{ANSWER_TIMEOUT, Board, Link},
    store::{Answer, store},
    subjects::{self, WORK, WORKERS},
};

/// How soon the server gives an item again that was given back.
const AGAIN_INTERVAL: Duration = Duration::from_millis(100);

impl Board {
    /// The worker's end of the queue.
    pub fn queue(&self) -> Result<Queue> {
        Queue::open(self.link().clone())
    }

    /// Puts an item into the queue: `posted` is the number of its posting. [`Answer::There`] if it waits or is worked on.
    ///
    /// The lander does this again for everything that is open in the logs, so no one has to be told what was lost.
    pub fn post(&self, fleet: &str, item: &str, posted: u64) -> Result<Answer> {
        let link = self.link();
        let message = PublishMessage::build().payload(posted.to_string().into());
        let answer = link.wait(store(&link.streams, subjects::work(fleet, item), message));
        answer.map_err(|error| link.error(&format!("cannot post {item}"), &error))
    }
}

/// The worker's end of the queue.
pub struct Queue {
    link: Arc<Link>,
    consumer: Consumer<pull::Config>,
}

impl Queue {
    fn open(link: Arc<Link>) -> Result<Self> {
        let consumer = link.wait(link.streams.get_consumer_from_stream(WORKERS, WORK));
        let consumer = consumer.map_err(|error| {
            link.error("this board has no queue", &error).hint("its lander or `ralph fleet board` makes it")
        })?;
        Ok(Self { link, consumer })
    }

    /// The silence after which a worker is taken for dead. Tell the queue every third of it that the work goes on.
    pub fn silence(&self) -> Duration {
        self.consumer.cached_info().config.ack_wait
    }

    /// Waits for an item. One at a time: what is fetched ahead is taken from others, and its time runs.
    pub fn take(&self, wait: Duration) -> Result<Option<Delivery>> {
        let message = self.link.wait(async {
            let batch = async {
                let mut batch = self.consumer.batch().max_messages(1).expires(wait).messages().await?;
                batch.next().await.transpose()
            };
            // A server that is killed meanwhile never says that the time is over.
            timeout(wait + ANSWER_TIMEOUT, batch).await.unwrap_or(Ok(None))
        });
        let message = message.map_err(|error| self.link.error("cannot take an item", &error))?;
        Ok(message.and_then(|message| Delivery::read(self.link.clone(), message)))
    }
}

/// An item that the queue gave to this worker.
pub struct Delivery {
    link: Arc<Link>,
    message: Message,
    /// The fleet.
    pub fleet: String,
    /// The item.
    pub item: String,
    /// The number of the posting that this is about: a view of the log without it is too old, so give the item back.
    pub posted: u64,
}

impl Delivery {
    fn read(link: Arc<Link>, message: Message) -> Option<Self> {
        let (fleet, item) = subjects::parse_work(&message.subject)?;
        let posted = std::str::from_utf8(&message.payload).ok()?.parse().ok()?;
        Some(Self { link, message, fleet, item, posted })
    }

    /// Tells the queue that the work goes on.
    ///
    /// Look first whether the lease still counts: the server takes this from everybody who ever got the item.
    pub fn keep(&self) -> Result<()> {
        self.acknowledge(AckKind::Progress)
    }

    /// Takes the item out of the queue. Only when its log says that nothing is left to do.
    pub fn settle(&self) -> Result<()> {
        self.acknowledge(AckKind::Ack)
    }

    /// Lets another worker have the item at once.
    pub fn give_back(&self) -> Result<()> {
        self.give_back_for(AGAIN_INTERVAL)
    }

    /// Lets others have the item after a while: this worker cannot do it.
    pub fn give_back_for(&self, while_: Duration) -> Result<()> {
        self.acknowledge(AckKind::Nak(Some(while_)))
    }

    /// How often the item was delivered since it was put into the queue, this time included.
    pub fn count(&self) -> u64 {
        self.message.info().map_or(1, |info| u64::try_from(info.delivered).unwrap_or(1))
    }

    fn acknowledge(&self, kind: AckKind) -> Result<()> {
        let what = format!("cannot answer for {}", self.item);
        self.link.wait(self.message.double_ack_with(kind)).map_err(|error| self.link.error(&what, &error))
    }
}
