use super::{Obstacle, read};

/// The parts of a command, each as its words joined by `|`.
fn parts(command: &str) -> Result<Vec<String>, Obstacle> {
    read(command).map(|reading| {
        reading
            .parts
            .iter()
            .map(|part| part.words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join("|"))
            .collect()
    })
}

#[test]
fn plain_commands_are_split() {
    for (command, expected) in [
        ("git status", &["git|status"][..]),
        ("git   status\t-s", &["git|status|-s"]),
        ("a; b && c || d | e & f\ng", &["a", "b", "c", "d", "e", "f", "g"]),
        ("echo 'a;b' \"c&&d\" e\\;f", &["echo|a;b|c&&d|e;f"]),
        ("echo \"a\\\"b\" 'c'\\''d'", &["echo|a\"b|c'd"]),
        ("ls # comment ; rm x", &["ls"]),
        ("ls a#b", &["ls|a#b"]),
        ("git \\\n status", &["git|status"]),
        ("cat <<'EOF'\n$(x) `y`\nEOF\nls", &["cat", "ls"]),
        ("cat <<-'E'\n\tx\n\tE", &["cat"]),
        ("! ls", &["ls"]),
        ("if a; then b; elif c\nthen d; else e; fi; f", &["a", "b", "c", "d", "e", "f"]),
        ("for i in a b; do ls; done", &["ls"]),
        ("while a; do b && c\ndone", &["a", "b", "c"]),
        ("ls 2>&1 >/dev/null", &["ls"]),
        ("echo \"5$\" \"$\"", &["echo|5$|$"]),
        ("echo $((1 + 0x2F))", &["echo|$((1 + 0x2F))"]),
        ("X=1; ls", &["ls"]),
        ("a \"b $(cat <<'E'\n$x `y`\n#z\nE\n)\" c", &["a|b $x `y`\n#z|c"]),
        ("X=$(a b); Y=`c`", &["a|b", "c"]),
        ("[[ -f a && ( b =~ (c|d) ) ]] || ls", &["[[|-f|a|&&|(|b|=~|(c|d)|)|]]", "ls"]),
        ("if a; then b; fi | c", &["a", "b", "c"]),
        ("for i; do ls; done", &["ls"]),
        ("A=1 B=2 git x", &["git|x"]),
        ("ls |\n\n wc", &["ls", "wc"]),
        ("ls;", &["ls"]),
        ("", &[]),
        ("  \n ", &[]),
    ] {
        assert_eq!(parts(command), Ok(expected.iter().map(ToString::to_string).collect()), "{command:?}");
    }
}

#[test]
fn everything_else_is_an_obstacle() {
    for (command, obstacle) in [
        ("echo $(x)", Obstacle::NestedCommand),
        ("echo \"`x`\"", Obstacle::NestedCommand),
        ("echo \"$(cat <<E\nx\nE\n)\"", Obstacle::NestedCommand),
        ("echo \"$(cat <<'E'\nx\nE)\"", Obstacle::NestedCommand),
        ("echo \"$(cat <<'E'\nx\nE\nrm y)\"", Obstacle::NestedCommand),
        ("echo \"$(cat a <<'E'\nx\nE\n)\"", Obstacle::NestedCommand),
        ("cat <(x)", Obstacle::NestedCommand),
        ("cat <<E\n$(x)\nE", Obstacle::OpenText),
        ("cat <<E\nx\nE", Obstacle::OpenText),
        ("cat <<'E' | sh\nx\nE", Obstacle::OpenText),
        ("ls {a,b}", Obstacle::Braces),
        ("ls a\\ b", Obstacle::EscapedBlank),
        ("echo $x", Obstacle::Variable),
        ("echo \"${x}\"", Obstacle::Variable),
        ("echo $((x))", Obstacle::Variable),
        ("echo $((a[0]))", Obstacle::Variable),
        ("echo $((1+$(x)))", Obstacle::Variable),
        ("echo a$", Obstacle::Variable),
        ("(ls)", Obstacle::Grouping),
        ("{ ls; }", Obstacle::ControlFlow),
        ("f() { ls; }", Obstacle::ControlFlow),
        ("(ls; a)", Obstacle::ControlFlow),
        ("(ls) > a", Obstacle::ControlFlow),
        ("(ls) && echo $x", Obstacle::Variable),
        ("((x))", Obstacle::ControlFlow),
        ("a | (b && c)", Obstacle::Grouping),
        ("for i in $x; do ls; done", Obstacle::Variable),
        ("for i in $(a); do b; done", Obstacle::Entangled),
        ("for i in $(a | b); do c; done", Obstacle::FedLoop),
        ("while a; do b; done < c", Obstacle::ControlFlow),
        ("a | while b; do c; done", Obstacle::FedLoop),
        ("while a; do b; done | c", Obstacle::FedLoop),
        ("a | if b; then c; fi", Obstacle::FedLoop),
        ("case a in a) ls;; esac", Obstacle::ControlFlow),
        ("[[ a ]] > b", Obstacle::ControlFlow),
        ("[[ a\n]]", Obstacle::ControlFlow),
        ("[[ $x ]]", Obstacle::Variable),
        ("X=1 Y=2", Obstacle::Assignment),
        ("PATH=x; ls", Obstacle::Assignment),
        ("PATH=$(a); ls", Obstacle::Assignment),
        ("X=~; ls", Obstacle::Assignment),
        ("X=$(a; b)", Obstacle::ControlFlow),
        ("X=$(a | b)", Obstacle::Entangled),
        ("X=a$(b)", Obstacle::NestedCommand),
        ("X=$(a)b", Obstacle::NestedCommand),
        ("a | X=$(b)", Obstacle::NestedCommand),
        ("git sta\\\ntus", Obstacle::SplitWord),
        ("a \\\n | b", Obstacle::Entangled),
        ("a | \\\n b", Obstacle::Entangled),
        ("a && # b\nc", Obstacle::Unreadable),
        ("ls =a", Obstacle::ProgramPath),
        ("echo 'a\n #b'", Obstacle::HiddenComment),
        ("ls 2>&-", Obstacle::Closed),
        ("echo $'a'", Obstacle::EncodedText),
        ("ls\u{a0}x", Obstacle::HiddenCharacters),
        ("ls \u{200b}", Obstacle::HiddenCharacters),
        ("ls\r\nls", Obstacle::HiddenCharacters),
        ("echo 'a", Obstacle::Unreadable),
        ("echo \"a", Obstacle::Unreadable),
        ("ls \\", Obstacle::Unreadable),
        ("cat <<'E'\nx", Obstacle::Unreadable),
        ("ls && && ls", Obstacle::Unreadable),
    ] {
        assert_eq!(parts(command), Err(obstacle), "{command:?}");
    }
    assert_eq!(parts(&"a ".repeat(10_000)), Err(Obstacle::TooLong));
}
