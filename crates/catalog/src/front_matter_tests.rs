use proptest::prelude::*;

use super::{mapping, plain_mapping};

proptest! {
    /// The short cut must never say anything else than the parser does.
    #[test]
    fn plain_lines_mean_what_yaml_says(lines in prop::collection::vec("[a-zA-Z_-]{1,5}: ?[a-zA-Z0-9 .,;()*/+=<>$'\"_:#&!|é-]{0,12}", 0..4)) {
        let yaml = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        if let Some(fields) = plain_mapping(&yaml) {
            prop_assert_eq!(mapping(&yaml).ok(), Some(fields));
        }
    }

    #[test]
    fn words_and_numbers_are_left_to_the_parser(word in "(true|False|null|yes|No|on|OFF|y|n|e5|nan|inf|Infinity|x1|0x1|1e5|NaN)") {
        let yaml = format!("a: {word}\n");
        if let Some(fields) = plain_mapping(&yaml) {
            prop_assert_eq!(mapping(&yaml).ok(), Some(fields));
        }
    }
}

#[test]
fn ordinary_front_matter_takes_the_short_cut() {
    let yaml = "name: commit-helper\ndescription: Writes a commit message, when asked\nallowed-tools: Read, Bash(git add *)\n";
    assert!(plain_mapping(yaml).is_some());
}
