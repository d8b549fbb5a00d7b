//! What a tool may return, and how it becomes an MCP result.

use std::fmt::Display;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::handler::server::tool::schema_for_output;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::Serialize;

/// A value that a tool may return.
///
/// Text, numbers and booleans become one text block; content blocks are kept as they are; an `Err` becomes a result
/// with `isError`, which the model reads and may react to.
pub trait IntoToolResult: Send {
    /// Makes the MCP result.
    fn into_tool_result(self) -> CallToolResult;

    /// The JSON Schema of the structured part, for values that have one.
    fn output_schema() -> Option<Arc<JsonObject>> {
        None
    }
}

/// A typed result: sent as structured content, with its schema in the tool's description, and as text for older clients.
///
/// ```
/// use pilothouse_mcp::{NoInput, Server, Structured};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// Server::new("weather").tool("now", "The weather now", |_: NoInput| async { Structured(Weather { celsius: 21.5 }) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structured<T>(pub T);

/// An image block from the bytes of an image file.
pub fn image(bytes: &[u8], mime_type: &str) -> ContentBlock {
    ContentBlock::image(BASE64_STANDARD.encode(bytes), mime_type)
}

/// A result that tells the model what went wrong.
pub(crate) fn error_result(text: String) -> CallToolResult {
    without_type(CallToolResult::error(vec![ContentBlock::text(text)]))
}

/// Takes off the discriminator of MCP revisions later than the ones spoken over the control channel.
pub(crate) fn without_type(mut result: CallToolResult) -> CallToolResult {
    result.result_type = None;
    result
}

fn success(content: Vec<ContentBlock>) -> CallToolResult {
    without_type(CallToolResult::success(content))
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> CallToolResult {
        without_type(self)
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> CallToolResult {
        success(vec![self])
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> CallToolResult {
        success(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> CallToolResult {
        success(vec![ContentBlock::text(self)])
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> CallToolResult {
        success(Vec::new())
    }
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> CallToolResult {
                self.to_string().into_tool_result()
            }
        }
    )*};
}
as_text!(&'static str, bool, char, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64);

impl<T: IntoToolResult, E: Display + Send> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> CallToolResult {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => error_result(error.to_string()),
        }
    }

    fn output_schema() -> Option<Arc<JsonObject>> {
        T::output_schema()
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> IntoToolResult for Structured<T> {
    fn into_tool_result(self) -> CallToolResult {
        match serde_json::to_value(self.0) {
            Ok(value) => without_type(CallToolResult::structured(value)),
            Err(error) => error_result(format!("the result cannot be written as JSON: {error}")),
        }
    }

    fn output_schema() -> Option<Arc<JsonObject>> {
        let schema = schema_for_output::<T>();
        // Clients of the handshake revisions take only objects.
        (schema.get("type").and_then(|kind| kind.as_str()) == Some("object")).then_some(schema)
    }
}
