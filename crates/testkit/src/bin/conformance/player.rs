//! Plays a scenario: home, project, scripted API, and its processes one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use pilothouse_proc::Spawn;
use pilothouse_testkit::{Api, Call, CallKind, Turn};
use serde_json::{Value, json};

use crate::process::{Process, write_file};
use crate::record::{self, Record};
use crate::redact::Redaction;
use crate::scenario::{Scenario, Variables};

/// What the API says when a script has run out; the recorded conversations contain it.
const NO_MORE_TURNS: &str = "(mock: no more turns)";

/// What a player needs for every scenario.
#[derive(Debug, Clone)]
pub(crate) struct Player {
    /// The CLI under test.
    pub(crate) cli: PathBuf,
    /// Each scenario gets a folder in here.
    pub(crate) rooms: PathBuf,
    /// Where records are kept, when they are.
    pub(crate) out: Option<PathBuf>,
}

impl Player {
    /// Plays one scenario from an empty room and gives its record.
    ///
    /// # Errors
    /// When the room, the API or the CLI cannot be set up; what the CLI does wrong is in the rows.
    pub(crate) async fn play(&self, scenario: &Scenario) -> Result<Vec<Value>> {
        let room = self.rooms.join(&scenario.name);
        if room.exists() {
            fs_err::remove_dir_all(&room)?;
        }
        let (home, project) = (room.join("home"), room.join("project"));
        for folder in [&home.join(".claude"), &project, &room.join("ext")] {
            fs_err::create_dir_all(folder)?;
        }
        let mut variables = variables(&room);
        let redaction = Redaction::new(&room, &self.cli, scenario.longest_text());
        let record = Arc::new(Record::new(redaction));
        let api = Api::script(script(scenario, &variables)?)?;
        prepare(scenario, &variables, &project).await?;

        for run in scenario.runs() {
            let env = environment(&home, &api.url());
            let mut process = Process::start(&self.cli, &run, &variables, env, Arc::clone(&record)).await?;
            let steps = run.get("steps").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Err(error) = process.play(&steps, &mut variables).await {
                record.noted(json!({"error": format!("{error:#}")}));
            }
            process.finish().await;
        }
        if let Some(out) = &self.out {
            record.save(&out.join(format!("{}.ndjson", scenario.name)))?;
            let calls: Vec<Value> = api.calls().iter().map(|call| record.redacted(&shown(call))).collect();
            record::save(&out.join(format!("{}.api.ndjson", scenario.name)), &calls)?;
        }
        Ok(record.rows())
    }
}

fn variables(room: &Path) -> Variables {
    let folders = [
        ("PROJECT", room.join("project")),
        ("HOME", room.join("home")),
        ("CONFIG", room.join("home/.claude")),
        ("EXT", room.join("ext")),
    ];
    let named = folders.map(|(name, path)| (name.to_owned(), json!(path.to_string_lossy())));
    Variables(named.into())
}

fn script(scenario: &Scenario, variables: &Variables) -> Result<Vec<Turn>> {
    let written = variables.fill(scenario.fields.get("api").unwrap_or(&json!([])));
    let turns = written.as_array().into_iter().flatten().map(Turn::from_json);
    let mut turns = turns.collect::<Result<Vec<_>, _>>()?;
    turns.push(Turn::text(NO_MORE_TURNS).times(usize::MAX));
    Ok(turns)
}

async fn prepare(scenario: &Scenario, variables: &Variables, project: &Path) -> Result<()> {
    for (path, content) in scenario.fields.get("files").and_then(Value::as_object).into_iter().flatten() {
        write_file(Path::new(&variables.text(path)), &variables.fill(content))?;
    }
    if scenario.fields.contains_key("git") {
        let make = "git init -q . && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m i";
        let git = Spawn::new("sh").args(["-c", make]).cwd(project).no_stdin().start().await?;
        let exit = git.exited().await;
        exit.success().then_some(()).with_context(|| format!("git failed: {}", git.stderr_tail()))?;
    }
    Ok(())
}

/// The whole environment of the CLI: nothing of this machine's owner, and nothing that would call home.
fn environment(home: &Path, api_url: &str) -> Vec<(String, String)> {
    let home = home.to_string_lossy();
    [
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned()),
        ("HOME", home.to_string()),
        ("LANG", "C.UTF-8".to_owned()),
        ("CLAUDE_CONFIG_DIR", format!("{home}/.claude")),
        ("ANTHROPIC_API_KEY", "dummy".to_owned()),
        ("ANTHROPIC_BASE_URL", api_url.to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("IS_SANDBOX", "1".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// A call to the API as its record shows it: the prompt's size instead of its text.
fn shown(call: &Call) -> Value {
    let kind = match call.kind {
        CallKind::Main => "main",
        CallKind::Side => "side",
        CallKind::Count => "count",
        CallKind::Unexpected => "unexpected",
    };
    let body = &call.body;
    json!({
        "path": call.path, "kind": kind, "model": body["model"], "stream": body["stream"] == true,
        "max_tokens": body["max_tokens"], "thinking": body["thinking"], "tool_choice": body["tool_choice"],
        "tools": call.tools(), "system_chars": body["system"].to_string().chars().count(),
        "messages": body["messages"],
    })
}
