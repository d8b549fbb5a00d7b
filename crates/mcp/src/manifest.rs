//! What a server would answer to the handshake, told ahead of it.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::sync::CancellationToken;

use crate::in_process::InProcessServer;

/// The answers to `initialize` and `tools/list`, as `sdkMcpServerManifests` takes them: the CLI need not ask then.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The result of `initialize`, word for word.
    pub initialize_result: Box<RawValue>,
    /// The result of `tools/list`; absent if the server has no tools or lists them in pages.
    pub tools_list_result: Option<Box<RawValue>>,
}

/// A server that cannot be described ahead: let the CLI do the handshake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("MCP server {server} did not answer {method}: {reply}")]
pub struct ManifestError {
    /// The server.
    pub server: String,
    /// What it was asked.
    pub method: &'static str,
    /// What it said.
    pub reply: String,
}

/// Asks a connection of its own, so that the one the CLI talks to starts untouched.
pub(crate) async fn manifest(server: &InProcessServer) -> Result<Manifest, ManifestError> {
    #[derive(Deserialize)]
    struct Initialized {
        capabilities: Capabilities,
    }
    #[derive(Deserialize)]
    struct Capabilities {
        tools: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page {
        next_cursor: Option<String>,
    }

    let server = server.fresh();
    let params = json!({
        "protocolVersion": rmcp::model::ProtocolVersion::LATEST_WITH_INITIALIZE,
        "capabilities": {},
        "clientInfo": { "name": "pilothouse", "version": env!("CARGO_PKG_VERSION") },
    });
    let initialize_result = ask(&server, "initialize", params).await?;
    let has_tools = serde_json::from_str::<Initialized>(initialize_result.get())
        .is_ok_and(|initialized| initialized.capabilities.tools.is_some());
    let mut tools_list_result = None;
    if has_tools {
        let page = ask(&server, "tools/list", json!({})).await?;
        let complete = serde_json::from_str::<Page>(page.get()).is_ok_and(|page| page.next_cursor.is_none());
        tools_list_result = complete.then_some(page);
    }
    Ok(Manifest { initialize_result, tools_list_result })
}

async fn ask(
    server: &InProcessServer,
    method: &'static str,
    params: serde_json::Value,
) -> Result<Box<RawValue>, ManifestError> {
    #[derive(Deserialize)]
    struct Reply {
        result: Box<RawValue>,
    }
    let failed =
        |reply: &str| ManifestError { server: server.name().to_owned(), method, reply: reply.to_owned() };
    let message = to_raw_value(&json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params }))
        .map_err(|error| failed(&error.to_string()))?;
    let reply = server.handle(&message, &CancellationToken::new()).await.ok_or_else(|| failed("nothing"))?;
    let Reply { result } = serde_json::from_str(reply.get()).map_err(|_| failed(reply.get()))?;
    Ok(result)
}
