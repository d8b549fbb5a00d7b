use super::{mask_json, mask_text};

#[test]
fn secrets_in_json_are_masked_by_name_and_by_look() {
    let cases = [
        (
            r#"{"env":{"ANTHROPIC_API_KEY":"x","PATH":"/bin","SOME_KEY":"y","GH_PAT":"z"}}"#,
            r#"{"env":{"ANTHROPIC_API_KEY":"[masked]","PATH":"/bin","SOME_KEY":"[masked]","GH_PAT":"[masked]"}}"#,
        ),
        (
            r#"{"headers":{"Authorization":"Bearer abc","X-Auth":"q","Accept":"a"}}"#,
            r#"{"headers":{"Authorization":"[masked]","X-Auth":"[masked]","Accept":"a"}}"#,
        ),
        (
            r#"{"accessToken":"a","nested":[{"client_secret":"b"}]}"#,
            r#"{"accessToken":"[masked]","nested":[{"client_secret":"[masked]"}]}"#,
        ),
        (
            concat!(r#"{"text":"use s"#, "k-ant-0123456789abcdefghij", r#", ok?"}"#),
            r#"{"text":"use [masked], ok?"}"#,
        ),
    ];
    for (given, expected) in cases {
        assert_eq!(mask_json(given.as_bytes()).unwrap(), expected);
    }
}

#[test]
fn what_is_no_secret_stays_byte_for_byte() {
    let lines = [
        r#"{ "apiKeySource":"ANTHROPIC_API_KEY", "cost": 0.10, "big": 123456789012345678901234567890 }"#,
        r#"{"usage":{"input_tokens":12,"max_thinking_tokens":3},"tool_use_id":"toolu_01AbCdEfGhIjKlMnOpQrStUv"}"#,
        r#"{"text":"the token counts; a basic understanding1 of keys; task-management-of-something-long"}"#,
        r#"{"key":"value","request_id":"ph-0123456789ab-1","uuid":"0b1f6c1e-9f3c-4a39-9d6e-6f3f2a1c0d9e"}"#,
    ];
    for line in lines {
        assert_eq!(mask_json(line.as_bytes()).unwrap(), line);
    }
    assert!(mask_json(b"not json").is_none());
    assert!(mask_json(b"\xff").is_none());
}

#[test]
fn secrets_in_text_are_masked() {
    let cases = [
        ("export ANTHROPIC_API_KEY=abcd1234 && run", "export ANTHROPIC_API_KEY=[masked] && run"),
        ("export MY_TOKEN=\"abcd1234\" x", "export MY_TOKEN=\"[masked]\" x"),
        ("curl -H 'Authorization: Bearer abcd12345' url", "curl -H 'Authorization: Bearer [masked]' url"),
        ("Authorization: Basic dXNlcjpwYXNz1", "Authorization: Basic [masked]"),
        ("{\"apiKey\": \"0123456789\"}", "{\"apiKey\": \"[masked]\"}"),
        (r#"{\"apiKey\":\"hush\"}"#, r#"{\"apiKey\":\"[masked]\"}"#),
        ("https://x/?a=1&access_token=abcdef", "https://x/?a=1&access_token=[masked]"),
        ("id ghp_0123456789abcdefghij.", "id [masked]"),
        ("id ghp_0123456789abcdefghij, done", "id [masked], done"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijk", "jwt [masked]"),
        ("ein Schlüssel: AKIAABCDEFGHIJKLMNOP ü", "ein Schlüssel: [masked] ü"),
        ("nothing to see", "nothing to see"),
        ("", ""),
    ];
    for (given, expected) in cases {
        assert_eq!(mask_text(given), expected, "{given}");
    }
}
