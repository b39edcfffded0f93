//! The record of a run.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ralph::fuzz::journal(bytes));
