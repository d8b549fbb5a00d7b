use super::{Misfit, across_line_ends, replaced};

/// Text, old, new, everywhere, and what comes of it.
type Row = (&'static str, &'static str, &'static str, bool, Result<&'static str, Misfit>);

const ROWS: &[Row] = &[
    ("a b", "b", "c", false, Ok("a c")),
    ("a b b", "b", "c", false, Err(Misfit::Ambiguous(2))),
    ("a b b", "b", "c", true, Ok("a c c")),
    ("a", "b", "c", false, Err(Misfit::Absent)),
    ("", "", "new", false, Ok("new")),
    ("a", "", "new", false, Err(Misfit::Nothing)),
    // A line that is taken out goes with its end, as the real CLI does it.
    ("one\ntwo\nthree\n", "two", "", false, Ok("one\nthree\n")),
    ("one\ntwo\n", "two\n", "", false, Ok("one\n")),
    ("one two", "two", "", false, Ok("one ")),
    ("x\nx\n", "x", "", true, Ok("")),
    // Other line ends and typographic quotes are found too, and kept.
    ("a\nb", "a\r\nb", "c", false, Ok("c")),
    ("\u{201c}quoted\u{201d} text", "\"quoted\"", "\"said\"", false, Ok("\u{201c}said\u{201d} text")),
    ("it\u{2019}s so", "it's", "it isn't", false, Ok("it isn\u{2019}t so")),
    ("\u{201c}a\u{201d} \"a\"", "\"a\"", "b", false, Ok("\u{201c}a\u{201d} b")),
    ("é\u{201c}é\u{201d}", "é\"é\"", "x", false, Ok("x")),
];

#[test]
fn an_edit_may_span_both_kinds_of_line_ends() {
    let done = |text, old, new| across_line_ends(text, old, new);
    assert_eq!(done("a\r\nb\n", "a\nb", "x\ny").as_deref(), Some("x\ny\n"));
    assert_eq!(done("é\r\na\r\nb\nc\r\n", "a\nb", "x").as_deref(), Some("é\r\nx\nc\r\n"));
    assert_eq!(done("a\r\nb\na\r\nb\n", "a\nb", "x"), None, "it is there twice");
    assert_eq!(done("a\nb\n", "a\nc", "x"), None);
}

#[test]
fn an_edit_finds_what_was_meant() {
    for (text, old, new, everywhere, expected) in ROWS {
        let done = replaced(text, old, new, *everywhere);
        assert_eq!(done.as_deref(), expected.as_ref().map(|text| *text), "{old:?} -> {new:?} in {text:?}");
    }
}
