//! Futures that are compiled in this crate.
//!
//! The body of an `async fn` is compiled where it is awaited, and everything that it calls and that is generic or async
//! with it: the whole connection, again in every program, test and example. A boxed one is compiled here, once.

use std::future::Future;
use std::pin::Pin;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
