//! Control requests about the conversation: interrupt, model, mode, messages, tasks.

use pilothouse_proto::control::{
    BackgroundTasks, BackgroundTasksResponse, CancelAsyncMessage, EndSession, GetPlan, GetPlanResponse,
    GetTaskOutput, GetTaskOutputResponse, InitializeResponse, Interrupt, InterruptResponse, RenameSession,
    SetColor, SetHasSubscribers, SetMaxThinkingTokens, SetModel, SetModelResponse, SetPermissionMode,
    StopTask, ThinkingDisplay,
};
use pilothouse_proto::{HostRequest, Opt, PermissionMode, Request, ToolUseId, Unknown};
use serde_json::{Map, Value};

use super::Session;
use crate::error::Error;
use crate::options::initialize;

impl Session {
    /// Asks the CLI anything that has a type in [`proto`](crate::proto).
    ///
    /// # Errors
    /// When the CLI refuses, does not answer in time, or has ended.
    pub async fn request<R: Request<Any = HostRequest>>(&self, request: R) -> Result<R::Response, Error> {
        self.shared.handle.request(request).await.map_err(Error::from)
    }

    /// Asks the CLI anything at all, also what has no type here, and gives the answer as it came.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn request_raw(&self, subtype: &str, fields: Map<String, Value>) -> Result<Value, Error> {
        let request = HostRequest::Unknown(Unknown { tag: subtype.to_owned(), fields: fields.into() });
        let limit = Some(self.shared.request_timeout);
        let reply = self.shared.handle.ask(subtype, request, limit).await?;
        reply.payload().map_err(|error| Error::Answer { subtype: subtype.to_owned(), error: error.into() })
    }

    /// Registers hooks, servers and the rest once more. The CLI repeats requests that are still open, so that an approval
    /// lost on this side can be answered after all.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn reinitialize(&self) -> Result<InitializeResponse, Error> {
        let mut registration = self.shared.registration.clone();
        if self.shared.announces_servers {
            // Some may have come or gone since.
            initialize::announce(&mut registration, &self.shared.servers).await;
        }
        self.request(registration).await
    }

    /// Stops the running turn. Messages that are queued survive; the receipt names them.
    ///
    /// The turn ends with a result, which is an error that [`was_stopped`](Error::was_stopped). A CLI that works answers
    /// within milliseconds, so this waits at most 10 s, or [`Options::interrupt_timeout`](crate::Options::interrupt_timeout);
    /// after that the CLI hangs, and [`Session::close`] ends it. [`Turn::abort_on`](crate::Turn::abort_on) stops one
    /// particular turn.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn interrupt(&self) -> Result<InterruptResponse, Error> {
        self.interrupt_by(Interrupt::default()).await
    }

    /// Stops the running turn and drops the messages that are queued. Waits as long as [`Session::interrupt`].
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn interrupt_all(&self) -> Result<InterruptResponse, Error> {
        self.interrupt_by(Interrupt { cancel_queued: Opt::Some(true), ..Interrupt::default() }).await
    }

    async fn interrupt_by(&self, request: Interrupt) -> Result<InterruptResponse, Error> {
        let limit = Some(self.shared.interrupt_timeout);
        self.shared.handle.request_within(request, limit).await.map_err(Error::from)
    }

    /// Takes back a message that no turn has taken yet; false when it is too late. The name is [`Prompt::uuid`](crate::Prompt::uuid).
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn cancel_message(&self, uuid: impl Into<String>) -> Result<bool, Error> {
        let request = CancelAsyncMessage { message_uuid: uuid.into(), ..CancelAsyncMessage::default() };
        Ok(self.request(request).await?.cancelled)
    }

    /// Changes what is allowed without asking.
    ///
    /// # Errors
    /// As [`Session::request`]; the CLI refuses modes that the session was not started for.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        let request = SetPermissionMode { mode, extra: pilothouse_proto::Extra::new() };
        self.request(request).await.map(drop)
    }

    /// Changes the model; the answer says what the name stands for.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_model(&self, model: impl Into<String>) -> Result<SetModelResponse, Error> {
        self.request(SetModel { model: Opt::Some(model.into()), ..SetModel::default() }).await
    }

    /// Goes back to the default model.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn reset_model(&self) -> Result<SetModelResponse, Error> {
        self.request(SetModel { model: Opt::Null, ..SetModel::default() }).await
    }

    /// Changes the budget for thinking; none goes back to the session's default.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        let max_thinking_tokens = tokens.map_or(Opt::Null, Opt::Some);
        let request = SetMaxThinkingTokens { max_thinking_tokens, ..SetMaxThinkingTokens::default() };
        self.request(request).await.map(drop)
    }

    /// Changes how thinking is shown; none goes back to the session's default.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_thinking_display(&self, display: Option<ThinkingDisplay>) -> Result<(), Error> {
        let thinking_display = display.map_or(Opt::Null, Opt::Some);
        let request = SetMaxThinkingTokens { thinking_display, ..SetMaxThinkingTokens::default() };
        self.request(request).await.map(drop)
    }

    /// Gives the session a title.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn rename(&self, title: impl Into<String>) -> Result<(), Error> {
        self.request(RenameSession { title: title.into(), ..RenameSession::default() }).await.map(drop)
    }

    /// Changes the accent colour; `default` resets it.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_color(&self, color: impl Into<String>) -> Result<(), Error> {
        self.request(SetColor { color: color.into(), ..SetColor::default() }).await.map(drop)
    }

    /// Says whether anybody reads the stream, for CLIs that hold it back while nobody does.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn set_has_subscribers(&self, has_subscribers: Option<bool>) -> Result<(), Error> {
        let request = SetHasSubscribers { has_subscribers, ..SetHasSubscribers::default() };
        self.request(request).await.map(drop)
    }

    /// Stops a background task.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn stop_task(&self, task_id: impl Into<String>) -> Result<(), Error> {
        self.request(StopTask { task_id: task_id.into().into(), ..StopTask::default() }).await.map(drop)
    }

    /// Moves a running tool call to the background, or all of them.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn background_tasks(
        &self,
        tool_use_id: Option<ToolUseId>,
    ) -> Result<BackgroundTasksResponse, Error> {
        let tool_use_id = tool_use_id.map_or(Opt::Absent, Opt::Some);
        self.request(BackgroundTasks { tool_use_id, ..BackgroundTasks::default() }).await
    }

    /// The end of what a background task has written.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn task_output(&self, task_id: impl Into<String>) -> Result<GetTaskOutputResponse, Error> {
        self.request(GetTaskOutput { task_id: task_id.into().into(), ..GetTaskOutput::default() }).await
    }

    /// The plan of plan mode.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn plan(&self) -> Result<GetPlanResponse, Error> {
        self.request(GetPlan::default()).await
    }

    /// Has the CLI end by itself. [`Session::close`] also makes sure that it does.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub async fn end_session(&self) -> Result<(), Error> {
        self.request(EndSession::default()).await.map(drop)
    }
}
