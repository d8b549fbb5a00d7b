//! The agent as a process: a drop-in for the `claude` executable where a program drives it. It is the program
//! `pilothouse-agent`, and part of `pilothouse`, which runs itself as one when there is no other.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pilothouse_agent::faults::{self, DoProcessFault, ProcessFault};
use pilothouse_agent::launch::{Command, Environment, InputFormat, Launch};
use pilothouse_agent::{
    Agent, Options, PARSER_ARGUMENT, PROTOCOL_VERSION, ParserProgram, SandboxChoice, Signal, Stamp,
    load_script, take_sandbox_flag, take_script_flag,
};
use pilothouse_link::Transport;
use pilothouse_model::{ApiConfig, MessagesApi, Model, Script, ScriptModel};
use pilothouse_proto::launch::{Flag, Takes};
use tokio::signal::unix::{SignalKind, signal};

use crate::debug_log;

/// Names a script to play, for hosts that choose the arguments themselves.
const SCRIPT_VARIABLE: &str = "PILOTHOUSE_SCRIPT";

/// Ends a session before it begins if a settings file cannot be read.
const STRICT_FLAG: &str = "--strict-settings";

/// Whether a switch is among the arguments before `--`, and the other arguments.
fn take_switch(switch: &str, arguments: Vec<String>) -> (bool, Vec<String>) {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let is_set = arguments.iter().take(end).any(|word| word == switch);
    let rest = arguments.into_iter().enumerate().filter(|(at, word)| *at >= end || word != switch);
    (is_set, rest.map(|(_, word)| word).collect())
}

/// Does what this process was started for by another of this program: parse documents, or enter a sandbox and become a command.
pub(crate) fn help_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next()?;
    if first == pilothouse_sandbox::ARGUMENT {
        return Some(pilothouse_sandbox::main(arguments));
    }
    (first == PARSER_ARGUMENT).then(|| match pilothouse_agent::run_parser_worker(std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("Error: {error}")),
    })
}

/// Runs an agent with these arguments, without the name of the program.
pub(crate) fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    let cwd = match std::env::current_dir() {
        Ok(cwd) => cwd,
        Err(error) => return refuse(&format!("Error: the working directory cannot be used: {error}")),
    };
    let (script, arguments) = match take_script_flag(arguments) {
        Ok(taken) => taken,
        Err(refused) => return refuse(&refused.0),
    };
    let (is_strict, arguments) = take_switch(STRICT_FLAG, arguments);
    let (sandbox, arguments) = match take_sandbox_flag(arguments) {
        Ok(taken) => taken,
        Err(refused) => return refuse(&refused.0),
    };
    let script = script.or_else(|| std::env::var(SCRIPT_VARIABLE).ok().filter(|name| !name.is_empty()));
    match Command::read(arguments, cwd, Environment::of_process()) {
        Ok(Command::AuthStatus(status)) => {
            print(&status.text);
            if status.logged_in { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok(Command::Version) => {
            print(&format!("{PROTOCOL_VERSION} (Pilothouse {})", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
        Ok(Command::Help) => {
            print(&help());
            ExitCode::SUCCESS
        }
        Ok(Command::Run(mut launch)) => {
            let script = match script.map(|name| load_script(&name, &launch.cwd)).transpose() {
                Ok(script) => script,
                Err(error) => return refuse(&format!("Error: {error}")),
            };
            if let Err(warning) = debug_log::start(&mut launch) {
                complain(&warning);
            }
            // Without it PDFs are refused, with the reason.
            launch.parser = ParserProgram::this_program().ok();
            launch.strict_settings = is_strict;
            launch.sandbox = SandboxChoice { mode: sandbox, helper: std::env::current_exe().ok() };
            run(*launch, script)
        }
        Err(refused) => refuse(&refused.0),
    }
}

fn run(launch: Launch, script: Option<Script>) -> ExitCode {
    // One thread: a session is one conversation, and fifty of them should fit on a small machine.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&format!("Error: cannot start: {error}")),
    };
    let code = runtime.block_on(session(launch, script));
    // Nothing that still runs is waited for.
    runtime.shutdown_background();
    code
}

async fn session(launch: Launch, script: Option<Script>) -> ExitCode {
    // Whatever a command does to be forgotten, it stays below this process and goes with it.
    if let Err(error) = pilothouse_proc::adopt_orphans() {
        tracing::warn!(%error, "orphans of commands may outlive the session");
    }
    // Nor does it outlive a process that is killed and can end nothing itself.
    pilothouse_proc::guard_children();
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
    let misbehaviour = Misbehaviour::default();
    let (transport, model): (Transport, Arc<dyn Model>) = match script {
        None => (transport, Arc::new(MessagesApi::new(config))),
        Some(mut script) => {
            if let Some(seed) = script.seed {
                options.stamp = Stamp::pinned(seed);
            }
            let faults = std::mem::take(&mut script.faults);
            let model = ScriptModel::new(script).with("cwd", launch.cwd.to_string_lossy());
            let transport = faults::between(transport, faults, misbehaviour.doer());
            (transport, Arc::new(model.max_retries(config.max_retries)))
        }
    };
    let agent = Agent::start(launch, transport, model, options);
    if let Ok(signals) = signals {
        let (send, misbehaviour) = (agent.signaller(), misbehaviour.clone());
        tokio::spawn(signals.pass(move |signal| {
            if signal != Signal::Terminate || !misbehaviour.ignores_sigterm() {
                send(signal);
            }
        }));
    }
    let finish = agent.finished().await;
    match misbehaviour.leaves_a_grandchild() {
        true => pilothouse_proc::dismiss_guard(),
        false => pilothouse_proc::kill_descendants(),
    }
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

/// What the process does wrong because a script asks for it.
#[derive(Clone, Debug, Default)]
struct Misbehaviour {
    ignore_sigterm: Arc<AtomicBool>,
    grandchild: Arc<AtomicBool>,
}

impl Misbehaviour {
    fn ignores_sigterm(&self) -> bool {
        self.ignore_sigterm.load(Ordering::Relaxed)
    }

    fn leaves_a_grandchild(&self) -> bool {
        self.grandchild.load(Ordering::Relaxed)
    }

    fn doer(&self) -> DoProcessFault {
        let this = self.clone();
        Arc::new(move |fault| match fault {
            ProcessFault::Exit(code) => std::process::exit(code.into()),
            ProcessFault::Stderr(bytes) => drop(std::io::stderr().write_all(&bytes)),
            ProcessFault::IgnoreSigterm => this.ignore_sigterm.store(true, Ordering::Relaxed),
            ProcessFault::Grandchild => {
                this.grandchild.store(true, Ordering::Relaxed);
                leave_a_grandchild();
            }
        })
    }
}

fn leave_a_grandchild() {
    #[expect(clippy::disallowed_methods, reason = "the fault is a child that nobody looks after")]
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "trap '' TERM HUP; exec sleep 600"]).stdin(std::process::Stdio::null());
    if let Err(error) = shell.spawn() {
        complain(&format!("no grandchild: {error}"));
    }
}

fn help() -> String {
    let mut lines = vec!["Usage: pilothouse-agent [options] [prompt]".to_owned(), String::new()];
    lines.push(format!("  {:<50} {}", "--script <file>", "Let a script be the model; `demo` is built in"));
    lines.push(format!("  {STRICT_FLAG:<50} {}", "Do not start if a settings file cannot be read"));
    let sandbox = "Run commands without network and writes outside the project";
    lines.push(format!("  {:<50} {sandbox}", "--sandbox <off|strict>"));
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
