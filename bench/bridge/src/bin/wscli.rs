//! The CLI that the bridge drives while it is measured. A user message says what the model streams:
//!
//! - `burst N`: N deltas in one write, then the result
//! - `pace N MICROSECONDS`: one delta each so many microseconds
//! - `entries N`: N whole messages, which the bridge keeps in its log
//!
//! Each delta begins with `@` and the time it was written, in nanoseconds of the machine's clock.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

const SESSION: &str = "5f0c1b9a-7d3e-4b52-9a41-0e8f6c2d7b13";

fn main() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if std::env::args().any(|argument| argument == "-v") {
        writeln!(out, "2.1.325 (bench)")?;
        return Ok(());
    }
    for line in std::io::stdin().lock().lines() {
        let frame: Value = serde_json::from_str(&line?)?;
        match frame["type"].as_str() {
            Some("control_request") => {
                let answer = json!({"type": "control_response", "response": {
                    "subtype": "success", "request_id": frame["request_id"],
                    "response": {"commands": [], "output_style": "default", "available_output_styles": [], "models": [], "account": {}},
                }});
                writeln!(out, "{answer}")?;
            }
            Some("user") => turn(&frame, &mut out)?,
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}

fn turn(frame: &Value, out: &mut impl Write) -> anyhow::Result<()> {
    let content = &frame["message"]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(1);
    writeln!(
        out,
        "{}",
        json!({
            "type": "system", "subtype": "init", "session_id": SESSION, "uuid": "a", "model": "bench", "cwd": "/", "tools": [],
            "mcp_servers": [], "permissionMode": "default", "slash_commands": [], "apiKeySource": "none",
        })
    )?;
    match words.first() {
        Some(&"burst") => {
            let mut all = String::new();
            (0..number(1)).for_each(|_| all.push_str(&delta()));
            out.write_all(all.as_bytes())?;
        }
        Some(&"pace") => {
            let start = Instant::now();
            for nth in 0..number(1) {
                let due = Duration::from_micros(nth * number(2));
                std::thread::sleep(due.saturating_sub(start.elapsed()));
                out.write_all(delta().as_bytes())?;
                out.flush()?;
            }
        }
        _ => {
            for nth in 0..number(1) {
                writeln!(
                    out,
                    "{}",
                    json!({
                        "type": "assistant", "session_id": SESSION, "uuid": format!("{nth}"), "parent_tool_use_id": null,
                        "message": {"id": format!("m{nth}"), "type": "message", "role": "assistant", "model": "bench",
                            "content": [{"type": "text", "text": "A sentence about as long as most are, with a word or two to spare. ".repeat(3)}],
                            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}},
                    })
                )?;
            }
        }
    }
    writeln!(
        out,
        "{}",
        json!({
            "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1,
            "result": "done", "session_id": SESSION, "total_cost_usd": 0.0, "usage": {"input_tokens": 1, "output_tokens": 1},
            "uuid": "r",
        })
    )?;
    Ok(())
}

fn delta() -> String {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec());
    format!(
        "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"@{now:020} some words of the usual length for one delta, more or less as many as they send\"}}}},\"session_id\":\"{SESSION}\",\"parent_tool_use_id\":null,\"uuid\":\"9e3779b9-249b-4580-ae37-1\"}}\n"
    )
}
