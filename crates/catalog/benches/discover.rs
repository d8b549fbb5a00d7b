//! How long it takes to find 2 000 skills and commands: `cargo bench -p pilothouse-catalog`, best of five, each time in a
//! directory that was never looked at before.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::path::Path;
use std::time::{Duration, Instant};

use pilothouse_catalog::{Places, discover};

const BOUND_MILLISECONDS: u32 = 150;

fn main() -> std::io::Result<()> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let home = tempfile::tempdir()?;
        write_entries(home.path())?;
        let places = Places::new(home.path(), home.path().join("project"));
        let started = Instant::now();
        let (catalog, _) = std::hint::black_box(discover(&places));
        best = best.min(started.elapsed());
        assert_eq!(catalog.entries.len(), 2000);
    }
    let milliseconds = best.as_secs_f64() * 1e3;
    println!("catalog/2000 entries  {milliseconds:8.1} ms   bound {BOUND_MILLISECONDS} ms");
    Ok(())
}

fn write_entries(home: &Path) -> std::io::Result<()> {
    let text = "Some text that is not read at discovery. ".repeat(100);
    for index in 0..1000 {
        let skill = home.join(format!("project/.claude/skills/skill-{index}"));
        std::fs::create_dir_all(&skill)?;
        let head = format!(
            "---\nname: skill-{index}\ndescription: \"Does thing {index}: when it is wanted\"\n---\n"
        );
        std::fs::write(skill.join("SKILL.md"), head + &text)?;
        let group = home.join(format!(".claude/commands/group{}", index % 20));
        std::fs::create_dir_all(&group)?;
        // Some of what people write has to be repaired.
        let hint = if index % 10 == 0 { "[a] [b]" } else { "<a> <b>" };
        let command =
            format!("---\ndescription: Command {index}\nargument-hint: {hint}\n---\nDo $0 then $1.\n");
        std::fs::write(group.join(format!("command-{index}.md")), command)?;
    }
    Ok(())
}
