use super::*;

#[test]
fn html_becomes_markdown() {
    let html = "<html><head><style>x{}</style><script>evil()</script></head><body><h1>Title</h1>\
                <p>Some <b>bold</b> <a href=\"/x\">link</a></p><ul><li>one<li>two</ul></body></html>";
    let markdown = markdown(html).unwrap();
    assert!(markdown.contains("# Title") && markdown.contains("**bold**"), "{markdown}");
    assert!(markdown.contains("[link](/x)"), "{markdown}");
    assert!(!markdown.contains("evil") && !markdown.contains("x{}"), "{markdown}");
}

#[test]
fn tags_are_left_out() {
    for (html, text) in [
        ("<h1>Title</h1>\n<p>one<br/>two", "Title one two"),
        ("<script>a < b </div></script>c<STYLE>d</style>e", "c e"),
        ("a<!-- <b>x</b> -->b", "a b"),
        ("<script>never ends", ""),
        ("a<b", "a"),
        ("<<<<", ""),
        ("\u{0}<\u{ffff}>", "\u{0}"),
    ] {
        assert_eq!(without_tags(html), text, "{html}");
    }
    let deep = format!("{}text{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    assert_eq!(without_tags(&deep), "text");
}
