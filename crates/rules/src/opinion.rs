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
    judge::{Cause, Outcome, PartVerdict, judge},
    mode::Mode,
    restrict::{matches_host, matches_name},
    sensitive::{Sensitive, sensitive},
    shell::{Shell, plain::Obstacle},
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
    fn new(reason: impl Into<String>, suggestions: Option<Vec<PermissionUpdate>>) -> Self {
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
            Some(allowed) => allowed,
            None => shell_opinion(command, shell, context, index),
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
    if let Some(rule) = index.of(Behavior::Allow).path(Access::Read, path, false) {
        return allow(Step::AllowRule, "a rule allows reading there", Some(rule));
    }
    if let Some(allowed) = allow_tool(call, index) {
        return allowed;
    }
    let directory = suggest::directory_of(path, is_dir, context);
    let mut asked = Asked::new(
        format!("{path} is outside the working directories"),
        Some(vec![suggest::allow_reading(&directory)]),
    );
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
        let mut asked = Asked::new(reason, Some(suggest::accept_edits(context.mode).into_iter().collect()));
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
    let mut suggestions = Vec::new();
    let mut asked = if inside {
        Asked::new("edits are asked about in this mode", None)
    } else {
        suggestions.push(suggest::add_directory(&suggest::directory_of(path, false, context)));
        let mut asked = Asked::new(format!("{path} is outside the working directories"), None);
        asked.reason_type = Some(ReasonType::WorkingDir);
        asked
    };
    suggestions.extend(suggest::accept_edits(context.mode));
    asked.suggestions = Some(suggestions);
    asked.is_ordinary_edit = true;
    Opinion::Ask(asked)
}

fn shell_opinion(command: &str, shell: &Shell, context: &Context, index: &Index) -> Opinion {
    // A rule may name a whole compound: then somebody has read exactly this.
    let squeezed = crate::bash_pattern::squeeze(command.trim());
    if let Some(rule) = index.of(Behavior::Allow).exact_command(&squeezed) {
        return allow(Step::AllowRule, "a rule allows exactly this command", Some(rule));
    }
    let parts = match &shell.plain {
        Ok(parts) => parts,
        Err(obstacle) => return Opinion::Ask(obstructed(*obstacle)),
    };
    let verdicts = judge(parts, context, index);
    let subcommands = explain::parts(&verdicts, index);
    let cause = verdicts.iter().find_map(|verdict| match &verdict.outcome {
        Outcome::Ask(cause) => Some(cause),
        _ => None,
    });
    let Some(cause) = cause else { return allowed_parts(&verdicts, subcommands) };
    let mut suggestions = vec![suggest::allow_command(command, parts)];
    let mut asked = Asked::new(explain::cause(cause), None);
    match cause {
        Cause::Unknown | Cause::Argument(_) | Cause::UnknownFile(_) | Cause::MovedGit => {
            asked.reason_type = Some(ReasonType::Other);
            if parts.len() > 1 && parts.len() == verdicts.len() {
                let open = parts
                    .iter()
                    .zip(&verdicts)
                    .filter(|(_, verdict)| matches!(verdict.outcome, Outcome::Ask(_)));
                suggestions = vec![suggest::allow_parts(open.map(|(part, _)| part))];
                asked.reason_type = Some(ReasonType::SubcommandResults);
            }
        }
        Cause::ReadsOutside { path, is_dir } => {
            suggestions.push(suggest::allow_reading(&suggest::directory_of(path, *is_dir, context)));
            asked.blocked_path = Some(path.clone());
        }
        Cause::Writes { path, by_redirect } => {
            suggestions.push(suggest::add_directory(&suggest::directory_of(path, false, context)));
            if !by_redirect {
                suggestions.extend(suggest::accept_edits(context.mode));
            }
            asked.blocked_path = Some(path.clone());
        }
        Cause::Sensitive { path } => {
            suggestions.clear();
            asked.step = Step::SafetyCheck;
            asked.reason_type = Some(ReasonType::SafetyCheck);
            asked.blocked_path = Some(path.clone());
        }
    }
    asked.suggestions = Some(suggestions);
    asked.subcommands = subcommands;
    Opinion::Ask(asked)
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
    // The agent sends no suggestions for grouped commands, and an empty list for what it cannot see.
    let (reason_type, suggestions) = match obstacle {
        Obstacle::ControlFlow => (ReasonType::SubcommandResults, None),
        Obstacle::Grouping => (ReasonType::Other, None),
        _ => (ReasonType::Other, Some(Vec::new())),
    };
    let mut asked = Asked::new(explain::obstacle(obstacle), suggestions);
    asked.reason_type = Some(reason_type);
    asked
}
