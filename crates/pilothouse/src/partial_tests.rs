use super::*;

fn frame(event: &str) -> AgentFrame {
    let line = format!(
        r#"{{"type":"stream_event","event":{event},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}}"#
    );
    pilothouse_proto::decode(line.as_bytes()).unwrap()
}

const START: &str = r#"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#;

#[test]
fn a_message_with_thinking_text_and_a_tool() {
    let mut partial = PartialMessage::default();
    let steps = [
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"A"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hoy"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"comm"}}"#,
    ];
    for step in steps {
        assert!(partial.push(&frame(step)), "{step}");
    }
    assert_eq!((partial.id(), partial.text(), partial.thinking().as_str()), (Some("m1"), "Ahoy", "hm"));
    let tool = PartialBlock::ToolUse { id: "t".into(), name: "Bash".into(), input_json: r#"{"comm"#.into() };
    assert_eq!(partial.blocks().nth(2), Some(&tool));
    assert!(!partial.is_complete());
    partial.push(&frame(r#"{"type":"message_stop"}"#));
    assert!(partial.is_complete());
    partial.push(&frame(START));
    assert_eq!((partial.text(), partial.is_complete()), ("", false));
}

#[test]
fn joining_late_keeps_what_comes() {
    let mut partial = PartialMessage::default();
    let text = r#"{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"late"}}"#;
    assert!(partial.push(&frame(text)));
    let json =
        r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{"}}"#;
    assert!(!partial.push(&frame(json)));
    assert_eq!(partial.text(), "late");
}

#[test]
fn subagents_are_left_out() {
    let line = br#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}},"parent_tool_use_id":"toolu_1","uuid":"u","session_id":"s"}"#;
    assert!(!PartialMessage::default().push(&pilothouse_proto::decode(line).unwrap()));
}
