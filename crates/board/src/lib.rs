//! The fleet on many machines: its logs, queue, parcels and events on a NATS server with streams.
//!
//! Values: `name`, `subjects`, `address`, `version`, `entry`. Input and output: the others. [`Board::connect`] is where
//! everything begins; every call blocks, one thread of its own drives the client.
//!
//! The log of an item is the truth: [`BoardLedger`] stores an entry only if the entry that it names is still the last one.
//! The queue only distributes: it may deliver twice, late, or to the dead. Parcels and events are addressed so that sending
//! again is harmless.
#![forbid(unsafe_code)]

mod address;
mod certificate;
mod config;
mod entry;
mod feed;
mod follow;
mod key;
mod ledger;
mod link;
mod login;
mod name;
mod parcel;
mod queue;
mod read;
pub mod secret;
mod setup;
mod store;
mod subjects;
mod version;

pub use address::BoardAddress;
pub use certificate::Certificates;
pub use config::{ADMIN, ServerConfig, WATCHER};
pub use entry::BoardEntry;
pub use feed::{Feed, MAX_PIECE_LEN};
pub use follow::{Follow, Piece};
pub use key::{Key, PublicKey};
pub use ledger::BoardLedger;
pub use link::Board;
pub use login::{Login, LoginDir};
pub use name::Name;
pub use parcel::Parcel;
pub use queue::{Delivery, Queue};
pub use ralph_core::fleet::LANDER;
pub use setup::Setup;
pub use store::Answer;
pub use subjects::{ALL_STREAMS, API, EVENTS, ITEMS, PARCELS, WORK, WORKERS};
pub use version::{OLDEST, Version};
