use serde_json::Value;
use serde_json::value::RawValue;

use super::read;
use crate::Texts;

/// Texts of every kind; what becomes of them with one byte changed is tested too.
const TEXTS: &[&str] = &[
    r#"{"type":"x","list":[1,-2,3.5,1e3,-0,0,18446744073709551615,18446744073709551616,-9223372036854775808],"n":null}"#,
    r#" [ true , false , null , "a\n\"b\\" , { } , [ ] , {"k":{"k":[{}]}} ] "#,
    r#"{"long":"a string that is longer than the words that are looked at one by one, with \t an escape far away","e":"\u00e9→é"}"#,
    r#""just text""#,
    "[0.1,1.7976931348623157e308,5e-324,123456789012345678901234567890,-1.5E+2]",
    r#"{"a":1,"a":2,"":""}"#,
    "\"\u{7f}tab\there\"",
    "{\"pretty\":\n\t[1,\r\n2]}",
];

/// Lists of texts, which have a way of their own.
const LISTS: &[&str] = &[
    r#"["a","Bash","a name that is longer than most","é"]"#,
    r#"["one"]"#,
    "[]",
    r#"[ "a" , "b" ]"#,
    r#"["a\n",{"name":"b"},"\u0041"]"#,
    r#""bare""#,
];

/// What a changed byte becomes.
const BYTES: &[u8] = b" \t\n\"\\{}[]:,0159.-+eEntfalsu/x\x01\x7f";

#[test]
fn takes_what_serde_json_takes() {
    let mut compared = 0;
    for text in TEXTS.iter().chain(LISTS) {
        for at in 0..=text.len() {
            let (before, after) = text.as_bytes().split_at(at);
            let changed =
                BYTES.iter().map(|byte| [before, &[*byte], after.get(1..).unwrap_or_default()].concat());
            let added = BYTES.iter().map(|byte| [before, &[*byte], after].concat());
            let cut = [before.to_vec(), [before, after.get(1..).unwrap_or_default()].concat()];
            for candidate in changed.chain(added).chain(cut) {
                let Ok(candidate) = String::from_utf8(candidate) else { continue };
                compare(&candidate);
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

fn compare(text: &str) {
    let (ours, theirs) = (read::<Value>(text), serde_json::from_str::<Value>(text));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text:?}"),
        // Half of a surrogate pair is read here.
        (Ok(_), Err(_)) if text.contains("\\u") => {}
        _ => assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} {theirs:?}"),
    }
    let (ours, theirs) = (read::<Texts>(text), serde_json::from_str::<Texts>(text));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{text:?}"),
        (Ok(_), Err(_)) if text.contains("\\u") => {}
        _ => assert_eq!(ours.is_ok(), theirs.is_ok(), "texts {text:?}: {ours:?} {theirs:?}"),
    }
    let (ours, theirs) = (read::<&RawValue>(text), serde_json::from_str::<&RawValue>(text));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours.get(), theirs.get(), "{text:?}"),
        _ => assert_eq!(ours.is_ok(), theirs.is_ok(), "raw {text:?}: {ours:?} {theirs:?}"),
    }
}

#[test]
fn deep_nesting_is_refused_in_values_and_passed_on_raw() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [1, 63, 64, 65, 126, 127, 128, 129, 500] {
        compare(&nested(depth));
        compare(&nested(depth).replace('[', "{\"k\":[").replace(']', "]}"));
    }
}

#[test]
fn half_a_surrogate_pair_becomes_the_replacement_character() {
    for (text, expected) in [
        (r#""a\ud83d""#, "a\u{fffd}"),
        (r#""\ude00b""#, "\u{fffd}b"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
    ] {
        assert_eq!(read::<String>(text).unwrap(), expected);
    }
}

#[test]
fn long_strings_are_read_whole_and_keep_no_spare_room() {
    for length in [3_000, 5_000, 70_000, 300_000] {
        for step in [1, 7, 4_097, 65_537] {
            let text: String = (0..length).map(|at| if at % step == 0 { '\n' } else { 'é' }).collect();
            let list = serde_json::to_string(&[&*text, "after"]).expect("text");
            let read: Vec<String> = read(&list).expect("a list of strings");
            assert_eq!(read, [&*text, "after"], "{length} {step}");
            assert!(read[0].capacity() <= 2 * text.len() + 256, "{length} {step}");
        }
    }
}
