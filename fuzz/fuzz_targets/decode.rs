//! Any line, as either end may read it: never a panic, and what was understood is written the same way twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse_proto::{AgentFrame, Head, HostFrame, decode};

fuzz_target!(|line: &[u8]| {
    let _ = std::hint::black_box(Head::peek(line));
    if let Ok(frame) = decode::<AgentFrame>(line) {
        let written = serde_json::to_vec(&frame).expect("what was read can be written");
        let again: AgentFrame = decode(&written).expect("what was written can be read");
        assert_eq!(serde_json::to_vec(&again).expect("written before"), written);
    }
    if let Ok(frame) = decode::<HostFrame>(line) {
        let written = serde_json::to_vec(&frame).expect("what was read can be written");
        let again: HostFrame = decode(&written).expect("what was written can be read");
        assert_eq!(serde_json::to_vec(&again).expect("written before"), written);
    }
});
