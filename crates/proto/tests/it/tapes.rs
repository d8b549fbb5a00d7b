//! Every recorded conversation decodes, and nothing of it is lost.

use std::path::{Path, PathBuf};

use pilothouse_proto::tape::TapeReport;

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
