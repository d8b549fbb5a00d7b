//! The servers of one session, by name.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::value::RawValue;

use crate::in_process::{Cancel, InProcessServer};
use crate::json_rpc::{self, Incoming};

/// The in-process servers of one session; they may change while it runs.
///
/// Servers are found by the name they are registered under, which is the one the CLI uses.
#[derive(Debug, Default)]
pub struct ServerSet {
    servers: RwLock<BTreeMap<String, InProcessServer>>,
}

impl ServerSet {
    /// Adds a server, in place of one that has the same name, which is returned.
    pub fn insert(&self, server: InProcessServer) -> Option<InProcessServer> {
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        servers.insert(server.name().to_owned(), server)
    }

    /// Takes a server out.
    pub fn remove(&self, name: &str) -> Option<InProcessServer> {
        self.servers.write().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    /// The server called `name`.
    pub fn get(&self, name: &str) -> Option<InProcessServer> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Has the server called `name` handle a message, see [`InProcessServer::handle`].
    ///
    /// A request to a server that is not here is answered with a JSON-RPC error, so that the CLI does not wait.
    pub async fn handle(&self, name: &str, message: &RawValue, cancel: impl Cancel) -> Option<Box<RawValue>> {
        match self.get(name) {
            Some(server) => server.handle(message, cancel).await,
            None => Some(unknown_server(name, message)),
        }
    }
}

fn unknown_server(name: &str, message: &RawValue) -> Box<RawValue> {
    match Incoming::read(message) {
        Ok(Incoming::Request { id, .. }) => {
            let text = format!("this host has no MCP server called {name}");
            json_rpc::failure(Some(&id), &ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
        }
        Ok(_) => json_rpc::acknowledgement(),
        Err(reply) => reply,
    }
}
