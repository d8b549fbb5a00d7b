use super::*;

#[test]
fn urls() {
    let cases = [
        ("https://example.com/a?b#c", Ok("https://example.com/a?b#c")),
        ("http://example.com/", Ok("https://example.com/")),
        ("http://127.0.0.1:80/x", Ok("http://127.0.0.1/x")),
        ("http://localhost:8080/x", Ok("http://localhost:8080/x")),
        ("http://[::1]/x", Ok("http://[::1]/x")),
        ("ftp://example.com/", Err("only http and https")),
        ("file:///etc/passwd", Err("only http and https")),
        ("https://me:secret@example.com/", Err("are not sent")),
        ("http://169.254.169.254/latest", Err("link-local")),
        ("http://[::ffff:169.254.169.254]/", Err("link-local")),
        ("example.com", Err("relative URL without a base")),
        ("", Err("relative URL without a base")),
    ];
    for (text, expected) in cases {
        match (checked_url(text), expected) {
            (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
            (got, _) => panic!("{text}: {got:?}"),
        }
    }
    assert!(checked_url(&format!("https://example.com/{}", "x".repeat(3000))).is_err());
}

#[test]
fn sites() {
    let cases = [
        ("https://example.com/a", "https://example.com/b", true),
        ("https://example.com/a", "https://www.example.com/a", true),
        ("https://example.com/a", "https://example.org/a", false),
        ("http://127.0.0.1:1/a", "http://127.0.0.1:2/a", false),
    ];
    for (a, b, same) in cases {
        assert_eq!(same_site(&Url::parse(a).unwrap(), &Url::parse(b).unwrap()), same, "{a} {b}");
    }
}
