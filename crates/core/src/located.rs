//! JSON that knows where it stands: what reads settings and task lists, and says what is wrong with them by line and
//! key.
//!
//! `text` makes nodes of a text, `node` is what they are, `fields` takes typed values out of them, and `report` collects
//! what does not fit. Each kind of file says in a [`fields::Manner`] what it makes of nulls, unknown keys and the like.

pub mod fields;
pub mod node;
pub mod report;
pub mod text;

#[cfg(test)]
mod tests;
