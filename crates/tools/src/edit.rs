use std::path::PathBuf;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::patch::structured_patch;
use crate::places::Place;
use crate::schema::{path_argument, schema_of};
use crate::seen::Sight;
use crate::text_file::{self, Form, TextError, TextFile};
use crate::tool::{Input, Outcome, Running, Spec, Tool, Touch};
use crate::workspace::Workspace;

/// Replaces a text in a file by another.
#[derive(Debug)]
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> Spec {
        Spec {
            name: "Edit",
            description: "Replaces old_string by new_string in a file. old_string must be in the file exactly as given, \
                          white space included, and only once, unless replace_all is set. \
                          An empty old_string creates a new file.",
            input_schema: schema_of::<pilothouse_proto::tool::FileEditInput>(),
        }
    }

    fn touches(&self, input: &Input, workspace: &Workspace) -> Vec<Touch> {
        path_argument(input, "file_path", workspace).map(Touch::Write).into_iter().collect()
    }

    fn refuses(&self, input: &Input, workspace: &Workspace) -> Option<String> {
        Planned::of(input.clone(), workspace).err().and_then(Outcome::complaint)
    }

    fn run<'a>(&'a self, input: Input, workspace: &'a Workspace, _stop: CancellationToken) -> Running<'a> {
        Box::pin(async move { edit(input, workspace).unwrap_or_else(|refused| refused) })
    }
}

/// An edit that can be made.
struct Planned {
    path: PathBuf,
    place: Place,
    file: TextFile,
    changed: String,
    old: String,
    new: String,
    everywhere: bool,
}

impl Planned {
    /// Looks whether the edit can be made, without changing anything. A file that somebody else has changed meanwhile is
    /// no obstacle: the edit is made to the file as it is now, or it does not fit.
    fn of(input: Input, workspace: &Workspace) -> Result<Self, Outcome> {
        let mut args = Args::new("Edit", input);
        let path = args.text("file_path");
        let old = args.text("old_string");
        let new = args.text("new_string");
        let everywhere = args.flag("replace_all");
        if old == new {
            args.problem("`old_string` and `new_string` are the same: there is nothing to change");
        }
        args.check()?;
        let path = workspace.resolve(&path);
        let place = workspace.place(&path);
        let file = match text_file::read(&place).and_then(|file| file.changeable(&place)) {
            Ok(file) => file,
            Err(TextError::Missing(_)) if old.is_empty() => {
                TextFile { text: String::new(), form: Form::default(), is_exact: true }
            }
            Err(e) => return Err(Outcome::failed(e.to_string())),
        };
        let new_lines = if file.form.crlf { new.replace("\r\n", "\n") } else { new.clone() };
        let changed = replaced(&file.text, &old, &new_lines, everywhere).map_err(|problem| {
            let stale = workspace.seen().sight(&path) == Sight::Stale;
            let why = if stale { "; the file was changed since it was read" } else { "" };
            Outcome::misuse(format!("{problem}{why}"))
        })?;
        Ok(Self { path, place, file, changed, old, new, everywhere })
    }
}

fn edit(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let Planned { path, place, file, changed, old, new, everywhere } = Planned::of(input, workspace)?;
    workspace.announce_change(&path);
    text_file::replace(&place, &changed, file.form)
        .map_err(|e| Outcome::failed(format!("cannot write {}: {e}", path.display())))?;
    workspace.seen().note(&path);
    Ok(Outcome::text(
        format!("Updated {}. It need not be read again.", path.display()),
        json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": file.text,
            "structuredPatch": structured_patch(&file.text, &changed), "userModified": false, "replaceAll": everywhere,
        }),
    ))
}

fn replaced(text: &str, old: &str, new: &str, everywhere: bool) -> Result<String, String> {
    if old.is_empty() {
        return match text.is_empty() {
            true => Ok(new.to_owned()),
            false => Err("`old_string` is empty but the file is not: give the text to replace".to_owned()),
        };
    }
    // Models see `\n`; so does `text`, unless the file on disk has both kinds of line ends.
    let plain = old.replace("\r\n", "\n");
    let old = if text.contains(old) { old } else { plain.as_str() };
    match text.matches(old).count() {
        0 => Err("`old_string` is not in the file: check white space and line ends, or read the file again"
            .to_owned()),
        1 => Ok(text.replacen(old, new, 1)),
        _ if everywhere => Ok(text.replace(old, new)),
        n => Err(format!(
            "`old_string` is in the file {n} times: give more of the text around it, or set replace_all"
        )),
    }
}
