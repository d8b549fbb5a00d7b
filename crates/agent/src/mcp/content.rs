//! What a server's tool gave, as the model and the host get it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pilothouse_mcp::rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use pilothouse_tools::{Done, Outcome, make_private_folder, too_large};
use serde_json::{Value, json};

use crate::launch::Environment;

/// More characters than this do not go to the model: they are kept in a file.
const LARGEST: usize = 50_000;
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
    /// Of a result with more characters not even the beginning is shown.
    pub(crate) most: usize,
}

/// Of how many tokens a result may be, unless `MAX_MCP_OUTPUT_TOKENS` says otherwise, and the characters that are allowed for
/// each.
const MOST_TOKENS: u64 = 25_000;
const CHARACTERS_A_TOKEN: u64 = 16;

/// The most characters of a result of which anything is shown.
pub(crate) fn most_characters(env: &Environment) -> usize {
    let tokens = env.number("MAX_MCP_OUTPUT_TOKENS").filter(|tokens| *tokens > 0).unwrap_or(MOST_TOKENS);
    usize::try_from(tokens.saturating_mul(CHARACTERS_A_TOKEN)).unwrap_or(usize::MAX)
}

fn beyond(characters: usize, whole: &str, kept: Option<&Path>) -> String {
    let lines = whole.lines().count().max(1);
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{} lines", grouped(lines)) };
    let place = match kept {
        Some(path) => format!("It is saved in {}: read parts of it, or search it.", path.display()),
        None => "It could not be saved; ask for less.".to_owned(),
    };
    format!(
        "Error: result ({} characters across {lines}) exceeds maximum size of an answer. {place}",
        grouped(characters)
    )
}

/// A number with its thousands apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
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
            ContentBlock::Audio(audio) => {
                text(self.binary(&format!("[Audio from {}]", self.server), &audio.data, &audio.mime_type))
            }
            ContentBlock::Resource(resource) => match &resource.resource {
                ResourceContents::TextResourceContents { uri, text: content, .. } => {
                    text(format!("[Resource from {} at {uri}] {content}", self.server))
                }
                ResourceContents::BlobResourceContents { uri, blob, mime_type, .. } => {
                    let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                    text(self.binary(&format!("[Resource from {} at {uri}]", self.server), blob, kind))
                }
                _ => text("[A resource of a kind that is not known here]".to_owned()),
            },
            ContentBlock::ResourceLink(link) => {
                let mut told = json!({ "uri": link.uri, "name": link.name });
                let about = link.description.as_deref().unwrap_or_default();
                if let (false, Some(told)) = (about.is_empty(), told.as_object_mut()) {
                    told.insert("description".to_owned(), about.into());
                }
                links.push(told);
                let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
                text(format!("[Resource link: {}] {}{about}", link.name, link.uri))
            }
            _ => text("[Content of a kind that is not known here]".to_owned()),
        }
    }

    /// A part of a resource that the model reads; what is not text goes to a file.
    pub(crate) fn resource(&self, part: &ResourceContents) -> Value {
        match part {
            ResourceContents::BlobResourceContents { uri, blob, mime_type, .. } => {
                let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                let what = format!("[Resource from {} at {uri}]", self.server);
                let mut told = json!({ "uri": uri, "mimeType": mime_type });
                match self.keep_base64(blob, kind) {
                    Ok(Kept { path, size }) => {
                        let path = path.display();
                        let words = format!("{what} Binary content ({kind}, {size} bytes) saved to {path}");
                        told["blobSavedTo"] = path.to_string().into();
                        told["text"] = words.into();
                    }
                    Err(why) => told["text"] = format!("{what} that could not be kept: {why}").into(),
                }
                told
            }
            other => serde_json::to_value(other).unwrap_or_default(),
        }
    }

    fn binary(&self, what: &str, data: &str, kind: &str) -> String {
        match self.keep_base64(data, kind) {
            Ok(kept) => {
                let (size, path) = (kept.size, kept.path.display());
                format!("{what} Binary content ({kind}, {size} bytes) saved to {path}")
            }
            Err(why) => format!("{what} Binary content ({kind}) that could not be kept: {why}"),
        }
    }

    fn keep_base64(&self, data: &str, kind: &str) -> Result<Kept, String> {
        let bytes = BASE64_STANDARD.decode(data.trim()).map_err(|error| error.to_string())?;
        let path = self.keep(&bytes, extension(kind)).map_err(|error| error.to_string())?;
        Ok(Kept { path, size: bytes.len() })
    }

    fn keep(&self, bytes: &[u8], extension: &str) -> std::io::Result<PathBuf> {
        make_private_folder(&self.folder)?;
        let name = format!("mcp-{}.{extension}", uuid::Uuid::new_v4().simple());
        let path = self.folder.join(name);
        fs_err::write(&path, bytes)?;
        Ok(path)
    }

    /// The content, or a note about where it is if there is too much of it. Images do not count: the API has its own
    /// limits for them.
    pub(super) fn within_limits(&self, content: Value, extension: &str) -> Value {
        let characters = match &content {
            Value::String(text) => text.chars().count(),
            Value::Array(blocks) => blocks
                .iter()
                .filter_map(|block| block.get("text")?.as_str())
                .map(|text| text.chars().count())
                .sum(),
            _ => 0,
        };
        if characters <= LARGEST.min(self.most) {
            return content;
        }
        let whole = match &content {
            Value::String(text) => text.clone(),
            Value::Array(blocks) if blocks.len() == 1 && characters > self.most => {
                blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect()
            }
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let kept = self.keep_whole(&whole, extension);
        if let Err(error) = &kept {
            tracing::warn!(%error, "a large result could not be kept");
        }
        let kept = kept.ok();
        if characters > self.most {
            return Value::String(beyond(characters, &whole, kept.as_deref()));
        }
        Value::String(too_large(&whole, whole.len(), PREVIEW, kept.as_deref()))
    }

    fn keep_whole(&self, text: &str, extension: &str) -> std::io::Result<PathBuf> {
        // The id is the model's word, and becomes a part of a file name.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let named = !self.call.is_empty() && self.call.len() <= 100 && self.call.chars().all(is_plain);
        if !named {
            return self.keep(text.as_bytes(), extension);
        }
        make_private_folder(&self.folder)?;
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
