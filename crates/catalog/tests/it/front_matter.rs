use pilothouse_catalog::parse_front_matter;
use proptest::prelude::*;

use crate::Tree;

/// Front matter as people write it, and the description and hint that come out: all observed.
#[test]
fn descriptions_are_as_observed() {
    let cases: &[(&str, &str, &str)] = &[
        ("---\nargument-hint: [a] [b]\ndescription: plain\n---\nB\n", "plain", "[a] [b]"),
        ("---\nargument-hint: [a]\n---\nB\n", "B", "a"),
        ("---\nargument-hint: [a, b]\n---\nB\n", "B", "a,b"),
        ("---\nargument-hint: [a|b]\ndescription: \"x\"  # note\n---\nB\n", "x", "a|b"),
        ("---\ndescription: x: y\n---\nB\n", "x: y", ""),
        ("---\ndescription:\ttabbed\n---\nB\n", "tabbed", ""),
        ("---\ndescription: it's \"quoted\" here\n---\nB\n", "it's \"quoted\" here", ""),
        ("---\ndescription: \"unbalanced\n---\nB\n", "B", ""),
        ("---\ndescription: @mention and %percent\n---\nB\n", "@mention and %percent", ""),
        ("---\ndescription: [a, b]\n---\nB\n", "B", ""),
        ("---\ndescription: 42\n---\nB\n", "42", ""),
        ("---\ndescription: |\n  line one\n  line two\n---\nB\n", "line one line two", ""),
        ("---\ndescription: >\n  line one\n  line two\n---\nB\n", "line one line two", ""),
        ("---\ndescription: never closed\nB body\n", "---", ""),
        ("----\ndescription: d\n----\nB\n", "----", ""),
        ("# Title here\n\nBody para\n", "Title here", ""),
        ("\n\n\n   Indented first\n", "Indented first", ""),
        ("", "Custom command", ""),
    ];
    for (text, description, hint) in cases {
        let (catalog, _) = Tree::new(&[("./.claude/commands/c.md", text)]).discover();
        let entry = catalog.find("c").expect("there");
        assert_eq!(entry.description, *description, "{text:?}");
        assert_eq!(entry.argument_hint.as_deref().unwrap_or_default(), *hint, "{text:?}");
    }
}

#[test]
fn problems_name_the_line_in_the_file() {
    let tree = Tree::new(&[
        ("./.claude/commands/a.md", "---\nmodel: x\ndescription: a: b\n---\nB\n"),
        ("./.claude/commands/b.md", "---\nmodel: x\n\ndescription: \"unbalanced\n---\nB\n"),
        ("./.claude/commands/c.md", "---\n- just\n- a list\n---\nB\n"),
    ]);
    let (catalog, problems) = tree.discover();
    assert_eq!(catalog.entries.len(), 3);
    let lines: Vec<_> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines[0], Some(3));
    assert!(lines[1].is_some_and(|line| line >= 4), "{problems:?}");
    assert!(problems[2].to_string().contains("not a list of `name: value` lines"), "{problems:?}");
}

#[test]
fn bombs_and_monsters_are_refused_quickly() {
    let mut bomb = String::from("---\na: &a [x,x,x,x,x,x,x,x,x]\n");
    for (name, before) in
        ["b", "c", "d", "e", "f", "g", "h", "i"].iter().zip(["a", "b", "c", "d", "e", "f", "g", "h"])
    {
        bomb.push_str(&format!("{name}: &{name} [*{before},*{before},*{before},*{before},*{before},*{before},*{before},*{before},*{before}]\n"));
    }
    bomb.push_str("---\nB\n");
    let nested = format!("---\na: {}\n---\nB\n", "[".repeat(100_000));
    let maps = format!("---\n{}\n---\nB\n", "a: ".repeat(10_000));
    for text in [bomb, nested, maps] {
        let started = std::time::Instant::now();
        let parsed = parse_front_matter(&text);
        assert_eq!(parsed.body, "B\n");
        assert!(parsed.broken.is_some() || !parsed.repaired.is_empty());
        assert!(started.elapsed().as_secs() < 5);
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_panics(text in "(---\n)?[-a-z:\\[\\]{}\"'|>&*!@#% \n\t\u{feff}é]{0,80}(\n---\n)?[a-z$\\\\{}`!0-9 \n]{0,40}") {
        let parsed = parse_front_matter(&text);
        prop_assert!(text.ends_with(parsed.body));
    }

    #[test]
    fn a_plain_value_survives_whatever_it_contains(value in "[a-z][a-z:\\[\\]{}&*!@%,?` -]{0,30}[a-z]") {
        prop_assume!(!matches!(value.as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off") && !value.contains(" #"));
        let text = format!("---\ndescription: {value}\n---\nB");
        let parsed = parse_front_matter(&text);
        let read = parsed.fields.get("description").and_then(|value| value.as_str());
        prop_assert_eq!(read, Some(value.as_str()));
    }
}
