//! What hooks hear of on the way, beside tool calls and prompts: pieces of answers, batches, failures, changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pilothouse_proto::hook::{
    ConfigSource, DirectorySource, HookPermissionDecision, HookSpecificOutput, LoadReason, MemoryType,
    ModelSwitchSource, PostToolBatchToolCall,
};
use pilothouse_proto::message::AssistantError;
use pilothouse_proto::{HookEvent, ToolUseId};
use serde_json::Value;

use crate::hooks::{ModelSwitch, Occasion, Shown};
use crate::session::Session;
use crate::tool::ToolCall;

impl Session {
    /// A text of the main conversation is about to be shown. Gives what hooks want to be shown in its stead.
    pub(crate) async fn tell_of_text(self: &Arc<Self>, index: u64, text: &str) -> Option<String> {
        if !self.hooks().wants(&HookEvent::MessageDisplay) {
            return None;
        }
        let scene = self.scene(None);
        let shown = Shown {
            turn_id: self.prompt_id().into_string(),
            message_id: self.stamp().uuid().into_string(),
            index,
            is_final: true,
            text: text.to_owned(),
        };
        let report = self.hooks().fire(self, &scene, Occasion::message_display(&scene, shown)).await;
        report.specific.into_iter().rev().find_map(|specific| match specific {
            HookSpecificOutput::MessageDisplay(output) => output.display_content.into_option(),
            _ => None,
        })
    }

    /// A turn ends on an error of the API.
    pub(crate) async fn tell_of_failure(self: &Arc<Self>, error: AssistantError, text: &str) {
        if !self.hooks().wants(&HookEvent::StopFailure) {
            return;
        }
        let scene = self.scene(None);
        let occasion = Occasion::stop_failure(&scene, error, Some(text.to_owned()), None);
        self.hooks().fire(self, &scene, occasion).await;
    }

    /// All calls of one answer have run. Gives what hooks want the model to know.
    pub(crate) async fn tell_of_batch(self: &Arc<Self>, calls: Vec<(ToolCall, Value)>) -> Vec<String> {
        if calls.is_empty() || !self.hooks().wants(&HookEvent::PostToolBatch) {
            return Vec::new();
        }
        let scene = self.scene(calls.first().and_then(|(call, _)| call.caller.as_ref()));
        let calls = calls.into_iter().map(|(call, response)| PostToolBatchToolCall {
            tool_name: call.name,
            tool_input: call.input.into(),
            tool_use_id: call.id,
            tool_response: response.into(),
            ..PostToolBatchToolCall::default()
        });
        let occasion = Occasion::post_tool_batch(&scene, calls.collect());
        self.hooks().fire(self, &scene, occasion).await.contexts
    }

    /// A tool has run: what it changed about the session is told.
    pub(crate) async fn tell_of_changes(
        self: &Arc<Self>,
        call: &ToolCall,
        structured: &Value,
        cwd_before: PathBuf,
    ) {
        let scene = self.scene(call.caller.as_ref());
        if scene.cwd != cwd_before && self.hooks().wants(&HookEvent::CwdChanged) {
            self.hooks().fire(self, &scene, Occasion::cwd_changed(&scene, cwd_before)).await;
        }
        let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        match call.name.as_str() {
            "TaskCreate" if self.hooks().wants(&HookEvent::TaskCreated) => {
                let Some(task) = structured.get("task") else { return };
                let (id, subject) =
                    (text(task, "id").unwrap_or_default(), text(task, "subject").unwrap_or_default());
                let about = text(task, "description");
                let occasion = Occasion::task_created(&scene, id.into(), subject, about);
                self.hooks().fire(self, &scene, occasion).await;
            }
            "TaskUpdate" if self.hooks().wants(&HookEvent::TaskCompleted) => {
                let input = Value::Object(call.input.clone());
                if text(&input, "status").as_deref() != Some("completed") {
                    return;
                }
                let id = text(&input, "taskId").unwrap_or_default();
                let subject = text(&input, "subject").unwrap_or_default();
                let occasion =
                    Occasion::task_completed(&scene, id.into(), subject, text(&input, "description"));
                self.hooks().fire(self, &scene, occasion).await;
            }
            _ => {}
        }
    }

    /// Files with instructions were read at the start of a conversation.
    pub(crate) async fn tell_of_instructions(self: &Arc<Self>, files: Vec<PathBuf>) {
        if !self.hooks().wants(&HookEvent::InstructionsLoaded) {
            return;
        }
        let scene = self.scene(None);
        let config = self.config_dir();
        for file in files {
            let memory = match &file {
                file if file.starts_with(&config) => MemoryType::User,
                file if is_local(file) => MemoryType::Local,
                _ => MemoryType::Project,
            };
            let occasion = Occasion::instructions_loaded(&scene, file, memory, LoadReason::SessionStart);
            self.hooks().fire(self, &scene, occasion).await;
        }
    }

    /// A settings file was written by the host. Nobody waits for hooks that hear of it.
    pub(crate) fn tell_of_config(self: &Arc<Self>, source: ConfigSource, file: PathBuf) {
        if !self.hooks().wants(&HookEvent::ConfigChange) {
            return;
        }
        let session = self.clone();
        tokio::spawn(async move {
            let scene = session.scene(None);
            let occasion = Occasion::config_change(&scene, source, Some(file));
            session.hooks().fire(&session, &scene, occasion).await;
        });
    }

    /// The host has named another directory to work in. Nobody waits for hooks that hear of it.
    pub(crate) fn tell_of_directory(self: &Arc<Self>, directory: PathBuf) {
        if !self.hooks().wants(&HookEvent::DirectoryAdded) {
            return;
        }
        let session = self.clone();
        tokio::spawn(async move {
            let scene = session.scene(None);
            let source = DirectorySource::RegisterRepoRoot;
            let occasion = Occasion::directory_added(&scene, directory, source);
            session.hooks().fire(&session, &scene, occasion).await;
        });
    }

    /// Whether hooks let the model be changed to another one.
    ///
    /// # Errors
    /// Why not.
    pub(crate) async fn ask_about_model(self: &Arc<Self>, switch: ModelSwitch) -> Result<(), String> {
        let scene = self.scene(None);
        let report = self.hooks().fire(self, &scene, Occasion::pre_model_switch(&scene, switch)).await;
        let denied = report.specific.iter().find_map(|specific| match specific {
            HookSpecificOutput::PreModelSwitch(output)
                if output.permission_decision.as_ref() == Some(&HookPermissionDecision::Deny) =>
            {
                Some(output.permission_decision_reason.as_ref().cloned().unwrap_or_default())
            }
            _ => None,
        });
        match denied.or(report.block) {
            Some(reason) => Err(format!("a hook refused the model: {reason}")),
            None => Ok(()),
        }
    }

    /// The model was changed.
    pub(crate) async fn tell_of_model(self: &Arc<Self>, switch: ModelSwitch) {
        let scene = self.scene(None);
        let report = self.hooks().fire(self, &scene, Occasion::post_model_switch(&scene, switch)).await;
        self.keep_contexts(report.contexts);
    }

    /// What is known of a change from the model in force.
    pub(crate) fn model_switch(&self, to: String, requested: Option<String>) -> ModelSwitch {
        let (from, context_tokens) = (self.model_info().id, self.context_tokens());
        ModelSwitch { from, to, requested, source: ModelSwitchSource::Sdk, context_tokens }
    }
}

fn is_local(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "CLAUDE.local.md")
}

/// The calls of a batch that have a result, in order.
pub(crate) fn batch<'a>(
    calls: &'a [ToolCall],
    response: impl Fn(&ToolUseId) -> Option<&'a Value>,
) -> Vec<(ToolCall, Value)> {
    calls.iter().filter_map(|call| Some((call.clone(), response(&call.id)?.clone()))).collect()
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
