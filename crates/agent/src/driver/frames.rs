//! Lines of the host that are no requests.

use pilothouse_link::Event;
use pilothouse_proto::{Content, ContentBlock, HostFrame, MessageParam, Role, User, decode};
use serde_json::{Value, json};

use super::Running;
use crate::machine::Prompt;

impl Running {
    /// Takes one line.
    ///
    /// # Errors
    /// What to say before the process ends: a host that sends such a line is not to be trusted with more.
    pub(super) fn event(&mut self, event: Event<HostFrame>) -> Result<(), String> {
        if self.session().launch().await_initialize && !self.session().is_initialized() {
            return Err(
                "Error: with --await-initialize the first line must be an initialize request".to_owned()
            );
        }
        match event {
            Event::Frame { frame: HostFrame::User(user), .. } => self.user(*user),
            Event::Frame { frame: HostFrame::Unknown(unknown), raw } if unknown.tag == "assistant" => {
                self.assistant(&raw);
                Ok(())
            }
            Event::Frame { .. } | Event::StrayReply { .. } => Ok(()),
            Event::Noise { raw } | Event::Malformed { raw, .. } => self.odd(&raw),
            Event::TooLong(line) => {
                Err(format!("Error: an input line of more than {} bytes cannot be read", line.head.len()))
            }
        }
    }

    fn user(&mut self, user: User) -> Result<(), String> {
        if user.message.role != Role::User {
            return Err(format!("Error: Expected message role 'user', got '{}'", user.message.role));
        }
        let doing = self.queue(|queue| queue.prompt(Prompt::from_host(user)));
        self.perform(doing);
        Ok(())
    }

    /// A host may put words into the model's mouth: they become part of the history.
    fn assistant(&self, raw: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Value>(raw) else { return };
        let Some(message) = line.get("message") else { return };
        let Ok(message) = decode::<MessageParam>(message.to_string().as_bytes()) else { return };
        let blocks = match message.content {
            Content::Text(text) => vec![ContentBlock::text(text)],
            Content::Blocks(blocks) => blocks,
        };
        self.session().history().add_assistant(blocks);
    }

    /// A line that is not what the protocol knows: no JSON, no object, or an object that lacks something.
    fn odd(&mut self, raw: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(raw);
        // Some programs begin a text with a mark.
        let text = text.trim().trim_start_matches('\u{feff}');
        if text.is_empty() {
            return Ok(());
        }
        let Ok(line) = serde_json::from_str::<Value>(text) else {
            return Err(unreadable(text, "SyntaxError"));
        };
        match &line {
            Value::Null => Err(unreadable(text, "TypeError")),
            Value::Object(members) => match members.get("type").and_then(Value::as_str) {
                Some("user") => self.odd_user(line),
                Some("control_request") if members.get("request").is_none_or(Value::is_null) => {
                    Err("Error: Missing request on control_request".to_owned())
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// A user's message without a role or content: the first is refused, the second is taken as empty.
    fn odd_user(&mut self, mut line: Value) -> Result<(), String> {
        let role = line.pointer("/message/role").and_then(Value::as_str);
        if role != Some("user") {
            return Err(format!(
                "Error: Expected message role 'user', got '{}'",
                role.unwrap_or("undefined")
            ));
        }
        let readable =
            line.pointer("/message/content").is_some_and(|content| content.is_string() || content.is_array());
        if !readable && let Some(message) = line.get_mut("message").and_then(Value::as_object_mut) {
            message.insert("content".to_owned(), "".into());
        }
        keep_readable(&mut line);
        match decode::<HostFrame>(line.to_string().as_bytes()) {
            Ok(HostFrame::User(user)) => self.user(*user),
            Ok(_) => Ok(()),
            Err(error) => Err(format!("Error: the user message cannot be read: {error}")),
        }
    }
}

/// Leaves out what cannot be read beside the message itself, which is what counts. Anything does as an id.
fn keep_readable(line: &mut Value) {
    let Some(members) = line.as_object_mut() else { return };
    let odd = members.get("uuid").filter(|id| !id.is_string() && !id.is_null()).map(Value::to_string);
    if let Some(id) = odd {
        members.insert("uuid".to_owned(), id.into());
    }
    let empty = json!({"type": "user", "message": {"role": "user", "content": ""}});
    members.retain(|name, value| {
        let mut alone = empty.clone();
        if name != "message" {
            alone[name.as_str()] = value.clone();
        }
        decode::<HostFrame>(alone.to_string().as_bytes()).is_ok()
    });
}

fn unreadable(text: &str, kind: &str) -> String {
    format!("Error parsing streaming input line (type=unknown, {} chars): {kind}", text.chars().count())
}
