//! The Messages API: what is sent, what comes of each kind of answer, and when it is asked again.

use std::time::{Duration, Instant};

use pilothouse_model::{ApiConfig, Event, FailureKind, MessagesApi, Model, Request, Thinking, ToolOffer};
use pilothouse_proto::{ContentBlock, StopReason, TextBlock, User};
use pilothouse_testkit::{Api, Block, Turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn config(api: &Api, more: &[(&str, &str)]) -> ApiConfig {
    let url = api.url();
    ApiConfig::from_env(|name| {
        let given = more.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned());
        given.or_else(|| match name {
            "ANTHROPIC_BASE_URL" => Some(url.clone()),
            "ANTHROPIC_API_KEY" => Some("sk-test".to_owned()),
            "NO_PROXY" => Some("*".to_owned()),
            _ => None,
        })
    })
}

fn request() -> Request {
    let mut request = Request::new("opus");
    request.messages.push(User::prompt("go").message);
    request.tools.push(ToolOffer::Client {
        name: "Bash".to_owned(),
        description: "Runs a command.".to_owned(),
        input_schema: json!({"type": "object"}),
    });
    request
}

async fn events(model: &impl Model, request: Request) -> Vec<Event> {
    let mut reply = model.stream(request, CancellationToken::new());
    let mut events = Vec::new();
    while let Some(event) = reply.next().await {
        events.push(event);
    }
    events
}

/// An event in a few words; pieces of the stream are left out.
fn words(events: &[Event]) -> String {
    let mut words = Vec::new();
    for event in events {
        words.push(match event {
            Event::Stream { .. } => continue,
            Event::Block { message, .. } => match &message.content[..] {
                [ContentBlock::Text(block)] => format!("text({})", block.text),
                [ContentBlock::Thinking(block)] => format!("thinking({})", block.thinking),
                [ContentBlock::ToolUse(block)] => format!("call({} {})", block.name, block.input),
                other => format!("{other:?}"),
            },
            Event::Discarded { blocks, .. } => format!("discarded({blocks})"),
            Event::Retry(retry) => {
                format!("retry({}/{} {:?} {})", retry.attempt, retry.max_retries, retry.status, retry.error)
            }
            Event::Fallback { from, to, .. } => format!("fallback({from} {to})"),
            Event::Done(answer) => {
                format!("done({})", answer.message.stop_reason.as_ref().map_or("-", StopReason::as_str))
            }
            Event::Failed(failure) => {
                format!("failed({:?} {} {:?})", failure.status, failure.class, failure.kind)
            }
            Event::Stopped(partial) => {
                format!("stopped({:?})", partial.as_ref().map(|message| message.text()))
            }
        });
    }
    words.join(" ")
}

struct Case {
    name: &'static str,
    script: Vec<Turn>,
    retries: &'static str,
    events: &'static str,
    calls: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_retried_as_the_real_cli_does() {
    let forever = |turn: Turn| vec![turn.times(50)];
    let once = |turn: Turn| vec![turn, Turn::text("ok")];
    let case = |name, script, retries, calls, events| Case { name, script, retries, events, calls };
    let cases = vec![
        case("plain", vec![Turn::text("hi")], "10", 1, "text(hi) done(end_turn)"),
        case(
            "429",
            once(Turn::error(429).retry_after(1)),
            "10",
            2,
            "retry(1/10 Some(429) rate_limit) text(ok) done(end_turn)",
        ),
        case(
            "500",
            once(Turn::error(500)),
            "10",
            2,
            "retry(1/10 Some(500) server_error) text(ok) done(end_turn)",
        ),
        case(
            "503",
            once(Turn::error(503)),
            "10",
            2,
            "retry(1/10 Some(503) server_error) text(ok) done(end_turn)",
        ),
        case(
            "408",
            once(Turn::error(408)),
            "10",
            2,
            "retry(1/10 Some(408) server_error) text(ok) done(end_turn)",
        ),
        case(
            "409",
            once(Turn::error(409)),
            "10",
            2,
            "retry(1/10 Some(409) server_error) text(ok) done(end_turn)",
        ),
        case(
            "401",
            once(Turn::error(401)),
            "10",
            2,
            "retry(1/10 Some(401) authentication_failed) text(ok) done(end_turn)",
        ),
        case(
            "529 twice",
            vec![Turn::error(529).times(2), Turn::text("ok")],
            "10",
            3,
            "retry(1/10 Some(529) overloaded) retry(2/10 Some(529) overloaded) text(ok) done(end_turn)",
        ),
        case("drop", once(Turn::dropped()), "10", 2, "retry(1/10 None unknown) text(ok) done(end_turn)"),
        case("400", once(Turn::error(400)), "10", 2, "text(ok) done(end_turn)"),
        case("404", once(Turn::error(404)), "10", 2, "text(ok) done(end_turn)"),
        case(
            "429 forever",
            forever(Turn::error(429)),
            "1",
            2,
            "retry(1/1 Some(429) rate_limit) failed(Some(429) rate_limit Api)",
        ),
        case(
            "500 forever",
            forever(Turn::error(500)),
            "1",
            2,
            "retry(1/1 Some(500) server_error) failed(Some(500) server_error Api)",
        ),
        case(
            "529 forever",
            forever(Turn::error(529)),
            "1",
            2,
            "retry(1/1 Some(529) overloaded) failed(Some(529) server_error Api)",
        ),
        case(
            "401 forever",
            forever(Turn::error(401)),
            "1",
            2,
            "retry(1/1 Some(401) authentication_failed) failed(Some(401) authentication_failed Api)",
        ),
        case(
            "drop forever",
            forever(Turn::dropped()),
            "1",
            2,
            "retry(1/1 None unknown) failed(None server_error Connection)",
        ),
        case("400 forever", forever(Turn::error(400)), "10", 6, "failed(Some(400) unknown Api)"),
        case("404 forever", forever(Turn::error(404)), "10", 2, "failed(Some(404) model_not_found Api)"),
        case("402", forever(Turn::error(402)), "10", 1, "failed(Some(402) unknown Api)"),
        case("403", forever(Turn::error(403)), "10", 1, "failed(Some(403) authentication_failed Api)"),
        case("413", forever(Turn::error(413)), "10", 1, "failed(Some(413) invalid_request RequestTooLarge)"),
        case("no retries", forever(Turn::error(500)), "0", 1, "failed(Some(500) server_error Api)"),
        case(
            "breaks off",
            vec![Turn::text("partial").breaking_off("overloaded_error"), Turn::text("ok")],
            "10",
            2,
            "discarded(0) text(ok) done(end_turn)",
        ),
        case(
            "breaks off, then fails",
            vec![Turn::text("partial").breaking_off("overloaded_error"), Turn::error(500), Turn::text("ok")],
            "10",
            3,
            "discarded(0) retry(1/9 Some(500) server_error) text(ok) done(end_turn)",
        ),
        case(
            "blocks",
            vec![Turn::blocks([
                Block::Thinking("hm".to_owned()),
                Block::Text("now".to_owned()),
                Block::Tool { name: "Bash".to_owned(), input: json!({"command": "ls"}) },
            ])],
            "10",
            1,
            r#"thinking(hm) text(now) call(Bash {"command":"ls"}) done(tool_use)"#,
        ),
        case(
            "cut",
            vec![Turn::text("long").stop_reason("max_tokens")],
            "10",
            1,
            "text(long) done(max_tokens)",
        ),
        case("nothing", vec![Turn::blocks([])], "10", 1, "done(end_turn)"),
    ];
    let mut running = tokio::task::JoinSet::new();
    for case in cases {
        running.spawn(async move {
            let api = Api::script(case.script).expect("a port");
            let model = MessagesApi::new(config(&api, &[("CLAUDE_CODE_MAX_RETRIES", case.retries)]));
            let events = events(&model, request()).await;
            assert_eq!(words(&events), case.events, "{}", case.name);
            assert_eq!(api.main_calls().len(), case.calls, "{}", case.name);
        });
    }
    while let Some(done) = running.join_next().await {
        done.expect("no assertion failed");
    }
}

#[tokio::test]
async fn an_overloaded_model_is_replaced_by_the_fallback_model() {
    let api = Api::script([Turn::error(529).times(3), Turn::text("ok")]).expect("a port");
    let model = MessagesApi::new(config(&api, &[]));
    let mut request = request();
    request.fallback_models = vec!["sonnet".to_owned()];
    let events = events(&model, request).await;
    assert_eq!(
        words(&events),
        "retry(1/10 Some(529) overloaded) retry(2/10 Some(529) overloaded) \
         fallback(claude-opus-5-5 claude-sonnet-5-5) text(ok) done(end_turn)"
    );
    let models: Vec<String> = api.main_calls().iter().map(|call| call.model().to_owned()).collect();
    assert_eq!(models[2..], ["claude-opus-5-5", "claude-sonnet-5-5"]);
}

#[tokio::test]
async fn a_broken_stream_is_asked_for_again_in_one_piece() {
    let api = Api::script([Turn::text("partial").breaking_off("overloaded_error"), Turn::text("whole")])
        .expect("a port");
    let model = MessagesApi::new(config(&api, &[]));
    let events = events(&model, request()).await;
    let calls = api.main_calls();
    assert_eq!((&calls[0].body["stream"], &calls[0].body["max_tokens"]), (&json!(true), &json!(128_000)));
    assert_eq!((&calls[1].body["stream"], &calls[1].body["max_tokens"]), (&json!(false), &json!(64_000)));
    // Who watched the stream sees it closed before it is declared void.
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::Stream { event, .. } => event.tag(),
            Event::Discarded { .. } => "discarded",
            Event::Block { .. } => "block",
            _ => "end",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_stop",
            "discarded",
            "block",
            "end"
        ]
    );
    let Some(Event::Block { message, .. }) = events.iter().find(|event| matches!(event, Event::Block { .. }))
    else {
        panic!("no block")
    };
    let usage = message.usage.as_ref().expect("usage");
    assert_eq!(usage.output_tokens.as_ref(), Some(&5));
    assert!(usage.iterations.is_some());
}

#[tokio::test]
async fn a_refused_request_gives_up_its_features_one_by_one() {
    let api = Api::script([Turn::error(400).times(50)]).expect("a port");
    let model = MessagesApi::new(config(&api, &[]));
    let mut request = request();
    request.betas = vec!["one".to_owned(), "two".to_owned()];
    request.thinking = Thinking::Adaptive { display: Some("updates".to_owned()) };
    request.effort = Some("medium".to_owned());
    events(&model, request).await;
    let calls = api.main_calls();
    let beta = |index: usize| calls[index].headers.get("anthropic-beta").map_or("", String::as_str);
    assert_eq!((beta(0), beta(1), beta(2)), ("one,two", "one", ""));
    assert_eq!(calls[2].body["thinking"], json!({"type": "adaptive", "display": "updates"}));
    assert_eq!(calls[3].body["thinking"], json!({"type": "adaptive"}));
    assert_eq!(calls[4].body.get("output_config"), None);
}

#[tokio::test]
async fn a_prompt_that_is_too_long_fails_at_once_and_says_by_how_much() {
    let api = Api::script([Turn::error(400)
        .error_says(None, Some("prompt is too long: 250000 tokens > 200000 maximum"))
        .times(9)])
    .expect("a port");
    let model = MessagesApi::new(config(&api, &[]));
    let events = events(&model, request()).await;
    let [Event::Failed(failure)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(failure.kind, FailureKind::PromptTooLong { tokens: Some(250_000), limit: Some(200_000) });
    assert_eq!(api.main_calls().len(), 1);
}

#[tokio::test]
async fn without_credentials_nothing_is_sent() {
    let api = Api::script([Turn::text("hi")]).expect("a port");
    let model = MessagesApi::new(config(&api, &[("ANTHROPIC_API_KEY", " ")]));
    let events = events(&model, request()).await;
    assert_eq!(words(&events), "failed(None authentication_failed NoCredentials)");
    assert!(api.calls().is_empty());
}

#[tokio::test]
async fn credentials_and_headers_come_from_the_environment() {
    type Variables = &'static [(&'static str, &'static str)];
    let cases: [(Variables, &str, &str, &str); 4] = [
        (&[("ANTHROPIC_API_KEY", "sk-1")], "x-api-key", "sk-1", ""),
        (&[("ANTHROPIC_AUTH_TOKEN", "tok")], "authorization", "Bearer tok", ""),
        (
            &[("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "oat")],
            "authorization",
            "Bearer oat",
            "oauth-2025-04-20",
        ),
        (
            &[("ANTHROPIC_CUSTOM_HEADERS", "X-Team: blue\nbroken\nX-Two: 2"), ("ANTHROPIC_BETAS", "a, b")],
            "x-team",
            "blue",
            "a,b",
        ),
    ];
    for (variables, header, value, betas) in cases {
        let api = Api::script([Turn::text("hi")]).expect("a port");
        events(&MessagesApi::new(config(&api, variables)), request()).await;
        let calls = api.main_calls();
        let headers = &calls[0].headers;
        assert_eq!(headers.get(header).map(String::as_str), Some(value), "{variables:?}");
        assert_eq!(headers.get("anthropic-beta").map_or("", String::as_str), betas, "{variables:?}");
        assert_eq!(headers["anthropic-version"], "2023-06-01");
    }
}

#[tokio::test]
async fn the_request_has_the_shape_of_the_api() {
    let api = Api::script([Turn::text("hi")]).expect("a port");
    let mut request = request();
    request.system.push(TextBlock { text: "Be brief.".to_owned(), ..TextBlock::default() });
    request.tools.push(ToolOffer::Server(
        json!({"type": "web_search_20250305", "name": "web_search"}).as_object().expect("an object").clone(),
    ));
    request.thinking = Thinking::Budget { tokens: 1024, display: None };
    request.effort = Some("high".to_owned());
    request.tool_choice = Some(json!({"type": "auto"}));
    request.metadata = json!({"user_id": "u"}).as_object().cloned();
    events(&MessagesApi::new(config(&api, &[])), request).await;
    let body = &api.main_calls()[0].body;
    let cached = json!({"type": "ephemeral"});
    assert_eq!(
        body,
        &json!({
            "model": "claude-opus-5-5",
            "max_tokens": 128_000,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": cached}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "go", "cache_control": cached}]}],
            "tools": [
                {"name": "Bash", "description": "Runs a command.", "input_schema": {"type": "object"}},
                {"type": "web_search_20250305", "name": "web_search"},
            ],
            "tool_choice": {"type": "auto"},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "output_config": {"effort": "high"},
            "metadata": {"user_id": "u"},
            "stream": true,
        })
    );
}

#[tokio::test]
async fn caching_can_be_switched_off() {
    let api = Api::script([Turn::text("hi")]).expect("a port");
    events(&MessagesApi::new(config(&api, &[("DISABLE_PROMPT_CACHING", "1")])), request()).await;
    assert_eq!(api.main_calls()[0].body["messages"], json!([{"role": "user", "content": "go"}]));
}

#[tokio::test]
async fn tokens_are_counted() {
    let api = Api::script([]).expect("a port");
    let counted = MessagesApi::new(config(&api, &[])).count_tokens(request()).await;
    assert_eq!(counted, Ok(100));
    let body: &Value = &api.calls()[0].body;
    assert_eq!(body.get("max_tokens"), None);
    assert_eq!(body.get("stream"), None);
}

#[tokio::test]
async fn a_stop_ends_the_answer_at_once_and_keeps_what_came() {
    let api = Api::script([Turn::text("as far as this").hanging()]).expect("a port");
    let model = MessagesApi::new(config(&api, &[]));
    let stop = CancellationToken::new();
    let mut reply = model.stream(request(), stop.clone());
    while let Some(event) = reply.next().await {
        if matches!(&event, Event::Stream { event, .. } if event.tag() == "content_block_delta") {
            stop.cancel();
        }
        if let Event::Stopped(partial) = event {
            assert!("as far as this".starts_with(&partial.expect("a message").text()));
            assert!(reply.next().await.is_none());
            return;
        }
    }
    panic!("the reply ended without a last event");
}

#[tokio::test]
async fn a_stop_ends_a_wait_between_attempts() {
    let api = Api::script([Turn::error(429).retry_after(600).times(9)]).expect("a port");
    let model = MessagesApi::new(config(&api, &[]));
    let stop = CancellationToken::new();
    let mut reply = model.stream(request(), stop.clone());
    let Some(Event::Retry(retry)) = reply.next().await else { panic!("no retry") };
    assert_eq!(retry.delay, Duration::from_secs(600));
    stop.cancel();
    assert_eq!(reply.next().await, Some(Event::Stopped(None)));
}

#[tokio::test]
async fn the_first_byte_may_not_take_for_ever() {
    let api =
        Api::script([Turn::text("late").after(Duration::from_secs(600)), Turn::text("ok")]).expect("a port");
    let variables = [("CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS", "200")];
    let events = events(&MessagesApi::new(config(&api, &variables)), request()).await;
    assert_eq!(words(&events), "retry(1/10 None unknown) text(ok) done(end_turn)");
}

#[tokio::test]
async fn nobody_listening_is_a_connection_failure() {
    let config = ApiConfig::from_env(|name| match name {
        "ANTHROPIC_BASE_URL" => Some("http://127.0.0.1:9".to_owned()),
        "ANTHROPIC_API_KEY" => Some("k".to_owned()),
        "CLAUDE_CODE_MAX_RETRIES" => Some("0".to_owned()),
        _ => None,
    });
    let events = events(&MessagesApi::new(config), request()).await;
    let [Event::Failed(failure)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(
        failure.text,
        "API Error: Connection refused (ECONNREFUSED). Check the gateway set in ANTHROPIC_BASE_URL, then try again."
    );
}

#[test]
fn making_a_model_costs_nothing() {
    let begun = Instant::now();
    for _ in 0..1000 {
        std::hint::black_box(MessagesApi::new(ApiConfig::from_env(|_| None)));
    }
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?} for a thousand", begun.elapsed());
}
