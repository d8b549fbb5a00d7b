//! Calls into code of the user.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls code of the user. A panic in it is reported here and does not end the task that called.
pub(crate) fn contain(what: &str, call: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
        tracing::error!("{what} panicked; the connection goes on");
        // The payload is a value of the user as well, and its drop may panic.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload))).map_err(std::mem::forget);
    }
}
