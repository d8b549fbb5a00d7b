use super::*;

const DOCUMENT: &str = "
| layer | folder | responsibility, one sentence | may depend on |
|---|---|---|---|
| 0 | `wire` | Types. | – |
| 1 | `link` | A connection. | wire |
| 4 | `cli` | The program. | all |
| – | `testkit` | Tests. | wire, link |
";

fn named(folder: &str, dependencies: &[&str], dev_dependencies: &[&str]) -> Crate {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Crate {
        folder: folder.to_owned(),
        package: format!("pilothouse-{folder}"),
        dependencies: set(dependencies),
        dev_dependencies: set(dev_dependencies),
    }
}

#[test]
fn every_breach_is_found() {
    let good = || {
        vec![
            named("wire", &[], &["testkit"]),
            named("link", &["wire"], &[]),
            named("cli", &["wire", "link"], &[]),
            named("testkit", &["wire"], &[]),
        ]
    };
    let with = |folder: &str, dependencies: &[&str], dev: &[&str]| {
        let mut crates: Vec<Crate> = good().into_iter().filter(|known| known.folder != folder).collect();
        crates.push(named(folder, dependencies, dev));
        crates
    };
    // (crates, text of the one breach; none when it is empty)
    let cases = [
        (good(), ""),
        (with("wire", &["link"], &[]), "`wire` depends on `link`"),
        (with("wire", &[], &["link"]), "the tests of `wire` depend on `link`"),
        (with("link", &["wire", "testkit"], &[]), "`link` depends on `testkit`"),
        (with("cli", &["testkit"], &[]), "`cli` depends on `testkit`"),
        (with("extra", &[], &[]), "`extra` is not in the table"),
        (good().into_iter().skip(1).collect(), "lists `wire`, which is no crate"),
    ];
    let rows = table(DOCUMENT).expect("a table");
    for (crates, wanted) in cases {
        let found = edges(&rows, &crates);
        if wanted.is_empty() {
            assert_eq!(found, Vec::<String>::new());
        } else {
            assert!(matches!(found.as_slice(), [only] if only.contains(wanted)), "{wanted}: {found:?}");
        }
    }
}

#[test]
fn the_table_itself_must_be_a_hierarchy() {
    let upwards = DOCUMENT.replace("| Types. | – |", "| Types. | link |");
    let rows = table(&upwards).expect("a table");
    let crates: Vec<Crate> = ["wire", "link", "cli", "testkit"].map(|folder| named(folder, &[], &[])).into();
    let found = edges(&rows, &crates);
    assert!(matches!(found.as_slice(), [only] if only.contains("not in a lower layer")), "{found:?}");
    assert!(table("no table here").is_err());
    assert!(table(&DOCUMENT.replace("`link`", "`wire`")).is_err(), "listed twice");
}
