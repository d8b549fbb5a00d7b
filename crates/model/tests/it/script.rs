//! What scripts say: each case is a script and a conversation.

use std::time::{Duration, Instant};

use pilothouse_model::{Event, Model, Purpose, Request, Script, ScriptModel, ScriptSyntax, ToolOffer};
use pilothouse_proto::{Content, ContentBlock, MessageParam, Role, ToolResultBlock, User};
use tokio_util::sync::CancellationToken;

fn toml(script: &str) -> ScriptModel {
    ScriptModel::new(Script::parse(script, ScriptSyntax::Toml).unwrap_or_else(|error| panic!("{error}")))
}

/// Adds what the model said to the conversation, and gives it in a few words.
async fn ask(model: &ScriptModel, request: &mut Request) -> String {
    let mut reply = model.stream(request.clone(), CancellationToken::new());
    let mut words = Vec::new();
    while let Some(event) = reply.next().await {
        match event {
            Event::Stream { .. } => {}
            Event::Block { message, .. } => words.push(match &message.content[..] {
                [ContentBlock::Text(block)] => block.text.clone(),
                [ContentBlock::Thinking(block)] => format!("thinks {}", block.thinking),
                [ContentBlock::ToolUse(block)] => format!("calls {} {}", block.name, block.input),
                [other] => format!("raw {}", other.tag()),
                other => format!("{} blocks", other.len()),
            }),
            Event::Discarded { .. } => words.push("discarded".to_owned()),
            Event::Retry(retry) => words.push(format!("retry {} {:?}", retry.attempt, retry.status)),
            Event::Fallback { to, .. } => words.push(format!("fallback {to}")),
            Event::Failed(failure) => words.push(format!("failed {}", failure.text)),
            Event::Stopped(_) => words.push("stopped".to_owned()),
            Event::Done(answer) => {
                let content = Content::Blocks(answer.message.content);
                request.messages.push(MessageParam {
                    role: Role::Assistant,
                    content,
                    ..MessageParam::default()
                });
            }
        }
    }
    words.join(" | ")
}

fn say(request: &mut Request, text: &str) {
    request.messages.push(User::prompt(text).message);
}

/// Answers every open call with the same result.
fn answer_calls(request: &mut Request, text: &str, failed: bool) {
    let calls = request.messages.last().map(|answer| answer.content.blocks()).unwrap_or_default().iter();
    let results = calls
        .filter_map(ContentBlock::as_tool_use)
        .map(|call| {
            ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: call.id.clone(),
                content: Content::from(text).into(),
                is_error: failed.into(),
                ..ToolResultBlock::default()
            })
        })
        .collect();
    request.messages.push(MessageParam { content: Content::Blocks(results), ..MessageParam::default() });
}

/// A script, and lines of a conversation: `> words` of the user, `= text` a tool's result, `! text` its failure, and
/// the expected words of the model.
#[tokio::test]
async fn scripts_say_what_they_say() {
    let cases: [(&str, &str, &[&str]); 14] = [
        (
            "in order",
            "[[turn]]\nsay='one'\n[[turn]]\nsay='two'",
            &["> a", "one", "> b", "two", "> c", "(the script has no turn for this)"],
        ),
        (
            "by the user's words",
            "[[turn]]\nwhen={user='cat'}\ntimes='always'\nsay='meow'\n[[turn]]\nwhen={user_is='dog'}\nsay='woof'\n[[turn]]\nelse=true\nsay='what?'",
            &["> a dog", "what?", "> dog", "woof", "> the cat", "meow", "> cat", "meow", "> dog", "what?"],
        ),
        (
            "groups of an expression",
            "[[turn]]\nwhen={user_matches='add (\\d+) and (?<second>\\d+)'}\nsay='{{1}}+{{second}} ({{0}})'",
            &["> please add 3 and 4", "3+4 (add 3 and 4)"],
        ),
        (
            "everything that templates know",
            "[[turn]]\ncalls=[{tool='Read', input={file_path='{{cwd}}/{{user}}'}}]\n[[turn]]\nwhen={tool='Read'}\nsay='{{tool.name}} gave {{tool.result}} for {{user}}, turn {{count}}'",
            &[
                "> a.txt",
                r#"calls Read {"file_path":"/work/a.txt"}"#,
                "= text",
                "Read gave text for a.txt, turn 1",
            ],
        ),
        (
            "by results",
            "[[turn]]\ncalls=[{tool='Bash'}]\n[[turn]]\nwhen={failed=true}\nsay='oh: {{tool.result}}'\n[[turn]]\nwhen={result_matches='exit (?<code>\\d)'}\nsay='code {{code}}'",
            &["> go", "calls Bash {}", "! no", "oh: no"],
        ),
        (
            "a result's expression",
            "[[turn]]\ncalls=[{tool='Bash'}]\n[[turn]]\nwhen={failed=true}\nsay='oh'\n[[turn]]\nwhen={result_matches='exit (?<code>\\d)'}\nsay='code {{code}}'",
            &["> go", "calls Bash {}", "= exit 7", "code 7"],
        ),
        (
            "words do not fit again when a result comes",
            "[[turn]]\nwhen={user='go'}\ntimes='always'\ncalls=[{tool='Bash'}]\n[[turn]]\nwhen={tool='Bash', user='go'}\nsay='done'",
            &["> go", "calls Bash {}", "= ok", "done"],
        ),
        (
            "several calls and thinking",
            "[[turn]]\nthink='hm'\nsay='two'\ncalls=[{tool='Read', input={n=1}},{tool='Glob', input={deep=[{a='{{user}}'}]}}]",
            &["> x", r#"thinks hm | two | calls Read {"n":1} | calls Glob {"deep":[{"a":"x"}]}"#],
        ),
        (
            "blocks in any order",
            "[[turn]]\nblocks=[{tool='Read'},{say='after'},{raw={type='hologram', depth=3}}]",
            &["> x", "calls Read {} | after | raw hologram"],
        ),
        (
            "errors are retried and then fail",
            "pace={retry_delay_ms=0}\n[[turn]]\nerror={status=529}\ntimes=2\n[[turn]]\nsay='ok'\n[[turn]]\nerror={status=403, message='no'}",
            &[
                "> x",
                "retry 1 Some(529) | retry 2 Some(529) | ok",
                "> y",
                "failed Failed to authenticate. API Error: 403 no",
            ],
        ),
        (
            "a dropped connection and a broken stream",
            "pace={retry_delay_ms=0}\n[[turn]]\ndrop=true\n[[turn]]\nsay='partial'\nbreak_off='overloaded_error'\n[[turn]]\nsay='whole'",
            &["> x", "retry 1 None | discarded | whole"],
        ),
        ("an answer that calls nothing and says nothing", "[[turn]]\nstop_reason='refusal'", &["> x", ""]),
        (
            "braces that are no names",
            "[[turn]]\nsay='{{ user }} {{{user}}} {{not a name}} {{'",
            &["> x", "x {x} {{not a name}} {{"],
        ),
        (
            "loops",
            "[[turn]]\nwhen={tool='Bash'}\ntimes=2\ncalls=[{tool='Bash', input={n='{{count}}'}}]\n[[turn]]\nwhen={tool='Bash'}\nsay='enough'\n[[turn]]\ncalls=[{tool='Bash'}]",
            &[
                "> go",
                "calls Bash {}",
                "= 1",
                r#"calls Bash {"n":"1"}"#,
                "= 2",
                r#"calls Bash {"n":"2"}"#,
                "= 3",
                "enough",
            ],
        ),
    ];
    for (name, script, conversation) in cases {
        let model = toml(script).with("cwd", "/work");
        let mut request = Request::new("opus");
        for line in conversation {
            match line.get(..2) {
                Some("> ") => say(&mut request, &line[2..]),
                Some("= ") => answer_calls(&mut request, &line[2..], false),
                Some("! ") => answer_calls(&mut request, &line[2..], true),
                _ => assert_eq!(&ask(&model, &mut request).await, line, "{name}"),
            }
        }
    }
}

#[tokio::test]
async fn side_calls_have_turns_of_their_own() {
    let model = toml("[[turn]]\nsay='main'\n[[turn]]\nwhen={side='web_search'}\nsay='found {{user}}'");
    let mut request = Request::new("haiku");
    say(&mut request, "rust");
    request.purpose = Purpose::Side("web_search".to_owned());
    assert_eq!(ask(&model, &mut request.clone()).await, "found rust");
    assert_eq!(ask(&model, &mut request.clone()).await, "(the script has no turn for web_search)");
    request.purpose = Purpose::Compaction;
    assert!(ask(&model, &mut request.clone()).await.contains("1 messages"));
    request.purpose = Purpose::Conversation;
    assert_eq!(ask(&model, &mut request).await, "main");
}

#[tokio::test]
async fn whether_there_is_a_model_is_no_turn_of_the_script() {
    let model = toml("[[turn]]\nsay='{{count}}'\ntimes='always'\n[[turn]]\nelse=true\nsay='else'");
    let mut request = Request::new("banana");
    say(&mut request, "Hi");
    request.purpose = Purpose::Side("probe".to_owned());
    ask(&model, &mut request.clone()).await;
    request.purpose = Purpose::Conversation;
    assert_eq!(ask(&model, &mut request).await, "1");
}

#[tokio::test]
async fn tools_are_counted_with_the_rest() {
    let model = toml("[[turn]]\nsay='x'");
    let mut request = Request::new("haiku");
    say(&mut request, "Hi");
    let bare = model.count_tokens(request.clone()).await.unwrap();
    let (name, description) = ("Read".to_owned(), "Reads a file, or a part of it.".to_owned());
    let input_schema = serde_json::json!({"type": "object"});
    request.tools.push(ToolOffer::Client { name, description, input_schema });
    assert!(model.count_tokens(request).await.unwrap() > bare + 10);
}

#[tokio::test]
async fn what_agents_add_to_the_words_of_a_user_is_not_seen() {
    let model = toml("[[turn]]\nwhen={user_is='go'}\nsay='{{user}}'");
    let mut request = Request::new("opus");
    let blocks = vec![ContentBlock::text("<system-reminder>x</system-reminder>"), ContentBlock::text("go")];
    request.messages.push(MessageParam { content: Content::Blocks(blocks), ..MessageParam::default() });
    assert_eq!(ask(&model, &mut request).await, "go");
}

#[tokio::test]
async fn the_same_script_and_seed_give_the_same_events() {
    let script = "seed=7\npace={retry_delay_ms=0}\n[[turn]]\nerror={status=500}\n[[turn]]\nthink='t'\nsay='é ü'\ncalls=[{tool='Bash'}]";
    let mut runs = Vec::new();
    for _ in 0..2 {
        let model = toml(script);
        let mut request = Request::new("opus");
        say(&mut request, "go");
        let mut reply = model.stream(request, CancellationToken::new());
        let mut events = Vec::new();
        while let Some(event) = reply.next().await {
            events.push(match event {
                Event::Stream { event, .. } => serde_json::to_string(&event).expect("JSON"),
                Event::Block { message, request_id } => format!("{message:?} {request_id:?}"),
                Event::Done(answer) => format!("{:?} {:?}", answer.message, answer.request_id),
                other => format!("{other:?}"),
            });
        }
        runs.push(events);
    }
    assert!(runs[0].len() > 10);
    assert_eq!(runs[0], runs[1]);
}

#[tokio::test]
async fn answers_stream_in_pieces_and_stop_when_told() {
    let model = toml("[[turn]]\nsay='abcdef'\nchunks=3\nchunk_delay_ms=1\n[[turn]]\nsay='never'\nhang=true");
    let mut request = Request::new("opus");
    say(&mut request, "go");
    let mut reply = model.stream(request.clone(), CancellationToken::new());
    let mut deltas = 0;
    while let Some(event) = reply.next().await {
        deltas += usize::from(
            matches!(&event, Event::Stream { event, .. } if event.tag() == "content_block_delta"),
        );
    }
    assert_eq!(deltas, 3);
    let stop = CancellationToken::new();
    let mut reply = model.stream(request, stop.clone());
    while let Some(event) = reply.next().await {
        match event {
            Event::Stream { event, .. } if event.tag() == "content_block_delta" => stop.cancel(),
            Event::Stopped(partial) => return assert_eq!(partial.expect("a message").text(), "never"),
            _ => {}
        }
    }
    panic!("the reply ended without a last event");
}

#[tokio::test]
async fn usage_is_what_the_script_says_or_an_estimate() {
    let model = toml("[[turn]]\nsay='x'\nusage={input_tokens=100, output_tokens=7}\n[[turn]]\nsay='y'");
    let mut used = Vec::new();
    for _ in 0..2 {
        let mut request = Request::new("opus");
        say(&mut request, "eight ch");
        let mut reply = model.stream(request, CancellationToken::new());
        while let Some(event) = reply.next().await {
            if let Event::Done(answer) = event {
                let usage = answer.message.usage.unwrap_or_default();
                used.push((usage.input_tokens.unwrap_or_default(), usage.output_tokens.unwrap_or_default()));
            }
        }
    }
    assert_eq!(used[0], (100, 7));
    assert_eq!(used[1].0, 2);
    assert!(used[1].1 > 0);
}

#[test]
fn making_a_script_model_costs_little() {
    let script = Script::parse(pilothouse_model::DEMO, ScriptSyntax::Toml).expect("the demo is a script");
    let begun = Instant::now();
    for _ in 0..100 {
        std::hint::black_box(ScriptModel::new(script.clone()));
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?} for a hundred", begun.elapsed());
}

#[test]
fn yaml_and_json_mean_the_same_as_toml() {
    let toml = Script::parse(
        "seed = 1\n[[turn]]\nwhen = { user = 'a' }\ntimes = 'always'\ncalls = [{ tool = 'Read', input = { n = 1 } }]\n[[fault]]\non = 'result'\ndo = 'drop'",
        ScriptSyntax::Toml,
    )
    .expect("TOML");
    let yaml = "seed: 1\nturn:\n  - when: {user: a}\n    times: always\n    calls:\n      - tool: Read\n        input: {n: 1}\nfault:\n  - {on: result, do: drop}\n";
    let json = r#"{"seed":1,"turn":[{"when":{"user":"a"},"times":"always","calls":[{"tool":"Read","input":{"n":1}}]}],"fault":[{"on":"result","do":"drop"}]}"#;
    for text in [yaml, json] {
        assert_eq!(Script::parse(text, ScriptSyntax::Yaml).expect(text), toml);
    }
}
