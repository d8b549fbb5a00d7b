use std::path::PathBuf;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::patch::structured_patch;
use crate::places::Place;
use crate::replacement::{Misfit, across_line_ends, replaced};
use crate::schema::{path_argument, schema_of};
use crate::seen::{Extent, Sight};
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
    sight: Sight,
    changed: String,
    old: String,
    new: String,
    everywhere: bool,
}

impl Planned {
    /// Looks whether the edit can be made, without changing anything. A file that somebody else has changed meanwhile is
    /// no obstacle if the edit fits it as it is now; the model is told.
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
                TextFile { text: String::new(), size: 0, form: Form::default(), is_exact: true }
            }
            Err(e) => return Err(Outcome::failed(e.to_string())),
        };
        if path.extension().is_some_and(|extension| extension == "ipynb") {
            return Err(Outcome::misuse("this is a notebook: change its cells with NotebookEdit"));
        }
        let new_lines = if file.form.crlf { new.replace("\r\n", "\n") } else { new.clone() };
        let sight = workspace.seen().sight(&path, Some(&file.text));
        let changed = replaced(&file.text, &old, &new_lines, everywhere)
            .or_else(|misfit| across_line_ends(&file.text, &old, &new_lines).ok_or(misfit))
            .map_err(|misfit| Outcome::misuse(complaint(&misfit, &sight)))?;
        Ok(Self { path, place, file, sight, changed, old, new, everywhere })
    }
}

/// What is wrong, and what to do about it.
fn complaint(misfit: &Misfit, sight: &Sight) -> String {
    match misfit {
        _ if *sight == Sight::Stale => {
            "the file was changed since it was read, and the edit does not fit it: read it again first"
                .to_owned()
        }
        Misfit::Absent => {
            "`old_string` is not in the file: check white space and line ends, or read the file again"
                .to_owned()
        }
        Misfit::Ambiguous(n) => {
            format!(
                "`old_string` is in the file {n} times: give more of the text around it, or set replace_all"
            )
        }
        Misfit::Nothing => "`old_string` is empty but the file is not: give the text to replace".to_owned(),
    }
}

fn edit(input: Input, workspace: &Workspace) -> Result<Outcome, Outcome> {
    let Planned { path, place, file, sight, changed, old, new, everywhere } = Planned::of(input, workspace)?;
    workspace.announce_change(&path);
    text_file::replace(&place, &changed, file.form)
        .map_err(|e| Outcome::failed(format!("cannot write {}: {e}", path.display())))?;
    let mut result = json!({
        "filePath": path, "oldString": old, "newString": new, "originalFile": file.text,
        "structuredPatch": structured_patch(&file.text, &changed), "userModified": false, "replaceAll": everywhere,
    });
    let mut note = |name: &str| {
        if let Some(result) = result.as_object_mut() {
            result.insert(name.to_owned(), true.into());
        }
    };
    let (advice, extent) = match sight {
        Sight::Current(Extent::Whole) => (" It need not be read again.", Extent::Whole),
        Sight::Current(Extent::Part) | Sight::Never => {
            note("contentNotInModelContext");
            ("", Extent::Part)
        }
        Sight::Stale => {
            note("staleRecovered");
            note("contentNotInModelContext");
            let advice = " Somebody else has changed the file since it was read: the edit fitted all the same, but read the file \
                          before edits that depend on the rest of it.";
            (advice, Extent::Part)
        }
    };
    workspace.seen().note(&path, &changed, extent);
    Ok(Outcome::text(format!("Updated {}.{advice}", path.display()), result))
}
