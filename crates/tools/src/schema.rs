use std::path::PathBuf;

use schemars::JsonSchema;
use serde_json::Value;

use crate::tool::Input;
use crate::workspace::Workspace;

/// The schema of a tool's arguments, self-contained, as the API wants it.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    // A parameter that does not exist is a mistake that the model should hear of.
    schema.insert("additionalProperties".to_owned(), false.into());
    schema.to_value()
}

/// The path in an argument, if there is one; a call without it is refused when it runs.
pub(crate) fn path_argument(input: &Input, name: &str, workspace: &Workspace) -> Option<PathBuf> {
    input.get(name)?.as_str().map(|path| workspace.resolve(path))
}
