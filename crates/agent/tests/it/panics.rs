//! A session outlives a panic of its model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pilothouse_model::{ApiConfig, Counting, MessagesApi, Model, Reply, Request};
use pilothouse_testkit::{Sandbox, Turn};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

/// The API, but for a few answers.
#[derive(Debug)]
struct Panicking {
    api: MessagesApi,
    asked: AtomicUsize,
    /// Which request panics, counted from 0.
    at: usize,
}

impl Model for Panicking {
    fn stream(&self, request: Request, stop: CancellationToken) -> Reply {
        if self.asked.fetch_add(1, Ordering::Relaxed) == self.at {
            panic!("the model is out of order");
        }
        self.api.stream(request, stop)
    }

    fn count_tokens(&self, _: Request) -> Counting<'_> {
        panic!("the model cannot count")
    }
}

fn rig(at: usize, script: Vec<Turn>) -> Rig {
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let allow = |inbound: pilothouse_link::Inbound<pilothouse_link::Host>| {
        inbound.responder.success(&json!({"behavior": "allow"}));
    };
    let model = |config: ApiConfig| -> Arc<dyn Model> {
        Arc::new(Panicking { api: MessagesApi::new(config), asked: AtomicUsize::new(0), at })
    };
    Rig::with_model(sandbox, &[], script, allow, model)
}

#[tokio::test]
async fn a_turn_that_panics_has_a_result_and_the_next_turn_is_answered() {
    for at in [0, 1] {
        let bash = Turn::tool("Bash", json!({"command": "echo hi", "description": "d"}));
        let mut script = vec![Turn::text("went on")];
        if at == 1 {
            script.insert(0, bash);
        }
        let mut rig = rig(at, script);
        rig.say("go").await;
        let (_, result) = rig.turn().await;
        assert_eq!(result.is_error.as_ref(), Some(&true), "{result:?}");
        let errors = serde_json::to_string(&result.errors).unwrap();
        assert!(errors.contains("debug log"), "{errors}");
        assert_eq!(rig.ask("go on").await, "went on");
        rig.finish().await;
    }
}

#[tokio::test]
async fn a_request_whose_handler_panics_is_refused_and_the_session_goes_on() {
    let mut rig = rig(usize::MAX, vec![Turn::text("went on")]);
    let refused = rig.ctl(json!({"subtype": "get_context_usage"})).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(rig.ask("go").await, "went on");
    rig.finish().await;
}
