//! The tools on a real disk and with real processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bounds;
mod files;
mod foreign;
mod hostile;
mod outputs;
mod pdf;
mod search;
mod shell;
mod tasks;
mod web;

use pilothouse_tools::{Outcome, Tool, Workspace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A project in a folder of its own.
struct Project {
    /// Kept because dropping it removes the folder.
    _folder: tempfile::TempDir,
    workspace: Workspace,
}

/// This executable, which runs the test below as the parser process.
fn worker() -> pilothouse_tools::ParserProgram {
    let arguments = ["--ignored", "--exact", "parser_process", "--nocapture"].map(Into::into).to_vec();
    pilothouse_tools::ParserProgram { program: std::env::current_exe().unwrap().into(), arguments }
}

#[test]
#[ignore = "not a test: `worker()` starts it as the parser process"]
fn parser_process() {
    pilothouse_tools::run_parser_worker(std::io::stdout()).unwrap();
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("project")).unwrap();
        let workspace = Workspace::new(root.join("project"), root.join("outputs"))
            .with_home(&root)
            .with_env([
                ("HARBOUR".to_owned(), "Ines".to_owned()),
                ("OLDPWD".to_owned(), "/usr".to_owned()),
                ("CDPATH".to_owned(), "/usr".to_owned()),
            ])
            .with_parser(worker());
        Self { _folder: folder, workspace }
    }

    fn path(&self, name: &str) -> String {
        self.workspace.resolve(name).display().to_string()
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.workspace.resolve(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.workspace.resolve(name)).unwrap()
    }

    async fn call(&self, tool: &dyn Tool, input: Value) -> Outcome {
        let Value::Object(input) = input else { panic!("arguments are an object") };
        tool.run(input, &self.workspace, CancellationToken::new()).await
    }

    /// What the model reads after a call that worked.
    async fn text(&self, tool: &dyn Tool, input: Value) -> String {
        match self.call(tool, input).await {
            Outcome::Done(done) => match done.content.as_str() {
                Some(text) => text.to_owned(),
                None => done.content[0]["text"].as_str().unwrap().to_owned(),
            },
            other => panic!("{other:?}"),
        }
    }

    /// The structured result of a call that worked.
    async fn structured(&self, tool: &dyn Tool, input: Value) -> Value {
        match self.call(tool, input).await {
            Outcome::Done(done) => done.structured,
            other => panic!("{other:?}"),
        }
    }

    /// Why a call was refused or failed.
    async fn refusal(&self, tool: &dyn Tool, input: Value) -> String {
        match self.call(tool, input).await {
            Outcome::Failed { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_tool_offers_an_object_schema_that_names_its_parameters() {
    let (background, _ends) = pilothouse_tools::Background::new();
    let tools: [(&dyn Tool, &str, &[&str]); 7] = [
        (&pilothouse_tools::Bash::new(background), "Bash", &["command", "timeout", "run_in_background"]),
        (&pilothouse_tools::Read, "Read", &["file_path", "offset", "limit"]),
        (&pilothouse_tools::Write, "Write", &["file_path", "content"]),
        (&pilothouse_tools::Edit, "Edit", &["file_path", "old_string", "new_string", "replace_all"]),
        (&pilothouse_tools::NotebookEdit, "NotebookEdit", &["notebook_path", "new_source", "edit_mode"]),
        (&pilothouse_tools::Glob, "Glob", &["pattern", "path"]),
        (&pilothouse_tools::Grep, "Grep", &["pattern", "-C", "output_mode", "head_limit"]),
    ];
    for (tool, name, parameters) in tools {
        let spec = tool.spec();
        assert_eq!(spec.name, name);
        assert_eq!(spec.input_schema["type"], "object", "{name}");
        for parameter in parameters {
            assert!(spec.input_schema["properties"][parameter].is_object(), "{name} {parameter}");
        }
        assert_eq!(spec.input_schema.get("$ref"), None, "{name}: the API wants schemas that stand alone");
    }
}

#[tokio::test]
async fn wrong_arguments_are_all_named_at_once() {
    let project = Project::new();
    let said =
        project.refusal(&pilothouse_tools::Edit, json!({ "file_path": 7, "replace_all": "maybe" })).await;
    for part in [
        "`file_path` must be a string",
        "`old_string` is missing",
        "`new_string` is missing",
        "`replace_all`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
