use std::path::Path;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::patch::structured_patch;
use crate::places::Place;
use crate::schema::{path_argument, schema_of};
use crate::seen::{Extent, Sight};
use crate::text_file::{self, Form, TextError};
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

const STALE: &str = "the file was changed since it was read: read it again before writing to it";

/// Creates a file, or replaces all of one. One that was read and has changed since is left alone.
#[derive(Debug)]
pub struct Write;

impl Tool for Write {
    fn spec(&self) -> Spec {
        Spec {
            name: "Write",
            description: "Writes a whole file, creating it and its folders if they do not exist. \
                          Read a file that exists before replacing it; to change a part of it use Edit.",
            input_schema: schema_of::<pilothouse_proto::tool::FileWriteInput>(),
        }
    }

    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch> {
        path_argument(input, "file_path", workspace).map(Touch::Write).into_iter().collect()
    }

    fn refuses(&self, input: &Input, workspace: &Workspace) -> Option<String> {
        let path = path_argument(input, "file_path", workspace)?;
        let shown = path.display();
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => Some(format!("{shown} is a directory: give the path of a file")),
            Ok(meta) if !meta.is_file() => {
                Some(format!("{shown} is a device, a pipe or a socket, and no file"))
            }
            Ok(_) => {
                let old = Old::at(&workspace.place(&path)).ok()?;
                old.is_stale(&path, workspace).then(|| STALE.to_owned())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(format!("{shown} cannot be written: {error}")),
        }
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, _stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { write(input, workspace).unwrap_or_else(|refused| refused) })
    }
}

/// What a write would replace.
enum Old {
    Nothing,
    Text(String),
    /// A file that is no text, or too large to be taken for one: there is nothing to compare with.
    NoText,
}

impl Old {
    fn at(place: &Place) -> Result<Self, TextError> {
        match text_file::read(place) {
            Ok(file) => Ok(Self::Text(file.text)),
            Err(TextError::Missing(_)) => Ok(Self::Nothing),
            Err(TextError::Binary(_) | TextError::TooLarge { .. }) => Ok(Self::NoText),
            Err(error) => Err(error),
        }
    }

    /// Whether somebody else has changed it since the model saw it.
    fn is_stale(&self, path: &Path, workspace: &Workspace) -> bool {
        let text = match self {
            Self::Nothing => return false,
            Self::Text(text) => Some(text.as_str()),
            Self::NoText => None,
        };
        workspace.seen().sight(path, text) == Sight::Stale
    }

    fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::NoText => None,
        }
    }
}

fn write(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let mut args = Args::new("Write", input);
    let path = args.text("file_path");
    let content = args.text("content");
    args.check()?;
    let path = workspace.resolve(&path);
    let place = workspace.place(&path);
    let old = Old::at(&place).map_err(|e| Outcome::failed(e.to_string()))?;
    if old.is_stale(&path, workspace) {
        return Err(Outcome::misuse(STALE));
    }
    workspace.announce_change(&path);
    text_file::replace(&place, &content, Form::default())
        .map_err(|e| Outcome::failed(format!("cannot write {}: {e}", path.display())))?;
    workspace.seen().note(&path, &content, Extent::Whole);
    let (kind, done) = match &old {
        Old::Nothing => ("create", "Created"),
        Old::Text(_) | Old::NoText => ("update", "Updated"),
    };
    let old = old.into_text();
    let patch = old.as_ref().map(|old| structured_patch(old, &content)).unwrap_or_default();
    let said = format!("{done} {}. It need not be read again.", path.display());
    Ok(Outcome::text(
        said,
        json!({
            "type": kind, "filePath": path, "content": content, "structuredPatch": patch,
            "originalFile": old, "userModified": false,
        }),
    ))
}
