//! The host's end of one process: its pipes, the messages that came, and the answers it gives by itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pilothouse_proc::{ReadPipe, WritePipe};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, watch};

use crate::json::{dig, matches};
use crate::mcp::McpServer;
use crate::record::Record;

/// What the steps of a scenario and the reader of stdout share.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) record: Arc<Record>,
    input: AsyncMutex<Option<WritePipe>>,
    inbox: Mutex<Inbox>,
    /// Counts what arrived, so that a waiting step looks again.
    arrivals: watch::Sender<usize>,
    rules: Mutex<Vec<Map<String, Value>>>,
    servers: BTreeMap<String, McpServer>,
}

#[derive(Debug, Default)]
struct Inbox {
    messages: Vec<Value>,
    /// Messages before this one have been looked at by a step.
    cursor: usize,
    ended: bool,
}

impl Host {
    pub(crate) fn new(
        record: Arc<Record>,
        input: Option<WritePipe>,
        rules: Vec<Map<String, Value>>,
        servers: BTreeMap<String, McpServer>,
    ) -> Host {
        Host {
            record,
            input: AsyncMutex::new(input),
            inbox: Mutex::default(),
            arrivals: watch::Sender::new(0),
            rules: Mutex::new(rules),
            servers,
        }
    }

    /// Reads stdout to its end, recording every line and answering the CLI's requests.
    pub(crate) async fn read(self: Arc<Self>, output: ReadPipe) {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        while matches!(lines.read_until(b'\n', &mut line).await, Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            line.clear();
            let Ok(message) = serde_json::from_str::<Value>(&text) else {
                self.record.received_raw(&text);
                continue;
            };
            self.record.received(&message);
            let is_request = message["type"] == "control_request";
            self.inbox().messages.push(message.clone());
            self.arrivals.send_modify(|count| *count += 1);
            if is_request {
                self.answer(message).await;
            }
        }
        self.inbox().ended = true;
        self.arrivals.send_modify(|count| *count += 1);
    }

    /// The next message that fits, looking at each message once; `None` when there is none in time.
    pub(crate) async fn wait(&self, wanted: &Map<String, Value>, patience: Duration) -> Option<Value> {
        let mut arrivals = self.arrivals.subscribe();
        let looking = async {
            loop {
                arrivals.mark_unchanged();
                let ended = {
                    let mut inbox = self.inbox();
                    let start = inbox.cursor;
                    let unseen = inbox.messages.get(start..).unwrap_or_default();
                    if let Some(index) = unseen.iter().position(|message| matches(message, wanted)) {
                        let found = unseen.get(index).cloned();
                        inbox.cursor = start + index + 1;
                        return found;
                    }
                    inbox.cursor = inbox.messages.len();
                    inbox.ended
                };
                if ended || arrivals.changed().await.is_err() {
                    return None;
                }
            }
        };
        tokio::time::timeout(patience, looking).await.ok().flatten()
    }

    /// Sends a message.
    pub(crate) async fn send(&self, message: &Value) {
        self.record.sent(message);
        self.write(&format!("{message}\n")).await;
    }

    /// Sends any text.
    pub(crate) async fn send_raw(&self, line: &str, end: &str) {
        self.record.sent_raw(line);
        self.write(&format!("{line}{end}")).await;
    }

    /// Ends the CLI's input.
    pub(crate) async fn close_input(&self) {
        self.input.lock().await.take();
    }

    /// Answers a request of the CLI with success.
    pub(crate) async fn reply(&self, request: &Value, body: &Value) {
        let response = json!({
            "subtype": "success", "request_id": request["request_id"], "response": filled(body, request),
        });
        self.send(&json!({"type": "control_response", "response": response})).await;
    }

    /// Answers a request of the CLI with an error.
    pub(crate) async fn reply_error(&self, request: &Value, error: &Value) {
        let response = json!({"subtype": "error", "request_id": request["request_id"], "error": error});
        self.send(&json!({"type": "control_response", "response": response})).await;
    }

    async fn write(&self, text: &str) {
        let mut input = self.input.lock().await;
        let written = match input.as_mut() {
            Some(pipe) => pipe.write_all(text.as_bytes()).await.map_err(|error| error.to_string()),
            None => Err("the input is closed".to_owned()),
        };
        if let Err(error) = written {
            self.record.noted(json!({"write_failed": error}));
        }
    }

    /// Answers by the first rule that fits, or as one of the scenario's MCP servers, or not at all.
    async fn answer(self: &Arc<Self>, request: Value) {
        let Some(rule) = self.take_rule(&request) else {
            let asked = &request["request"];
            let server = asked["server_name"].as_str().and_then(|name| self.servers.get(name));
            if let Some(server) = server.filter(|_| asked["subtype"] == "mcp_message") {
                let body = match server.answer(&asked["message"]) {
                    Some(answer) => json!({"mcp_response": answer}),
                    None => json!({}),
                };
                self.reply(&request, &body).await;
            }
            return;
        };
        if rule.get("ignore").is_some_and(truthy) {
            return;
        }
        let host = Arc::clone(self);
        let delay = rule.get("delay").and_then(Value::as_f64).unwrap_or(0.0);
        let respond = async move {
            match rule.get("reply_error") {
                Some(error) => host.reply_error(&request, error).await,
                None => host.reply(&request, rule.get("reply").unwrap_or(&Value::Null)).await,
            }
        };
        if delay > 0.0 {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs_f64(delay)).await;
                respond.await;
            });
        } else {
            respond.await;
        }
    }

    fn take_rule(&self, request: &Value) -> Option<Map<String, Value>> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = rules.iter_mut().find(|rule| {
            let wanted = rule.get("match").and_then(Value::as_object);
            rule.get("times").and_then(Value::as_i64) != Some(0)
                && wanted.is_some_and(|wanted| matches(request, wanted))
        })?;
        if let Some(left) = rule.get("times").and_then(Value::as_i64) {
            rule.insert("times".to_owned(), json!(left - 1));
        }
        Some(rule.clone())
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// JSON that counts as yes: anything but nothing, false, zero and emptiness.
pub(crate) fn truthy(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != 0 && *value != ""
}

/// A reply's body with `$input`, `$suggestions` and `$suggestion0` taken from the request.
fn filled(body: &Value, request: &Value) -> Value {
    let suggestions = || dig(request, "request.permission_suggestions");
    match body {
        Value::String(text) => match text.as_str() {
            "$input" => request["request"]["input"].clone(),
            "$suggestions" => suggestions().cloned().unwrap_or_else(|| json!([])),
            "$suggestion0" => suggestions().map_or(Value::Null, |all| all[0].clone()),
            _ => body.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, request)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, item)| (key.clone(), filled(item, request))).collect()
        }
        other => other.clone(),
    }
}
