//! The rules, one by one and over random worlds.

mod endings;
mod log;
mod rules;
mod worlds;
