use super::Matcher;

#[test]
fn matchers_fit_as_observed() {
    let cases: &[(Option<&str>, &str, bool)] = &[
        (None, "Bash", true),
        (Some(""), "Bash", true),
        (Some("*"), "Bash", true),
        (Some("Bash"), "Bash", true),
        (Some("Ba"), "Bash", false),
        (Some("bash"), "Bash", false),
        (Some("Write|Bash"), "Bash", true),
        (Some("Write, Bash"), "Bash", true),
        (Some("Write|Edit"), "Bash", false),
        (Some("Ba.*"), "Bash", true),
        (Some("B*"), "Bash", true),
        (Some("as.$"), "Bash", true),
        (Some("^ash"), "Bash", false),
        (Some("mcp__calc__.*"), "mcp__calc__add", true),
        (Some("mcp__calc__add"), "mcp__calc__add", true),
    ];
    for (text, subject, fits) in cases {
        let matcher = Matcher::new(*text).expect("a matcher");
        assert_eq!(matcher.fits(Some(subject)), *fits, "{text:?} and {subject}");
    }
}

#[test]
fn a_broken_pattern_is_an_error() {
    assert!(Matcher::new(Some("(")).is_err());
}
