use serde_json::Number;

use crate::context::ContextCategoryKind;
use crate::wire::{Opt, open_enum, record};

record! {
    /// Asks what fills the context.
    #[derive(Default)]
    pub struct GetContextUsage {
        /// How much to tell.
        detail: Opt<ContextDetail>,
    }

    /// What fills the context.
    pub struct GetContextUsageResponse {
        /// Tokens by category.
        categories: Vec<ContextCategory>,
        /// Tokens in use.
        total_tokens as "totalTokens": u64,
        /// The window that can be used.
        max_tokens as "maxTokens": u64,
        /// The model's window.
        raw_max_tokens as "rawMaxTokens": u64,
        /// Share in percent.
        percentage: Number,
        /// A picture of the context, in rows.
        grid_rows as "gridRows": Vec<Vec<ContextGridSquare>>,
        /// The model.
        model: String,
        /// Memory files.
        memory_files as "memoryFiles": Vec<ContextMemoryFile>,
        /// MCP tools.
        mcp_tools as "mcpTools": Vec<ContextMcpTool>,
        /// Instructions of MCP servers.
        mcp_instructions as "mcpInstructions": Opt<Vec<ContextMcpInstructions>>,
        /// Built-in tools that are loaded on demand.
        deferred_builtin_tools as "deferredBuiltinTools": Opt<Vec<ContextDeferredTool>>,
        /// Built-in tools.
        system_tools as "systemTools": Opt<Vec<NamedTokens>>,
        /// Parts of the system prompt.
        system_prompt_sections as "systemPromptSections": Opt<Vec<NamedTokens>>,
        /// The agents.
        agents: Vec<ContextAgent>,
        /// Slash commands.
        slash_commands as "slashCommands": Opt<ContextSlashCommands>,
        /// The skills.
        skills: Opt<ContextSkills>,
        /// Where compaction starts.
        auto_compact_threshold as "autoCompactThreshold": Opt<u64>,
        /// Whether compaction happens by itself.
        is_auto_compact_enabled as "isAutoCompactEnabled": bool,
        /// What the messages consist of.
        message_breakdown as "messageBreakdown": Opt<MessageBreakdown>,
        /// Tokens of the last API call; null before the first.
        api_usage as "apiUsage": Option<ApiUsage>,
        /// Where the threshold of compaction comes from.
        autocompact_source as "autocompactSource": Opt<String>,
    }

    /// One row of the context listing.
    pub struct ContextCategory {
        /// Names it.
        id: Opt<ContextCategoryId>,
        /// The name of the row.
        name: String,
        /// Its tokens.
        tokens: u64,
        /// The colour of the row.
        color: String,
        /// Whether it is loaded on demand.
        is_deferred as "isDeferred": Opt<bool>,
        /// How the tokens count.
        kind: ContextCategoryKind,
    }

    /// One square of the context picture.
    pub struct ContextGridSquare {
        /// Its colour.
        color: String,
        /// Whether it is in use.
        is_filled as "isFilled": bool,
        /// The category it stands for.
        category_name as "categoryName": String,
        /// Its tokens.
        tokens: u64,
        /// Share in percent.
        percentage: Number,
        /// How full it is, from 0 to 1.
        square_fullness as "squareFullness": Number,
    }

    /// A memory file's share.
    #[derive(Default)]
    pub struct ContextMemoryFile {
        /// The path.
        path: String,
        /// The kind.
        kind as "type": String,
        /// Its tokens.
        tokens: u64,
    }

    /// An MCP tool's share.
    #[derive(Default)]
    pub struct ContextMcpTool {
        /// Its name.
        name: String,
        /// The server.
        server_name as "serverName": String,
        /// Its tokens.
        tokens: u64,
        /// Whether it is loaded.
        is_loaded as "isLoaded": Opt<bool>,
    }

    /// The share of a server's instructions.
    #[derive(Default)]
    pub struct ContextMcpInstructions {
        /// The server.
        server_name as "serverName": String,
        /// Its tokens.
        tokens: u64,
    }

    /// A deferred built-in tool's share.
    #[derive(Default)]
    pub struct ContextDeferredTool {
        /// Its name.
        name: String,
        /// Its tokens.
        tokens: u64,
        /// Whether it is loaded.
        is_loaded as "isLoaded": bool,
    }

    /// Something with a name and its share.
    #[derive(Default)]
    pub struct NamedTokens {
        /// Its name.
        name: String,
        /// Its tokens.
        tokens: u64,
    }

    /// The slash commands' share.
    #[derive(Default)]
    pub struct ContextSlashCommands {
        /// How many there are.
        total_commands as "totalCommands": u64,
        /// How many are in the context.
        included_commands as "includedCommands": u64,
        /// Its tokens.
        tokens: u64,
    }

    /// A skill description's share.
    #[derive(Default)]
    pub struct ContextSkill {
        /// Its name.
        name: String,
        /// Where it comes from.
        source: String,
        /// The plugin it belongs to.
        plugin_name as "pluginName": Opt<String>,
        /// The plugin it belongs to, by id.
        plugin_id as "pluginId": Opt<String>,
        /// The path.
        path: Opt<String>,
        /// Its tokens.
        tokens: u64,
    }

    /// The skills' share.
    #[derive(Default)]
    pub struct ContextSkills {
        /// How many there are.
        total_skills as "totalSkills": u64,
        /// How many are in the context.
        included_skills as "includedSkills": u64,
        /// Its tokens.
        tokens: u64,
        /// Each skill.
        skill_frontmatter as "skillFrontmatter": Vec<ContextSkill>,
    }

    /// One tool's share of the messages.
    #[derive(Default)]
    pub struct ToolCallTokens {
        /// Its name.
        name: String,
        /// Tokens of its calls.
        call_tokens as "callTokens": u64,
        /// Tokens of its results.
        result_tokens as "resultTokens": u64,
    }

    /// What the messages consist of.
    #[derive(Default)]
    pub struct MessageBreakdown {
        /// Tokens of tool calls.
        tool_call_tokens as "toolCallTokens": u64,
        /// Tokens of tool results.
        tool_result_tokens as "toolResultTokens": u64,
        /// Tokens of attachments.
        attachment_tokens as "attachmentTokens": u64,
        /// Tokens of the model's messages.
        assistant_message_tokens as "assistantMessageTokens": u64,
        /// Tokens of the user's messages.
        user_message_tokens as "userMessageTokens": u64,
        /// Tokens that were moved elsewhere.
        redirected_context_tokens as "redirectedContextTokens": u64,
        /// Tokens that belong to nothing else.
        unattributed_tokens as "unattributedTokens": u64,
        /// Tool calls by tool.
        tool_calls_by_type as "toolCallsByType": Vec<ToolCallTokens>,
        /// Attachments by type.
        attachments_by_type as "attachmentsByType": Vec<NamedTokens>,
    }

    /// Tokens of the last API call.
    #[derive(Default)]
    pub struct ApiUsage {
        /// Tokens read.
        input_tokens: u64,
        /// Tokens written.
        output_tokens: u64,
        /// Tokens put into the cache.
        cache_creation_input_tokens: u64,
        /// Tokens read from the cache.
        cache_read_input_tokens: u64,
    }

    /// An agent description's share.
    #[derive(Default)]
    pub struct ContextAgent {
        /// The type of the agent.
        agent_type as "agentType": String,
        /// Where it comes from.
        source: String,
        /// The plugin it belongs to, by id.
        plugin_id as "pluginId": Opt<String>,
        /// The path.
        path: Opt<String>,
        /// Its tokens.
        tokens: u64,
    }
}

open_enum! {
    /// How much to tell about the context.
    pub enum ContextDetail {
        Summary = "summary",
        Full = "full",
    }

    /// The stable name of a row of the context listing.
    pub enum ContextCategoryId {
        SystemPrompt = "system_prompt",
        SystemTools = "system_tools",
        McpTools = "mcp_tools",
        McpInstructions = "mcp_instructions",
        McpToolsDeferred = "mcp_tools_deferred",
        SystemToolsDeferred = "system_tools_deferred",
        CustomAgents = "custom_agents",
        MemoryFiles = "memory_files",
        Skills = "skills",
        Messages = "messages",
        AutocompactBuffer = "autocompact_buffer",
        CompactBuffer = "compact_buffer",
        FreeSpace = "free_space",
    }
}
