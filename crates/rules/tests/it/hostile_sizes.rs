//! Commands made to be slow or to overflow something: each is judged in reasonable time.

use std::time::{Duration, Instant};

use pilothouse_rules::{Behavior, Context, Engine, Source, ToolCall};

#[test]
fn monstrous_commands_are_judged_in_time() {
    let mut context = Context::new("/home/user/project", "/home/user");
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash");
    context.rules.add(Source::UserSettings, Behavior::Deny, "Bash(rm:*)");
    context.rules.add(Source::UserSettings, Behavior::Deny, "Read(**/.env)");
    let engine = Engine::new(context);
    let units = [
        "$(",
        "${a:-",
        "(",
        "((",
        "{ ",
        "`",
        "\"$(",
        "env ",
        "sudo -u x ",
        "find -exec ",
        "find . -exec find ",
        "eval ",
        "bash -c '",
        "<<E\n",
        "{a,b}",
        "{a,",
        "x=$x$x;",
        "if ",
        "case x in ",
        "[[ ",
        "$'\\",
        "\\\n",
        "a;",
        "a|",
        "a&&",
        "a\n",
        "git -c 'git -c ",
        "xargs ",
        "trap 'trap ",
        "alias a='alias ",
        "cd a;",
        "cat .e* ",
        "<(",
        "!",
        "f(){ ",
        "for i in ",
        "\u{200b}",
        "*",
        "[",
        "a=b ",
        "env -S 'env -S ",
        "$((",
        "${x//",
        "timeout 1 ",
        "nice ",
        "command ",
        "exec ",
    ];
    for unit in units {
        for length in [8 * 1024, 200 * 1024] {
            let mut command = "x=aa; ".to_owned() + &unit.repeat((length - 12) / unit.len());
            command.push_str(" rm x");
            let start = Instant::now();
            let _ = engine.decide(&ToolCall::bash(&command));
            let time = start.elapsed();
            // Generous, for an unoptimised build on a busy machine; what it catches is growth without bound.
            assert!(time < Duration::from_secs(30), "{length} bytes of {unit:?} took {time:?}");
        }
    }
}
