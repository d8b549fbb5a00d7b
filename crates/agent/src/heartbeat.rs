//! Signs of life of what takes long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pilothouse_proto::{AgentFrame, Extra, Opt, ToolProgress, ToolUseId};
use serde_json::Number;
use tokio::task::JoinHandle;

use crate::session::Session;

/// How often the host hears of a tool or a hook that is still running.
const INTERVAL: Duration = Duration::from_secs(30);

/// Tells the host that something still runs, until it is dropped.
#[derive(Debug)]
pub(crate) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    /// `id` and `name` say what runs, `call` is the tool call that it is about.
    pub(crate) fn start(session: &Arc<Session>, id: String, name: &str, call: &ToolUseId) -> Self {
        Self(tokio::spawn(beat(session.clone(), id, name.to_owned(), call.clone())))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn beat(session: Arc<Session>, id: String, name: String, call: ToolUseId) {
    let begun = Instant::now();
    for count in 0_u64.. {
        tokio::time::sleep(INTERVAL).await;
        let frame = ToolProgress {
            tool_use_id: format!("{id}-heartbeat-{count}").into(),
            tool_name: name.clone(),
            parent_tool_use_id: Some(call.clone()),
            elapsed_time_seconds: Number::from(begun.elapsed().as_secs()),
            task_id: Opt::Absent,
            uuid: session.stamp().uuid(),
            session_id: session.id(),
            heartbeat: true.into(),
            subagent_type: Opt::Absent,
            subagent_retry: Opt::Absent,
            extra: Extra::new(),
        };
        session.output().emit(AgentFrame::ToolProgress(Box::new(frame)));
    }
}
