//! `pilothouse commands` and `pilothouse skills`.

use serde_json::Value;

use crate::rules::Home;

fn home() -> Home {
    let home = Home::with_settings();
    home.write(
        "project/.claude/commands/db/migrate.md",
        "---\ndescription: Move the database\nargument-hint: <table> <version>\nallowed-tools: Bash(echo *)\n---\nMigrate $0 to $1.\nNow: !`echo one two`\n",
    );
    home.write(".claude/commands/mine.md", "# Mine\n\nDo $ARGUMENTS.\n");
    home.write("project/.claude/commands/danger.md", "Now: !`rm -rf /tmp/x`\n");
    home.write(
        "project/.claude/skills/commit/SKILL.md",
        "---\nname: commit\ndescription: Write a commit message\nuser-invocable: false\n---\nLook at the diff.\n",
    );
    home
}

#[test]
fn lists_show_what_can_be_called() {
    let home = home();
    let run = home.run(&["commands", "list"], &[]);
    assert_eq!(
        run.out,
        "/danger                       Now: !`rm -rf /tmp/x`  (project command)\n\
         /db:migrate <table> <version>  Move the database  (project command)\n\
         /mine                          Mine  (user command)\n"
            .replace("/danger                       ", "/danger                        ")
    );
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let run = home.run(&["skills", "list"], &[]);
    assert_eq!(run.out, "commit  Write a commit message  (project, for the model only)\n");
    let builtin = home.run(&["commands", "list", "--builtin"], &[]).out;
    assert!(builtin.contains("/help") && builtin.contains("(built in, in a terminal only)"), "{builtin}");
    let rows = home.run(&["commands", "list", "--json"], &[]).out;
    let row: Value = serde_json::from_str(rows.lines().nth(1).unwrap()).unwrap();
    assert_eq!((row["name"].as_str(), row["scope"].as_str()), (Some("db:migrate"), Some("project")));
}

#[test]
fn one_is_shown_with_its_text() {
    let home = home();
    let run = home.run(&["commands", "show", "/db:migrate"], &[]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("argument-hint: <table> <version>"), "{}", run.out);
    assert!(run.out.ends_with("Migrate $0 to $1.\nNow: !`echo one two`\n"), "{}", run.out);
    let run = home.run(&["skills", "show", "commit", "--json"], &[]);
    let shown: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(shown["body"], "Look at the diff.\n");
    let run = home.run(&["skills", "show", "mine"], &[]);
    assert_eq!((run.code, run.err.as_str()), (1, "there is no skill `mine`; did you mean mine?\n"));
    let run = home.run(&["commands", "show", "migrate"], &[]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "there is no command `migrate`; did you mean db:migrate?\n")
    );
}

#[test]
fn a_call_is_expanded() {
    let home = home();
    let expand = |args: &[&str]| home.run(&[&["commands", "expand"], args].concat(), &[]);
    assert_eq!(expand(&["/mine a  b"]).out, "# Mine\n\nDo a  b.\n");
    let run = expand(&["db:migrate", "users", "version 7"]);
    assert_eq!(run.out, "Migrate users to version 7.\nNow: !`echo one two`\n");
    assert_eq!(expand(&["/db:migrate users 7", "--run"]).out, "Migrate users to 7.\nNow: one two\n");
    let run = expand(&["/danger", "--run"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("it is not allowed"), "{}", run.err);
    assert_eq!(expand(&["/nosuch"]).code, 1);
}

#[test]
fn plugins_and_problems() {
    let home = home();
    home.write("plug/.claude-plugin/plugin.json", "{\"name\": \"kit\"}");
    home.write("plug/commands/go.md", "Go.\n");
    home.write("project/.claude/commands/odd.md", "---\ndescription: a: b\n---\nOdd.\n");
    let plugin = home.path().join("plug");
    let run = home.run(&["commands", "list", "--plugin-dir", plugin.to_str().unwrap()], &[]);
    assert!(run.out.contains("/kit:go"), "{}", run.out);
    assert!(run.err.contains("odd.md:2: `description` is not valid YAML"), "{}", run.err);
}
