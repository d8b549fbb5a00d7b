use std::io::{self, Write};
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{BEHIND, Input, Output};

#[tokio::test]
async fn input_delivers_everything_and_then_ends() {
    let text = vec![b'x'; 300_000];
    let mut input = Input::start(io::Cursor::new(text.clone())).unwrap();
    let mut read = Vec::new();
    input.read_to_end(&mut read).await.unwrap();
    assert_eq!(read, text);
}

/// A stream whose writes succeed only when the test lets them.
struct Gate(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.1.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn output_takes_only_so_much_from_a_stream_that_stalls() {
    let (open, gate) = mpsc::channel();
    let (written, seen) = mpsc::channel();
    let mut output = Output::start(Gate(gate, written)).unwrap();
    let text = vec![b'y'; 3 * BEHIND];
    let stalled = tokio::time::timeout(Duration::from_millis(100), output.write_all(&text)).await;
    assert!(stalled.is_err());
    for _ in 0..10 {
        open.send(()).unwrap();
    }
    output.shutdown().await.unwrap();
    let total: usize = seen.try_iter().map(|bytes| bytes.len()).sum();
    assert!((1..=2 * BEHIND).contains(&total), "{total}");
}

#[tokio::test]
async fn output_reports_a_stream_that_failed() {
    let (open, gate) = mpsc::channel();
    let (written, seen) = mpsc::channel();
    drop((open, seen));
    let mut output = Output::start(Gate(gate, written)).unwrap();
    let result = async {
        output.write_all(b"one").await?;
        output.shutdown().await
    };
    assert_eq!(result.await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
