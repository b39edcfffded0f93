//! Transcripts of conversations.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ralph::fuzz::transcript(bytes));
