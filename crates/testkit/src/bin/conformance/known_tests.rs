use super::*;

const LIST: &str = "\
# Differences
| scenario | level | why |
|---|---|---|
| `one` | sequence, values | because |
| `race` | sequence? | two frames swap |
";

#[test]
fn a_list_is_held_to_what_it_says() {
    let known = Known::parse(LIST).unwrap();
    let cases: &[(&str, &[Level], usize)] = &[
        ("one", &[Level::Sequence, Level::Values], 0),
        ("one", &[Level::Sequence], 1),
        ("one", &[], 2),
        ("one", &Level::ALL, 1),
        ("race", &[], 0),
        ("race", &[Level::Sequence], 0),
        ("race", &[Level::Values], 1),
        ("unlisted", &[], 0),
        ("unlisted", &[Level::Fields], 1),
    ];
    for (scenario, differing, wrong) in cases {
        let judged = known.judge(scenario, differing);
        assert_eq!(judged.len(), *wrong, "{scenario} {differing:?}: {judged:?}");
    }
}

#[test]
fn a_row_that_says_nothing_is_an_error() {
    for row in ["| `one` | sequence |", "| `one` | colour | because |", "| `one` | values |  |"] {
        assert!(Known::parse(row).is_err(), "{row}");
    }
}
