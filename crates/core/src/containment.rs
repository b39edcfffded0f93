//! What a process inside a sandbox may write, see and talk to, and which kinds of sandboxes there are.

pub mod contact;
pub mod environment;
pub mod home;
pub mod hosts;
pub mod level;
pub mod limits;
pub mod policy;
pub mod run_later;
pub mod tools;
pub mod wanted;
