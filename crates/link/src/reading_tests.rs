use super::is_plain_message;

#[test]
fn only_lines_that_are_surely_messages_are_left_to_the_reader() {
    let plain =
        [r#"{"type":"stream_event","event":{}}"#, r#"{"type":"brand_new"}"#, r#"{"type":"user", broken"#];
    let looked_at = [
        r#"{"type":"control_request"}"#,
        r#"{"type":"control_response"}"#,
        r#"{"type":"control_cancel_request"}"#,
        r#"{"type":"sdk_control_request"}"#,
        r#"{"type":"result","subtype":"success"}"#,
        r#"{"type":"\u0063ontrol_request"}"#,
        r#"{"type": "user"}"#,
        r#"{"uuid":"x","type":"user"}"#,
        r#"{"type":"user"#,
        r#"{"type":"""#,
        r#"{"type":"#,
        "noise",
        "",
    ];
    for line in plain {
        assert!(is_plain_message(line.as_bytes()), "{line}");
    }
    for line in looked_at {
        assert!(!is_plain_message(line.as_bytes()), "{line}");
    }
}
