//! Documents of foreign formats are parsed in a child process that has limits, because a parser can overflow its stack or
//! allocate without end and neither can be stopped from outside in the process that it runs in.
//!
//! The child is this program again, started with [`PARSER_ARGUMENT`] when the first document is read. It takes one request
//! after the other, exits when idle, and is killed with this process. A child that dies costs the one call that it worked
//! for; the next call starts a new one.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use pilothouse_proc::{Child, Exit, ReadPipe, Spawn, WritePipe};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Mutex;

use crate::parser_worker::{CPU_SECONDS, Job, LARGEST_REPLY, MEMORY, READY};

/// The only argument of a program that runs as a parser: it calls [`run_parser_worker`](crate::run_parser_worker) when it
/// finds this as its first argument.
pub const PARSER_ARGUMENT: &str = "__parse";

/// A request that takes longer is given up, and the child with it.
const LONGEST: Duration = Duration::from_secs(30);
/// A child that does not say within this time that it is ready is not the program it should be.
const LONGEST_START: Duration = Duration::from_secs(10);
/// Something else may be printed before the child is ready, but no more than this.
const LONGEST_GREETING: usize = 4 << 10;
/// `SIGXCPU`, which is sent at the limit of CPU time.
const SIGXCPU: i32 = 24;

/// The program that parses documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParserProgram {
    /// The executable.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl ParserProgram {
    /// The running program, which must know [`PARSER_ARGUMENT`].
    ///
    /// # Errors
    /// When the system does not say which file it runs from.
    pub fn this_program() -> std::io::Result<Self> {
        // This link leads to the running program even after its file was replaced by a newer one.
        let program = match cfg!(target_os = "linux") {
            true => OsString::from("/proc/self/exe"),
            false => std::env::current_exe()?.into(),
        };
        Ok(Self { program, arguments: vec![PARSER_ARGUMENT.into()] })
    }
}

/// Why a document was not parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    /// The host of this library gave no [`ParserProgram`].
    #[error("this program has no parser for it: it runs without a parser process")]
    NoParser,
    #[error("the parser process cannot be started: {0}")]
    NoStart(String),
    #[error("the document is broken: {0}")]
    Broken(String),
    #[error("it takes more than the {} MiB of memory that a parser may use", MEMORY >> 20)]
    Memory,
    #[error("it nests deeper than a parser can follow")]
    Depth,
    #[error("it takes more than the {CPU_SECONDS} s of CPU time that a parser may use")]
    Cpu,
    #[error("it takes longer than {} s to parse", LONGEST.as_secs())]
    Time,
    #[error("its text is longer than the {} MiB that a parser may return", LARGEST_REPLY >> 20)]
    Output,
    #[error("the parser failed on it ({0})")]
    Died(String),
}

/// Parses documents, one at a time.
#[derive(Default)]
pub(crate) struct Parsers {
    program: Option<ParserProgram>,
    /// The child, while it has nothing to do. It is taken out for a request, so that a request that is given up takes the child
    /// with it.
    idle: Mutex<Option<Worker>>,
}

impl Parsers {
    pub(crate) fn new(program: Option<ParserProgram>) -> Self {
        Self { program, idle: Mutex::default() }
    }

    pub(crate) async fn parse(&self, job: &Job, document: &[u8]) -> Result<Vec<u8>, ParseError> {
        let program = self.program.as_ref().ok_or(ParseError::NoParser)?;
        let mut idle = self.idle.lock().await;
        let kept = idle.take().filter(|worker| !worker.child.has_exited());
        let is_kept = kept.is_some();
        let mut worker = match kept {
            Some(worker) => worker,
            None => Worker::start(program).await?,
        };
        let mut answer = worker.request(job, document).await;
        // The child exits by itself when idle, and may do so just when the request is sent.
        if is_kept && matches!(answer, Err(ParseError::Died(_))) {
            worker = Worker::start(program).await?;
            answer = worker.request(job, document).await;
        }
        if matches!(answer, Ok(_) | Err(ParseError::Broken(_))) {
            *idle = Some(worker);
        }
        answer
    }
}

impl fmt::Debug for Parsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parsers").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A child that waits for requests. Dropping it kills it.
struct Worker {
    child: Child,
    requests: WritePipe,
    replies: ReadPipe,
}

impl Worker {
    async fn start(program: &ParserProgram) -> Result<Self, ParseError> {
        // No variables: a parser needs none, and some hold secrets.
        let spawn = Spawn::new(&program.program).args(program.arguments.clone()).env_clear().cwd("/");
        let mut child = spawn.start().await.map_err(|error| ParseError::NoStart(error.to_string()))?;
        let (Some(requests), Some(replies)) = (child.take_stdin(), child.take_stdout()) else {
            return Err(ParseError::NoStart("it has no pipes".to_owned()));
        };
        let mut worker = Self { child, requests, replies };
        match tokio::time::timeout(LONGEST_START, worker.greeting()).await {
            Ok(Some(())) => Ok(worker),
            _ => {
                let said = worker.child.stderr_tail();
                let said = said.lines().next_back().unwrap_or("it is not a parser").to_owned();
                Err(ParseError::NoStart(said))
            }
        }
    }

    async fn greeting(&mut self) -> Option<()> {
        let mut said = Vec::new();
        while !said.ends_with(READY) {
            if said.len() > LONGEST_GREETING {
                return None;
            }
            said.push(self.replies.read_u8().await.ok()?);
        }
        Some(())
    }

    async fn request(&mut self, job: &Job, document: &[u8]) -> Result<Vec<u8>, ParseError> {
        match tokio::time::timeout(LONGEST, self.exchange(job, document)).await {
            Ok(Ok(answer)) => answer,
            // The pipe ended in the middle: the child is gone, or about to go.
            Ok(Err(_)) => {
                let exit = tokio::time::timeout(LONGEST_START, self.child.exited()).await.ok();
                Err(cause_of(exit, &self.child.stderr_tail()))
            }
            Err(_) => Err(ParseError::Time),
        }
    }

    async fn exchange(&mut self, job: &Job, document: &[u8]) -> std::io::Result<Result<Vec<u8>, ParseError>> {
        let job = serde_json::to_vec(job)?;
        self.requests.write_u32(u32::try_from(job.len()).unwrap_or(u32::MAX)).await?;
        self.requests.write_u32(u32::try_from(document.len()).unwrap_or(u32::MAX)).await?;
        self.requests.write_all(&job).await?;
        self.requests.write_all(document).await?;
        let is_parsed = self.replies.read_u8().await? == 0;
        let length = self.replies.read_u32().await? as usize;
        if length > LARGEST_REPLY {
            return Ok(Err(ParseError::Output));
        }
        let mut reply = vec![0; length];
        self.replies.read_exact(&mut reply).await?;
        Ok(match is_parsed {
            true => Ok(reply),
            false => Err(ParseError::Broken(String::from_utf8_lossy(&reply).into_owned())),
        })
    }
}

/// Which limit ended a child, by its exit and by the last words of the Rust runtime.
fn cause_of(exit: Option<Exit>, stderr: &str) -> ParseError {
    let signal = exit.and_then(|exit| exit.status).and_then(|status| status.signal());
    if stderr.contains("overflowed its stack") {
        ParseError::Depth
    } else if stderr.contains("memory allocation of") || stderr.contains("capacity overflow") {
        ParseError::Memory
    } else if signal == Some(SIGXCPU) {
        ParseError::Cpu
    } else {
        ParseError::Died(exit.map_or_else(|| "it hangs".to_owned(), |exit| exit.to_string()))
    }
}
