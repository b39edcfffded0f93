//! Documents of a project and answers of a model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ralph::fuzz::text(bytes));
