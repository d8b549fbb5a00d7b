//! One CLI from its start through two turns, and many at once.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pilothouse_proc::{Child, Ladder, ReadPipe, Spawn, WritePipe};
use pilothouse_testkit::{Api, Sandbox, Turn, processes_marked};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};

/// Long enough for a slow program on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

const FLAGS: &str =
    "-p --output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio";

/// What one run showed.
pub(crate) struct Figures {
    /// From the start of the process to its reply to `initialize`.
    pub(crate) start: Duration,
    /// From the first message of the user to the first request at the API.
    pub(crate) first_request: Duration,
    /// Resident memory of the process and its children after two turns.
    pub(crate) memory_kib: u64,
}

/// What many at once showed.
pub(crate) struct Crowd {
    /// From the start of the first to the last result of two turns each.
    pub(crate) took: Duration,
    /// Their resident memory together; pages that they share are counted for each.
    pub(crate) memory_kib: u64,
}

struct Running {
    api: Api,
    sandbox: Sandbox,
    child: Child,
    input: WritePipe,
    output: Lines<BufReader<ReadPipe>>,
}

/// Starts a CLI, says two things, and ends it.
pub(crate) async fn one(cli: &Path) -> Result<Figures> {
    let begun = Instant::now();
    let mut running = Running::start(cli).await?;
    running.initialize().await?;
    let start = begun.elapsed();
    let asked = Instant::now();
    running.say("first").await?;
    running.api.wait_for_main_calls(1, PATIENCE).await?;
    let first_request = asked.elapsed();
    running.until("result").await?;
    running.say("second").await?;
    running.until("result").await?;
    let memory_kib = running.memory_kib();
    running.end().await;
    Ok(Figures { start, first_request, memory_kib })
}

/// The same with many at once; memory is taken when all have answered and none has ended.
pub(crate) async fn many(cli: &Path, copies: usize) -> Result<Crowd> {
    let begun = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..copies {
        let cli = cli.to_owned();
        all.spawn(async move {
            let mut running = Running::start(&cli).await?;
            running.initialize().await?;
            for prompt in ["first", "second"] {
                running.say(prompt).await?;
                running.until("result").await?;
            }
            Ok::<Running, anyhow::Error>(running)
        });
    }
    let mut done = Vec::new();
    while let Some(running) = all.join_next().await {
        done.push(running??);
    }
    let took = begun.elapsed();
    let memory_kib = done.iter().map(Running::memory_kib).sum();
    for running in done {
        running.end().await;
    }
    Ok(Crowd { took, memory_kib })
}

impl Running {
    async fn start(cli: &Path) -> Result<Self> {
        let api = Api::script([Turn::text("one"), Turn::text("two")])?;
        let sandbox = Sandbox::new()?;
        let mut spawn = Spawn::new(cli).args(FLAGS.split(' ')).cwd(sandbox.project()).env_clear();
        for (name, value) in sandbox.env(&api.url()) {
            spawn = spawn.env(name, value);
        }
        let mut child = spawn.start().await?;
        let input = child.take_stdin().context("no stdin")?;
        let output = BufReader::new(child.take_stdout().context("no stdout")?).lines();
        Ok(Self { api, sandbox, child, input, output })
    }

    async fn initialize(&mut self) -> Result<()> {
        let request = json!({"subtype": "initialize"});
        self.send(&json!({"type": "control_request", "request_id": "r1", "request": request})).await?;
        self.until("control_response").await
    }

    async fn say(&mut self, text: &str) -> Result<()> {
        let message = json!({"role": "user", "content": text});
        self.send(&json!({"type": "user", "message": message, "parent_tool_use_id": null})).await
    }

    async fn send(&mut self, frame: &Value) -> Result<()> {
        Ok(self.input.write_all(format!("{frame}\n").as_bytes()).await?)
    }

    async fn until(&mut self, kind: &str) -> Result<()> {
        let found = async {
            while let Some(line) = self.output.next_line().await? {
                let frame: Value = serde_json::from_str(&line).unwrap_or_default();
                if frame["type"] == kind {
                    return Ok(());
                }
            }
            bail!("it ended before a {kind}: {}", self.child.stderr_tail())
        };
        tokio::time::timeout(PATIENCE, found).await.with_context(|| format!("no {kind} in time"))?
    }

    fn memory_kib(&self) -> u64 {
        let processes = processes_marked(&self.sandbox.marker());
        processes.iter().filter_map(|process| resident_kib(process.pid)).sum()
    }

    async fn end(mut self) {
        drop(self.input);
        self.child.close(Ladder::default()).await;
    }
}

fn resident_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
