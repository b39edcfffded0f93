//! The rules, one by one and over random worlds.

mod log;
mod rules;
mod worlds;
