//! A permission handler that knows rules: what they decide is answered here, the rest is passed on.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use pilothouse_proto::PermissionUpdate;
use pilothouse_proto::control::DecisionReasonType;
use pilothouse_rules::{Behavior, Context, Decision, Disk, Engine, Files, ToolCall, UpdateError};

use crate::permission::{PermissionHandler, PermissionRequest};

/// Judges approvals by rules of the host's own before anybody is bothered.
///
/// What the rules allow is allowed, what they deny is denied with the reason, and only what is left to ask reaches the
/// next handler. When the CLI asks because one of its own rules or hooks insists, or because a sensitive file is touched,
/// local rules may refuse but not allow. Links and patterns in paths are judged by what they lead to on this machine's
/// disk; see [`LocalRules::with_files`] for a CLI that works elsewhere. Clones share the rules, so one can be kept to change them while the session runs.
///
/// ```
/// use pilothouse::rules::{Behavior, Context, Source};
/// use pilothouse::{LocalRules, Options, PermissionRequest};
///
/// let mut context = Context::new("/home/me/project", "/home/me");
/// context.rules.add(Source::Session, Behavior::Allow, "Bash(cargo *)");
/// context.rules.add(Source::Session, Behavior::Deny, "Read(**/.env)");
/// let rules = LocalRules::new(context, async |request: PermissionRequest| {
///     request.deny("nobody is here to decide")
/// });
/// let options = Options::new().on_permission(rules.clone());
/// ```
pub struct LocalRules<H> {
    engine: Arc<RwLock<Engine>>,
    next: Arc<H>,
}

impl<H: PermissionHandler> LocalRules<H> {
    /// Rules, and who decides what they leave open.
    pub fn new(context: Context, next: H) -> Self {
        Self::with_files(context, Arc::new(Disk), next)
    }

    /// Rules that learn about files from `files` instead of this machine's disk.
    pub fn with_files(mut context: Context, files: Arc<dyn Files>, next: H) -> Self {
        context.files = files;
        Self { engine: Arc::new(RwLock::new(Engine::new(context))), next: Arc::new(next) }
    }

    /// Changes the rules, the mode or the directories from now on.
    ///
    /// # Errors
    /// When the update names something that does not exist; nothing is changed then.
    pub fn apply(&self, update: &PermissionUpdate) -> Result<(), UpdateError> {
        self.engine.write().unwrap_or_else(PoisonError::into_inner).apply(update)
    }

    /// What the rules say about a call.
    pub fn judge(&self, call: &ToolCall) -> Decision {
        self.engine.read().unwrap_or_else(PoisonError::into_inner).decide(call)
    }
}

impl<H: PermissionHandler> PermissionHandler for LocalRules<H> {
    async fn decide(&self, request: PermissionRequest) {
        let decision = self.judge(&ToolCall::new(&request.tool_name, (*request.input).clone()));
        match decision.behavior {
            Behavior::Deny => request.deny(decision.reason),
            Behavior::Allow if !wants_a_person(&request) => request.allow(),
            Behavior::Allow | Behavior::Ask => self.next.decide(request).await,
        }
    }
}

/// Whether the CLI asks for a reason that a local rule must not overrule.
fn wants_a_person(request: &PermissionRequest) -> bool {
    let insists = matches!(
        request.decision_reason_type.as_ref(),
        Some(DecisionReasonType::Rule | DecisionReasonType::Hook | DecisionReasonType::SafetyCheck)
    );
    insists
        || request.matched_ask_rule.as_ref().is_some()
        || request.requires_user_interaction.as_ref() == Some(&true)
}

impl<H> Clone for LocalRules<H> {
    fn clone(&self) -> Self {
        Self { engine: Arc::clone(&self.engine), next: Arc::clone(&self.next) }
    }
}

impl<H> fmt::Debug for LocalRules<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRules").field("engine", &self.engine).finish_non_exhaustive()
    }
}
