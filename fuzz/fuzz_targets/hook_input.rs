//! Any text as what a hook is told, what it answers, and how it is written in a settings file: never a panic, and what was
//! understood is written the same way twice.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pilothouse_proto::{HookInput, HookOutput, decode};
use pilothouse_settings::parse_hooks;

fuzz_target!(|text: &[u8]| {
    if let Ok(input) = decode::<HookInput>(text) {
        let written = serde_json::to_vec(&input).expect("what was read can be written");
        let again: HookInput = decode(&written).expect("what was written can be read");
        assert_eq!(serde_json::to_vec(&again).expect("written before"), written);
    }
    if let Ok(output) = decode::<HookOutput>(text) {
        let written = serde_json::to_vec(&output).expect("what was read can be written");
        let again: HookOutput = decode(&written).expect("what was written can be read");
        assert_eq!(serde_json::to_vec(&again).expect("written before"), written);
    }
    if let Ok(text) = std::str::from_utf8(text) {
        for group in parse_hooks(text, Path::new("/hooks.json")).into_iter().flatten() {
            std::hint::black_box((group.origin.to_string(), group.hooks.len()));
        }
    }
});
