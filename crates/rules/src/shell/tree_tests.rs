use super::{Found, TreeCommand, read};

fn commands(text: &str) -> Vec<String> {
    let words = |found: Found| match found {
        Found::Command(TreeCommand { words }) => Some(words.join("|")),
        _ => None,
    };
    read(text).found.into_iter().filter_map(words).collect()
}

/// The scanner's table of digits ends long before these characters.
#[test]
fn brace_ranges_of_any_character_are_read() {
    let characters = [
        'é',
        '\u{301}',
        '\u{663}',
        '\u{3000}',
        '界',
        '\u{e015a}',
        '\u{f8ff}',
        '\u{10ffff}',
        '\u{1f600}',
        '\u{80}',
        '\u{ffff}',
    ];
    for c in characters {
        for shape in [
            "{C",
            "{C..9}",
            "{1..C}",
            "{C..C}",
            "echo {1C..2C}",
            "a={C",
            "for i in {1..C}; do ls; done",
            "x {C,C}",
        ] {
            let text = shape.replace('C', &c.to_string());
            let reading = read(&text);
            assert!(reading.has_error || !reading.found.is_empty(), "{text:?}");
        }
    }
}

#[test]
fn words_keep_their_characters() {
    for (text, expected) in [
        ("ls café", &["ls|café"][..]),
        ("naïve --größe=3 'à la carte'", &["naïve|--größe=3|'à la carte'"]),
        ("echo \"日本語 $x\" 文字; ls 👩‍👩‍👧", &["echo|\"日本語 $x\"|文字", "ls|👩‍👩‍👧"]),
        ("grep é[àü]* src/ñ/*.rs | wc", &["grep|é[àü]*|src/ñ/*.rs", "wc"]),
        ("echo \\é x{é,è}", &["echo|\\é|x{é,è}"]),
        ("cat <<EOF\né\nEOF\nrm ü", &["cat", "rm|ü"]),
    ] {
        let reading = read(text);
        assert!(!reading.has_error, "{text:?}: {reading:?}");
        assert_eq!(commands(text), expected, "{text:?}");
    }
}

/// `é` and `è` are the same to the grammar, and so is the byte that stands for them.
#[test]
fn here_documents_that_end_at_such_a_word_are_unreadable() {
    for (text, unreadable) in [
        ("cat <<é\nè\nrm x\né", true),
        ("cat <<- 'a é'\nx\na é", true),
        ("cat <<\"a\\\" é\"\nx", true),
        ("cat <<\\ é\nx", true),
        ("cat <<\u{1}\u{1}\né\nrm x\n\u{1}\u{1}", true),
        ("cat <<EOF\né\nEOF", false),
        ("cat <<'EOF' > é\nx\nEOF", false),
        ("cat <<EOF | grep é\nx\nEOF", false),
        ("cat <<< é", false),
    ] {
        assert_eq!(read(text).has_error, unreadable, "{text:?}");
    }
}

/// The grammar takes the second and third backtick for letters of one long name.
#[test]
fn substitutions_that_the_grammar_joins_are_unreadable() {
    for (text, unreadable) in [
        ("`ls`\n`ls`", true),
        ("`ls` \n `rm x`", true),
        ("`ls`;`ls`", false),
        ("`ls`\n$(ls)", false),
        ("echo `echo \\`ls\\``", false),
        ("echo 'a `b`\n`c`'", false),
    ] {
        assert_eq!(read(text).has_error, unreadable, "{text:?}");
    }
}
