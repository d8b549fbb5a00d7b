use serde_json::json;

use super::*;

fn input(value: Value) -> Input {
    value.as_object().cloned().expect("an object")
}

fn question(options: usize) -> Value {
    let options: Vec<Value> =
        (0..options).map(|n| json!({"label": format!("L{n}"), "description": "d"})).collect();
    json!({"question": "Which?", "header": "H", "options": options, "multiSelect": true})
}

/// A question with another value for a field.
fn with(field: &str, value: Value) -> Value {
    let mut question = question(2);
    question[field] = value;
    question
}

fn options<const N: usize>(all: [(&str, &str); N]) -> Value {
    all.iter().map(|(label, description)| json!({"label": label, "description": description})).collect()
}

/// So many questions, each of its own.
fn different(count: usize) -> Vec<Value> {
    let ask = |number: usize| {
        let mut question = question(2);
        question["question"] = number.to_string().into();
        question
    };
    (0..count).map(ask).collect()
}

#[test]
fn one_to_four_questions_with_two_to_four_options() {
    let cases = [
        (json!({}), false),
        (json!({"questions": "?"}), false),
        (json!({"questions": []}), false),
        (json!({"questions": [question(1)]}), false),
        (json!({"questions": [question(2)]}), true),
        (json!({"questions": [question(4)]}), true),
        (json!({"questions": [question(5)]}), false),
        (json!({"questions": different(4)}), true),
        (json!({"questions": different(5)}), false),
        (json!({"questions": vec![question(2); 2]}), false),
        (json!({"questions": [with("question", json!(""))]}), true),
        (json!({"questions": [with("question", json!(7))]}), false),
        (json!({"questions": [with("header", json!(null))]}), false),
        (json!({"questions": [with("multiSelect", json!("yes"))]}), false),
        (json!({"questions": [with("options", options([("", "a"), ("b", "")]))]}), true),
        (json!({"questions": [with("options", options([("a", "x"), ("a", "y")]))]}), false),
        (json!({"questions": [with("options", json!([{"label": "a"}, {"label": "b"}]))]}), false),
        (json!({"questions": [with("options", json!("ab"))]}), false),
        (json!({"questions": ["Which?"]}), false),
    ];
    for (value, good) in cases {
        let text = value.to_string();
        assert_eq!(problem(&input(value)).is_none(), good, "{text}");
    }
}

#[test]
fn answers_are_told_as_observed() {
    let cases = [
        (json!({"Which?": "L0"}), "Your questions have been answered: \"Which?\"=\"L0\"."),
        (json!({"Which?": ["L0", "L1"]}), "Your questions have been answered: \"Which?\"=\"L0,L1\"."),
        (json!({"Which?": "L0, L1"}), "Your questions have been answered: \"Which?\"=\"L0, L1\"."),
        (json!({"Which?": "none of them"}), "The user answered: \"Which?\"=\"none of them\"."),
        (json!({}), "The user did not answer the questions."),
    ];
    for (answers, start) in cases {
        let outcome = answered(&input(json!({"questions": [question(2)], "answers": answers})));
        let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
        assert!(done.content.as_str().expect("text").starts_with(start), "{} / {start}", done.content);
        assert!(done.structured["questions"].is_array() && done.structured["answers"].is_object());
    }
}
