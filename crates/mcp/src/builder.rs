//! A server put together from closures.

use std::collections::BTreeMap;
use std::future::Future;

use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::built::{BuiltServer, Definition};
use crate::in_process::InProcessServer;
use crate::outcome::IntoToolResult;
use crate::prompt::{self, IntoPromptMessages};
use crate::resource::{self, IntoResourceContents};
use crate::tool::{ToolHandler, ToolSpec, Typed};

/// Collects tools, resources and prompts, and makes a server of them.
///
/// ```
/// use pilothouse_mcp::Server;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Review {
///     /// What to look at first.
///     focus: Option<String>,
/// }
///
/// let server = Server::new("notes")
///     .instructions("Notes that the team keeps about this project")
///     .resource("notes://today", "today", || async { "nothing yet" })
///     .resource_template("notes://{day}", "by day", |uri: String| async move { Err::<String, _>(format!("no {uri}")) })
///     .prompt("review", "Reviews the notes", |input: Review| async move {
///         format!("Review the notes, above all {}", input.focus.as_deref().unwrap_or("the newest"))
///     })
///     .build()?;
/// assert_eq!(server.name(), "notes");
/// # Ok::<(), pilothouse_mcp::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    definition: Definition,
    problem: Option<BuildError>,
}

/// Why a server cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Two things of one kind have one name.
    #[error("the server has two {kind}s called {name}, give one of them another name")]
    Duplicate {
        /// Tool, resource or prompt.
        kind: &'static str,
        /// The name, or the URI.
        name: String,
    },
    /// The tool's name cannot be part of the name that the model sees.
    #[error("the tool name {0:?} must be 1 to 128 letters, digits, `_`, `-` or `.`")]
    ToolName(String),
    /// The input type of a tool is not an object.
    #[error("the input of tool {tool} must be a struct or a map: {problem}")]
    Input {
        /// The tool.
        tool: String,
        /// What is wrong with its schema.
        problem: String,
    },
}

impl Server {
    /// A server called `name`: tools are known to the model as `mcp__<name>__<tool>`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { definition: Definition::new(name.into()), problem: None }
    }

    /// The version that the server tells its clients; `0.0.0` unless set.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.definition.version = version.into();
        self
    }

    /// A text about the server for the model.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.definition.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool.
    pub fn tool<Shape: 'static, H: ToolHandler<Shape>>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self {
        self.tool_with(ToolSpec::new(name, description), handler)
    }

    /// Adds a tool that has more to tell about itself than name and description.
    pub fn tool_with<Shape: 'static, H: ToolHandler<Shape>>(mut self, spec: ToolSpec, handler: H) -> Self {
        if !tool_name_is_valid(&spec.name) {
            return self.fail(BuildError::ToolName(spec.name));
        }
        let schema = match schema_for_input::<H::Input>() {
            Ok(schema) => schema,
            Err(problem) => return self.fail(BuildError::Input { tool: spec.name, problem }),
        };
        let mut tool = Tool::new(spec.name.clone(), spec.description, schema);
        tool.title = spec.title;
        tool.output_schema = H::Output::output_schema();
        tool.annotations = (spec.annotations != Default::default()).then_some(spec.annotations);
        tool.meta = (!spec.meta.0.is_empty()).then_some(spec.meta);
        let handler = Box::new(Typed::<H, Shape>::new(handler));
        match self.definition.tool_handlers.insert(spec.name.clone(), handler) {
            Some(_) => self.fail(BuildError::Duplicate { kind: "tool", name: spec.name }),
            None => {
                self.definition.tools.push(tool);
                self
            }
        }
    }

    /// Adds a resource at a fixed URI.
    pub fn resource<F, Fut>(self, uri: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoResourceContents> + Send + 'static,
    {
        self.resource_with(Resource::new(uri, name), read)
    }

    /// Adds a resource that has more to tell about itself than URI and name.
    pub fn resource_with<F, Fut>(mut self, resource: Resource, read: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoResourceContents> + Send + 'static,
    {
        let uri = resource.uri.clone();
        match self.definition.resource_readers.insert(uri.clone(), resource::reader(move |_| read())) {
            Some(_) => self.fail(BuildError::Duplicate { kind: "resource", name: uri }),
            None => {
                self.definition.resources.push(resource);
                self
            }
        }
    }

    /// Adds the resources of a URI template such as `notes://{day}`; the closure gets the whole URI.
    ///
    /// `{name}` stands for one or more characters up to the next slash, `{+name}` also for slashes.
    pub fn resource_template<F, Fut>(
        mut self,
        template: impl Into<String>,
        name: impl Into<String>,
        read: F,
    ) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoResourceContents> + Send + 'static,
    {
        self.definition.templates.push((ResourceTemplate::new(template, name), resource::reader(read)));
        self
    }

    /// Adds a prompt; its arguments are the fields of the closure's input, which get strings.
    pub fn prompt<F, Input, Fut>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        write: F,
    ) -> Self
    where
        F: Fn(Input) -> Fut + Send + Sync + 'static,
        Input: DeserializeOwned + JsonSchema + 'static,
        Fut: Future<Output: IntoPromptMessages> + Send + 'static,
    {
        let (name, description) = (name.into(), description.into());
        let arguments = prompt::arguments::<Input>();
        let arguments = (!arguments.is_empty()).then_some(arguments);
        match self.definition.prompt_writers.insert(name.clone(), prompt::writer(write)) {
            Some(_) => self.fail(BuildError::Duplicate { kind: "prompt", name }),
            None => {
                self.definition.prompts.push(Prompt::new(name, Some(description), arguments));
                self
            }
        }
    }

    /// Makes the server.
    pub fn build(self) -> Result<InProcessServer, BuildError> {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(InProcessServer::built(BuiltServer::new(self.definition))),
        }
    }

    fn fail(mut self, problem: BuildError) -> Self {
        self.problem.get_or_insert(problem);
        self
    }
}

fn tool_name_is_valid(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Handlers by name.
pub(crate) type ByName<T> = BTreeMap<String, T>;
