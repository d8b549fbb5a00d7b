//! The task between the transport and the connection: what the host says passes, and a fault may add a line of its own.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// What a fault does to the agent's input.
pub(super) struct Hearing {
    /// Lines that the host has not written.
    pub(super) added: UnboundedReceiver<Vec<u8>>,
    /// The end of the input is not to be seen.
    pub(super) ignores_end: bool,
    /// Fires when the agent wants to end.
    pub(super) closing: CancellationToken,
}

pub(super) async fn hear(
    mut from: Box<dyn AsyncRead + Send + Unpin>,
    mut to: DuplexStream,
    mut hearing: Hearing,
) {
    let mut chunk = vec![0; super::BUFFER];
    // A line of ours must not fall into the middle of one of the host's.
    let mut is_between_lines = true;
    loop {
        let written = tokio::select! {
            read = from.read(&mut chunk) => {
                let Ok(read @ 1..) = read else { break };
                let part = chunk.get(..read).unwrap_or_default();
                is_between_lines = part.ends_with(b"\n");
                to.write_all(part).await
            }
            Some(line) = hearing.added.recv(), if is_between_lines => to.write_all(&line).await,
        };
        if written.is_err() {
            return;
        }
    }
    if hearing.ignores_end {
        hearing.closing.cancelled().await;
    }
}
