//! The decoder alone, on lines from memory.

use benchutil::{Run, content, env_usize};
use pilothouse_proto::{AgentFrame, decode};

/// Runs and reports when the command line asks for a decode workload; says whether it did.
pub fn run_if_asked() -> bool {
    let mut run = Run::from_args();
    let lines = match run.workload.as_str() {
        "decode-delta" => content::deltas(1024),
        "decode-assist" => content::assistants(64, 2048),
        _ => return false,
    };
    run.begin();
    for line in lines.iter().cycle().take(env_usize("FAKE_N", 100_000)) {
        match decode::<AgentFrame>(line.as_bytes()) {
            Ok(AgentFrame::StreamEvent(event)) => run.text(event.text_delta().unwrap_or_default()),
            Ok(AgentFrame::Assistant(assistant)) => {
                run.text(
                    assistant.message.content.first().and_then(|block| block.as_text()).unwrap_or_default(),
                );
            }
            Ok(_) => run.err = "another frame".into(),
            Err(error) => run.err = error.to_string(),
        }
    }
    run.end();
    run.report();
    true
}
