//! The streams of all agents; the first byte says how the rest is cut into pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for agent in ralph::fuzz::AGENTS {
        ralph::fuzz::stream(agent, bytes);
    }
});
