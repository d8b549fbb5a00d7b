//! The order of checks: from a call to a decision.

use std::sync::Arc;

use crate::{
    behavior::Behavior,
    call::{HookOpinion, ToolCall},
    context::Context,
    decision::{BlockCount, Decision, ReasonType, RuleRef, Step, SubDecision},
    explain,
    index::{Index, RuleId},
    judge::judge,
    looks::Looks,
    mode::{Classifier, Mode, Outage, Verdict},
    opinion::{Asked, Opinion, opinion},
    removal,
    restrict::{Restriction, restriction},
    shell::{self, Shell},
    suggest,
    tools::Kind,
    update::UpdateError,
};

/// Judges calls by a context.
///
/// ```
/// use pilothouse_rules::{Behavior, Context, Engine, Source, ToolCall};
///
/// let mut context = Context::new("/home/me/project", "/home/me");
/// context.rules.add(Source::CliArg, Behavior::Allow, "Bash(git:*)");
/// context.rules.add(Source::UserSettings, Behavior::Deny, "Bash(rm:*)");
/// let engine = Engine::new(context);
///
/// assert_eq!(engine.decide(&ToolCall::bash("git push")).behavior, Behavior::Allow);
/// let decision = engine.decide(&ToolCall::bash("git status && r\\m -rf build"));
/// assert_eq!(decision.behavior, Behavior::Deny);
/// assert_eq!(decision.rule.map(|rule| rule.text), Some("Bash(rm:*)".to_owned()));
/// ```
///
/// A clone is cheap: whoever keeps an engine behind a lock decides with a clone, because a decision may look at the disk.
#[derive(Clone, Debug)]
pub struct Engine {
    context: Context,
    index: Arc<Index>,
}

impl Engine {
    /// Compiles the rules of a context.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let index = Arc::new(Index::new(&context));
        Self { context, index }
    }

    /// The context in force.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Applies an update.
    ///
    /// # Errors
    /// See [`Context::apply`].
    pub fn apply(&mut self, update: &pilothouse_proto::PermissionUpdate) -> Result<(), UpdateError> {
        self.context.apply(update)?;
        self.index = Arc::new(Index::new(&self.context));
        Ok(())
    }

    /// Changes the context in any other way.
    pub fn change(&mut self, change: impl FnOnce(&mut Context)) {
        change(&mut self.context);
        self.index = Arc::new(Index::new(&self.context));
    }

    /// Tells that a shell command runs: from now on it is known which variables the shell has.
    pub fn shell_runs(&mut self) {
        self.context.shell_has_run = true;
    }

    /// Judges a call.
    #[must_use]
    pub fn decide(&self, call: &ToolCall) -> Decision {
        self.decide_with_hooks(call, &[])
    }

    /// Judges a call that hooks have an opinion about.
    #[must_use]
    pub fn decide_with_hooks(&self, call: &ToolCall, hooks: &[HookOpinion]) -> Decision {
        let looks = Arc::new(Looks::new(Arc::clone(&self.context.files)));
        let context = Context { files: Arc::<Looks>::clone(&looks), ..self.context.clone() };
        Self { context, index: Arc::clone(&self.index) }.decide_looking(call, hooks, &looks)
    }

    fn decide_looking(&self, call: &ToolCall, hooks: &[HookOpinion], looks: &Looks) -> Decision {
        let kind = Kind::of(call, &self.context);
        let shell = match kind {
            Kind::Shell(command) => Some(Shell::read(command)),
            _ => None,
        };
        let hook = hooks.iter().max_by_key(|opinion| opinion.behavior);
        let mut decision = self.in_order(call, &kind, shell.as_ref(), hook);
        if decision.behavior == Behavior::Allow && looks.are_used_up() {
            let reason = "it names more files than are looked at for one decision";
            decision = simple(Behavior::Ask, Step::SafetyCheck, reason);
            decision.reason_type = Some(ReasonType::SafetyCheck);
            decision.suggestions = Some(Vec::new());
        }
        if decision.behavior == Behavior::Ask
            && (self.context.mode == Mode::DontAsk || self.context.avoid_prompts)
        {
            let why = if self.context.mode == Mode::DontAsk {
                "the mode is dontAsk"
            } else {
                "nobody can be asked"
            };
            decision.reason = format!("{}; {why}, so it is denied", decision.reason);
            decision.behavior = Behavior::Deny;
            decision.step = Step::Mode;
            decision.reason_type = Some(ReasonType::Mode);
            decision.suggestions = None;
        }
        explain::complete(&mut decision, call, &kind, &self.context);
        decision
    }

    fn in_order(
        &self,
        call: &ToolCall,
        kind: &Kind<'_>,
        shell: Option<&Shell>,
        hook: Option<&HookOpinion>,
    ) -> Decision {
        if let Some(hook) = hook.filter(|hook| hook.behavior == Behavior::Deny) {
            return by_hook(Behavior::Deny, Step::HookDeny, hook);
        }
        if let Some(found) = restriction(call, kind, shell, &self.context, &self.index) {
            return self.restricted(call, found, kind, shell);
        }
        if let Some(hook) = hook.filter(|hook| hook.behavior == Behavior::Ask) {
            return by_hook(Behavior::Ask, Step::HookAsk, hook);
        }
        if *kind == Kind::Interaction {
            return self.interaction(call);
        }
        if let Some(path) = shell.and_then(|shell| removal::of_a_root(shell, &self.context)) {
            let reason = format!("it removes {path}, on which everything else stands");
            let mut decision = simple(Behavior::Ask, Step::SafetyCheck, &reason);
            decision.reason_type = Some(ReasonType::SafetyCheck);
            decision.suggestions = Some(Vec::new());
            return decision;
        }
        if self.context.mode == Mode::BypassPermissions {
            return simple(Behavior::Allow, Step::BypassMode, "the mode bypasses permissions");
        }
        if let Some(hook) = hook {
            return by_hook(Behavior::Allow, Step::HookAllow, hook);
        }
        match opinion(call, kind, shell, &self.context, &self.index) {
            Opinion::Allow { step, reason, rule, subcommands } => Decision {
                rule: rule.and_then(|rule| self.rule_ref(rule)),
                subcommands,
                block_count: if step == Step::Mode { BlockCount::Reset } else { BlockCount::Keep },
                ..simple(Behavior::Allow, step, &reason)
            },
            Opinion::Ask(mut asked) => {
                if let (Kind::Shell(command), Some(Err(_))) = (kind, shell.map(|shell| &shell.plain)) {
                    asked.subcommands = self.parts_alone(call, command);
                }
                self.by_mode(call, kind, asked)
            }
        }
    }

    fn rule_ref(&self, rule: RuleId) -> Option<RuleRef> {
        self.index.rule_ref(rule)
    }

    fn restricted(
        &self,
        call: &ToolCall,
        found: Restriction,
        kind: &Kind<'_>,
        shell: Option<&Shell>,
    ) -> Decision {
        let rule = found.rule.and_then(|rule| self.rule_ref(rule));
        let step = if found.behavior == Behavior::Deny { Step::DenyRule } else { Step::AskRule };
        let reason = match &rule {
            Some(rule) => format!("{}: {rule}", found.detail),
            None => found.detail.clone(),
        };
        let mut decision = simple(found.behavior, step, &reason);
        decision.subcommands = self.restricted_parts(call, &found, shell);
        // What a rule forbids may be run by another shell here: nobody is to allow that once and for all.
        let softened =
            found.is_softened() && rule.as_ref().is_some_and(|rule| rule.behavior == Behavior::Deny);
        decision.rule = rule;
        if let (Behavior::Ask, Kind::Fetch { host }, false) = (found.behavior, kind, found.whole_tool) {
            decision.suggestions = Some(vec![suggest::allow_host(host)]);
        }
        if softened {
            decision.suggestions = Some(Vec::new());
        }
        decision.reason_type = Some(match kind {
            _ if softened => ReasonType::SafetyCheck,
            Kind::Shell(_)
                if found.behavior == Behavior::Deny
                    && !found.whole_tool
                    && !is_named_whole(&found, decision.rule.as_ref(), shell) =>
            {
                ReasonType::SubcommandResults
            }
            _ => ReasonType::Rule,
        });
        decision
    }

    /// Every part of a restricted command with what would be decided about it alone.
    fn restricted_parts(
        &self,
        call: &ToolCall,
        found: &Restriction,
        shell: Option<&Shell>,
    ) -> Vec<SubDecision> {
        let mut parts = Vec::new();
        // A command of more parts than anybody lists is explained by the part that decided.
        if let Some(Ok(plain)) = shell.map(|shell| &shell.plain)
            && plain.len() <= MOST_PARTS
        {
            parts = explain::parts(&judge(plain, &self.context, &self.index), &self.index);
            for part in &mut parts {
                let alone = Shell::read(&part.command);
                let kind = Kind::Shell(&part.command);
                if let Some(found) = restriction(call, &kind, Some(&alone), &self.context, &self.index) {
                    *part = self.restricted_part(&found, std::mem::take(&mut part.command));
                }
            }
        } else if let Kind::Shell(command) = Kind::of(call, &self.context) {
            parts = self.parts_alone(call, command);
        }
        // A part hidden in another is shown for itself.
        if let Some(hidden) = &found.subcommand
            && !parts.iter().any(|part| part.behavior == found.behavior)
        {
            parts.push(self.restricted_part(found, hidden.clone()));
        }
        parts
    }

    fn restricted_part(&self, found: &Restriction, command: String) -> SubDecision {
        let rule = found.rule.and_then(|rule| self.rule_ref(rule));
        SubDecision { command, behavior: found.behavior, reason: found.detail.clone(), rule }
    }

    /// The parts of a compound that is not plain, each judged as if it stood alone. A command that is no compound
    /// has none.
    fn parts_alone(&self, call: &ToolCall, command: &str) -> Vec<SubDecision> {
        let parts = shell::parts(command);
        if !(2..=MOST_PARTS).contains(&parts.len()) {
            return Vec::new();
        }
        let alone = |part: &str| {
            let (kind, shell) = (Kind::Shell(part), Shell::read(part));
            if let Some(found) = restriction(call, &kind, Some(&shell), &self.context, &self.index) {
                return self.restricted_part(&found, part.to_owned());
            }
            let (behavior, reason, rule) =
                match opinion(call, &kind, Some(&shell), &self.context, &self.index) {
                    Opinion::Allow { reason, rule, .. } => (Behavior::Allow, reason, rule),
                    Opinion::Ask(asked) => (Behavior::Ask, asked.reason, None),
                };
            let rule = rule.and_then(|rule| self.rule_ref(rule));
            SubDecision { command: part.to_owned(), behavior, reason, rule }
        };
        parts.into_iter().map(alone).collect()
    }

    fn interaction(&self, call: &ToolCall) -> Decision {
        if call.tool_name == "ExitPlanMode" && self.context.mode != Mode::Plan {
            return simple(Behavior::Deny, Step::ToolCheck, "there is no plan mode to leave");
        }
        simple(Behavior::Ask, Step::UserInteraction, "the tool is a question to the user")
    }

    /// What the mode makes of a question.
    fn by_mode(&self, call: &ToolCall, kind: &Kind<'_>, asked: Asked) -> Decision {
        let mode = self.context.mode;
        if mode == Mode::Plan && asked.is_ordinary_edit {
            let mut decision = simple(Behavior::Ask, Step::Mode, "edits are asked about while planning");
            decision.reason_type = Some(ReasonType::Mode);
            return decision;
        }
        if !matches!(mode, Mode::Plan | Mode::Auto) {
            return asked.into_decision();
        }
        let reads = matches!(kind, Kind::Read { .. });
        match &self.context.classifier {
            Classifier::None => asked.into_decision(),
            _ if reads => simple(Behavior::Allow, Step::Mode, "reading needs no classifier"),
            Classifier::Unavailable(Outage::Passing { blocked_in_a_row }) if *blocked_in_a_row >= 2 => {
                let mut decision = asked.into_decision();
                decision.reason =
                    format!("{} calls in a row were refused without a verdict", blocked_in_a_row + 1);
                decision.reason_type = Some(ReasonType::Classifier);
                decision.step = Step::Classifier;
                decision.block_count = BlockCount::Count;
                decision
            }
            Classifier::Unavailable(_) => {
                let mut decision = simple(Behavior::Deny, Step::Classifier, "the classifier does not answer");
                decision.subcommands = asked.subcommands;
                decision.blocked_path = asked.blocked_path;
                decision.reason_type = Some(ReasonType::Classifier);
                decision.block_count = BlockCount::Count;
                decision
            }
            Classifier::Answers(classifier) => match classifier.classify(call) {
                Verdict::Allow => Decision {
                    subcommands: asked.subcommands,
                    block_count: BlockCount::Reset,
                    ..simple(Behavior::Allow, Step::Classifier, "the classifier found it harmless")
                },
                Verdict::Deny(reason) => Decision {
                    subcommands: asked.subcommands,
                    reason_type: Some(ReasonType::Classifier),
                    block_count: BlockCount::Count,
                    ..simple(Behavior::Deny, Step::Classifier, &reason)
                },
                Verdict::Ask(reason) => {
                    let mut decision = asked.into_decision();
                    decision.reason = reason;
                    decision.step = Step::Classifier;
                    decision.reason_type = Some(ReasonType::Classifier);
                    decision
                }
            },
        }
    }
}

/// Parts of a restricted command that are looked at one by one.
const MOST_PARTS: usize = 64;

/// A decision without particulars.
pub(crate) fn simple(behavior: Behavior, step: Step, reason: &str) -> Decision {
    Decision {
        behavior,
        reason: reason.to_owned(),
        step,
        rule: None,
        subcommands: Vec::new(),
        suggestions: None,
        blocked_path: None,
        reason_type: None,
        to_allow: Vec::new(),
        to_deny: Vec::new(),
        block_count: BlockCount::Keep,
    }
}

fn by_hook(behavior: Behavior, step: Step, hook: &HookOpinion) -> Decision {
    let mut decision = simple(behavior, step, hook.reason.as_deref().unwrap_or("a hook decided"));
    decision.reason_type = Some(ReasonType::Hook);
    decision
}

/// Whether a rule names the whole command, and no pattern of it: such a denial is reported by the rule, others by the
/// parts. What has no parts is also reported by the rule.
fn is_named_whole(found: &Restriction, rule: Option<&RuleRef>, shell: Option<&Shell>) -> bool {
    match shell.map(|shell| shell.plain.as_deref()) {
        Some(Ok([_])) => {
            let named = rule.and_then(|rule| rule.text.strip_prefix("Bash(")?.strip_suffix(')'));
            let named = named.map(|text| text.strip_suffix(":*").unwrap_or(text));
            named.is_some() && named == found.subcommand.as_deref()
        }
        Some(Err(_)) => true,
        _ => false,
    }
}
