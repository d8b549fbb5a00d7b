use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::patch::structured_patch;
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
                let old = text_file::read(&workspace.place(&path)).ok()?;
                let stale = workspace.seen().sight(&path, &old.text) == Sight::Stale;
                stale.then(|| STALE.to_owned())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(format!("{shown} cannot be written: {error}")),
        }
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, _stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { write(input, workspace).unwrap_or_else(|refused| refused) })
    }
}

fn write(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let mut args = Args::new("Write", input);
    let path = args.text("file_path");
    let content = args.text("content");
    args.check()?;
    let path = workspace.resolve(&path);
    let place = workspace.place(&path);
    let old = match text_file::read(&place) {
        Ok(old) => Some(old),
        Err(TextError::Missing(_)) => None,
        Err(e) => return Err(Outcome::failed(e.to_string())),
    };
    if let Some(old) = &old
        && workspace.seen().sight(&path, &old.text) == Sight::Stale
    {
        return Err(Outcome::misuse(STALE));
    }
    workspace.announce_change(&path);
    text_file::replace(&place, &content, Form::default())
        .map_err(|e| Outcome::failed(format!("cannot write {}: {e}", path.display())))?;
    workspace.seen().note(&path, &content, Extent::Whole);
    let kind = if old.is_some() { "update" } else { "create" };
    let patch = old.as_ref().map(|old| structured_patch(&old.text, &content)).unwrap_or_default();
    let said = match &old {
        Some(_) => format!("Updated {}. It need not be read again.", path.display()),
        None => format!("Created {}. It need not be read again.", path.display()),
    };
    Ok(Outcome::text(
        said,
        json!({
            "type": kind, "filePath": path, "content": content, "structuredPatch": patch,
            "originalFile": old.map(|old| old.text), "userModified": false,
        }),
    ))
}
