//! One live connection: lines to frames, request and reply routing, cancel, shutdown.
//!
//! The same code serves both ends. A [`Host`] reads what a CLI writes and the other way round for an [`Agent`]; all that
//! differs is in [`End`]. [`Connect`] puts a connection over a [`Transport`] and gives two things: a [`Handle`], to ask
//! and to send, and [`Events`], everything that arrives and is not a request or a reply.
//!
//! # What never waits for whom
//!
//! A CLI asks its host things while the host waits for an answer of its own, already during `initialize`. So the task
//! that reads the connection awaits neither handlers nor whoever reads the events: a request goes to [`Serve`], which
//! hands it on and returns, and events go to a queue. Code that awaits a reply inside [`Serve::serve`] would stop the
//! task that must read that reply.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use pilothouse_link::{Agent, Connect, Host, Inbound, Transport};
//! use pilothouse_proto::control::{Ack, Interrupt};
//!
//! let (here, there) = Transport::memory();
//! let (host, _events) = Connect::<Host>::new().over(here);
//! let answer = |inbound: Inbound<Agent>| tokio::spawn(async move { inbound.responder.success(&Ack::default()) });
//! let (_agent, _requests) = Connect::<Agent>::new().serve(move |inbound| drop(answer(inbound))).over(there);
//!
//! let reply = host.request(Interrupt::default()).await?;
//! assert!(reply.still_queued.is_empty());
//! # Ok::<(), pilothouse_link::RequestError>(()) }).unwrap();
//! ```

mod connect;
mod end;
mod ended;
mod event;
mod handle;
pub mod line;
mod odd_id;
mod panics;
mod queue;
mod reading;
mod responder;
mod router;
pub mod tape;
mod transport;
mod waiting;
mod writer;

pub use connect::{Connect, DEFAULT_REQUEST_TIMEOUT};
pub use end::{Agent, End, Host};
pub use ended::{EndKind, Ended};
pub use event::Event;
pub use handle::{Closed, Handle, RequestError, SendError, WeakHandle};
pub use odd_id::reply_id;
pub use queue::{Events, Progress};
pub use responder::{Inbound, Responder, Serve, Token};
pub use transport::Transport;
