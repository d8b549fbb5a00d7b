use std::path::PathBuf;

use pilothouse_proto::{AgentId, SessionId};
use pilothouse_rules::Mode;

use crate::session::Session;
use crate::tool::Caller;

/// Where something happens: what hooks are told about the session at that moment.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The session.
    pub session_id: SessionId,
    /// Where its transcript is written.
    pub transcript_path: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
    /// Names the prompt that led here.
    pub prompt_id: Option<String>,
    /// The permission mode.
    pub mode: Mode,
    /// The subagent it happens in; none in the main conversation.
    pub subagent: Option<Subagent>,
    /// How much the model thinks, by name.
    pub effort: Option<String>,
}

/// A subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagent {
    /// Names it.
    pub id: AgentId,
    /// The kind of agent it is.
    pub kind: String,
}

impl Session {
    /// What hooks are told about this moment, in the main conversation or in a subagent.
    pub fn scene(&self, caller: Option<&Caller>) -> Scene {
        Scene {
            session_id: self.id(),
            transcript_path: self.transcript_path(),
            cwd: self.cwd(),
            prompt_id: Some(self.prompt_id().into_string()),
            mode: caller.and_then(|caller| caller.mode).unwrap_or_else(|| self.mode()),
            subagent: caller
                .map(|caller| Subagent { id: caller.agent_id.clone(), kind: caller.agent_type.clone() }),
            effort: self.effort(),
        }
    }
}
