//! What decides a claim in a clean clone, as values: what to prepare there, what survives, what weakens the judgement.
//!
//! Facts about files and outputs in, decisions out. The program collects the facts and acts.

pub mod bite;
pub mod carried_over;
pub mod caveat;
pub mod changed_check;
pub mod changes;
pub mod check_note;
pub mod environment;
pub mod finding;
pub mod keep;
pub mod missing;
pub mod old_checks;
pub mod outside;
pub mod preparation;
pub mod proof;
pub mod rules;
pub mod tested;
