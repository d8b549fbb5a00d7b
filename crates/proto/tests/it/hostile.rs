//! Hostile input: recorded frames, cut and garbled. Nothing panics, and what is understood is written the same twice.

use pilothouse_proto::{AgentFrame, Head, HostFrame, Wire, decode};
use serde_json::Value;

/// One short frame of each kind, from one long tape and one with hooks.
fn samples() -> Vec<String> {
    let mut kinds = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    for tape in ["ctl_more", "hook_more_events", "partial_messages", "bg_bash", "mcp_caps", "ask_array"] {
        let path = format!("{}/../../fixtures/tapes/2.1.325/{tape}.ndjson", env!("CARGO_MANIFEST_DIR"));
        for line in std::fs::read_to_string(path).expect("a tape of the repository").lines() {
            let entry: Value = serde_json::from_str(line).expect("a tape line");
            let frame = &entry["msg"];
            let kind = format!("{}{}{}", frame["type"], frame["subtype"], frame["request"]["subtype"]);
            if frame.is_object() && frame.to_string().len() < 2000 && kinds.insert(kind) {
                found.push(frame.to_string());
            }
        }
    }
    found
}

fn read_and_write_twice<F: Wire>(line: &[u8]) {
    let Ok(frame) = decode::<F>(line) else { return };
    let written = serde_json::to_vec(&frame).expect("what was read can be written");
    let again: F = decode(&written).expect("what was written can be read");
    assert_eq!(
        serde_json::to_vec(&again).expect("written before"),
        written,
        "{}",
        String::from_utf8_lossy(line)
    );
}

fn survives(line: &[u8]) {
    let _ = Head::peek(line);
    read_and_write_twice::<AgentFrame>(line);
    read_and_write_twice::<HostFrame>(line);
}

#[test]
fn frames_cut_anywhere_are_errors_and_no_panics() {
    for sample in samples() {
        for end in (0..sample.len()).step_by(11) {
            let cut = sample.as_bytes().get(..end).expect("within the line");
            assert!(decode::<AgentFrame>(cut).is_err());
            survives(cut);
        }
    }
}

#[test]
fn garbled_frames_are_read_or_refused() {
    const BYTES: &[u8] = b"\"{}[],:\\0-.eEtnu \x00\x80\xff";
    // A fixed sequence, so that a failure can be repeated.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or_default() % limit.max(1)
    };
    for sample in samples() {
        for _ in 0..60 {
            let mut line = sample.clone().into_bytes();
            for _ in 0..=random(3) {
                let at = random(line.len());
                match random(3) {
                    0 => line[at] = BYTES[random(BYTES.len())],
                    1 => drop(line.remove(at)),
                    _ => line.insert(at, BYTES[random(BYTES.len())]),
                }
            }
            survives(&line);
        }
    }
}
