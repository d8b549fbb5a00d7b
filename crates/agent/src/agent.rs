use std::sync::Arc;

use pilothouse_link::{Connect, Inbound, Transport};
use pilothouse_model::Model;
use pilothouse_proto::User;
use pilothouse_tools::Background;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::driver::Driver;
use crate::launch::{InputFormat, Launch};
use crate::machine::Prompt;
use crate::session::Session;
use crate::stamp::Stamp;

/// The longest line that is read: hosts send pictures and whole files in one.
const LONGEST_LINE: usize = 256 << 20;

/// Takes what goes to stderr, a line at a time.
pub type Complain = Arc<dyn Fn(&str) + Send + Sync>;

/// A running agent.
///
/// ```
/// use std::sync::Arc;
/// use pilothouse_agent::launch::{Command, Environment};
/// use pilothouse_agent::{Agent, Options};
/// use pilothouse_link::{Connect, Host, Transport};
/// use pilothouse_model::{ApiConfig, MessagesApi};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let line = "--output-format stream-json --input-format stream-json --verbose";
/// let Ok(Command::Run(launch)) = Command::read(line.split(' '), "/tmp", Environment::default()) else { panic!() };
/// let (here, there) = Transport::memory();
/// let agent = Agent::start(*launch, there, Arc::new(MessagesApi::new(ApiConfig::from_env(|_| None))), Options::default());
/// let (host, _events) = Connect::<Host>::new().over(here);
/// host.end_input();
/// assert_eq!(agent.finished().await.code, 0);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Agent {
    session: Arc<Session>,
    signals: mpsc::UnboundedSender<Signal>,
    task: JoinHandle<Finish>,
}

/// What a program that runs an agent may want otherwise.
pub struct Options {
    /// Where ids and times come from.
    pub stamp: Stamp,
    /// Who gets what goes to stderr.
    pub complain: Complain,
    /// The prompt, for runs that take no frames; it wins over that of the command line.
    pub prompt: Option<String>,
}

/// A signal, as it reaches a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The user wants to stop: the turn ends as if interrupted, then the process.
    Interrupt,
    /// The process is to end now.
    Terminate,
    /// The terminal is gone.
    Hangup,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// The exit code.
    pub code: i32,
    /// What to print, for runs that do not stream.
    pub printed: Option<String>,
}

impl Agent {
    /// Starts a session over a transport. Needs a tokio runtime with time enabled.
    pub fn start(launch: Launch, transport: Transport, model: Arc<dyn Model>, options: Options) -> Self {
        // Unbounded, because the connection's own task must never wait; there are only as many as the host sends.
        let (ask, requests) = mpsc::unbounded_channel::<Inbound<pilothouse_link::Agent>>();
        let (host, events) = Connect::<pilothouse_link::Agent>::new()
            .max_line(LONGEST_LINE)
            .request_timeout(None)
            .serve(move |inbound| drop(ask.send(inbound)))
            .over(transport);
        let first = (launch.input == InputFormat::Text).then(|| {
            let text = options.prompt.or_else(|| launch.prompt.clone()).unwrap_or_default();
            Prompt::from_host(User::prompt(text))
        });
        let (background, task_ends) = Background::new();
        let session = Arc::new(Session::new(launch, options.stamp, host, model, background));
        session.mcp.belong_to(&session);
        let (signals, heard) = mpsc::unbounded_channel();
        let driver =
            Driver { session: session.clone(), signals: heard, task_ends, complain: options.complain, first };
        let task = tokio::spawn(driver.run(events, requests));
        Self { session, signals, task }
    }

    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Lets the session know of a signal.
    pub fn signal(&self, signal: Signal) {
        // A session that has ended needs no signal.
        let _ = self.signals.send(signal);
    }

    /// Something to send signals with while [`Agent::finished`] is awaited.
    pub fn signaller(&self) -> impl Fn(Signal) + Send + Sync + 'static {
        let signals = self.signals.clone();
        move |signal| {
            let _ = signals.send(signal);
        }
    }

    /// Waits for the end.
    pub async fn finished(self) -> Finish {
        self.task.await.unwrap_or(Finish { code: 1, printed: None })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { stamp: Stamp::real(), complain: Arc::new(|line| tracing::warn!("{line}")), prompt: None }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("stamp", &self.stamp)
            .field("prompt", &self.prompt)
            .finish_non_exhaustive()
    }
}
