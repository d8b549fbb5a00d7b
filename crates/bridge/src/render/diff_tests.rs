use super::*;

/// A change as it is read: `-1 +1` for a place, then its lines.
fn shown(diff: &Diff) -> String {
    let mut text = format!("{} +{} -{}\n", diff.path, diff.added, diff.removed);
    for hunk in &diff.hunks {
        text += &format!("@ {} {}\n", hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            let mark = match line.kind {
                LineKind::Same => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            };
            text += &format!("{mark}{}\n", line.html);
        }
    }
    text
}

#[test]
fn two_texts_make_a_change() {
    let numbers = |from: u32, to: u32| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
    let rows = [
        (String::new(), "a\r\n<b>\n".to_owned(), "f +2 -0\n@ 1 1\n+a\n+&lt;b&gt;\n"),
        ("a\n".to_owned(), "a\n".to_owned(), "f +0 -0\n"),
        ("a\nb".to_owned(), "a\nc".to_owned(), "f +1 -1\n@ 1 1\n a\n-b\n+c\n"),
        (
            numbers(1, 30),
            numbers(1, 9) + "new\n" + &numbers(10, 30),
            "f +1 -0\n@ 7 7\n 7\n 8\n 9\n+new\n 10\n 11\n 12\n",
        ),
    ];
    for (old, new, expected) in rows {
        assert_eq!(shown(&of_texts("f", &old, &new)), expected);
    }
}

#[test]
fn a_patch_of_the_cli_is_a_change() {
    let lines = [" same", "-let x = 1;", "+let y = 2;", "\\ No newline at end of file"].map(str::to_owned);
    let diff = of_patch("a/b.rs", [(3, 4, lines.as_slice())]);
    let expected = "a/b.rs +1 -1\n@ 3 4\n same\n\
        -<span class=\"hl-keyword\">let</span> x = <span class=\"hl-number\">1</span>;\n\
        +<span class=\"hl-keyword\">let</span> y = <span class=\"hl-number\">2</span>;\n";
    assert_eq!(shown(&diff), expected);
}

#[test]
fn huge_changes_are_counted_and_cut() {
    let old = "a\n".repeat(200_000);
    let new = "b\n".repeat(300_000);
    let diff = of_texts("f", &old, &new);
    assert_eq!((diff.added, diff.removed, diff.cut), (300_000, 200_000, true));
    assert_eq!(diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), MOST_LINES);
    let wide = of_texts("f.rs", "", &"é\"".repeat(50_000));
    assert!(wide.hunks[0].lines[0].html.len() < 20 * LONGEST_LINE);
    assert!(wide.cut, "a shortened line is not all of it");
}
