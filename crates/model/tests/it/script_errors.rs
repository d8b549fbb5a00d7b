//! What is said about scripts that cannot be played, and the files about scripts that we ship.

use std::path::Path;

use pilothouse_model::{Script, ScriptModel, ScriptSyntax};
use proptest::prelude::*;

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("[[turn]]\nsaay = 'x'", 2, 1, "unknown field `saay`"),
        ("[[turn]]\nsay = 'x", 2, 9, "invalid"),
        ("[[turn]]\nsay = 3", 2, 7, "expected a string"),
        ("turn = 1", 1, 8, "expected a sequence"),
        ("[[turn]]\nsay = 'a'\n\n[[turn]]\nsay = 'hi {{nobody}}'", 5, 13, "nothing is called {{nobody}}"),
        (
            "[[turn]]\ncalls = [{ tool = 'X', input = { a = ['{{who}}'] } }]",
            2,
            42,
            "nothing is called {{who}}",
        ),
        ("[[turn]]\nwhen = { user_matches = '(' }\nsay = 'x'", 2, 26, "not a regular expression"),
        ("[[turn]]\nname = 'both'\nsay = 'x'\nblocks = [{ say = 'y' }]", 1, 1, "turn “both”: write either"),
        (
            "[[turn]]\nsay = 'x'\n[[turn]]\nsay = 'y'\nerror = { status = 500 }",
            3,
            1,
            "turn 2: a turn that fails",
        ),
        ("[[turn]]\nerror = { status = 200 }", 2, 20, "200 is no error"),
        ("[[turn]]\nhang = true", 1, 1, "nothing to break off"),
        ("[[turn]]\nblocks = [{ say = 'x', think = 'y' }]", 1, 1, "exactly one of"),
        ("[[turn]]\nblocks = [{ raw = { depth = 1 } }]", 1, 1, "needs a `type`"),
        ("[[turn]]\ntimes = 'often'\nsay = 'x'", 2, 9, "did not match"),
        ("[[fault]]\non = 'result'\ndo = 'explode'", 3, 6, "unknown variant"),
        ("[[fault]]\non = 'result'\ndo = 'drop'\ncode = 3", 1, 1, "`code` means nothing"),
        ("[[fault]]\non = 'start'\ndo = 'split'", 1, 1, "there is no frame"),
        ("[[fault]]\non = 'any'\ndo = 'frame'", 1, 1, "add `frame`"),
        ("[[fault]]\non = 'any'\ndo = 'frame'\nframe = { type = '{{x}}' }", 4, 21, "nothing is called {{x}}"),
        ("[[fault]]\ndo = 'exit'", 1, 1, "missing field `on`"),
    ];
    for (text, line, column, message) in cases {
        let error = Script::parse(text, ScriptSyntax::Toml).expect_err(text);
        assert!(error.message.contains(message), "{text}\n  {error}");
        assert_eq!((error.line, error.column), (line, column), "{text}\n  {error}");
    }
    let error = Script::parse("turn:\n  - saay: x\n", ScriptSyntax::Yaml).expect_err("YAML");
    assert_eq!(error.line, 2, "{error}");
}

#[test]
fn files_are_told_apart_by_their_endings() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let toml = write("a.toml", "[[turn]]\nsay = 'x'");
    assert_eq!(Script::load(&toml).expect("TOML").turns.len(), 1);
    let yaml = write("a.yml", "turn: [{say: x}]");
    assert_eq!(Script::load(&yaml).expect("YAML").turns.len(), 1);
    let broken = write("b.toml", "[[turn]]\nsay = 1");
    let error = Script::load(&broken).expect_err("broken").to_string();
    assert!(error.starts_with(&format!("{}:2:7: ", broken.display())), "{error}");
    assert!(Script::load(&write("c.txt", "")).expect_err("no ending").to_string().contains("name it .toml"));
    assert!(
        Script::load(&folder.path().join("none.toml"))
            .expect_err("no file")
            .to_string()
            .contains("cannot read")
    );
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn every_shipped_script_can_be_played() {
    let mut seen = 0;
    let faults = std::fs::read_dir(repository().join("scripts/faults")).expect("scripts/faults");
    for entry in faults {
        let path = entry.expect("an entry").path();
        let script = Script::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let lines = std::fs::read_to_string(&path).expect("read").lines().count();
        assert!(lines <= 10, "{} has {lines} lines", path.display());
        drop(ScriptModel::new(script));
        seen += 1;
    }
    assert!(seen >= 18, "{seen} scripts");
    Script::parse(pilothouse_model::DEMO, ScriptSyntax::Toml)
        .unwrap_or_else(|error| panic!("the demo: {error}"));
}

#[test]
fn the_examples_in_the_documentation_can_be_played() {
    let page = std::fs::read_to_string(repository().join("docs/scripts.md")).expect("docs/scripts.md");
    let mut seen = 0;
    for (language, syntax) in [("toml", ScriptSyntax::Toml), ("yaml", ScriptSyntax::Yaml)] {
        for example in page.split(&format!("```{language}\n")).skip(1) {
            let text = example.split("```").next().unwrap_or_default();
            Script::parse(text, syntax).unwrap_or_else(|error| panic!("{error}\n{text}"));
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen} examples");
}

/// `PILOTHOUSE_UPDATE=1 cargo test -p pilothouse-model schema` writes the file anew.
#[test]
fn the_schema_in_the_documentation_is_that_of_the_code() {
    let path = repository().join("docs/script.schema.json");
    let schema = serde_json::to_string_pretty(&Script::schema()).expect("JSON") + "\n";
    if std::env::var_os("PILOTHOUSE_UPDATE").is_some() {
        std::fs::write(&path, &schema).expect("written");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), schema, "run with PILOTHOUSE_UPDATE=1");
}

proptest! {
    #[test]
    fn any_text_is_a_script_or_an_error(text in "(\\[\\[turn\\]\\]\n|say = |'|\\{\\{|\\}\\}|user|when = \\{|[ -~é\n]){0,40}") {
        for syntax in [ScriptSyntax::Toml, ScriptSyntax::Yaml] {
            match Script::parse(&text, syntax) {
                Ok(script) => drop(ScriptModel::new(script)),
                Err(error) => prop_assert!(error.line >= 1 && error.column >= 1, "{error}"),
            }
        }
    }
}
