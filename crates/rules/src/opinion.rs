//! What a tool itself, the allow rules and the mode make of a call that nothing forbids.

use pilothouse_proto::PermissionUpdate;

use crate::{
    behavior::Behavior,
    call::ToolCall,
    context::Context,
    decision::{Decision, ReasonType, Step, SubDecision},
    engine::simple,
    explain,
    index::{Access, Index, RuleId},
    judge::{Outcome, PartVerdict, judge},
    mode::Mode,
    open_parts::Open,
    restrict::{matches_host, matches_name},
    sensitive::{Sensitive, sensitive},
    shell::{
        Shell,
        plain::{Joint, Obstacle, PlainCommand, RedirectKind},
    },
    suggest,
    tools::{Kind, rule_names},
};

/// An opinion before the mode has its say.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Opinion {
    Allow { step: Step, reason: String, rule: Option<RuleId>, subcommands: Vec<SubDecision> },
    Ask(Asked),
}

/// A question, with all that an approval request says about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) step: Step,
    pub(crate) reason: String,
    pub(crate) reason_type: Option<ReasonType>,
    pub(crate) blocked_path: Option<String>,
    pub(crate) suggestions: Option<Vec<PermissionUpdate>>,
    pub(crate) subcommands: Vec<SubDecision>,
    /// An edit of a file that is not sensitive.
    pub(crate) is_ordinary_edit: bool,
}

impl Asked {
    pub(crate) fn new(reason: impl Into<String>, suggestions: Option<Vec<PermissionUpdate>>) -> Self {
        Self {
            step: Step::Default,
            reason: reason.into(),
            reason_type: None,
            blocked_path: None,
            suggestions,
            subcommands: Vec::new(),
            is_ordinary_edit: false,
        }
    }

    pub(crate) fn into_decision(self) -> Decision {
        Decision {
            subcommands: self.subcommands,
            suggestions: self.suggestions,
            blocked_path: self.blocked_path,
            reason_type: self.reason_type,
            ..simple(Behavior::Ask, self.step, &self.reason)
        }
    }
}

fn allow(step: Step, reason: impl Into<String>, rule: Option<RuleId>) -> Opinion {
    Opinion::Allow { step, reason: reason.into(), rule, subcommands: Vec::new() }
}

/// Forms the opinion.
pub(crate) fn opinion(
    call: &ToolCall,
    kind: &Kind<'_>,
    shell: Option<&Shell>,
    context: &Context,
    index: &Index,
) -> Opinion {
    match (kind, shell) {
        (Kind::Edit { path }, _) => edit(call, path, context, index),
        (Kind::Shell(command), Some(shell)) => match allow_tool(call, index) {
            Some(allowed) if !is_harmless_background(shell, context, index) => allowed,
            _ => shell_opinion(command, shell, context, index),
        },
        (Kind::Read { path, is_dir }, _) => read(call, path, *is_dir, context, index),
        (Kind::Fetch { host }, _) => by_content(call, index, |content| matches_host(content, host))
            .unwrap_or_else(|| {
                Opinion::Ask(Asked::new(
                    format!("fetching from {host} is not allowed yet"),
                    Some(vec![suggest::allow_host(host)]),
                ))
            }),
        (Kind::Named { name }, _) => by_content(call, index, |content| matches_name(content, name))
            .unwrap_or_else(|| allow(Step::ToolCheck, "what it starts is judged call by call", None)),
        (Kind::Free, _) => allow(Step::ToolCheck, "it changes nothing outside the conversation", None),
        (Kind::Incomplete(field), _) => allow_tool(call, index).unwrap_or_else(|| {
            Opinion::Ask(Asked::new(format!("the input has no usable `{field}`"), Some(Vec::new())))
        }),
        (Kind::Interaction | Kind::Other | Kind::Shell(_), _) => {
            allow_tool(call, index).unwrap_or_else(|| {
                let suggestion = suggest::allow_tool(&call.tool_name);
                Opinion::Ask(Asked::new(
                    format!("{} is not allowed yet", call.tool_name),
                    Some(vec![suggestion]),
                ))
            })
        }
    }
}

/// An allow rule for the whole tool. `Edit` and `Read` also speak for the tools of their kind.
fn allow_tool(call: &ToolCall, index: &Index) -> Option<Opinion> {
    let rules = index.of(Behavior::Allow);
    let names = rule_names(&call.tool_name).iter().filter_map(|name| rules.tool(name)).min();
    let rule = rules.tool(&call.tool_name).or(names)?;
    Some(allow(Step::AllowRule, format!("a rule allows {} as a whole", call.tool_name), Some(rule)))
}

fn by_content(call: &ToolCall, index: &Index, matches: impl Fn(&str) -> bool) -> Option<Opinion> {
    let rules = index.of(Behavior::Allow);
    let own = [call.tool_name.as_str()];
    let names = rule_names(&call.tool_name);
    let names = if names.is_empty() { &own[..] } else { names };
    let hits = names.iter().flat_map(|name| rules.contents(name)).filter(|(content, _)| matches(content));
    match hits.map(|(_, id)| *id).min() {
        Some(rule) => Some(allow(Step::AllowRule, "a rule allows it", Some(rule))),
        None => allow_tool(call, index),
    }
}

fn read(call: &ToolCall, path: &str, is_dir: bool, context: &Context, index: &Index) -> Opinion {
    if context.is_working_path(path) {
        return allow(Step::ToolCheck, "it reads inside the working directories", None);
    }
    let rules = index.of(Behavior::Allow);
    // Who may change a file may look at it.
    let rule = rules.path(Access::Read, path, false).or_else(|| rules.path(Access::Edit, path, false));
    if let Some(rule) = rule {
        return allow(Step::AllowRule, "a rule allows reading there", Some(rule));
    }
    if let Some(allowed) = allow_tool(call, index) {
        return allowed;
    }
    let directory = suggest::directory_of(path, is_dir, context);
    let suggestions = suggest::allow_reading(&directory).into_iter().collect();
    let mut asked = Asked::new(format!("{path} is outside the working directories"), Some(suggestions));
    asked.reason_type = Some(ReasonType::WorkingDir);
    Opinion::Ask(asked)
}

fn edit(call: &ToolCall, path: &str, context: &Context, index: &Index) -> Opinion {
    let real = context.files.resolve(path);
    if let Some(kind) = sensitive(path).or_else(|| real.as_deref().and_then(sensitive)) {
        let reason = match kind {
            Sensitive::AgentSettings => format!("{path} belongs to the agent's own settings"),
            Sensitive::Steering => format!("{path} steers other programs"),
        };
        let suggestions = match suggest::allow_skill(path, &context.cwd) {
            Some(skill) => vec![skill],
            None => edit_suggestions(path, context),
        };
        let mut asked = Asked::new(reason, Some(suggestions));
        asked.step = Step::SafetyCheck;
        asked.reason_type = Some(ReasonType::SafetyCheck);
        return Opinion::Ask(asked);
    }
    let inside = context.is_working_path(path);
    if context.mode != Mode::Plan {
        if let Some(rule) = index.of(Behavior::Allow).path(Access::Edit, path, false) {
            return allow(Step::AllowRule, "a rule allows changing it", Some(rule));
        }
        if let Some(allowed) = allow_tool(call, index) {
            return allowed;
        }
        if inside && context.mode.accepts_edits() {
            return allow(Step::Mode, "the mode accepts edits inside the working directories", None);
        }
    }
    let mut asked = if inside {
        Asked::new("edits are asked about in this mode", None)
    } else {
        let mut asked = Asked::new(format!("{path} is outside the working directories"), None);
        asked.reason_type = Some(ReasonType::WorkingDir);
        asked
    };
    asked.suggestions = Some(edit_suggestions(path, context));
    asked.is_ordinary_edit = true;
    Opinion::Ask(asked)
}

fn edit_suggestions(path: &str, context: &Context) -> Vec<PermissionUpdate> {
    let mut suggestions: Vec<PermissionUpdate> = suggest::accept_edits(context.mode).into_iter().collect();
    if !context.is_working_path(path) {
        suggestions.push(suggest::add_directory(&suggest::directory_of(path, false, context)));
    }
    suggestions
}

/// Whether a command runs in the background and would be allowed without any rule for the tool. Such a command is asked
/// about all the same; what a rule for the tool has to allow is left to that rule.
fn is_harmless_background(shell: &Shell, context: &Context, index: &Index) -> bool {
    let Ok(parts) = &shell.plain else { return false };
    // A rule for a part leaves it to the rule for the tool: otherwise taking that rule away would allow more.
    let harmless = |outcome: &Outcome| matches!(outcome, Outcome::ReadOnly | Outcome::AcceptedEdit);
    parts.iter().any(|part| part.background)
        && judge(parts, context, index).iter().all(|verdict| harmless(&verdict.outcome))
}

fn shell_opinion(command: &str, shell: &Shell, context: &Context, index: &Index) -> Opinion {
    let parts = match &shell.plain {
        Ok(parts) => parts.as_slice(),
        Err(obstacle) => {
            return exactly_allowed(command, &[], index)
                .unwrap_or_else(|| Opinion::Ask(obstructed(*obstacle)));
        }
    };
    if shell.sets_variables && !context.shell_has_run {
        let exactly = exactly_allowed(command, parts, index);
        return exactly.unwrap_or_else(|| {
            let reason = "it sets a variable, and nobody knows yet which ones the shell obeys";
            let mut asked = Asked::new(reason, parts.is_empty().then(Vec::new));
            asked.reason_type = Some(ReasonType::Other);
            asked.subcommands = explain::parts(&judge(parts, context, index), index);
            Opinion::Ask(asked)
        });
    }
    let verdicts = judge(parts, context, index);
    let subcommands = explain::parts(&verdicts, index);
    let background = parts.iter().any(|part| part.background);
    let open = Open::of(command, parts, &verdicts, context);
    let Some(first) = open.causes.first() else {
        if background {
            let mut asked =
                Asked::new("a command in the background goes on after nobody looks any more", None);
            asked.step = Step::SafetyCheck;
            let piped = parts.iter().any(|part| part.joint == Joint::Pipe);
            let by_parts = if piped { ReasonType::SubcommandResults } else { ReasonType::SafetyCheck };
            asked.reason_type = Some(by_parts);
            asked.subcommands = subcommands;
            return Opinion::Ask(asked);
        }
        return allowed_parts(&verdicts, subcommands);
    };
    let outside = open.causes.iter().any(|open| open.cause.outweighs_rules(context));
    if let Some(allowed) = exactly_allowed(command, parts, index).filter(|_| !outside) {
        return allowed;
    }
    let mut asked = open.question(first.cause);
    if background && !open.is_one_change() {
        asked.suggestions = None;
    }
    asked.subcommands = subcommands;
    Opinion::Ask(asked)
}

/// A rule may name a whole compound: then somebody has read exactly this. It is no rule for a pipe, nor for the files
/// that output goes to.
fn exactly_allowed(command: &str, parts: &[PlainCommand], index: &Index) -> Option<Opinion> {
    let writes = |part: &PlainCommand| part.redirects.iter().any(|r| r.kind == RedirectKind::Write);
    if parts.iter().any(|part| part.joint == Joint::Pipe || writes(part)) {
        return None;
    }
    let rule = index.of(Behavior::Allow).exact_command(command.trim())?;
    Some(allow(Step::AllowRule, "a rule allows exactly this command", Some(rule)))
}

fn allowed_parts(verdicts: &[PartVerdict], subcommands: Vec<SubDecision>) -> Opinion {
    let rule = verdicts.iter().find_map(|verdict| match verdict.outcome {
        Outcome::Rule(rule) => Some(rule),
        _ => None,
    });
    let edits = verdicts.iter().any(|verdict| verdict.outcome == Outcome::AcceptedEdit);
    let (step, reason) = match (rule, edits) {
        (_, true) => (Step::Mode, "the mode accepts edits inside the working directories"),
        (Some(_), false) => (Step::AllowRule, "each part is allowed by a rule or only reads"),
        (None, false) => (Step::ToolCheck, "it only reads, inside the working directories"),
    };
    Opinion::Allow { step, reason: reason.to_owned(), rule, subcommands }
}

/// The question about a command that is not plain.
fn obstructed(obstacle: Obstacle) -> Asked {
    // The agent sends no suggestions for commands that it sees and would have to allow as a group, and an empty list
    // for what it cannot see.
    let seen = matches!(obstacle, Obstacle::Grouping | Obstacle::Entangled);
    let mut asked = Asked::new(explain::obstacle(obstacle), (!seen).then(Vec::new));
    let by_parts = matches!(obstacle, Obstacle::FedLoop | Obstacle::Entangled);
    asked.reason_type = Some(if by_parts { ReasonType::SubcommandResults } else { ReasonType::Other });
    asked
}
