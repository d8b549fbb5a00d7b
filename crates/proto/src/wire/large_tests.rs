use super::unescape;

#[test]
fn unescapes_like_serde_json() {
    for json in [
        r#""""#,
        r#""plain""#,
        r#""a\nb\t\"q\" \\ \/ \b\f\r""#,
        r#""\u00e9 \u20ac \ud83d\ude00 é €""#,
        r#""\\u0041""#,
    ] {
        let expected: String = serde_json::from_str(json).expect("a valid string");
        assert_eq!(unescape(&json[1..json.len() - 1]).as_deref(), Some(&*expected), "{json}");
    }
}

#[test]
fn a_lone_surrogate_becomes_the_replacement_character() {
    for (escaped, expected) in [
        (r"\ud83d", "\u{fffd}"),
        (r"a\ud83db", "a\u{fffd}b"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\ud83d\n", "\u{fffd}\n"),
    ] {
        assert_eq!(unescape(escaped).as_deref(), Some(expected), "{escaped}");
    }
}
