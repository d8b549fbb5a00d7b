//! Calls into code of the user.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// Calls code of the user.
///
/// # Errors
/// With the text of its panic.
pub(crate) fn contain<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let text = text(&*payload);
        // The payload is a value of the user as well, and its drop may panic.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload))).map_err(std::mem::forget);
        text
    })
}

/// Makes and awaits a future of the user.
///
/// # Errors
/// With the text of its panic; the future is not polled again.
pub(crate) async fn contain_future<F: Future + ?Sized>(
    make: impl FnOnce() -> Pin<Box<F>>,
) -> Result<F::Output, String> {
    let mut future = contain(make)?;
    poll_fn(|cx| match contain(|| future.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(text) => Poll::Ready(Err(text)),
    })
    .await
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
