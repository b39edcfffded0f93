//! Message buses.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ralph::fuzz::bus(bytes));
