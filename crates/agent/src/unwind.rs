//! A panic inside a task, as an error: somebody waits for each task, and would wait for ever for one that is gone.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// Runs `work` to its end. A panic is logged and given as its message.
///
/// The caller drops all that `work` has borrowed or answers as after any other failure, so no half-changed value is seen.
///
/// # Errors
/// The panic's message.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|cause| {
        let message = message(&*cause);
        tracing::error!("a task panicked: {message}");
        message
    })
}

fn message(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_message() {
        assert_eq!(caught(async { 7 }).await, Ok(7));
        assert_eq!(caught::<()>(async { panic!("plain") }).await, Err("plain".to_owned()));
        let made = |number: u8| async move { panic!("made of {number}") };
        assert_eq!(caught::<()>(made(2)).await, Err("made of 2".to_owned()));
        let odd = async { std::panic::panic_any(7_u8) };
        assert_eq!(caught::<()>(odd).await, Err("a panic without a message".to_owned()));
    }
}
