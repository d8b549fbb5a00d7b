//! Things that hold for every document.

use pilothouse_settings::{Change, edit_text, parse};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e9..1.0e9_f64).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            any_object(inner).prop_map(Value::Object),
        ]
    })
}

fn any_object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[a-d\"\\\\ü]{1,2}", value), 0..5).prop_map(|pairs| pairs.into_iter().collect())
}

/// Writes a value with blanks wherever the seed says.
fn write(value: &Value, seed: &mut u64, out: &mut String) {
    match value {
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                blank(seed, out);
                write(element, seed, out);
                blank(seed, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                blank(seed, out);
                out.push_str(&Value::from(key.as_str()).to_string());
                blank(seed, out);
                out.push(':');
                blank(seed, out);
                write(member, seed, out);
                blank(seed, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn blank(seed: &mut u64, out: &mut String) {
    const BLANKS: [&str; 6] = ["", " ", "\n", "\n\t ", "  ", "\r\n  "];
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    out.push_str(BLANKS[usize::try_from(*seed >> 33).expect("fits") % BLANKS.len()]);
}

proptest! {
    #[test]
    fn parsing_gives_back_what_was_written(document in any_object(any_value()), seed in any::<u64>()) {
        let document = Value::Object(document);
        let mut text = String::new();
        write(&document, &mut { seed }, &mut text);
        let (node, repeated) = parse(&text).expect("JSON");
        prop_assert_eq!(node.to_json(), document);
        prop_assert_eq!(repeated.len(), 0);
    }

    #[test]
    fn an_edit_changes_its_key_and_nothing_else(
        document in any_object(any_value()),
        seed in any::<u64>(),
        key in "[a-d]",
        value in any_value(),
        remove in any::<bool>(),
    ) {
        let mut text = String::new();
        write(&Value::Object(document.clone()), &mut { seed }, &mut text);
        let change = if remove { Change::remove(&[&key]) } else { Change::set(&[&key], value.clone()) };
        let edited = edit_text(&text, &[change]).expect("edited");
        let mut wanted = document;
        if remove { wanted.shift_remove(&key); } else { wanted.insert(key, value); }
        prop_assert_eq!(parse(&edited).expect("JSON").0.to_json(), Value::Object(wanted));
    }

    #[test]
    fn setting_and_setting_back_gives_the_same_value(document in any_object(any_value()), key in "[a-d]", value in any_value()) {
        let text = Value::Object(document.clone()).to_string();
        let edited = edit_text(&text, &[Change::set(&[&key], value)]).expect("edited");
        let back = match document.get(&key) {
            Some(old) => Change::set(&[&key], old.clone()),
            None => Change::remove(&[&key]),
        };
        let back = edit_text(&edited, &[back]).expect("edited");
        prop_assert_eq!(parse(&back).expect("JSON").0.to_json(), Value::Object(document));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}:,\"\\\\0-9a-u \n\u{feff}é-]{0,60}") {
        let _ = parse(&text);
        let _ = edit_text(&text, &[Change::append(&["permissions", "allow"], ["Read"])]);
    }
}
