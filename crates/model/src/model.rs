use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tokio_util::sync::CancellationToken;

use crate::failure::ApiFailure;
use crate::reply::Reply;
use crate::request::Request;

/// A count of tokens on its way: boxed, so that models can be used behind `dyn`.
pub type Counting<'a> = Pin<Box<dyn Future<Output = Result<u64, ApiFailure>> + Send + 'a>>;

/// Where an agent's words come from.
pub trait Model: fmt::Debug + Send + Sync {
    /// Asks. When the token fires, or the reply is dropped, the connection is closed at once.
    fn stream(&self, request: Request, stop: CancellationToken) -> Reply;

    /// How many tokens the request would cost to read.
    fn count_tokens(&self, request: Request) -> Counting<'_>;
}
