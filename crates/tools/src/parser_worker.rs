//! The parser process: it reads requests from stdin, parses, and writes replies to stdout, within limits that it sets itself.
//!
//! A request is the length of the job and of the document (two 32-bit numbers, big-endian), the job as JSON, the document. A
//! reply is a byte (0: parsed, 1: the document is broken), a 32-bit length, and the result or the reason.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::text_file::LARGEST;
use crate::{html, notebook_view, pdf_text};

/// The address space of the process, in bytes: its own code, stacks and arenas are about 200 MiB of that.
pub(crate) const MEMORY: u64 = 1 << 30;
/// CPU time of one request, in seconds.
pub(crate) const CPU_SECONDS: u64 = 20;
/// The longest result.
pub(crate) const LARGEST_REPLY: usize = 48 << 20;
/// Printed when requests can be taken.
pub(crate) const READY: &[u8] = b"pilothouse-parser 1\n";

/// The parser's thread. Parsers that call themselves for each level of a document get some thousand levels.
const STACK: usize = 8 << 20;
const LONGEST_JOB: usize = 64 << 10;
const LONGEST_IDLE: Duration = Duration::from_secs(60);
/// Stdin, stdout, stderr, the reply pipe and `/dev/null`.
const MOST_FILES: u64 = 16;

/// What to do with a document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Markdown of a page.
    Html,
    /// The text of some pages.
    Pdf(pdf_text::Part),
    /// The cells, as `Read` shows them.
    Notebook,
}

impl Job {
    /// Parses a document; an error says what is wrong with it.
    pub(crate) fn run(&self, document: &[u8]) -> Result<Vec<u8>, String> {
        let json = |result: serde_json::Result<Vec<u8>>| result.map_err(|error| error.to_string());
        match self {
            Self::Html => html::markdown(&String::from_utf8_lossy(document)).map(String::into_bytes),
            Self::Pdf(part) => json(serde_json::to_vec(&pdf_text::extract(document, *part)?)),
            Self::Notebook => json(serde_json::to_vec(&notebook_view::view(document)?)),
        }
    }
}

/// Parses a document in this process, for fuzzing: the kind is `html`, `text` of a page, `pdf` or `notebook`.
#[doc(hidden)]
pub fn parse_here(kind: &str, document: &[u8]) -> Result<Vec<u8>, String> {
    match kind {
        "html" => Job::Html.run(document),
        "text" => Ok(html::without_tags(&String::from_utf8_lossy(document)).into_bytes()),
        "pdf" => Job::Pdf(pdf_text::Part::whole(LONGEST_JOB)).run(document),
        _ => Job::Notebook.run(document),
    }
}

/// Runs this process as a parser until its stdin ends or nobody asks for a minute. A program calls it first of all when
/// its first argument is [`PARSER_ARGUMENT`](crate::PARSER_ARGUMENT), with its stdout for the replies.
///
/// # Errors
/// When a limit cannot be set, or the pipes fail.
pub fn run_parser_worker(stdout: impl AsFd) -> io::Result<()> {
    set_limits()?;
    // A library that prints would break the replies.
    let replies = File::from(rustix::io::dup(stdout)?);
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    // A panic is told in the reply.
    std::panic::set_hook(Box::new(|_| {}));
    let thread = std::thread::Builder::new().name("parser".to_owned()).stack_size(STACK);
    let served = thread.spawn(move || serve(replies))?.join();
    served.unwrap_or_else(|_| Err(io::Error::other("the parser panicked")))
}

fn set_limits() -> io::Result<()> {
    let both = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(Resource::As, both(MEMORY))?;
    setrlimit(Resource::Core, both(0))?;
    setrlimit(Resource::Fsize, both(0))?;
    setrlimit(Resource::Nofile, both(MOST_FILES))?;
    Ok(())
}

/// CPU time is counted for the whole life of a process, so each request moves the limit on.
fn set_cpu_limit() -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
    let current = Some(used + CPU_SECONDS + 1);
    Ok(setrlimit(Resource::Cpu, Rlimit { current, maximum: None })?)
}

fn serve(mut replies: File) -> io::Result<()> {
    replies.write_all(READY)?;
    let mut requests = File::from(rustix::io::dup(io::stdin())?);
    loop {
        let idle = Timespec::try_from(LONGEST_IDLE).ok();
        let mut waiting = [PollFd::new(&requests, PollFlags::IN)];
        if poll(&mut waiting, idle.as_ref())? == 0 {
            return Ok(());
        }
        let mut lengths = [0; 8];
        if let Err(error) = requests.read_exact(&mut lengths) {
            // The parent has closed the pipe.
            return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(()) } else { Err(error) };
        }
        set_cpu_limit()?;
        let [job, document] = split(lengths);
        if job > LONGEST_JOB || document as u64 > LARGEST {
            return Err(io::Error::other("the request is too long"));
        }
        let job = read(&mut requests, job)?;
        let document = read(&mut requests, document)?;
        let job: Job = serde_json::from_slice(&job)?;
        let parsed = catch_unwind(AssertUnwindSafe(|| job.run(&document)));
        let (status, reply) = match parsed {
            Ok(Ok(reply)) => (0, reply),
            Ok(Err(problem)) => (1, problem.into_bytes()),
            Err(_) => (1, b"the parser gave up on it".to_vec()),
        };
        replies.write_all(&[status])?;
        replies.write_all(&u32::try_from(reply.len()).unwrap_or(u32::MAX).to_be_bytes())?;
        replies.write_all(&reply)?;
    }
}

fn split(lengths: [u8; 8]) -> [usize; 2] {
    let both = u64::from_be_bytes(lengths);
    [both >> 32, both & u64::from(u32::MAX)].map(|length| usize::try_from(length).unwrap_or(usize::MAX))
}

fn read(from: &mut File, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}
