//! Task lists.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ralph::fuzz::tasks(bytes));
