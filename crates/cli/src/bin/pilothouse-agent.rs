//! The program `pilothouse-agent`: a drop-in for the `claude` executable where a program drives it.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use pilothouse_agent::launch::{Command, Environment, InputFormat, Launch};
use pilothouse_agent::{Agent, Options, PROTOCOL_VERSION, Signal};
use pilothouse_link::Transport;
use pilothouse_model::{ApiConfig, MessagesApi};
use pilothouse_proto::launch::{Flag, Takes};
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let cwd = match std::env::current_dir() {
        Ok(cwd) => cwd,
        Err(error) => return refuse(&format!("Error: the working directory cannot be used: {error}")),
    };
    match Command::read(std::env::args().skip(1), cwd, Environment::of_process()) {
        Ok(Command::Version) => {
            print(&format!("{PROTOCOL_VERSION} (Pilothouse {})", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
        Ok(Command::Help) => {
            print(&help());
            ExitCode::SUCCESS
        }
        Ok(Command::Run(mut launch)) => {
            start_log(&mut launch);
            run(*launch)
        }
        Err(refused) => refuse(&refused.0),
    }
}

fn run(launch: Launch) -> ExitCode {
    // One thread: a session is one conversation, and fifty of them should fit on a small machine.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&format!("Error: cannot start: {error}")),
    };
    let code = runtime.block_on(session(launch));
    // Nothing that still runs is waited for.
    runtime.shutdown_background();
    code
}

async fn session(launch: Launch) -> ExitCode {
    // Before anything is said: whoever has heard from this process may send it a signal.
    let signals = Signals::listen();
    let mut options = Options { complain: Arc::new(complain), ..Options::default() };
    let transport = match launch.input {
        InputFormat::StreamJson => Transport::stdio(),
        InputFormat::Text => {
            options.prompt = match one_shot_prompt(&launch) {
                Ok(prompt) => Some(prompt),
                Err(text) => return refuse(text),
            };
            Transport::stdout()
        }
    };
    let transport = match transport {
        Ok(transport) => transport,
        Err(error) => return refuse(&format!("Error: stdin and stdout cannot be used: {error}")),
    };
    let config = ApiConfig::from_env(|name| launch.env.get(name).map(str::to_owned));
    let agent = Agent::start(launch, transport, Arc::new(MessagesApi::new(config)), options);
    if let Ok(signals) = signals {
        tokio::spawn(signals.pass(agent.signaller()));
    }
    let finish = agent.finished().await;
    if let Some(printed) = finish.printed {
        print(&printed);
    }
    ExitCode::from(u8::try_from(finish.code).unwrap_or(1))
}

/// The prompt of a run that takes no frames: from the command line, and from stdin when that is not a terminal.
fn one_shot_prompt(launch: &Launch) -> Result<String, &'static str> {
    let mut piped = String::new();
    let mut stdin = std::io::stdin();
    if !stdin.is_terminal() {
        // What is no text is no prompt.
        let _ = stdin.read_to_string(&mut piped);
    }
    let prompt = [launch.prompt.as_deref().unwrap_or_default(), piped.trim()];
    let prompt = prompt.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    if prompt.is_empty() {
        return Err(
            "Error: Input must be provided either through stdin or as a prompt argument when using --print",
        );
    }
    Ok(prompt)
}

/// Writes a log when the command line asks for one: to a file of its own below the configuration home, unless it is told
/// where. A log that cannot be written costs nothing else.
fn start_log(launch: &mut Launch) {
    let Some(debug) = launch.debug.clone() else { return };
    let filter = debug.filter.filter(|filter| filter.contains('=')).unwrap_or_else(|| "debug".to_owned());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    if debug.to_stderr {
        log.with_writer(std::io::stderr).init();
        return;
    }
    let file = debug.file.unwrap_or_else(|| {
        let id = launch.session_id.get_or_insert_with(|| uuid::Uuid::new_v4().to_string());
        launch
            .env
            .config_dir()
            .unwrap_or_else(|| launch.env.home().unwrap_or_default().join(".claude"))
            .join("debug")
            .join(format!("{id}.txt"))
    });
    let opened = file
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::OpenOptions::new().create(true).append(true).open(&file));
    match opened {
        Ok(file) => log.with_writer(std::sync::Mutex::new(file)).init(),
        Err(error) => complain(&format!("Warning: the debug log cannot be written: {error}")),
    }
}

struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn pass(mut self, send: impl Fn(Signal)) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => send(Signal::Interrupt),
                _ = self.terminate.recv() => send(Signal::Terminate),
                _ = self.hangup.recv() => send(Signal::Hangup),
            }
        }
    }
}

fn help() -> String {
    let mut lines = vec!["Usage: pilothouse-agent [options] [prompt]".to_owned(), String::new()];
    for flag in Flag::ALL {
        let value = match flag.takes() {
            Takes::Switch => "",
            Takes::Value => " <value>",
            Takes::Optional => " [value]",
            Takes::List => " <values...>",
        };
        lines.push(format!("  {:<50} {}", format!("{}{value}", flag.name()), flag.summary()));
    }
    lines.join("\n")
}

fn refuse(text: &str) -> ExitCode {
    complain(text);
    ExitCode::FAILURE
}

fn complain(line: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn print(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
