//! The child behind a connection, followed to its end.

use std::pin::Pin;

use pilothouse_proc::{Child, Exit, Ladder, Report, StderrTail};
use tokio::sync::oneshot;

pub(super) struct Process {
    stderr: StderrTail,
    /// Sends the child down the ladder; used once.
    end_by: Option<oneshot::Sender<Ladder>>,
    ending: Pin<Box<dyn Future<Output = Report> + Send>>,
    report: Option<Report>,
}

impl Process {
    pub(super) fn new(mut child: Child) -> Self {
        let stderr = child.stderr();
        let (end_by, asked) = oneshot::channel();
        let ending = Box::pin(async move {
            // Both arms only look, so the one that loses has lost nothing.
            let ladder = tokio::select! {
                // A child that is gone is not sent anywhere: `close` then only reports.
                _ = child.exited() => Ladder::now(),
                ladder = asked => ladder.unwrap_or_default(),
            };
            child.close(ladder).await
        });
        Self { stderr, end_by: Some(end_by), ending, report: None }
    }

    /// Begins to end the child, unless that has begun.
    pub(super) fn end_by(&mut self, ladder: Ladder) {
        if let Some(end_by) = self.end_by.take() {
            // An error means that the child is gone.
            let _ = end_by.send(ladder);
        }
    }

    /// Waits until the child is gone; may be awaited again. Cancel-safe: what is awaited lives in `self`.
    pub(super) async fn gone(&mut self) -> &Report {
        let report = match self.report.take() {
            Some(report) => report,
            None => self.ending.as_mut().await,
        };
        self.report.insert(report)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.report.is_some()
    }

    /// How the child ended, if it has.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.report.as_ref().map(|report| report.exit.unwrap_or(Exit { status: None }))
    }

    pub(super) fn stderr_tail(&self) -> String {
        self.stderr.text()
    }
}
