//! A thousand rules of all kinds, as a large organisation might collect them.

use pilothouse_rules::{Behavior, Context, Engine, Source};

pub(crate) const SIMPLE: &str = "git commit -m 'Fix the parser'";
pub(crate) const COMPOUND: &str = "git status && ls -la src && cat README.md | grep -n TODO | head -5; git log -1; \
     npm run tool42 --fast; wc -l src/main.rs | sort; git diff --stat";

pub(crate) fn engine() -> Engine {
    let mut context = Context::new("/home/user/project", "/home/user");
    for n in 0..1_000 {
        let (behavior, rule) = match n % 10 {
            0..=3 => (Behavior::Allow, format!("Bash(npm run tool{n}:*)")),
            4 => (Behavior::Allow, format!("Bash(make target{n})")),
            5 => (Behavior::Deny, format!("Bash(danger{n}:*)")),
            6 => (Behavior::Deny, format!("Read(**/secret{n}/*.key)")),
            7 => (Behavior::Allow, format!("Edit(/generated{n}/**)")),
            8 => (Behavior::Ask, format!("Bash(deploy * stage{n})")),
            _ => (Behavior::Allow, format!("WebFetch(domain:host{n}.example.com)")),
        };
        context.rules.add(Source::UserSettings, behavior, &rule);
    }
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(git:*)");
    context.rules.add(Source::UserSettings, Behavior::Allow, "Bash(npm run:*)");
    Engine::new(context)
}
