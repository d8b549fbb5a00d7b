//! A built server at work: every method is answered here, without a task or a channel in between.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future as _, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures_util::FutureExt;
use rmcp::model::{
    CancelledNotificationParam, EmptyResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResult,
    Implementation, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, Prompt, ProtocolVersion, ReadResourceRequestParams, ReadResourceResult, RequestId,
    Resource, ResourceTemplate, ServerCapabilities, ServerResult, Tool,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

use crate::builder::ByName;
use crate::client::Client;
use crate::in_flight::{Admitted, InFlight};
use crate::in_process::Cancel;
use crate::json_rpc::{self, Incoming, REQUEST_CANCELLED};
use crate::prompt::Writer;
use crate::resource::{Reader, template_matches};
use crate::tool::{AnyTool, ToolContext, panic_text};

/// What a server offers; the same for all its connections.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) tool_handlers: ByName<Box<dyn AnyTool>>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) resource_readers: ByName<Reader>,
    pub(crate) templates: Vec<(ResourceTemplate, Reader)>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) prompt_writers: ByName<Writer>,
}

/// One connection to a built server.
#[derive(Debug)]
pub(crate) struct BuiltServer {
    definition: Arc<Definition>,
    in_flight: InFlight,
    initialized: AtomicBool,
}

impl BuiltServer {
    pub(crate) fn new(definition: Definition) -> Self {
        Self::of(Arc::new(definition))
    }

    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    /// Another connection to the same server.
    pub(crate) fn fresh(&self) -> Self {
        Self::of(Arc::clone(&self.definition))
    }

    pub(crate) async fn handle(
        &self,
        message: &RawValue,
        client: &Client,
        cancel: impl Cancel,
    ) -> Option<Box<RawValue>> {
        match Incoming::read(message) {
            Err(reply) => Some(reply),
            Ok(Incoming::Request { id, method, params }) => {
                self.request(&id, &method, params, client, cancel).await
            }
            Ok(Incoming::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.cancelled(params);
                }
                Some(json_rpc::acknowledgement())
            }
            Ok(Incoming::Response { id, outcome }) => {
                client.answered(&id, outcome);
                Some(json_rpc::acknowledgement())
            }
        }
    }

    fn of(definition: Arc<Definition>) -> Self {
        Self { definition, in_flight: InFlight::default(), initialized: AtomicBool::new(false) }
    }

    async fn request(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<&RawValue>,
        client: &Client,
        cancel: impl Cancel,
    ) -> Option<Box<RawValue>> {
        if method == "initialize" && self.initialized.swap(true, Ordering::AcqRel) {
            // A second handshake is a new client, which counts its ids from the start.
            self.in_flight.cancel_all();
        }
        let Some(admitted) = self.in_flight.admit(id) else {
            let text = format!("a request with id {id} is still being worked on");
            return Some(json_rpc::failure(Some(id), &ErrorData::invalid_request(text, None)));
        };
        let work = async {
            if method == "tools/call" {
                return self.call_tool(id, params, client, &admitted).await;
            }
            // Readers and writers of resources and prompts are the user's code too, and must not take us along.
            let answer =
                AssertUnwindSafe(self.answer(method, params)).catch_unwind().await.unwrap_or_else(|cause| {
                    Err(ErrorData::internal_error(
                        format!("{method} panicked: {}", panic_text(&*cause)),
                        None,
                    ))
                });
            match answer {
                Ok(mut result) => {
                    result.strip_result_type_for_legacy_peer();
                    json_rpc::success(id, &result)
                }
                Err(error) => json_rpc::failure(Some(id), &error),
            }
        };
        let mut work = pin!(work);
        // Alone at first: a tool that never waits needs no token, and registers no waker with one.
        if let Poll::Ready(reply) = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
            return Some(reply);
        }
        tokio::select! {
            // The work comes first: a reply that is ready is sent.
            biased;
            reply = work => Some(reply),
            () = cancel.cancelled() => None,
            () = admitted.token.token().cancelled() => {
                let error = ErrorData::new(REQUEST_CANCELLED, "the request was cancelled", None);
                Some(json_rpc::failure(Some(id), &error))
            }
        }
    }

    async fn call_tool(
        &self,
        id: &RequestId,
        params: Option<&RawValue>,
        client: &Client,
        admitted: &Admitted<'_>,
    ) -> Box<RawValue> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            name: Cow<'a, str>,
            #[serde(borrow, default)]
            arguments: Option<&'a RawValue>,
            #[serde(borrow, default, rename = "_meta")]
            meta: Option<&'a RawValue>,
        }
        let call: Params<'_> = match json_rpc::params(params) {
            Ok(call) => call,
            Err(error) => return json_rpc::failure(Some(id), &error),
        };
        let Some(tool) = self.definition.tool_handlers.get(call.name.as_ref()) else {
            let text = format!("server {} has no tool called {}", self.definition.name, call.name);
            return json_rpc::failure(Some(id), &ErrorData::invalid_params(text, None));
        };
        let context = ToolContext {
            client: client.clone(),
            call: admitted.token.clone(),
            meta: call.meta.map(RawValue::to_owned),
        };
        json_rpc::success(id, &tool.call(&call.name, call.arguments, context).await)
    }

    async fn answer(&self, method: &str, params: Option<&RawValue>) -> Result<ServerResult, ErrorData> {
        let offered = &*self.definition;
        Ok(match method {
            "initialize" => ServerResult::InitializeResult(offered.initialize(params)),
            "ping" => ServerResult::EmptyResult(EmptyResult {}),
            "tools/list" => {
                ServerResult::ListToolsResult(ListToolsResult::with_all_items(offered.tools.clone()))
            }
            "resources/list" if offered.has_resources() => ServerResult::ListResourcesResult(
                ListResourcesResult::with_all_items(offered.resources.clone()),
            ),
            "resources/templates/list" if offered.has_resources() => {
                let templates = offered.templates.iter().map(|(template, _)| template.clone()).collect();
                ServerResult::ListResourceTemplatesResult(ListResourceTemplatesResult::with_all_items(
                    templates,
                ))
            }
            "resources/read" if offered.has_resources() => {
                let wanted: ReadResourceRequestParams = json_rpc::params(params)?;
                ServerResult::ReadResourceResult(offered.read(wanted.uri).await?)
            }
            "prompts/list" if !offered.prompts.is_empty() => {
                ServerResult::ListPromptsResult(ListPromptsResult::with_all_items(offered.prompts.clone()))
            }
            "prompts/get" if !offered.prompts.is_empty() => {
                ServerResult::GetPromptResult(offered.write(json_rpc::params(params)?).await?)
            }
            _ => {
                let text = format!("server {} does not know the method {method}", offered.name);
                return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None));
            }
        })
    }

    fn cancelled(&self, params: Option<&RawValue>) {
        // A notification cannot be refused, so one that makes no sense changes nothing.
        let Ok(params) = json_rpc::params::<CancelledNotificationParam>(params) else { return };
        if let Some(id) = params.request_id {
            self.in_flight.cancel(&id);
        }
    }
}

impl Definition {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            version: "0.0.0".to_owned(),
            instructions: None,
            tools: Vec::new(),
            tool_handlers: ByName::new(),
            resources: Vec::new(),
            resource_readers: ByName::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            prompt_writers: ByName::new(),
        }
    }

    fn has_resources(&self) -> bool {
        !self.resources.is_empty() || !self.templates.is_empty()
    }

    fn initialize(&self, params: Option<&RawValue>) -> InitializeResult {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        capabilities.resources = self.has_resources().then(Default::default);
        capabilities.prompts = (!self.prompts.is_empty()).then(Default::default);
        let mut result = InitializeResult::new(capabilities)
            .with_server_info(Implementation::new(self.name.as_str(), self.version.as_str()))
            .with_protocol_version(agreed_version(params));
        result.instructions = self.instructions.clone();
        result
    }

    async fn read(&self, uri: String) -> Result<ReadResourceResult, ErrorData> {
        let by_template =
            || self.templates.iter().find(|(template, _)| template_matches(&template.uri_template, &uri));
        let reader = self.resource_readers.get(&uri).or_else(|| by_template().map(|(_, reader)| reader));
        let Some(reader) = reader else {
            let text = format!("server {} has no resource {uri}", self.name);
            return Err(ErrorData::resource_not_found(text, None));
        };
        let contents = reader(uri).await.map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(ReadResourceResult::new(contents))
    }

    async fn write(&self, wanted: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
        let Some(writer) = self.prompt_writers.get(wanted.name.as_str()) else {
            let text = format!("server {} has no prompt called {}", self.name, wanted.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let arguments = wanted.arguments.and_then(|arguments| serde_json::to_value(arguments).ok());
        let writing =
            writer(arguments.unwrap_or_else(|| Value::Object(Default::default()))).map_err(|problem| {
                ErrorData::invalid_params(
                    format!("invalid arguments for prompt {}: {problem}", wanted.name),
                    None,
                )
            })?;
        let messages = writing.await.map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(GetPromptResult::new(messages))
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition")
            .field("name", &self.name)
            .field("tools", &self.tool_handlers.keys())
            .field("resources", &self.resource_readers.keys())
            .field("prompts", &self.prompt_writers.keys())
            .finish_non_exhaustive()
    }
}

/// The client's version if it is one we know, else the newest that still has this handshake.
fn agreed_version(params: Option<&RawValue>) -> ProtocolVersion {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "protocolVersion")]
        protocol_version: String,
    }
    let asked = json_rpc::params::<Params>(params).ok();
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize());
    asked
        .and_then(|asked| known.into_iter().find(|version| version.as_str() == asked.protocol_version))
        .cloned()
        .unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}
