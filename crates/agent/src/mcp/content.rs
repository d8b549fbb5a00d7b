//! What a server's tool gave, as the model and the host get it.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pilothouse_mcp::rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use pilothouse_tools::{Done, Outcome};
use serde_json::{Value, json};

/// More characters than this do not go to the model: they are kept in a file.
const LARGEST: usize = 100_000;
/// How much of a larger result is shown.
const PREVIEW: usize = 2_000;

/// Keeps what does not go to the model.
#[derive(Debug)]
pub(crate) struct Keeper<'a> {
    pub(crate) folder: PathBuf,
    pub(crate) server: &'a str,
    /// The tool, as the model calls it.
    pub(crate) tool: &'a str,
    pub(crate) call: &'a str,
}

impl Keeper<'_> {
    pub(crate) fn outcome(&self, result: CallToolResult) -> Outcome {
        if result.is_error == Some(true) {
            return Outcome::Failed { message: self.error_text(&result), misuse: false };
        }
        if let Some(data) = &result.structured_content {
            let text = data.to_string();
            let content = self.within_limits(Value::String(text), "json");
            let structured = json!({ "content": content, "structuredContent": data });
            return Outcome::Done(Box::new(Done { content, structured }));
        }
        let mut links = Vec::new();
        let blocks: Vec<Value> =
            result.content.iter().flat_map(|block| self.block(block, &mut links)).collect();
        let content = match blocks.is_empty() {
            true => Value::String(format!("({} completed with no output)", self.tool)),
            false => self.within_limits(Value::Array(blocks), "json"),
        };
        let structured = match links.is_empty() {
            true => content.clone(),
            false => json!({ "content": content, "resourceLinks": links }),
        };
        Outcome::Done(Box::new(Done { content, structured }))
    }

    fn error_text(&self, result: &CallToolResult) -> String {
        let texts: Vec<String> = result
            .content
            .iter()
            .flat_map(|block| self.block(block, &mut Vec::new()))
            .filter_map(|block| block.get("text")?.as_str().map(str::to_owned))
            .collect();
        let text = texts.join("\n");
        match (text.is_empty(), self.within_limits(Value::String(text), "txt")) {
            (false, Value::String(text)) => text,
            _ => "the tool failed without saying why".to_owned(),
        }
    }

    fn block(&self, block: &ContentBlock, links: &mut Vec<Value>) -> Vec<Value> {
        let text = |text: String| vec![json!({ "type": "text", "text": text })];
        match block {
            ContentBlock::Text(content) => text(content.text.clone()),
            ContentBlock::Image(image) => {
                let source = json!({ "type": "base64", "media_type": image.mime_type, "data": image.data });
                let place = match self.keep_base64(&image.data, &image.mime_type) {
                    Ok(kept) => format!("[Image: source: {}]", kept.path.display()),
                    Err(why) => format!("[The image could not be kept: {why}]"),
                };
                vec![json!({ "type": "image", "source": source }), json!({ "type": "text", "text": place })]
            }
            ContentBlock::Audio(audio) => text(self.binary("Audio", &audio.data, &audio.mime_type)),
            ContentBlock::Resource(resource) => match &resource.resource {
                ResourceContents::TextResourceContents { uri, text: content, .. } => {
                    text(format!("[Resource {uri} of {}] {content}", self.server))
                }
                ResourceContents::BlobResourceContents { uri, blob, mime_type, .. } => {
                    let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                    text(self.binary(&format!("Resource {uri}"), blob, kind))
                }
                _ => text("[A resource of a kind that is not known here]".to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                links.push(json!({ "uri": link.uri, "name": link.name }));
                text(format!("[Link to the resource {}] {}", link.name, link.uri))
            }
            _ => text("[Content of a kind that is not known here]".to_owned()),
        }
    }

    fn binary(&self, what: &str, data: &str, kind: &str) -> String {
        match self.keep_base64(data, kind) {
            Ok(kept) => {
                format!(
                    "[{what} of {}: {kind}, {} bytes, saved to {}]",
                    self.server,
                    kept.size,
                    kept.path.display()
                )
            }
            Err(why) => format!("[{what} of {}: {kind}, which could not be kept: {why}]", self.server),
        }
    }

    fn keep_base64(&self, data: &str, kind: &str) -> Result<Kept, String> {
        let bytes = BASE64_STANDARD.decode(data.trim()).map_err(|error| error.to_string())?;
        let path = self.keep(&bytes, extension(kind)).map_err(|error| error.to_string())?;
        Ok(Kept { path, size: bytes.len() })
    }

    fn keep(&self, bytes: &[u8], extension: &str) -> std::io::Result<PathBuf> {
        fs_err::create_dir_all(&self.folder)?;
        let name = format!("mcp-{}.{extension}", uuid::Uuid::new_v4().simple());
        let path = self.folder.join(name);
        fs_err::write(&path, bytes)?;
        Ok(path)
    }

    /// The content, or a note about where it is if there is too much of it. Images do not count: the API has its own
    /// limits for them.
    fn within_limits(&self, content: Value, extension: &str) -> Value {
        let characters = match &content {
            Value::String(text) => text.chars().count(),
            Value::Array(blocks) => blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str())
                .map(|text| text.chars().count())
                .sum(),
            _ => 0,
        };
        if characters <= LARGEST {
            return content;
        }
        let whole = match &content {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let place = match self.keep_whole(&whole, extension) {
            Ok(path) => format!("Full output saved to: {}", path.display()),
            Err(error) => format!("It could not be saved: {error}"),
        };
        let preview: String = whole.chars().take(PREVIEW).collect();
        let size = whole.len();
        Value::String(format!(
            "<persisted-output>\nOutput too large ({size} bytes). {place}\n\nThe first part:\n{preview}\n…\n</persisted-output>"
        ))
    }

    fn keep_whole(&self, text: &str, extension: &str) -> std::io::Result<PathBuf> {
        // The id is the model's word, and becomes a part of a file name.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let named = !self.call.is_empty() && self.call.len() <= 100 && self.call.chars().all(is_plain);
        if !named {
            return self.keep(text.as_bytes(), extension);
        }
        fs_err::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("{}.{extension}", self.call));
        fs_err::write(&path, text)?;
        Ok(path)
    }
}

struct Kept {
    path: PathBuf,
    size: usize,
}

/// The ending of a file of this media type.
fn extension(kind: &str) -> &'static str {
    match kind {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "text/plain" => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
