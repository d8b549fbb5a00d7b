use super::*;

#[test]
fn versions() {
    let cases = [
        ("2.1.325", false),
        ("2.0.0", false),
        ("1.0.128", true),
        ("0.9.9 (x)", true),
        ("dev", false),
        ("", false),
    ];
    for (version, old) in cases {
        assert_eq!(is_too_old(version), old, "{version}");
    }
    assert_eq!(oldest(), "2.0.0");
}
