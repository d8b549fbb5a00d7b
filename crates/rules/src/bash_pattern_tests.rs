use super::BashPattern;

fn matches(content: &str, command: &str) -> bool {
    match BashPattern::compile(content) {
        BashPattern::Exact(text) => text == command,
        BashPattern::Prefix(prefix) => {
            command.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }
        BashPattern::Wild(wild) => wild.matches(command),
    }
}

#[test]
fn commands_match_by_word_prefix_or_wildcard() {
    for (content, command, expected) in [
        ("git:*", "git", true),
        ("git:*", "git push", true),
        ("git:*", "gitx", false),
        ("git *", "git", true),
        ("git *", "gitx", false),
        ("git  push", "git push", true),
        ("git push", "git push origin", false),
        ("npm run *", "npm run", true),
        ("npm run *", "npm run build x", true),
        ("npm run *", "npm runx", false),
        ("git * main", "git push origin main", true),
        ("git * main", "git main", false),
        ("git * main", "git push mainx", false),
        ("git * main *", "git merge main", true),
        ("git * main *", "git merge main now", true),
        ("* --help", "cargo --help", true),
        ("*curl*", "echo a curl b", true),
        ("a*b*c", "aXbYc", true),
        ("a*b*c", "aXcYb", false),
        ("echo \\*", "echo *", true),
        ("echo \\*", "echo x", false),
        ("ls*", "lsof", true),
    ] {
        assert_eq!(matches(content, command), expected, "Bash({content}) against `{command}`");
    }
}
