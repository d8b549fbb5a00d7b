use serde_json::Value;

use super::*;
use crate::DecodeError;
use crate::hook::HookOutput;
use crate::permission::PermissionResult;
use crate::wire::{Raw, Wire, record, union};

/// A control request, bound to the type of its reply.
pub trait Request: Into<Self::Any> {
    /// The request's `subtype` on the wire.
    const SUBTYPE: &'static str;
    /// The union of all requests in this direction: [`HostRequest`] or [`AgentRequest`].
    type Any: Wire;
    /// What a success reply holds.
    type Response: Wire;
}

/// Declares the union of requests in one direction, and for each its reply.
macro_rules! requests {
    (
        $(#[doc = $doc:literal])*
        pub enum $Any:ident {
            $( $(#[doc = $row_doc:literal])* $subtype:literal $(| $alias:literal)* => $Request:ident $(in $Box:ident)? -> $Response:ty ),* $(,)?
        }
    ) => {
        union! {
            $(#[doc = $doc])*
            pub enum $Any by "subtype" {
                $( $(#[doc = $row_doc])* $subtype $(| $alias)* => $Request(requests!(@held $Request $(in $Box)?)) ),*
            }
        }

        impl $Any {
            /// Reads a reply's payload as the type that belongs to a subtype and writes it again; `None` for a
            /// subtype that this version does not know.
            pub fn retype_reply(subtype: &str, payload: &Raw) -> Option<Result<Value, DecodeError>> {
                Some(match subtype {
                    $( $subtype => payload.decode::<$Response>().and_then(|reply| write_again(&reply)), )*
                    _ => return None,
                })
            }

            pub(crate) fn describe_replies(generator: &mut schemars::SchemaGenerator) {
                $( generator.subschema_for::<$Response>(); )*
            }
        }

        $(
            impl Request for $Request {
                const SUBTYPE: &'static str = $subtype;
                type Any = $Any;
                type Response = $Response;
            }

            impl From<$Request> for $Any {
                fn from(request: $Request) -> Self {
                    Self::$Request(request.into())
                }
            }
        )*
    };
    (@held $Request:ident) => { $Request };
    (@held $Request:ident in $Box:ident) => { $Box<$Request> };
}

requests! {
    /// What a host asks a CLI, told apart by `subtype`. `Unknown` asks whatever has no type here.
    pub enum HostRequest {
        /// Stops the running turn.
        "interrupt" => Interrupt -> InterruptResponse,
        /// Opens the connection.
        "initialize" => Initialize in Box -> InitializeResponse,
        /// Changes the permission mode.
        "set_permission_mode" => SetPermissionMode -> SetPermissionModeResponse,
        /// Changes the model.
        "set_model" => SetModel -> SetModelResponse,
        /// Limits thinking.
        "set_max_thinking_tokens" => SetMaxThinkingTokens -> Ack,
        /// Gives the session a title.
        "rename_session" => RenameSession -> Ack,
        /// Changes the accent colour.
        "set_color" => SetColor -> Ack,
        /// Asks for the state of MCP servers.
        "mcp_status" => McpStatus -> McpStatusResponse,
        /// Asks what fills the context.
        "get_context_usage" => GetContextUsage -> GetContextUsageResponse,
        /// Asks what the session cost.
        "get_session_cost" => GetSessionCost -> GetSessionCostResponse,
        /// Asks for the models.
        "list_models" => ListModels -> ListModelsResponse,
        /// Asks for usage and limits.
        "get_usage" => GetUsage -> GetUsageResponse,
        /// Asks for the version.
        "get_binary_version" => GetBinaryVersion -> GetBinaryVersionResponse,
        /// Calls an MCP tool without the model.
        "mcp_call" => McpCall in Box -> McpCallResponse,
        /// Completes a file mention.
        "file_suggestions" => FileSuggestions -> FileSuggestionsResponse,
        /// Delivers a message of an in-process server.
        "mcp_message" => HostMcpMessage -> Ack,
        /// Takes files back.
        "rewind_files" => RewindFiles -> RewindFilesResponse,
        /// Takes a queued message back.
        "cancel_async_message" => CancelAsyncMessage -> CancelAsyncMessageResponse,
        /// Reads a file.
        "read_file" => ReadFile -> ReadFileResponse,
        /// Says that the model has seen a file.
        "seed_read_state" => SeedReadState -> Ack,
        /// Replaces the servers added at run time.
        "mcp_set_servers" => McpSetServers -> McpSetServersResponse,
        /// Makes a directory a root.
        "register_repo_root" => RegisterRepoRoot -> RegisterRepoRootResponse,
        /// Loads plugins anew.
        "reload_plugins" => ReloadPlugins -> ReloadPluginsResponse,
        /// Loads skills anew.
        "reload_skills" => ReloadSkills -> ReloadSkillsResponse,
        /// Loads output styles anew.
        "reload_output_styles" => ReloadOutputStyles -> ReloadOutputStylesResponse,
        /// Connects a server anew.
        "mcp_reconnect" => McpReconnect -> Ack,
        /// Switches a server on or off.
        "mcp_toggle" => McpToggle -> Ack,
        /// Holds calls to one server to another mode.
        "set_mcp_permission_mode_override" => SetMcpPermissionModeOverride -> SetMcpPermissionModeOverrideResponse,
        /// Says whether anybody watches.
        "set_has_subscribers" => SetHasSubscribers -> Ack,
        /// Stops a task.
        "stop_task" => StopTask -> Ack,
        /// Moves running tools to the background.
        "background_tasks" => BackgroundTasks -> BackgroundTasksResponse,
        /// Asks for the end of a task's output.
        "get_task_output" => GetTaskOutput -> GetTaskOutputResponse,
        /// Changes settings for this session.
        "apply_flag_settings" => ApplyFlagSettings -> Ack,
        /// Asks for the settings.
        "get_settings" => GetSettings -> GetSettingsResponse,
        /// Asks for the hooks.
        "get_hooks_listing" => GetHooksListing -> GetHooksListingResponse,
        /// Writes a setting to a file.
        "update_settings" => UpdateSettings -> Ack,
        /// Asks for the permission rules.
        "list_permission_rules" => ListPermissionRules -> ListPermissionRulesResponse,
        /// Reads a resource of a server.
        "mcp_read_resource" => McpReadResource -> McpReadResourceResponse,
        /// Ends the session.
        "end_session" => EndSession -> Ack,
        /// Asks for the plan of plan mode.
        "get_plan" => GetPlan -> GetPlanResponse,
        /// Asks for what `/status` shows.
        "get_status" => GetStatus -> GetStatusResponse,
        /// Asks what changed in the workspace.
        "get_workspace_diff" => GetWorkspaceDiff -> GetWorkspaceDiffResponse,
    }
}

requests! {
    /// What a CLI asks its host, told apart by `subtype`.
    pub enum AgentRequest {
        /// May this tool call run?
        "can_use_tool" | "permission" => CanUseTool in Box -> PermissionResult,
        /// Runs a hook.
        "hook_callback" => HookCallback in Box -> HookOutput,
        /// Sends a message to an in-process MCP server.
        "mcp_message" => McpMessage -> McpReply,
        /// Lets an MCP server ask the user.
        "elicitation" => Elicitation in Box -> ElicitationResult,
        /// Shows a dialog.
        "request_user_dialog" => RequestUserDialog in Box -> UserDialogResult,
    }
}

record! {
    /// A reply that says no more than yes.
    #[derive(Default)]
    pub struct Ack {}
}

/// Through text, so that no type is compiled for a second serializer.
fn write_again(reply: &impl Wire) -> Result<Value, DecodeError> {
    crate::decode(&serde_json::to_vec(reply).unwrap_or_default())
}
