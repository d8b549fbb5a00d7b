use std::time::{Duration, Instant};

use crate::Tree;

/// The bound is 150 ms for 2 000 files; a debug build gets ten times that. What counts is the time this thread ran, since
/// the machine may be busy with other tests.
#[test]
fn two_thousand_entries_are_found_fast_enough() {
    let tree = Tree::new(&[]);
    for index in 0..1000 {
        let skill = format!(
            "---\nname: skill-{index}\ndescription: Does thing number {index}, when it is wanted\nallowed-tools: Read, Bash(git:*)\n---\n# Skill {index}\n\n{}\n",
            "Some text that is not read at discovery. ".repeat(100)
        );
        tree.write(&format!("./.claude/skills/skill-{index}/SKILL.md"), skill.as_bytes());
        // Some of what people write has to be repaired.
        let hint = if index % 10 == 0 { "[a] [b]" } else { "<a> <b>" };
        let command =
            format!("---\ndescription: Command {index}\nargument-hint: {hint}\n---\nDo $0 then $1.\n");
        tree.write(&format!("~/commands/group{}/command-{index}.md", index % 20), command.as_bytes());
    }
    let (started, ran_before) = (Instant::now(), ran());
    let (catalog, _) = tree.discover();
    let (wall, ran) = (started.elapsed(), ran() - ran_before);
    assert_eq!(catalog.entries.len(), 2000);
    println!("2000 entries: {wall:?}, of which this thread ran {ran:?}");
    assert!(ran < Duration::from_millis(1500), "{ran:?}");
}

/// How long this thread has run so far.
fn ran() -> Duration {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds = schedule.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}
