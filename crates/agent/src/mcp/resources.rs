//! The tools by which a model finds and reads what servers have beside their tools.

use std::sync::Arc;
use std::time::Duration;

use pilothouse_mcp::rmcp::model::{ErrorCode, ReadResourceRequestParams, Resource};
use pilothouse_mcp::rmcp::service::ServiceError;
use pilothouse_tools::{Done, Input, Outcome};
use serde_json::{Value, json};

use crate::mcp::connect::Connection;
use crate::mcp::content::{Keeper, most_characters};
use crate::session::Session;
use crate::tool::{AgentTool, ToolCall, Working};

/// How long a server may take, unless its configuration says otherwise: one that lists without end is left.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a session with such servers can do with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resources {
    /// Lists the resources of all servers, or of one.
    List,
    /// Lists the resources of a server below an address.
    ListBelow,
    /// Reads one.
    Read,
}

impl Resources {
    pub(crate) const ALL: [Self; 3] = [Self::List, Self::ListBelow, Self::Read];

    /// Whether this is the name of one of them.
    pub(crate) fn is_one(name: &str) -> bool {
        Self::ALL.iter().any(|tool| tool.name() == name)
    }

    async fn call(self, call: &ToolCall, session: &Session) -> Result<Outcome, Outcome> {
        let text = |field: &str| call.input.get(field).and_then(Value::as_str);
        let asked = text("server");
        let servers = found(session, asked)?;
        match self {
            Self::List => {
                let mut all = Vec::new();
                for (name, server) in &servers {
                    match (list(server).await, asked) {
                        (Ok(listed), _) => all.extend(listed.iter().map(|one| shown(one, Some(name)))),
                        (Err(why), Some(_)) => return Err(failed(why)),
                        // One server that does not answer does not hide what the others have.
                        (Err(why), None) => tracing::warn!("the resources of {name} are not listed: {why}"),
                    }
                }
                let words = match all.is_empty() {
                    true => "There are no resources. The servers may have tools all the same.".to_owned(),
                    false => Value::from(all.clone()).to_string(),
                };
                Ok(keeper(session, call, asked.unwrap_or("mcp")).text(words, all.into()))
            }
            Self::ListBelow => {
                let (name, server) = one(servers)?;
                let below = text("uri").unwrap_or_default();
                let listed = list(&server).await.map_err(failed)?;
                let inside = listed.iter().filter(|resource| resource.uri.starts_with(below));
                let inside: Vec<Value> = inside.map(|resource| shown(resource, None)).collect();
                let structured = json!({ "resources": inside });
                Ok(keeper(session, call, &name).text(structured.to_string(), structured))
            }
            Self::Read => {
                let (name, server) = one(servers)?;
                let uri = text("uri").unwrap_or_default();
                let read = server.connection.peer.read_resource(ReadResourceRequestParams::new(uri));
                let keeper = keeper(session, call, &name);
                match tokio::time::timeout(server.patience, read).await {
                    Ok(Ok(found)) => {
                        let contents: Vec<Value> =
                            found.contents.iter().map(|part| keeper.resource(part)).collect();
                        let structured = json!({ "contents": contents });
                        Ok(keeper.text(structured.to_string(), structured))
                    }
                    Ok(Err(ServiceError::McpError(error))) if error.code == ErrorCode::RESOURCE_NOT_FOUND => {
                        let words = format!("There is no resource {uri}: list them again, it may be gone.");
                        Ok(keeper.text(words.clone(), json!({ "contents": [], "error": words })))
                    }
                    Ok(Err(error)) => Err(failed(error.to_string())),
                    Err(_) => Err(failed(late(&server))),
                }
            }
        }
    }
}

impl AgentTool for Resources {
    fn name(&self) -> &str {
        match self {
            Self::List => "ListMcpResourcesTool",
            Self::ListBelow => "ReadMcpResourceDirTool",
            Self::Read => "ReadMcpResourceTool",
        }
    }

    fn description(&self) -> String {
        match self {
            Self::List => {
                "Lists the resources of the MCP servers: what they have to read, with the address of each."
            }
            Self::ListBelow => {
                "Lists the resources of one MCP server whose address begins with the given one."
            }
            Self::Read => {
                "Reads a resource of an MCP server. What is not text is saved to a file, whose path is given."
            }
        }
        .to_owned()
    }

    fn input_schema(&self) -> Value {
        let server = json!({ "type": "string", "description": "The name of the server" });
        match self {
            Self::List => json!({ "type": "object", "properties": { "server": server } }),
            Self::ListBelow | Self::Read => json!({
                "type": "object",
                "properties": {
                    "server": server,
                    "uri": { "type": "string", "description": "The address of the resource" },
                },
                "required": ["server", "uri"],
            }),
        }
    }

    fn runs_in_parallel(&self, _: &Input) -> bool {
        true
    }

    fn run<'a>(&'a self, call: &'a ToolCall, session: &'a Arc<Session>) -> Working<'a> {
        Box::pin(async move {
            let outcome = tokio::select! {
                outcome = self.call(call, session) => outcome.unwrap_or_else(|failed| failed),
                () = call.stop.cancelled() => Outcome::Stopped { partial: String::new() },
            };
            outcome.into()
        })
    }
}

/// A server that can be asked.
struct Asked {
    connection: Arc<Connection>,
    patience: Duration,
}

/// The servers that are meant, with their names: all that have resources, or the one that is named.
fn found(session: &Session, name: Option<&str>) -> Result<Vec<(String, Asked)>, Outcome> {
    let known: Vec<String> = session.mcp.summaries().into_iter().map(|server| server.name).collect();
    if let Some(name) = name.filter(|name| !known.iter().any(|known| known == name)) {
        return Err(failed(format!("there is no MCP server {name:?}; there are: {}", known.join(", "))));
    }
    let meant = known.into_iter().filter(|known| name.is_none_or(|name| name == known));
    let mut servers = Vec::new();
    for known in meant {
        match session.mcp.connection(&known) {
            Some((connection, timeout)) if connection.offer.has_resources => {
                servers.push((known, Asked { connection, patience: timeout.unwrap_or(PATIENCE) }));
            }
            Some(_) if name.is_some() => {
                return Err(failed(format!("the MCP server {known} has no resources")));
            }
            None if name.is_some() => return Err(failed(format!("the MCP server {known} is not connected"))),
            _ => {}
        }
    }
    Ok(servers)
}

fn one(servers: Vec<(String, Asked)>) -> Result<(String, Asked), Outcome> {
    servers.into_iter().next().ok_or_else(|| failed("`server` must name an MCP server".to_owned()))
}

async fn list(server: &Asked) -> Result<Vec<Resource>, String> {
    let listed = tokio::time::timeout(server.patience, server.connection.peer.list_all_resources()).await;
    listed.map_err(|_| late(server))?.map_err(|error| error.to_string())
}

/// What is told of a resource.
fn shown(resource: &Resource, server: Option<&String>) -> Value {
    let mut told = json!({ "name": resource.name, "uri": resource.uri });
    let more = [
        ("description", resource.description.as_ref()),
        ("mimeType", resource.mime_type.as_ref()),
        ("server", server),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            told[name] = value.as_str().into();
        }
    }
    told
}

fn keeper<'a>(session: &Session, call: &'a ToolCall, server: &'a str) -> Keeper<'a> {
    let most = most_characters(&session.launch().env);
    Keeper { folder: session.tool_results_dir(), server, tool: &call.name, call: call.id.as_str(), most }
}

fn late(server: &Asked) -> String {
    format!("the MCP server did not answer within {} s", server.patience.as_secs())
}

fn failed(message: String) -> Outcome {
    Outcome::Failed { message, misuse: false }
}

impl Keeper<'_> {
    /// A text for the model, within limits, and the same for programs.
    fn text(&self, words: String, structured: Value) -> Outcome {
        let content = self.within_limits(Value::String(words), "json");
        Outcome::Done(Box::new(Done { content, structured }))
    }
}
