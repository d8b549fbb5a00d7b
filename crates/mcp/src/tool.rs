//! Tools made of closures.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt;
use rmcp::model::{
    CallToolResult, MetaObject, ProgressNotification, ProgressNotificationParam, ProgressToken,
    RequestMetaObject, ToolAnnotations,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::client::{Client, NotConnected};
use crate::in_flight::CallToken;
use crate::outcome::{IntoToolResult, error_result};

/// A closure that can be a tool: `|input: T| async { … }`, or `|input: T, context: ToolContext| async { … }`.
///
/// `Shape` only tells the two apart; nobody has to name it.
pub trait ToolHandler<Shape>: Send + Sync + 'static {
    /// What the model has to give; its JSON Schema is shown to the model.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// What the tool gives back.
    type Output: IntoToolResult;

    /// Runs the tool once.
    fn call(&self, input: Self::Input, context: ToolContext) -> impl Future<Output = Self::Output> + Send;
}

impl<F, Input, Fut> ToolHandler<(Input,)> for F
where
    F: Fn(Input) -> Fut + Send + Sync + 'static,
    Input: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoToolResult> + Send,
{
    type Input = Input;
    type Output = Fut::Output;

    fn call(&self, input: Input, _: ToolContext) -> impl Future<Output = Fut::Output> + Send {
        self(input)
    }
}

impl<F, Input, Fut> ToolHandler<(Input, ToolContext)> for F
where
    F: Fn(Input, ToolContext) -> Fut + Send + Sync + 'static,
    Input: DeserializeOwned + JsonSchema + Send + 'static,
    Fut: Future<Output: IntoToolResult> + Send,
{
    type Input = Input;
    type Output = Fut::Output;

    fn call(&self, input: Input, context: ToolContext) -> impl Future<Output = Fut::Output> + Send {
        self(input, context)
    }
}

/// The input of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NoInput {}

/// What a tool may want to know about the call it is answering.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub(crate) client: Client,
    pub(crate) call: CallToken,
    pub(crate) meta: Option<Box<RawValue>>,
}

impl ToolContext {
    /// Fires when the call is withdrawn, and when it has ended.
    ///
    /// The tool's own future is dropped at that moment; the token is for work it started elsewhere.
    pub fn cancelled(&self) -> &CancellationToken {
        self.call.token()
    }

    /// The client that called.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The `_meta` of the call; empty if there was none.
    pub fn meta(&self) -> RequestMetaObject {
        let meta = self.meta.as_ref().and_then(|meta| serde_json::from_str(meta.get()).ok());
        meta.unwrap_or_default()
    }

    /// The id of the `tool_use` block that this call answers, as the CLI names it.
    pub fn tool_use_id(&self) -> Option<String> {
        self.meta().0.0.get("claudecode/toolUseId").and_then(Value::as_str).map(str::to_owned)
    }

    /// Reports progress, if the caller asked for it.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) -> Result<(), NotConnected> {
        let Some(token) = self.progress_token() else { return Ok(()) };
        let mut progress = ProgressNotificationParam::new(token, done).with_message(message);
        progress.total = total;
        self.client.notify(ProgressNotification::new(progress))
    }

    fn progress_token(&self) -> Option<ProgressToken> {
        self.meta().get_progress_token()
    }
}

/// Name and description of a tool, with what a client may want to know beside them.
#[derive(Clone, Debug, Default)]
pub struct ToolSpec {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) title: Option<String>,
    pub(crate) annotations: ToolAnnotations,
    pub(crate) meta: MetaObject,
}

impl ToolSpec {
    /// A tool called `name`; the description is written for the model.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), ..Self::default() }
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says that the tool changes nothing.
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only_hint = Some(true);
        self
    }

    /// Sets all hints at once.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Adds a `_meta` entry.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.0.insert(key.into(), value.into());
        self
    }

    /// Asks the CLI to show the tool to the model at once, where it would otherwise be found by search.
    pub fn always_load(self) -> Self {
        self.meta("anthropic/alwaysLoad", true)
    }

    /// Lets results be this long before the CLI cuts them.
    pub fn max_result_chars(self, chars: u64) -> Self {
        self.meta("anthropic/maxResultSizeChars", chars)
    }
}

/// A [`ToolHandler`] whose types are no longer known.
pub(crate) trait AnyTool: Send + Sync {
    fn call<'a>(&'a self, name: &'a str, arguments: Option<&'a RawValue>, context: ToolContext) -> Call<'a>;
}

pub(crate) type Call<'a> = Pin<Box<dyn Future<Output = CallToolResult> + Send + 'a>>;

/// Gives a [`ToolHandler`] the shape of an [`AnyTool`].
pub(crate) struct Typed<H, Shape> {
    handler: H,
    shape: std::marker::PhantomData<fn() -> Shape>,
}

impl<H, Shape> Typed<H, Shape> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler, shape: std::marker::PhantomData }
    }
}

impl<H, Shape> fmt::Debug for Typed<H, Shape> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<H>())
    }
}

impl<H: ToolHandler<Shape>, Shape> AnyTool for Typed<H, Shape> {
    fn call<'a>(&'a self, name: &'a str, arguments: Option<&'a RawValue>, context: ToolContext) -> Call<'a> {
        Box::pin(async move {
            // A tool that panics must not take the connection with it, and the model should hear of it. Its input is a type of
            // the user as well.
            let call = AssertUnwindSafe(async {
                match decode::<H::Input>(arguments.map_or("{}", RawValue::get)) {
                    Ok(input) => self.handler.call(input, context).await.into_tool_result(),
                    Err(problem) => error_result(format!("invalid input for tool {name}: {problem}")),
                }
            });
            call.catch_unwind().await.unwrap_or_else(|cause| {
                error_result(format!("tool {name} panicked: {}", panic_text(&*cause)))
            })
        })
    }
}

/// Decodes plainly first, because that is fast; only a failure is decoded again to learn where it is.
fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).or_else(|_| {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| error.to_string())
    })
}

pub(crate) fn panic_text(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
