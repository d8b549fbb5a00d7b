//! What would have to change for a call to be allowed. Every piece of advice was tried.

use pilothouse_proto::PermissionUpdate;
use pilothouse_rules::{Behavior, Context, Decision, Directory, Engine, Mode, Rule, Source, Step, ToolCall};

/// Ways to have the call allowed, the narrowest first.
pub(super) fn to_allow(context: &Context, call: &ToolCall, decision: &Decision) -> Vec<String> {
    match decision.step {
        // The engine knows; no further rule helps against these.
        Step::HookDeny | Step::DenyRule | Step::AskRule | Step::HookAsk | Step::UserInteraction => {
            return decision.to_allow.clone();
        }
        _ if decision.behavior == Behavior::Allow => return Vec::new(),
        _ => {}
    }
    let helps = |change: &dyn Fn(&mut Context)| {
        let mut changed = context.clone();
        change(&mut changed);
        Engine::new(changed).decide(call).behavior == Behavior::Allow
    };
    let mut ways = Vec::new();
    let sets =
        [suggested_rules(decision), rules_for_parts(decision), vec![Rule::whole_tool(&call.tool_name)]];
    let allow = |rules: &[Rule], context: &mut Context| {
        for rule in rules {
            context.rules.add(Source::Session, Behavior::Allow, &rule.to_string());
        }
    };
    let working = sets.iter().find(|rules| !rules.is_empty() && helps(&|context| allow(rules, context)));
    if let Some(rules) = working {
        let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
        let word = if names.len() == 1 { "rule" } else { "rules" };
        ways.push(format!("add the allow {word} {}", names.join(" and ")));
    }
    let directories = suggested_directories(decision);
    let add = |context: &mut Context| {
        let new = directories.iter().map(|path| Directory { path: path.clone(), source: Source::Session });
        context.directories.extend(new);
    };
    if !directories.is_empty() && !helps(&|_| ()) && helps(&add) {
        ways.push(format!("add the working directory {}", directories.join(" and ")));
    }
    if context.mode == Mode::Default && helps(&|context| context.mode = Mode::AcceptEdits) {
        ways.push("switch to the mode acceptEdits".to_owned());
    }
    if ways.is_empty() { decision.to_allow.clone() } else { ways }
}

/// The rules that the agent itself would suggest.
fn suggested_rules(decision: &Decision) -> Vec<Rule> {
    let updates = decision.suggestions.iter().flatten();
    updates
        .filter_map(|update| match update {
            PermissionUpdate::AddRules(update) => Some(update.rules.iter().map(Rule::from)),
            _ => None,
        })
        .flatten()
        .collect()
}

/// One rule for each part that is asked about, and for nothing else.
fn rules_for_parts(decision: &Decision) -> Vec<Rule> {
    let asked = decision.subcommands.iter().filter(|part| part.behavior == Behavior::Ask);
    asked.map(|part| Rule::new("Bash", Some(&part.command))).collect()
}

fn suggested_directories(decision: &Decision) -> Vec<String> {
    let updates = decision.suggestions.iter().flatten();
    updates
        .filter_map(|update| match update {
            PermissionUpdate::AddDirectories(update) => Some(update.directories.clone()),
            _ => None,
        })
        .flatten()
        .collect()
}
