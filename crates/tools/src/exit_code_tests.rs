use super::meaning;

#[test]
fn only_codes_that_are_no_failure_mean_something() {
    let cases = [
        ("grep x f", 1, true),
        ("grep x f", 2, false),
        ("cat f | grep x", 1, true),
        ("/usr/bin/diff a b", 1, true),
        ("test -f none", 1, true),
        ("grep x f; false", 1, false),
        ("false", 1, false),
        ("", 1, false),
    ];
    for (command, code, expected) in cases {
        assert_eq!(meaning(command, code).is_some(), expected, "{command} {code}");
    }
}
