//! Decisions in words: why, and what would change them.

use crate::{
    behavior::Behavior,
    call::ToolCall,
    context::Context,
    decision::{Decision, Step, SubDecision},
    index::Index,
    judge::{Cause, Outcome, PartVerdict},
    mode::Mode,
    rule::Rule,
    shell::plain::Obstacle,
    tools::Kind,
};
use pilothouse_proto::PermissionUpdate;

/// Why a part is asked about.
pub(crate) fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Unknown => "no rule allows it and it is not known to only read".to_owned(),
        Cause::ReadsOutside { path, .. } => format!("it reads {path}, outside the working directories"),
        Cause::Writes { path, by_redirect: true } => format!("its output goes to {path}"),
        Cause::Writes { path, by_redirect: false } => format!("it changes {path}"),
        Cause::MayWrite { path } => {
            format!("its script is not looked into: it may run a program or change {path}")
        }
        Cause::Sensitive { path, .. } => format!("it changes {path}, which steers other programs"),
        Cause::Argument(argument) => {
            format!("the rule does not cover `{argument}`, by which it could run or write something else")
        }
        Cause::UnknownFile { word, .. } => format!("which file `{word}` names is only known when it runs"),
        Cause::NotFollowed { .. } => "where it writes depends on a directory or an option".to_owned(),
        Cause::ReadsAstray => {
            "which files it reads depends on where `cd` leads; `cd ./name` makes that certain".to_owned()
        }
        Cause::Shifted { word } => {
            format!("what `{word}` leads to depends on another part of the command; run them one by one")
        }
        Cause::NotUnderstood => "what its script does is not looked into".to_owned(),
        Cause::Opaque => "what it does depends on more than its words".to_owned(),
        Cause::MovedTwice => "it changes the directory more than once".to_owned(),
        Cause::MovedGit => "git after cd may run programs that another repository configures".to_owned(),
    }
}

/// Why a command cannot be split into parts.
pub(crate) fn obstacle(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::NestedCommand => "a command nested in it cannot be checked before it runs",
        Obstacle::Variable => "a variable in it cannot be checked before it runs",
        Obstacle::Grouping => "it groups commands with shell operators",
        Obstacle::ControlFlow => "it is a shell program of its own, with functions, cases or groups",
        Obstacle::FedLoop => "what is fed to a loop is fed to every command in it",
        Obstacle::Entangled => "commands in it depend on each other in a way that is not followed",
        Obstacle::Assignment => "it assigns what other programs obey, or several things at once",
        Obstacle::ProgramPath => "some shells take a word that starts with `=` for the path of a program",
        Obstacle::SplitWord => "a line is continued in the middle of a word",
        Obstacle::HiddenComment => "a quoted line in it looks like a comment",
        Obstacle::Closed => "it closes a file that a program may need",
        Obstacle::Braces => "words that the shell makes of braces cannot be checked before it runs",
        Obstacle::EscapedBlank => "an escaped blank makes it look like other words than it has",
        Obstacle::OpenText => "the text of a here-document cannot be told from commands with certainty",
        Obstacle::EncodedText => "it contains encoded text",
        Obstacle::HiddenCharacters => "it contains characters that do not show",
        Obstacle::Unreadable => "it could not be understood as a shell command",
        Obstacle::TooLong => "it is too long to be judged",
    }
}

/// The parts of a command and what was decided about each.
pub(crate) fn parts(verdicts: &[PartVerdict], index: &Index) -> Vec<SubDecision> {
    let part = |verdict: &PartVerdict| {
        let (behavior, reason, rule) = match &verdict.outcome {
            Outcome::Rule(rule) => (Behavior::Allow, "a rule allows it".to_owned(), index.rule_ref(*rule)),
            Outcome::ReadOnly => (Behavior::Allow, "it only reads".to_owned(), None),
            Outcome::AcceptedEdit => (Behavior::Allow, "the mode accepts edits here".to_owned(), None),
            Outcome::Ask(why) => (Behavior::Ask, cause(why), None),
        };
        SubDecision { command: verdict.text.clone(), behavior, reason, rule }
    };
    verdicts.iter().map(part).collect()
}

/// Says what would have to change for the decision to be another.
pub(crate) fn complete(decision: &mut Decision, call: &ToolCall, kind: &Kind<'_>, context: &Context) {
    if decision.behavior != Behavior::Allow {
        decision.to_allow = to_allow(decision, context);
    }
    if decision.behavior != Behavior::Deny {
        decision.to_deny = vec![format!("add the deny rule `{}`", narrow_rule(decision, call, kind))];
    }
}

fn to_allow(decision: &Decision, context: &Context) -> Vec<String> {
    let mut ways = Vec::new();
    match decision.step {
        Step::HookDeny | Step::HookAsk => ways.push("change what the hook says".to_owned()),
        Step::DenyRule | Step::AskRule => match &decision.rule {
            Some(rule) => ways.push(format!("remove the rule {rule}")),
            None => ways.push("write the command so that all of it can be seen".to_owned()),
        },
        Step::UserInteraction => ways.push("nothing: it is a question to the user".to_owned()),
        Step::Mode if context.mode == Mode::DontAsk => ways.push("use a mode that asks".to_owned()),
        Step::Classifier => ways.push("use a mode that asks".to_owned()),
        _ => {}
    }
    for update in decision.suggestions.iter().flatten() {
        match update {
            PermissionUpdate::AddRules(update) => {
                ways.extend(
                    update.rules.iter().map(|rule| format!("add the allow rule `{}`", Rule::from(rule))),
                );
            }
            PermissionUpdate::AddDirectories(update) => {
                let outside =
                    update.directories.iter().filter(|directory| !context.is_working_path(directory));
                ways.extend(outside.map(|directory| format!("add the working directory {directory}")));
            }
            PermissionUpdate::SetMode(_) => ways.push("switch to the mode acceptEdits".to_owned()),
            _ => {}
        }
    }
    if ways.is_empty() && matches!(decision.step, Step::Default) {
        ways.push("add the allow rule for exactly this command, or for all of the tool".to_owned());
    }
    if ways.is_empty() && decision.step == Step::SafetyCheck {
        ways.push("approve it when asked: rules do not cover sensitive files".to_owned());
    }
    ways
}

/// The narrowest usual rule that speaks of a call; of a compound command, that of the part which decided.
fn narrow_rule(decision: &Decision, call: &ToolCall, kind: &Kind<'_>) -> Rule {
    match kind {
        Kind::Shell(command) => {
            let decisive = decision.subcommands.iter().find(|part| part.behavior == decision.behavior);
            let command = decisive.map_or(*command, |part| part.command.as_str());
            let program = command.split_whitespace().next().unwrap_or("");
            Rule::new("Bash", (!program.is_empty()).then(|| format!("{program}:*")).as_deref())
        }
        Kind::Read { path, .. } => Rule::new("Read", Some(&format!("/{path}"))),
        Kind::Edit { path } => Rule::new("Edit", Some(&format!("/{path}"))),
        Kind::Fetch { host } => Rule::new("WebFetch", Some(&format!("domain:{host}"))),
        Kind::Named { name } => Rule::new(&call.tool_name, Some(name)),
        _ => Rule::whole_tool(&call.tool_name),
    }
}
