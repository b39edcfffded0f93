//! A model server on loopback that follows a script, so that real agents can be tested without a model.
//!
//! It speaks Anthropic Messages, `OpenAI` Responses, `OpenAI` chat completions and Gemini, and keeps every request,
//! so that a test can assert what an agent was really told.

mod conversation;
mod http;
mod protocol;
mod request;
mod script;
mod server;

pub use request::Request;
pub use script::{Block, Ending, HttpError, Script, Step, Usage};
pub use server::Server;
