//! The cheapest correct reply to a control request.

use std::borrow::Cow;
use std::io::Write as _;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Writes the response line for the request `line` into `out`.
pub fn write_reply(line: &[u8], out: &mut Vec<u8>) {
    let Frame { request_id, request } =
        serde_json::from_slice(line).expect("the fake CLI writes control requests");
    let body = match &*request.subtype {
        "can_use_tool" => {
            let input = request.input.map_or("{}", RawValue::get);
            format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#)
        }
        "mcp_message" => mcp_reply(request.message.expect("mcp_message has a message")),
        _ => "{}".to_owned(),
    };
    out.clear();
    let _ = writeln!(
        out,
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{request_id}","response":{body}}}}}"#
    );
}

fn mcp_reply(message: Rpc<'_>) -> String {
    let id = message.id.map_or_else(|| "null".to_owned(), |id| id.to_string());
    let result = match &*message.method {
        "initialize" => r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#.to_owned(),
        "tools/list" => r#"{"tools":[{"name":"echo","description":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}"#.to_owned(),
        "tools/call" => {
            let text = message.params.and_then(|params| params.arguments).and_then(|arguments| arguments.text);
            let text = serde_json::to_string(&text.unwrap_or_default()).expect("a string is JSON");
            format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":false}}"#)
        }
        _ => "{}".to_owned(),
    };
    format!(r#"{{"mcp_response":{{"jsonrpc":"2.0","id":{id},"result":{result}}}}}"#)
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    request: Request<'a>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    subtype: Cow<'a, str>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<Rpc<'a>>,
}

#[derive(Deserialize)]
struct Rpc<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}
