use serde_json::{Value, json};

use super::Lazy;
use crate::control::CanUseTool;
use crate::wire::count_unknown;
use crate::{DecodeErrorKind, decode};

fn ask(input: &str, suggestions: &str) -> Result<CanUseTool, crate::DecodeError> {
    let text = format!(r#"{{"tool_name":"T","input":{input},"permission_suggestions":{suggestions}}}"#);
    decode(text.as_bytes())
}

#[test]
fn what_nobody_changes_is_written_as_it_came() {
    let input = r#"{"b": 1.50,"a":"\u00e9\ud83d","a":[]}"#;
    let mut read = ask(input, "[]").expect("good");
    assert_eq!(serde_json::to_string(&read.input).expect("JSON"), input);
    assert_eq!(*read.input, *json!({"b": 1.5, "a": []}).as_object().expect("an object"));
    assert_eq!(serde_json::to_string(&read.input).expect("JSON"), input);
    read.input.change(|input| drop(input.insert("c".to_owned(), Value::Null)));
    assert_eq!(serde_json::to_string(&read.input).expect("JSON"), r#"{"b":1.5,"a":[],"c":null}"#);
}

/// Whatever could fail later is read at once and fails then; so looking at an input always works.
#[test]
fn what_cannot_be_read_later_is_refused_at_once() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for (input, kind) in [
        ("{\"a\":1e999}", DecodeErrorKind::Malformed),
        (deep.as_str(), DecodeErrorKind::TooDeep),
        ("\"text\"", DecodeErrorKind::Malformed),
        ("null", DecodeErrorKind::Malformed),
        ("{\"a\":tru}", DecodeErrorKind::NotJson),
        ("{\"a\":\"\\x\"}", DecodeErrorKind::NotJson),
    ] {
        let error = ask(input, "[]").expect_err(input);
        assert_eq!(error.kind, kind, "{input}: {error}");
    }
    let fairly_deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
    assert!(ask(&fairly_deep, "[]").expect("good").input["a"].is_array());
}

/// A frame is one line, so a text with line breaks is not kept.
#[test]
fn what_is_written_holds_no_line_break() {
    let read = ask("{\n\t\"a\": 1 }", "[]").expect("good");
    assert_eq!(serde_json::to_string(&read.input).expect("JSON"), r#"{"a":1}"#);
}

#[test]
fn a_broken_suggestion_is_told_when_it_is_read() {
    let broken = r#"[{"type":"addRules","rules":7,"behavior":"allow"}]"#;
    let read = ask("{}", broken).expect("the rest is good");
    let suggestions = read.permission_suggestions.as_ref().expect("some");
    let error = suggestions.read().expect_err("broken");
    assert_eq!((error.kind, error.path.as_str()), (DecodeErrorKind::Malformed, "[0].rules"), "{error}");
    assert_eq!(serde_json::to_string(suggestions).expect("JSON"), broken);
    // A check of tapes wants to know at once, and sees members without a type.
    assert!(count_unknown(|| ask("{}", broken)).0.is_err());
    assert_eq!(count_unknown(|| ask("{}", r#"[{"type":"new"}]"#)).1, 1);
}

#[test]
fn equal_is_what_holds_the_same() {
    let (one, other) = (ask(r#"{"a":1}"#, "[]").expect("good"), ask(r#"{ "a" : 1 }"#, "[]").expect("good"));
    assert_eq!(one, other);
    assert_eq!(one.input, Lazy::from(json!({"a": 1}).as_object().expect("an object").clone()));
    assert_ne!(one.input, Lazy::default());
    assert_eq!(
        serde_json::from_value::<CanUseTool>(serde_json::to_value(&one).expect("JSON")).expect("one"),
        one
    );
}
