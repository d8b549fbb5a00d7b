//! A conversation that comes to no good end: the API failed, or what the model does leads nowhere.

use pilothouse_model::{ApiFailure, FailureKind};
use pilothouse_proto::message::{AssistantError, StopReason};
use pilothouse_proto::system::ModelRefusalNoFallback;
use pilothouse_proto::{Opt, System, Uuid};

use super::Talking;
use crate::frames::synthetic;
use crate::machine::{GaveUp, Next};
use crate::words;

impl Talking {
    /// Tells of the failure, to the host and then to hooks.
    pub(super) async fn failed(&mut self, failure: ApiFailure) -> Vec<Next> {
        self.reply = None;
        self.pace.over();
        let refused = failure.kind == FailureKind::Refused;
        self.said.text = failure.text.clone();
        self.said.stop_reason = Some(if refused { StopReason::Refusal } else { StopReason::StopSequence });
        let mut frame = synthetic::api_error(&self.talk.session, &failure);
        if refused {
            frame.message.stop_reason = StopReason::Refusal.into();
            frame.extra.insert("refused_message_id", self.draft.id.clone());
        }
        if self.talk.voice.caller().is_none() {
            self.talk.voice.synthetic(frame);
            let stop = self.talk.stop.token().clone();
            tokio::select! {
                () = self.talk.session.tell_of_failure(failure.class.clone(), &failure.text) => {}
                () = stop.cancelled() => {}
            }
        }
        self.said.failure = Some(Box::new(failure));
        self.turn.failed()
    }

    /// The model is asked no more.
    pub(super) async fn give_up(&mut self, why: GaveUp) -> Vec<Next> {
        let session = &self.talk.session;
        let model = session.model_info();
        let (kind, class, text) = match why {
            GaveUp::OutputLimit => (
                FailureKind::OutputLimit,
                AssistantError::MaxOutputTokens,
                words::output_limit_reached(model.max_output),
            ),
            GaveUp::Refusal => (
                FailureKind::Refused,
                AssistantError::InvalidRequest,
                words::refused_again(&model.display_name),
            ),
        };
        if why == GaveUp::Refusal {
            self.talk.voice.system(System::ModelRefusalNoFallback(Box::new(ModelRefusalNoFallback {
                original_model: model.id.clone(),
                request_id: self.draft.request_id.clone(),
                api_refusal_category: Opt::Null,
                api_refusal_explanation: Opt::Null,
                refused_user_message_uuid: session.last_message().map(Uuid::into_string).into(),
                content: String::new(),
                uuid: session.stamp().uuid(),
                session_id: session.id(),
                ..ModelRefusalNoFallback::default()
            })));
        }
        let request_id = (why == GaveUp::Refusal).then(|| self.draft.request_id.clone()).flatten();
        self.failed(ApiFailure {
            kind,
            class,
            text,
            message: String::new(),
            status: None,
            api_type: None,
            retry_after: None,
            request_id,
        })
        .await
    }
}
