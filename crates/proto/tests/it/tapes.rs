//! Every recorded conversation decodes, and nothing of it is lost.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pilothouse_proto::tape::TapeReport;
use pilothouse_proto::tool::{ToolInput, ToolOutput};
use pilothouse_proto::{AgentFrame, ContentBlock, Opt, decode};
use serde_json::Value;

fn tapes() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tapes");
    let mut found = Vec::new();
    for version in std::fs::read_dir(root).expect("the tapes are in the repository") {
        for tape in std::fs::read_dir(version.expect("readable").path()).expect("a directory per version") {
            let path = tape.expect("readable").path();
            if !path.to_string_lossy().ends_with(".api.ndjson") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_tape_decodes_and_re_encodes() {
    let mut report = TapeReport::default();
    for path in tapes() {
        let text = std::fs::read_to_string(&path).expect("readable");
        report.check(&path.file_name().expect("a file").to_string_lossy(), &text);
    }
    let deciding: Vec<String> =
        report.problems.iter().filter(|p| p.decides).map(ToString::to_string).collect();
    assert!(report.is_clean(), "{report}\n{}", deciding.join("\n"));
    assert!(report.frames > 2000, "{report}");
}

/// What scenarios break on purpose: those of the permission modes also call `Read` without arguments.
const BROKEN_ON_PURPOSE: &[&str] = &["Read malformed at column 2: missing field `file_path`"];

#[test]
fn calls_of_well_known_tools_and_their_results_are_typed() {
    let (mut calls, mut results, mut problems) = (0, 0, Vec::new());
    for path in tapes() {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let mut tools: HashMap<String, String> = HashMap::new();
        for line in std::fs::read_to_string(&path).expect("readable").lines() {
            let entry: Value = serde_json::from_str(line).expect("a tape line");
            if entry["dir"] != "out" || entry["msg"].is_null() {
                continue;
            }
            match decode::<AgentFrame>(entry["msg"].to_string().as_bytes()) {
                Ok(AgentFrame::Assistant(frame)) => {
                    for call in frame.message.content.iter().filter_map(ContentBlock::as_tool_use) {
                        tools.insert(call.id.to_string(), call.name.clone());
                        calls += 1;
                        if let Err(error) = ToolInput::of(&call.name, &call.input) {
                            problems.push(format!("{name}: {} {error}", call.name));
                        }
                    }
                }
                Ok(AgentFrame::User(frame)) => {
                    let answered = frame.message.content.blocks().iter().find_map(|block| match block {
                        ContentBlock::ToolResult(result) => tools.get(result.tool_use_id.as_str()),
                        _ => None,
                    });
                    if let (Some(tool), Opt::Some(output)) = (answered, &frame.tool_use_result) {
                        results += 1;
                        if let Err(error) = ToolOutput::of(tool, output) {
                            problems.push(format!("{name}: {tool} gave {error}"));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    problems.retain(|problem| !BROKEN_ON_PURPOSE.iter().any(|known| problem.ends_with(known)));
    assert!(problems.is_empty(), "of {calls} calls and {results} results: {problems:#?}");
    assert!(calls > 500 && results > 500, "{calls} calls, {results} results");
}
