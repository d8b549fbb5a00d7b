//! Faults between the agent and its host, as a script asks for them.
//!
//! They are put between the connection and the transport, so that everything the agent writes passes them, and nothing
//! else in the agent knows of them.

mod apply;
mod carry;
mod head;
mod hear;
mod ports;

use std::sync::Arc;

use pilothouse_link::Transport;
use pilothouse_model::{Fault, FaultAction};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use apply::Faults;
use hear::Hearing;
use ports::Output;

/// How much may be on its way through the faults.
const BUFFER: usize = 64 * 1024;

/// What only a process can do wrong, not a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessFault {
    /// It ends at once with this code. What was written before has left.
    Exit(u8),
    /// It writes this to stderr, which may block.
    Stderr(Vec<u8>),
    /// It ignores SIGTERM from now on.
    IgnoreSigterm,
    /// It leaves a process behind that ignores SIGTERM and holds stdout open.
    Grandchild,
}

/// Does what only a process can do. For an exit it does not return; where it does, the connection just ends.
pub type DoProcessFault = Arc<dyn Fn(ProcessFault) + Send + Sync>;

/// Puts a script's faults between an agent and what it writes to. Without faults the transport stays as it is. Needs a
/// tokio runtime.
///
/// ```
/// use std::sync::Arc;
/// use pilothouse_agent::faults;
/// use pilothouse_link::{Agent, Connect, Host, Transport};
/// use pilothouse_model::{Script, ScriptSyntax};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let script = Script::parse("fault = [{ on = 'any', do = 'write', text = \"noise\\n\" }]", ScriptSyntax::Toml)?;
/// let (here, there) = Transport::memory();
/// let there = faults::between(there, script.faults, Arc::new(|fault| panic!("{fault:?}")));
/// let (_agent, _) = Connect::<Agent>::new().over(there);
/// let (_host, _) = Connect::<Host>::new().over(here);
/// # Ok::<(), pilothouse_model::ScriptError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn between(transport: Transport, faults: Vec<Fault>, process: DoProcessFault) -> Transport {
    if faults.is_empty() {
        return transport;
    }
    let ignores_end = faults.iter().any(|fault| fault.action == FaultAction::IgnoreEof);
    let closing = CancellationToken::new();
    // Unbounded, because there are only as many as the script has faults.
    let (to_agent, added) = mpsc::unbounded_channel();
    let hearing = Hearing { added, ignores_end, closing: closing.clone() };
    transport.wrapped(
        |reader| {
            let (near, far) = tokio::io::duplex(BUFFER);
            tokio::spawn(hear::hear(reader, far, hearing));
            near
        },
        |writer| {
            let (near, far) = tokio::io::duplex(BUFFER);
            let stage = Faults::new(faults, writer, to_agent, process, closing.clone());
            Output::new(near, tokio::spawn(carry::carry(far, stage)), closing)
        },
    )
}

/// Waits until everything has left.
async fn drain(writer: &mut ports::Sink) {
    // A host that is gone gets nothing more, and that is no fault of ours.
    let _ = writer.flush().await;
    let _ = writer.shutdown().await;
}
