use crate::wire::{Opt, SessionId, Uuid, open_enum, record};

record! {
    /// The model refused, and the turn went on with another one.
    pub struct ModelRefusalFallback {
        /// What made it happen.
        trigger: RefusalTrigger,
        /// What happens; only `retry` today.
        direction: RefusalDirection,
        /// How long it holds; absent means the session.
        scope: Opt<RefusalScope>,
        /// The model that was asked.
        original_model: String,
        /// The model that took over.
        fallback_model: String,
        /// The API's id of the request.
        request_id: Option<String>,
        /// The kind of refusal.
        api_refusal_category: Opt<String>,
        /// Why, in words.
        api_refusal_explanation: Opt<String>,
        /// Frames to remove.
        retracted_message_uuids: Opt<Vec<String>>,
        /// The prompt to offer for editing.
        refused_user_message_uuid: Opt<String>,
        /// The content.
        content: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The model refused, and there was no other one to go on with.
    #[derive(Default)]
    pub struct ModelRefusalNoFallback {
        /// The model that was asked.
        original_model: String,
        /// The API's id of the request.
        request_id: Option<String>,
        /// The kind of refusal.
        api_refusal_category: Opt<String>,
        /// Why, in words.
        api_refusal_explanation: Opt<String>,
        /// The prompt to offer for editing.
        refused_user_message_uuid: Opt<String>,
        /// The content.
        content: String,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }

    /// The model could not be had, and the turn went on with another one.
    #[derive(Default)]
    pub struct ModelFallback {
        /// Why, such as `overloaded`.
        trigger: String,
        /// The model that was asked.
        original_model: String,
        /// The model that took over.
        fallback_model: String,
        /// The content.
        content: Opt<String>,
        /// Names this frame.
        uuid: Uuid,
        /// The session.
        session_id: SessionId,
    }
}

open_enum! {
    /// What made the model change.
    pub enum RefusalTrigger {
        Refusal = "refusal",
    }

    /// What happens after a refusal.
    pub enum RefusalDirection {
        Retry = "retry",
        Revert = "revert",
        Sticky = "sticky",
    }

    /// How long another model stays.
    pub enum RefusalScope {
        Session = "session",
        Local = "local",
    }
}
