use pilothouse_catalog::{Invocation, RunShell, Variables, split_arguments};

use crate::Tree;

/// Text of a command, arguments, and the prompt: all observed.
const OBSERVED: &[(&str, &str, &str)] = &[
    ("P1 one=[$1] two=[$2] three=[$3]\n", "a b c", "P1 one=[b] two=[c] three=[$3]\n"),
    ("P1 one=[$1] two=[$2] three=[$3]\n", "\"x y\" z", "P1 one=[z] two=[$2] three=[$3]\n"),
    ("P1 one=[$1] two=[$2] three=[$3]\n", "", "P1 one=[$1] two=[$2] three=[$3]\n"),
    (
        "P0 z=[$0] idx0=[$ARGUMENTS[0]] idx1=[$ARGUMENTS[1]] all=[$ARGUMENTS]\n",
        "a b",
        "P0 z=[a] idx0=[a] idx1=[b] all=[a b]\n",
    ),
    ("---\narguments: [who, what]\n---\nNAMED who=[$who] what=[$what]\n", "a b", "NAMED who=[a] what=[b]\n"),
    ("NOPLACE\n", "a b", "NOPLACE\n\n\nARGUMENTS: a b"),
    ("NOPLACE no newline", "a b", "NOPLACE no newline\n\nARGUMENTS: a b"),
    ("NOPLACE\n", "", "NOPLACE\n"),
    ("ALL [$ARGUMENTS]\n", "", "ALL []\n"),
    ("ALL [$ARGUMENTS]\n", "  a   b ", "ALL [a   b]\n"),
    (
        "ESC [\\$0] [\\$ARGUMENTS] [$0x] [$10] [$ARGUMENTS[5]] [${0}] [$ARGUMENTSX]\n",
        "a b",
        "ESC [$0] [$ARGUMENTS] [$0x] [$10] [$ARGUMENTS[5]] [${0}] [a bX]\n",
    ),
    ("FIVE [$5]\n", "a", "FIVE [$5]\n\n\nARGUMENTS: a"),
    ("E \\$0\n", "q", "E $0\n\n\nARGUMENTS: q"),
    (
        "---\narguments: [who, what]\n---\nN [$who] [$what] [$whom] [${who}] [$who_x] [$who-x] [$WHO]\n",
        "a",
        "N [a] [] [$whom] [${who}] [$who_x] [a-x] [$WHO]\n",
    ),
    ("---\narguments: [a, b]\n---\n$a-$b $0 $ARGUMENTS[1] \\$a \\\\$0\n", "x y", "x-y x y $a \\\\x\n"),
    (
        "---\narguments: [a, b]\n---\n$a-$b $0 $ARGUMENTS[1] \\$a \\\\$0\n",
        "'x y'",
        "x y- x y $ARGUMENTS[1] $a \\\\x y\n",
    ),
    ("$0 $0 $ARGUMENTS $ARGUMENTS\n", "x y", "x x x y x y\n"),
    (
        "---\ndescription: never closed\nB body\n",
        "q",
        "---\ndescription: never closed\nB body\n\n\nARGUMENTS: q",
    ),
    ("---\r\ndescription: crlf\r\n---\r\nB\r\n", "q", "B\r\n\n\nARGUMENTS: q"),
    ("\u{feff}---\ndescription: bom\n---\nB\n", "q", "B\n\n\nARGUMENTS: q"),
    ("\n---\ndescription: lead\n---\nB\n", "", "\n---\ndescription: lead\n---\nB\n"),
    ("---\n---\nB after empty\n", "", "B after empty\n"),
    ("", "q", "\n\nARGUMENTS: q"),
    ("@note.txt and $0\n", "a", "@note.txt and a\n"),
];

#[test]
fn prompts_are_as_observed() {
    for (text, arguments, prompt) in OBSERVED {
        let tree = Tree::new(&[("./.claude/commands/c.md", text)]);
        let (catalog, _) = tree.discover();
        let expanded = catalog.find("c").expect("there").expand(arguments, &Variables::default());
        assert_eq!(expanded.expect("expanded").literal(), *prompt, "{text:?} with {arguments:?}");
    }
}

#[test]
fn arguments_are_split_as_observed() {
    let cases: &[(&str, &[&str])] = &[
        ("'x y' z", &["x y", "z"]),
        ("\"x y", &["\"x y"]),
        ("a\\ b c", &["a b", "c"]),
        ("a\nb c", &["a"]),
        ("\"\" z", &["", "z"]),
        ("a\"b c\"d e", &["ab cd", "e"]),
        ("\"a \\\" b\" c", &["a \\\" b", "c"]),
        ("a $B c", &["a", "c"]),
        ("$B c", &["$B", "c"]),
        ("$1 $ARGUMENTS", &["$1"]),
        ("a x$B c", &["a", "x$B", "c"]),
        ("a \"$B\" c", &["a", "$B", "c"]),
        ("a 'b$B' c", &["a", "b$B", "c"]),
        ("a; b c", &["a"]),
        ("a > b c", &["a"]),
        ("a | b", &["a"]),
        ("a & b", &["a"]),
        ("a # b c", &["a"]),
        ("a b#1 c", &["a", "b#1", "c"]),
        ("#1 b", &["#1", "b"]),
        ("*.txt b", &["*.txt", "b"]),
        ("{a,b} c", &["{a,b}", "c"]),
        ("~ b", &["~", "b"]),
        ("a=b c", &["c"]),
        ("a=1 b=2 c d", &["c", "d"]),
        ("\\$x b", &["$x", "b"]),
        ("a\tb c", &["a", "b", "c"]),
        ("é ü", &["é", "ü"]),
        ("'a' 'it''s' c", &["a", "its", "c"]),
        ("it's b c", &["it's b c"]),
        ("a ' b", &["a", "' b"]),
        ("<x> y", &["<x>", "y"]),
        ("-x --y z", &["-x", "--y", "z"]),
        ("\"a\nb\" c", &["a\nb", "c"]),
        ("https://x.y/?a=1&b=2 c", &["https://x.y/?a=1"]),
        ("a\\nb c", &["anb", "c"]),
        ("a\\;b c", &["a;b", "c"]),
        ("a\\\\b c", &["a\\b", "c"]),
        ("$ b", &["$", "b"]),
        ("a b;", &["a", "b"]),
        ("@file.txt b", &["@file.txt", "b"]),
        ("", &[]),
    ];
    for (text, words) in cases {
        assert_eq!(split_arguments(text), *words, "{text:?}");
    }
}

#[test]
fn a_message_calls_a_command_only_with_a_leading_slash() {
    let cases = [
        ("/p1 a b", Some(("p1", "a b"))),
        ("/p1", Some(("p1", ""))),
        ("/p1\na", Some(("p1", "a"))),
        ("/db:migrate  x ", Some(("db:migrate", "x"))),
        (" /p1 a", None),
        ("/ p1", None),
        ("text /p1 a", None),
        ("/", None),
    ];
    for (text, called) in cases {
        let parsed = Invocation::parse(text).map(|call| (call.name, call.arguments));
        assert_eq!(parsed, called, "{text:?}");
    }
}

/// Answers with the command in angle brackets, and refuses `rm`.
struct Echo(Vec<String>);

impl RunShell for Echo {
    fn run(&mut self, command: &str) -> Result<String, String> {
        self.0.push(command.to_owned());
        if command.starts_with("rm") { Err("not allowed".to_owned()) } else { Ok(format!("<{command}>\n")) }
    }
}

#[test]
fn shell_commands_are_handed_to_the_caller() {
    let cases: &[(&str, &str, &str)] = &[
        ("OUT: !`echo from-bash`\nFILE: @note.txt\n", "", "OUT: <echo from-bash>\nFILE: @note.txt\n"),
        ("!`echo a`!`echo b` x!`echo c`\n\t!`echo d`\n", "", "<echo a>!`echo b` x!`echo c`\n\t<echo d>\n"),
        ("a!`echo x` (!`echo y`) !`echo $0` $0\n", "Q", "a!`echo x` (!`echo y`) <echo Q> Q\n"),
        ("X\n```!\necho block one\n```\nend !`echo hi`\n", "", "X\n<echo block one>\nend <echo hi>\n"),
        ("I $ARGUMENTS\n", "!`echo pwned`", "I !`echo pwned`\n"),
        ("not closed !`echo\n", "", "not closed !`echo\n"),
        ("hey! `code` !``\n", "", "hey! `code` !``\n"),
    ];
    for (text, arguments, prompt) in cases {
        let tree = Tree::new(&[("./.claude/commands/c.md", text)]);
        let (catalog, _) = tree.discover();
        let entry = catalog.find("c").expect("there");
        let expanded = entry.expand(arguments, &Variables::default()).expect("expanded");
        assert_eq!(expanded.run(&mut Echo(Vec::new())).expect("ran"), *prompt, "{text:?}");
    }
    let text = "!`echo first`\n!`rm -rf x`\n!`echo last`\n";
    let tree = Tree::new(&[("./.claude/commands/c.md", text)]);
    let (catalog, _) = tree.discover();
    let expanded = catalog.find("c").expect("there").expand("", &Variables::default()).expect("expanded");
    let mut runner = Echo(Vec::new());
    let failed = expanded.run(&mut runner).expect_err("refused");
    assert_eq!(failed.to_string(), "the shell command in `!`rm -rf x`` was not run: not allowed");
    assert_eq!(runner.0, ["echo first", "rm -rf x"]);
    assert_eq!(expanded.shell_calls().count(), 3);
}

#[test]
fn a_skill_knows_its_directory() {
    let text = "---\nname: s\ndescription: d\n---\nSKILL BODY [$ARGUMENTS] dir=${CLAUDE_SKILL_DIR} id=${CLAUDE_SESSION_ID}\n";
    let tree = Tree::new(&[("./.claude/skills/s/SKILL.md", text)]);
    let (catalog, _) = tree.discover();
    let variables = Variables { session_id: Some("7".to_owned()), ..Variables::default() };
    let prompt = catalog.find("s").expect("there").expand("A1 B2", &variables).expect("expanded").literal();
    let dir = tree.path("./.claude/skills/s");
    let dir = dir.display();
    assert_eq!(
        prompt,
        format!("Base directory for this skill: {dir}\n\nSKILL BODY [A1 B2] dir={dir} id=7\n")
    );
}
