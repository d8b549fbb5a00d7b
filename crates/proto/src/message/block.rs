use serde_json::{Map, Value};

use super::Content;
use crate::wire::{Opt, ToolUseId, open_enum, record, union};

union! {
    /// One block of a message.
    pub enum ContentBlock by "type" {
        /// Text.
        "text" => Text(TextBlock),
        /// Reasoning the model shows.
        "thinking" => Thinking(ThinkingBlock),
        /// Reasoning that is kept secret.
        "redacted_thinking" => RedactedThinking(RedactedThinkingBlock),
        /// The model calls a tool.
        "tool_use" => ToolUse(ToolUseBlock),
        /// What a tool gave back.
        "tool_result" => ToolResult(ToolResultBlock),
        /// A picture.
        "image" => Image(ImageBlock),
        /// A document, such as a PDF.
        "document" => Document(DocumentBlock),
        /// A search hit given to the model.
        "search_result" => SearchResult(SearchResultBlock),
        /// A tool that another tool's result refers to.
        "tool_reference" => ToolReference(ToolReferenceBlock),
        /// The model calls a tool that the API runs.
        "server_tool_use" => ServerToolUse(ToolUseBlock),
        /// Result of a web search the API ran.
        "web_search_tool_result" => WebSearchToolResult(ServerToolResultBlock),
        /// Result of a fetch the API ran.
        "web_fetch_tool_result" => WebFetchToolResult(ServerToolResultBlock),
        /// Advice of a second model.
        "advisor_tool_result" => AdvisorToolResult(ServerToolResultBlock),
        /// Result of code the API ran.
        "code_execution_tool_result" => CodeExecutionToolResult(ServerToolResultBlock),
        /// Result of a shell command the API ran.
        "bash_code_execution_tool_result" => BashCodeExecutionToolResult(ServerToolResultBlock),
        /// Result of an edit the API ran.
        "text_editor_code_execution_tool_result" => TextEditorCodeExecutionToolResult(ServerToolResultBlock),
        /// Result of a search for tools.
        "tool_search_tool_result" => ToolSearchToolResult(ServerToolResultBlock),
        /// The model calls a tool of an MCP server that the API reached.
        "mcp_tool_use" => McpToolUse(McpToolUseBlock),
        /// Result of such a call.
        "mcp_tool_result" => McpToolResult(ToolResultBlock),
        /// Tools that an MCP server offers.
        "mcp_tool_listing" => McpToolListing(McpToolListingBlock),
        /// A file in the API's container.
        "container_upload" => ContainerUpload(ContainerUploadBlock),
        /// The conversation so far, compacted.
        "compaction" => Compaction(CompactionBlock),
        /// The answer went on with another model.
        "fallback" => Fallback(FallbackBlock),
    }

    /// Where the bytes of an image or document are.
    pub enum Source by "type" {
        /// Inline, base64.
        "base64" => Base64(Base64Source),
        /// At a URL.
        "url" => Url(UrlSource),
        /// Inline plain text.
        "text" => Text(Base64Source),
        /// In content blocks.
        "content" => Content(ContentSource),
        /// A file uploaded before.
        "file" => File(FileSource),
    }
}

open_enum! {
    /// Who speaks.
    pub enum Role {
        /// The user's side, tool results included.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// Instructions.
        System = "system",
    }
}

record! {
    /// Text.
    #[derive(Default)]
    pub struct TextBlock {
        /// The text.
        text: String,
        /// What the text is based on, each as the API sends it.
        citations: Opt<Vec<Value>>,
        /// Marks the end of a cacheable prefix.
        cache_control: Opt<Map<String, Value>>,
    }

    /// Reasoning the model shows.
    #[derive(Default)]
    pub struct ThinkingBlock {
        /// The reasoning.
        thinking: String,
        /// Proof that the API wrote it; must go back unchanged.
        signature: Opt<String>,
    }

    /// Reasoning that is kept secret.
    #[derive(Default)]
    pub struct RedactedThinkingBlock {
        /// Encrypted reasoning; must go back unchanged.
        data: String,
    }

    /// A tool call.
    #[derive(Default)]
    pub struct ToolUseBlock {
        /// Names the call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its arguments. [`crate::tool::ToolInput`] types those of well-known tools.
        input: Value,
        /// Who made the call, when it was not the model itself.
        caller: Opt<Map<String, Value>>,
    }

    /// What a tool gave back.
    #[derive(Default)]
    pub struct ToolResultBlock {
        /// The call this answers.
        tool_use_id: ToolUseId,
        /// What the model sees.
        content: Opt<Content>,
        /// Whether the call failed.
        is_error: Opt<bool>,
        /// Marks the end of a cacheable prefix.
        cache_control: Opt<Map<String, Value>>,
    }

    /// A picture.
    pub struct ImageBlock {
        /// Where its bytes are.
        source: Source,
        /// Marks the end of a cacheable prefix.
        cache_control: Opt<Map<String, Value>>,
    }

    /// A document.
    pub struct DocumentBlock {
        /// Where its bytes are.
        source: Source,
        /// Its title.
        title: Opt<String>,
        /// What the model should know about it.
        context: Opt<String>,
        /// Whether the model may cite it.
        citations: Opt<Map<String, Value>>,
        /// Marks the end of a cacheable prefix.
        cache_control: Opt<Map<String, Value>>,
    }

    /// A search hit given to the model.
    pub struct SearchResultBlock {
        /// Where it was found.
        source: String,
        /// Its title.
        title: String,
        /// Its text.
        content: Vec<ContentBlock>,
        /// Whether the model may cite it.
        citations: Opt<Map<String, Value>>,
    }

    /// A tool that a result refers to.
    #[derive(Default)]
    pub struct ToolReferenceBlock {
        /// The tool's name.
        tool_name: String,
    }

    /// What a tool that the API ran gave back.
    #[derive(Default)]
    pub struct ServerToolResultBlock {
        /// The call this answers.
        tool_use_id: ToolUseId,
        /// The result; its shape depends on the tool.
        content: Value,
        /// Who made the call, when it was not the model itself.
        caller: Opt<Map<String, Value>>,
    }

    /// A call of a tool on an MCP server that the API reached.
    #[derive(Default)]
    pub struct McpToolUseBlock {
        /// Names the call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// The server.
        server_name: String,
        /// Its arguments.
        input: Value,
    }

    /// Tools that an MCP server offers.
    #[derive(Default)]
    pub struct McpToolListingBlock {
        /// The server.
        server_name: Opt<String>,
        /// The tools as the server lists them.
        tools: Opt<Vec<Value>>,
    }

    /// A file in the API's container.
    #[derive(Default)]
    pub struct ContainerUploadBlock {
        /// The file.
        file_id: String,
    }

    /// The conversation so far, compacted.
    #[derive(Default)]
    pub struct CompactionBlock {
        /// The summary; null when compaction failed.
        content: Option<String>,
    }

    /// The answer went on with another model.
    #[derive(Default)]
    pub struct FallbackBlock {
        /// The model before.
        from: Opt<Map<String, Value>>,
        /// The model after.
        to: Opt<Map<String, Value>>,
    }

    /// Inline data.
    #[derive(Default)]
    pub struct Base64Source {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The data.
        data: String,
    }

    /// Data at a URL.
    #[derive(Default)]
    pub struct UrlSource {
        /// The URL.
        url: String,
    }

    /// Data in content blocks.
    pub struct ContentSource {
        /// The blocks.
        content: Content,
    }

    /// A file uploaded before.
    #[derive(Default)]
    pub struct FileSource {
        /// The file.
        file_id: String,
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), ..TextBlock::default() })
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// The tool call in this block, if it is one that the CLI runs.
    pub fn as_tool_use(&self) -> Option<&ToolUseBlock> {
        match self {
            Self::ToolUse(block) => Some(block),
            _ => None,
        }
    }
}
