//! What decides a claim in a clean clone, as values: what to prepare there, what survives, what weakens the judgement.
//!
//! Facts about files and outputs in, decisions out. The program collects the facts and acts.

pub mod caveat;
pub mod environment;
pub mod keep;
pub mod missing;
pub mod preparation;
pub mod proof;
pub mod rules;
