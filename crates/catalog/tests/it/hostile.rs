use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use pilothouse_catalog::{ProblemKind, Variables, split_arguments};

use crate::{Tree, names};

#[test]
fn what_cannot_be_used_is_reported_and_hides_nothing_else() {
    let tree = Tree::new(&[("./.claude/commands/good.md", "good\n")]);
    tree.write("./.claude/commands/huge.md", &vec![b'x'; 1024 * 1024 + 1]);
    tree.write("./.claude/commands/latin.md", b"caf\xe9\n");
    tree.write("./.claude/skills/latin/SKILL.md", b"---\ndescription: caf\xe9\n---\n");
    let commands = tree.path("./.claude/commands");
    symlink("/nowhere/at/all", commands.join("dangling.md")).expect("linked");
    symlink("..", commands.join("loop")).expect("linked");
    symlink("self", commands.join("self")).expect("linked");
    std::fs::write(commands.join(OsStr::from_bytes(b"bad\xff.md")), "x").expect("written");
    std::fs::create_dir_all(commands.join("dir.md")).expect("made");
    let (catalog, problems) = tree.discover();
    assert!(catalog.find("good").is_some());
    let has = |wanted: fn(&ProblemKind) -> bool| problems.iter().any(|problem| wanted(&problem.kind));
    assert!(has(|kind| matches!(kind, ProblemKind::TooLarge { .. })));
    assert!(has(|kind| *kind == ProblemKind::NotUtf8));
    assert!(has(|kind| matches!(kind, ProblemKind::Unreadable(_))));
    assert!(has(|kind| *kind == ProblemKind::LinkLoop));
    assert!(has(|kind| *kind == ProblemKind::NameNotUtf8));
    // The loop is entered once: `..` holds `commands` again, and there it stops.
    assert!(names(&catalog).len() < 6, "{:?}", names(&catalog));
}

#[test]
fn links_that_lead_elsewhere_are_followed() {
    let tree =
        Tree::new(&[("shared/x.md", "shared\n"), ("kit/SKILL.md", "---\ndescription: kit\n---\nKIT\n")]);
    for directory in ["./.claude/commands", "./.claude/skills"] {
        std::fs::create_dir_all(tree.path(directory)).expect("made");
    }
    symlink(tree.path("shared"), tree.path("./.claude/commands/team")).expect("linked");
    symlink(tree.path("kit"), tree.path("./.claude/skills/kit")).expect("linked");
    let (catalog, problems) = tree.discover();
    assert_eq!(problems, []);
    assert_eq!(names(&catalog), ["kit", "team:x"]);
}

#[test]
fn a_long_front_matter_or_text_is_read_as_far_as_needed() {
    let long_matter = format!("---\nnote: {}\ndescription: late\n---\nBODY\n", "x".repeat(100_000));
    let long_text = format!("first line\n{}\n", "ü".repeat(100_000));
    let tree = Tree::new(&[
        ("./.claude/commands/matter.md", long_matter.as_str()),
        ("./.claude/commands/text.md", long_text.as_str()),
    ]);
    let (catalog, problems) = tree.discover();
    assert_eq!(problems, []);
    assert_eq!(catalog.find("matter").expect("there").description, "late");
    let text = catalog.find("text").expect("there");
    assert_eq!(text.description, "first line");
    assert_eq!(text.read_body().expect("read"), long_text);
}

#[test]
fn an_entry_whose_file_is_gone_says_so() {
    let tree = Tree::new(&[("./.claude/commands/c.md", "text\n")]);
    let (catalog, _) = tree.discover();
    std::fs::remove_file(tree.path("./.claude/commands/c.md")).expect("removed");
    let error = catalog.find("c").expect("there").expand("", &Variables::default()).expect_err("gone");
    assert!(error.to_string().contains("c.md: cannot be read"), "{error}");
}

#[test]
fn monstrous_arguments_are_split_without_trouble() {
    let quotes = "\"\"".repeat(200_000);
    assert_eq!(split_arguments(&quotes), [""]);
    assert_eq!(split_arguments(&"a ".repeat(100_000)).len(), 100_000);
    let open = "'".repeat(99_999);
    assert_eq!(split_arguments(&open).len(), 1);
}
