//! What hooks may change beside tool calls.

use std::sync::Arc;

use pilothouse_link::{Host, Inbound};
use pilothouse_proto::control::Initialize;
use pilothouse_proto::hook::HookCallbackMatcher;
use pilothouse_proto::{AgentFrame, AgentRequest, HookEvent};
use pilothouse_testkit::{Sandbox, Turn};
use serde_json::{Value, json};

use crate::rig::Rig;

/// Registers for these events; each callback is named after its event.
pub(crate) fn registration(events: &[&str]) -> Initialize {
    let matchers = |event: &&str| {
        let ids = vec![(*event).to_owned()];
        (HookEvent::from(*event), vec![HookCallbackMatcher { hook_callback_ids: ids, ..Default::default() }])
    };
    Initialize { hooks: Some(events.iter().map(matchers).collect()).into(), ..Initialize::default() }
}

/// A host whose hooks answer by their event, and which allows everything else.
pub(crate) fn hooked(answers: Value) -> impl Fn(Inbound<Host>) + Send + Sync + 'static {
    move |inbound| match &inbound.request {
        AgentRequest::HookCallback(call) => {
            let answer = answers.get(&call.callback_id).cloned().unwrap_or_else(|| json!({}));
            let mut specific = answer;
            if let Some(members) = specific.as_object_mut().filter(|members| !members.is_empty()) {
                members.insert("hookEventName".to_owned(), call.callback_id.clone().into());
            }
            inbound.responder.success(&json!({ "hookSpecificOutput": specific }));
        }
        _ => inbound.responder.success(&json!({"behavior": "allow"})),
    }
}

#[tokio::test]
async fn a_hook_has_other_words_shown_and_the_model_keeps_its_own() {
    let answers = json!({"MessageDisplay": {"displayContent": "(hidden)"}});
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let script = vec![Turn::text("the secret is heron"), Turn::text("as I said")];
    let mut rig = Rig::with_host(sandbox, &[], script, hooked(answers));
    rig.host.request(registration(&["MessageDisplay"])).await.unwrap();
    rig.say("tell me").await;
    let (frames, _) = rig.turn().await;
    let shown: Vec<String> = frames
        .iter()
        .filter_map(|frame| match frame {
            AgentFrame::Assistant(message) => Some(message.message.text()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, ["(hidden)"]);
    rig.ask("again").await;
    assert!(rig.asked()[1].to_string().contains("the secret is heron"));
    assert_eq!(rig.finish().await.code, 0);
}
