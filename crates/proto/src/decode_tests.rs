use super::decode;
use crate::{AgentFrame, DecodeErrorKind};

#[test]
fn errors_say_kind_path_and_column() {
    let deep = format!(r#"{{"type":"future","x":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    let cases: &[(&[u8], DecodeErrorKind, &str, usize)] = &[
        (b"[SandboxDebug] hello", DecodeErrorKind::NotJson, "", 2),
        (b"", DecodeErrorKind::NotJson, "", 0),
        (br#"{"type":"assistant","#, DecodeErrorKind::NotJson, "", 20),
        (b"{\"type\":\"\xff\"}", DecodeErrorKind::NotUtf8, "", 10),
        (br#"{"type":5}"#, DecodeErrorKind::Malformed, "type", 9),
        (br#"{"kind":"x"}"#, DecodeErrorKind::Malformed, "", 12),
        (b"[]", DecodeErrorKind::Malformed, "", 0),
        (
            br#"{"type":"stream_event","event":{"type":"content_block_stop","index":"one"}}"#,
            DecodeErrorKind::Malformed,
            "event.index",
            73,
        ),
        (deep.as_bytes(), DecodeErrorKind::TooDeep, "", 148),
    ];
    for (line, kind, path, column) in cases {
        let error = decode::<AgentFrame>(line).unwrap_err();
        assert_eq!((error.kind, &*error.path, error.column), (*kind, *path, *column), "{error}");
    }
}

#[test]
fn half_a_surrogate_pair_is_read_as_the_replacement_character() {
    let line =
        br#"{"type":"prompt_suggestion","suggestion":"a\ud83d b \ud83d\ude00","uuid":"u","session_id":"s"}"#;
    let frame: AgentFrame = decode(line).expect("patched");
    let AgentFrame::PromptSuggestion(frame) = frame else { panic!("{frame:?}") };
    assert_eq!(frame.suggestion, "a\u{fffd} b \u{1f600}");
}

#[test]
fn a_late_tag_is_found() {
    let line = br#"{"suggestion":"x","uuid":"u","type":"prompt_suggestion","session_id":"s","new":[1]}"#;
    let frame: AgentFrame = decode(line).expect("late tag");
    let AgentFrame::PromptSuggestion(frame) = frame else { panic!("{frame:?}") };
    assert_eq!(frame.suggestion, "x");
    assert_eq!(frame.extra["new"][0], 1);
}

#[test]
fn a_large_line_reads_like_a_small_one() {
    let text = "line\\n \\\"quoted\\\" \\u00e9 \u{2192} ".repeat(60_000);
    let small: String = serde_json::from_str(&format!("\"{text}\"")).expect("a string");
    let line = format!(
        r#"{{"type":"assistant","message":{{"id":"m","type":"message","role":"assistant","model":"x","content":[{{"type":"text","text":"{text}"}}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":2}}}},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}}"#
    );
    let frame: AgentFrame = decode(line.as_bytes()).expect("large");
    let AgentFrame::Assistant(frame) = frame else { panic!("{}", frame.tag()) };
    assert_eq!(frame.message.text(), small);
}

#[test]
fn a_large_line_that_nests_content_deeply_is_refused() {
    let open = r#"{"type":"tool_result","tool_use_id":"t","content":["#;
    let nested = format!("{}{}", open.repeat(40_000), "]}".repeat(40_000));
    let line = format!(r#"{{"type":"user","message":{{"role":"user","content":[{nested}]}}}}"#);
    let error = decode::<AgentFrame>(line.as_bytes()).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::TooDeep, "{error}");
}
