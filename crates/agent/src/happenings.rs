//! What a session tells hooks about itself, beside tool calls and prompts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pilothouse_proto::hook::{ExitReason, SessionStartSource};
use pilothouse_proto::system::{
    CompactTrigger, Informational, InformationalLevel, SessionState, SessionStateChanged,
};
use pilothouse_proto::{AgentFrame, Extra, HookEvent, Opt, System};

use crate::compact::Trigger;
use crate::hooks::Occasion;
use crate::session::Session;

impl Session {
    /// The session begins, or begins anew. What hooks say to the model is kept for the next prompt.
    pub(crate) async fn start_hooks(self: &Arc<Self>, source: &str) -> Vec<String> {
        if !self.hooks().wants(&HookEvent::SessionStart) {
            return Vec::new();
        }
        let scene = self.scene(None);
        let model = (source == "compact").then(|| self.model_info().id);
        let occasion = Occasion::session_start(&scene, SessionStartSource::from(source), model);
        self.hooks().fire(self, &scene, occasion).await.contexts
    }

    /// The session ends, or is cleared.
    pub(crate) async fn end_hooks(self: &Arc<Self>, reason: &str) {
        if !self.hooks().wants(&HookEvent::SessionEnd) {
            return;
        }
        let scene = self.scene(None);
        let occasion = Occasion::session_end(&scene, ExitReason::from(reason));
        self.hooks().fire(self, &scene, occasion).await;
    }

    /// The conversation is about to be compacted. Gives why hooks forbid it, if they do.
    pub(crate) async fn compact_hooks_before(
        self: &Arc<Self>,
        trigger: Trigger,
        instructions: &str,
    ) -> Option<String> {
        if !self.hooks().wants(&HookEvent::PreCompact) {
            return None;
        }
        let scene = self.scene(None);
        let instructions = (!instructions.is_empty()).then(|| instructions.to_owned());
        let occasion = Occasion::pre_compact(&scene, named(trigger), instructions);
        self.hooks().fire(self, &scene, occasion).await.block
    }

    /// The conversation was compacted. Gives what hooks want the model to know from now on.
    pub(crate) async fn compact_hooks_after(
        self: &Arc<Self>,
        trigger: Trigger,
        summary: &str,
    ) -> Vec<String> {
        let contexts = self.start_hooks("compact").await;
        if self.hooks().wants(&HookEvent::PostCompact) {
            let scene = self.scene(None);
            let occasion = Occasion::post_compact(&scene, named(trigger), summary.to_owned());
            self.hooks().fire(self, &scene, occasion).await;
        }
        contexts
    }

    /// Tells the host whether the run is going on, if it wants to know.
    pub(crate) fn tell_state(&self, state: SessionState) {
        let env = &self.launch().env;
        let for_all = env.is_on("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS");
        if !for_all && !env.is_on("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
            return;
        }
        let frame = SessionStateChanged {
            state,
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            sdk_host_only: (!for_all).then_some(true).into(),
            extra: Extra::new(),
        };
        self.output().emit(AgentFrame::System(System::SessionStateChanged(frame.into())));
    }

    /// The host is asked something that a person has to answer.
    pub(crate) fn asks_somebody(&self) {
        self.asking.fetch_add(1, Ordering::Relaxed);
        self.tell_state(SessionState::RequiresAction);
    }

    /// It was answered. While other questions are open the session goes on waiting.
    pub(crate) fn was_answered(&self) {
        // An answer may come after the question was withdrawn.
        let open = self.asking.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| open.checked_sub(1));
        if open == Ok(1) {
            self.tell_state(SessionState::Running);
        }
    }

    /// All questions that are open were withdrawn.
    pub(crate) fn asks_nobody(&self) {
        if self.asking.swap(0, Ordering::Relaxed) > 0 {
            self.tell_state(SessionState::Running);
        }
    }

    /// Shows the user a line.
    pub(crate) fn say_blocked(&self, reason: &str, kept: bool) {
        let (kind, content) = match kept {
            true => ("stopped_by_hook", format!("A hook stopped the turn: {reason}")),
            false => ("blocked_by_hook", format!("A hook refused the prompt: {reason}")),
        };
        let mut extra = Extra::new();
        let outcome = serde_json::json!({"kind": kind, "prompt_kept": kept, "reason": reason});
        extra.insert("prompt_submit_outcome", outcome);
        let mut frame = self.informational(InformationalLevel::Warning, content);
        frame.prevent_continuation = true.into();
        frame.extra = extra;
        self.output().emit(AgentFrame::System(System::Informational(Box::new(frame))));
    }

    /// A line for the user.
    pub(crate) fn informational(&self, level: InformationalLevel, content: String) -> Informational {
        Informational {
            content,
            level,
            tool_use_id: Opt::Absent,
            prevent_continuation: Opt::Absent,
            tag: Opt::Absent,
            uuid: self.stamp().uuid(),
            session_id: self.id(),
            timestamp: Opt::Absent,
            is_meta: Opt::Absent,
            extra: Extra::new(),
        }
    }
}

fn named(trigger: Trigger) -> CompactTrigger {
    CompactTrigger::from(if trigger == Trigger::Manual { "manual" } else { "auto" })
}
