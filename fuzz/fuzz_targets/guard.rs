//! Command lines and the input of hooks, as the guard judges them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ralph::fuzz::guard(bytes));
