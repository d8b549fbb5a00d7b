//! One process of the CLI under test, and the steps a scenario takes with it.
//!
//! A step is an object whose first key says what to do:
//! `init` and `ctl` (a control request, waiting for its answer), `user` (a message, with `extra` fields), `send` and
//! `raw` (any object, any line), `wait` (for a message that fits), `reply`, `reply_error` and `cancel` (the request that
//! was waited for), `sleep`, `close` (stdin), `signal`, `exit` (wait for it), `capture` (a value of the last message),
//! `show`, `ls` and `write` (files), `rss` (memory). `timeout` says how long to wait, `optional` that the scenario goes on
//! when nothing came.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pilothouse_proc::{Child, Exit, Spawn};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::host::{Host, truthy};
use crate::mcp::McpServer;
use crate::record::Record;
use crate::scenario::Variables;

/// How a host starts the CLI.
const USUAL_FLAGS: &[&str] = &[
    "-p",
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
];
const USUAL_PATIENCE: f64 = 25.0;
const USUAL_GRACE: f64 = 8.0;
/// What a host takes to act on a message. One that acts at once races with the frames that belong to the same event.
const REACTION: Duration = Duration::from_millis(2);
/// What reads the rest of stdout after the exit; a grandchild may hold the pipe open.
const AFTER_EXIT: Duration = Duration::from_secs(2);

/// A process under test.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    host: Arc<Host>,
    reader: JoinHandle<()>,
    grace: Duration,
    requests_sent: usize,
    /// The message the last step waited for.
    last: Value,
    /// The last request of the CLI that a step waited for.
    asked: Value,
}

/// Why a step did not do what it should.
#[derive(Debug)]
struct Missing(String);

impl std::fmt::Display for Missing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

impl Process {
    /// Starts the CLI as `spec` says, with `env` beneath the variables of the scenario.
    pub(crate) async fn start(
        cli: &Path,
        spec: &Map<String, Value>,
        variables: &Variables,
        env: Vec<(String, String)>,
        record: Arc<Record>,
    ) -> Result<Process> {
        let arguments = arguments(spec, variables)?;
        let own_env = variables.fill(spec.get("env").unwrap_or(&json!({})));
        let mut env: BTreeMap<String, String> = env.into_iter().collect();
        for (name, value) in own_env.as_object().into_iter().flatten() {
            match value.as_str() {
                Some(value) => env.insert(name.clone(), value.to_owned()),
                None => env.remove(name),
            };
        }
        let cwd = variables.text(spec.get("cwd").and_then(Value::as_str).unwrap_or("$PROJECT"));
        let errors = Arc::clone(&record);
        let mut spawn = Spawn::new(cli).args(&arguments).env_clear().cwd(PathBuf::from(cwd));
        for (name, value) in &env {
            spawn = spawn.env(name, value);
        }
        let mut child = spawn.on_stderr(Box::new(move |line| errors.stderr(line))).start().await?;
        record.noted(json!({"spawn": arguments, "env": own_env}));
        let host = Host::new(record, child.take_stdin(), rules(spec, variables), servers(spec));
        let host = Arc::new(host);
        let output = child.take_stdout().context("the child has no stdout")?;
        let reader = tokio::spawn(Arc::clone(&host).read(output));
        let grace = spec.get("grace").and_then(Value::as_f64).unwrap_or(USUAL_GRACE);
        let grace = Duration::from_secs_f64(grace);
        Ok(Process { child, host, reader, grace, requests_sent: 0, last: Value::Null, asked: Value::Null })
    }

    /// Takes the steps one after the other.
    pub(crate) async fn play(&mut self, steps: &[Value], variables: &mut Variables) -> Result<()> {
        for written in steps {
            let step = variables.fill(written);
            let options = step.as_object().context("a step is an object")?;
            let (name, value) = options.iter().next().context("a step has a key")?;
            let Err(error) = self.step(name, value, options, variables).await else { continue };
            if let Some(missing) = error.downcast_ref::<Missing>() {
                self.host.record.noted(json!({"timeout": missing.to_string()}));
                if options.get("optional").is_some_and(truthy) {
                    continue;
                }
            }
            return Err(error);
        }
        Ok(())
    }

    /// Ends the process if it still runs: end of input, then SIGTERM, then SIGKILL, to the process alone, so that
    /// what it does for its own children shows.
    pub(crate) async fn finish(self) {
        let mut ended_by = Value::Null;
        if self.child.try_exited().is_none() {
            self.host.close_input().await;
            for (how, signal) in [
                ("stdin closed", None),
                ("SIGTERM", Some(Signal::SIGTERM)),
                ("SIGKILL", Some(Signal::SIGKILL)),
            ] {
                ended_by = json!(how);
                if let Some(signal) = signal {
                    let _ = self.signal(signal);
                }
                if timeout(self.grace, self.child.exited()).await.is_ok() {
                    break;
                }
            }
        }
        let exit = self.child.exited().await;
        let _ = timeout(AFTER_EXIT, self.reader).await;
        self.host.record.noted(json!({"exit": number(exit), "ended_by": ended_by}));
    }

    async fn step(
        &mut self,
        name: &str,
        value: &Value,
        options: &Map<String, Value>,
        variables: &mut Variables,
    ) -> Result<()> {
        let patience = options.get("timeout").and_then(Value::as_f64).unwrap_or(USUAL_PATIENCE);
        let patience = Duration::from_secs_f64(patience);
        let record = Arc::clone(&self.host.record);
        match name {
            "init" => {
                let mut request = Map::from_iter([("subtype".to_owned(), json!("initialize"))]);
                request.extend(value.as_object().cloned().unwrap_or_default());
                self.request(&Value::Object(request), options, patience).await?;
            }
            "ctl" => self.request(value, options, patience).await?,
            "user" => self.host.send(&user_message(value, options.get("extra"))).await,
            "send" => self.host.send(value).await,
            "raw" => {
                let end = options.get("end").and_then(Value::as_str).unwrap_or("\n");
                self.host.send_raw(value.as_str().unwrap_or_default(), end).await;
            }
            "wait" => {
                let wanted = value.as_object().context("`wait` is an object")?.clone();
                self.wait(&wanted, patience).await?;
            }
            "reply" => self.host.reply(&self.asked, value).await,
            "reply_error" => self.host.reply_error(&self.asked, value).await,
            "cancel" => {
                let cancel =
                    json!({"type": "control_cancel_request", "request_id": self.asked["request_id"]});
                self.host.send(&cancel).await;
            }
            "sleep" => tokio::time::sleep(Duration::from_secs_f64(value.as_f64().unwrap_or(0.0))).await,
            "close" => {
                record.noted(json!({"stdin": "closed"}));
                self.host.close_input().await;
            }
            "signal" => {
                record.noted(json!({"signal": value}));
                self.signal(value.as_str().unwrap_or_default().parse()?)?;
            }
            "exit" => {
                let seconds = value.as_f64().unwrap_or(USUAL_PATIENCE);
                let waited = timeout(Duration::from_secs_f64(seconds), self.child.exited()).await;
                waited.map_err(|_| Missing(format!("no exit in {seconds} s")))?;
            }
            "capture" => {
                for (variable, path) in value.as_object().into_iter().flatten() {
                    let found = crate::json::dig(&self.last, path.as_str().unwrap_or_default());
                    variables.0.insert(variable.clone(), found.cloned().unwrap_or_default());
                }
            }
            "show" => {
                let path = value.as_str().unwrap_or_default();
                let content = match std::fs::read(path) {
                    Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    Err(_) => "(No such file or directory)".to_owned(),
                };
                record.noted(json!({"file": path, "content": content}));
            }
            "ls" => {
                let folder = value.as_str().unwrap_or_default();
                record.noted(json!({"ls": folder, "files": files_below(Path::new(folder))}));
            }
            "write" => {
                for (path, text) in value.as_object().into_iter().flatten() {
                    write_file(Path::new(path), text)?;
                }
            }
            "rss" => record.noted(memory(self.child.pid())),
            other => bail!("there is no step `{other}`"),
        }
        Ok(())
    }

    async fn request(
        &mut self,
        request: &Value,
        options: &Map<String, Value>,
        patience: Duration,
    ) -> Result<()> {
        self.requests_sent += 1;
        let id = match options.get("id") {
            Some(id) => id.clone(),
            None => json!(format!("req_{}", self.requests_sent)),
        };
        self.host.send(&json!({"type": "control_request", "request_id": id, "request": request})).await;
        if options.get("nowait").is_some_and(truthy) {
            return Ok(());
        }
        let answer = [("type".to_owned(), json!("control_response")), ("response.request_id".to_owned(), id)];
        self.wait(&Map::from_iter(answer), patience).await
    }

    async fn wait(&mut self, wanted: &Map<String, Value>, patience: Duration) -> Result<()> {
        let found = self.host.wait(wanted, patience).await;
        let found = found.ok_or_else(|| Missing(format!("no message {}", Value::Object(wanted.clone()))))?;
        if found["type"] == "control_request" {
            self.asked = found.clone();
        }
        self.last = found;
        tokio::time::sleep(REACTION).await;
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill(Pid::from_raw(i32::try_from(self.child.pid())?), signal)?)
    }
}

/// Writes a file with the folders on its way; what is no text is written as JSON.
pub(crate) fn write_file(path: &Path, content: &Value) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    Ok(fs_err::write(path, text)?)
}

fn arguments(spec: &Map<String, Value>, variables: &Variables) -> Result<Vec<String>> {
    let listed = |key: &str| -> Result<Vec<String>> {
        let filled = variables.fill(spec.get(key).unwrap_or(&json!([])));
        serde_json::from_value(filled).with_context(|| format!("`{key}` is a list of texts"))
    };
    if spec.contains_key("argv") {
        return listed("argv");
    }
    let usual = USUAL_FLAGS.iter().map(|flag| (*flag).to_owned());
    Ok(usual.chain(listed("flags")?).collect())
}

fn rules(spec: &Map<String, Value>, variables: &Variables) -> Vec<Map<String, Value>> {
    let filled = variables.fill(spec.get("auto").unwrap_or(&json!([])));
    filled.as_array().into_iter().flatten().filter_map(|rule| rule.as_object().cloned()).collect()
}

fn servers(spec: &Map<String, Value>) -> BTreeMap<String, McpServer> {
    let servers = spec.get("mcp").and_then(Value::as_object).into_iter().flatten();
    servers.map(|(name, server)| (name.clone(), McpServer(server.clone()))).collect()
}

fn user_message(content: &Value, extra: Option<&Value>) -> Value {
    let mut message = json!({
        "type": "user", "message": {"role": "user", "content": content},
        "parent_tool_use_id": null, "session_id": "",
    });
    for (key, value) in extra.and_then(Value::as_object).into_iter().flatten() {
        message[key] = value.clone();
    }
    message
}

/// The exit code, or the signal's number below zero.
fn number(exit: Exit) -> Option<i32> {
    exit.code().or_else(|| exit.status.and_then(|status| status.signal()).map(|signal| -signal))
}

/// Paths of all files below a folder, relative to it and in order.
fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                found.push(relative.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn memory(process: u32) -> Value {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| {
        let mut lines = status.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned())
    };
    json!({"rss": field("VmRSS"), "hwm": field("VmHWM"), "threads": field("Threads")})
}
