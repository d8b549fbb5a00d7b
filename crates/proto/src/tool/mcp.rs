use crate::wire::{Opt, open_enum, record};

record! {
    /// Lists resources of MCP servers.
    #[derive(Default)]
    pub struct ListMcpResourcesInput {
        /// The server.
        server: Opt<String>,
    }

    /// A resource of a server.
    #[derive(Default)]
    pub struct ListMcpResourcesEntry {
        /// The URI.
        uri: String,
        /// Its name.
        name: String,
        /// The media type.
        mime_type as "mimeType": Opt<String>,
        /// What it is about.
        description: Opt<String>,
        /// The server.
        server: String,
    }

    /// Asks servers for their tools again.
    #[derive(Default)]
    pub struct RefreshMcpToolsInput {
        /// The server.
        server: Opt<String>,
    }

    /// What a server answered.
    pub struct RefreshedServer {
        /// The server.
        server: String,
        /// The state.
        status: RefreshStatus,
        /// How many tools.
        tool_count as "toolCount": Opt<u64>,
        /// What was added.
        added: Opt<Vec<String>>,
        /// What was removed.
        removed: Opt<Vec<String>>,
        /// What went wrong.
        error: Opt<String>,
    }

    /// Reads a resource.
    #[derive(Default)]
    pub struct ReadMcpResourceInput {
        /// The server.
        server: String,
        /// The URI.
        uri: String,
    }

    /// Its contents.
    #[derive(Default)]
    pub struct ReadMcpResourceOutput {
        /// The contents.
        contents: Vec<SavedResource>,
        /// What went wrong.
        error: Opt<String>,
    }

    /// A resource, perhaps saved to a file.
    #[derive(Default)]
    pub struct SavedResource {
        /// The URI.
        uri: String,
        /// The media type.
        mime_type as "mimeType": Opt<String>,
        /// The text.
        text: Opt<String>,
        /// Where binary contents were saved.
        blob_saved_to as "blobSavedTo": Opt<String>,
    }

    /// Lists what is below a resource.
    #[derive(Default)]
    pub struct ReadMcpResourceDirInput {
        /// The server.
        server: String,
        /// The URI.
        uri: String,
    }

    /// The resources.
    #[derive(Default)]
    pub struct ReadMcpResourceDirOutput {
        /// The resources.
        resources: Vec<ListedResource>,
        /// What went wrong.
        error: Opt<String>,
    }

    /// A resource of a server.
    #[derive(Default)]
    pub struct ListedResource {
        /// The URI.
        uri: String,
        /// Its name.
        name: String,
        /// The media type.
        mime_type as "mimeType": Opt<String>,
    }
}

open_enum! {
    /// How a refresh went.
    pub enum RefreshStatus {
        Refreshed = "refreshed",
        Error = "error",
        NotConnected = "not_connected",
    }
}
