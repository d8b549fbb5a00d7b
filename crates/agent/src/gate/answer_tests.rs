use pilothouse_proto::Opt;
use serde_json::json;

use super::*;

fn read(response: Value) -> Answer {
    let response = Opt::Some(Raw::of(&response).expect("json"));
    Answer::read(Ok(SuccessReply { response, ..SuccessReply::default() }))
}

fn allowed(input: Option<Value>) -> Answer {
    let input = input.map(|input| input.as_object().cloned().expect("an object"));
    Answer::Allow { input, updates: Vec::new(), classification: None }
}

fn unusable() -> Answer {
    Answer::Unusable(words::BAD_ANSWER.to_owned())
}

#[test]
fn answers_are_read_as_observed() {
    let cases = [
        (
            json!({"behavior": "allow", "updatedInput": {"command": "ls"}}),
            allowed(Some(json!({"command": "ls"}))),
        ),
        (json!({"behavior": "allow"}), allowed(None)),
        (json!({"behavior": "allow", "updatedInput": {}}), allowed(None)),
        (json!({"behavior": "allow", "updatedInput": null}), unusable()),
        (json!({"behavior": "allow", "updatedInput": [1]}), unusable()),
        (
            json!({"behavior": "allow", "updatedPermissions": [{"type": "bogus"}, 7], "toolUseID": "x", "y": 1}),
            {
                let Answer::Allow { input, classification, .. } = allowed(None) else { unreachable!() };
                let bogus = read_update(&json!({"type": "bogus"})).expect("unknown updates are kept");
                Answer::Allow { input, updates: vec![bogus], classification }
            },
        ),
        (json!({"behavior": "allow", "updatedPermissions": "all"}), unusable()),
        (json!({"behavior": "deny", "message": "no"}), Answer::Deny("no".to_owned())),
        (json!({"behavior": "deny", "message": "no", "interrupt": true}), Answer::Stop),
        (json!({"behavior": "deny"}), unusable()),
        (json!({"behavior": "maybe"}), unusable()),
        (json!({"permission": "allow"}), unusable()),
        (json!("allow"), unusable()),
        (json!(null), unusable()),
    ];
    for (response, expected) in cases {
        let text = response.to_string();
        assert_eq!(read(response), expected, "{text}");
    }
}

#[test]
fn no_response_and_too_many_updates_are_unusable() {
    assert_eq!(Answer::read(Ok(SuccessReply::default())), unusable());
    let directories: Vec<String> = (0..5000).map(|n| format!("/d{n}")).collect();
    let update = json!({"type": "addDirectories", "directories": directories, "destination": "session"});
    assert_eq!(read(json!({"behavior": "allow", "updatedPermissions": [update]})), unusable());
}

#[test]
fn a_tool_answers_in_json_text() {
    let said = json!({"behavior": "deny", "message": "no"}).to_string();
    let cases = [
        (json!(said), Answer::Deny("no".to_owned())),
        (json!([{"type": "text", "text": said}]), Answer::Deny("no".to_owned())),
        (json!("certainly"), unusable()),
        (json!([]), unusable()),
    ];
    for (content, expected) in cases {
        assert_eq!(Answer::of_tool(&content), expected, "{content}");
    }
}
