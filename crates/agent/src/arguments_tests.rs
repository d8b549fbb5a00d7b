use serde_json::json;

use super::*;

#[test]
fn arguments_are_held_to_the_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "count": {"type": ["integer", "null"]},
            "all": {"type": "boolean"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "list": {"type": "array"},
            "any": {},
            "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let cases = [
        (json!({"path": "x"}), 0),
        (json!({}), 1),
        (json!({"path": 3}), 1),
        (json!({"path": "x", "count": "12", "all": "true", "mode": null}), 0),
        (json!({"path": "x", "count": "many"}), 1),
        (json!({"path": "x", "all": "yes"}), 1),
        (json!({"path": "x", "mode": "c"}), 1),
        (json!({"path": "x", "list": {}}), 1),
        (json!({"path": "x", "either": 3}), 0),
        (json!({"path": "x", "either": "abc"}), 1),
        (json!({"path": "x", "any": [1], "more": 1}), 1),
    ];
    for (input, count) in cases {
        let found = problems(&schema, input.as_object().expect("an object"));
        assert_eq!(found.len(), count, "{input}: {found:?}");
    }
}

#[test]
fn what_follows_from_other_arguments_may_be_left_out() {
    for (given, filled) in [
        (json!({"subject": "s"}), json!({"subject": "s", "description": "s"})),
        (json!({"description": "d"}), json!({"subject": "d", "description": "d"})),
        (json!({"subject": "s", "description": "d"}), json!({"subject": "s", "description": "d"})),
        (json!({}), json!({})),
    ] {
        let mut input = given.as_object().cloned().expect("an object");
        fill("TaskCreate", &mut input);
        assert_eq!(Value::Object(input), filled);
    }
    let mut other = json!({"subject": "s"}).as_object().cloned().expect("an object");
    fill("TaskGet", &mut other);
    assert_eq!(other.len(), 1);
    let mut questions = json!({"questions": [{"question": "a"}, {"multiSelect": true}, 7]});
    one_answer_each(questions.as_object_mut().expect("an object"));
    assert_eq!(questions["questions"][0]["multiSelect"], false);
    assert_eq!(questions["questions"][1]["multiSelect"], true);
}
