use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use pilothouse_proto::control::SuccessReply;
use pilothouse_proto::{
    AgentFrame, AgentRequest, ControlCancelRequest, ControlRequest, ControlResponse, HostFrame, HostRequest,
    Opt, Reply, RequestId, Unknown, Wire,
};
use serde::Serialize;
use serde_json::Value;

use crate::connect::Connect;
use crate::handle::{Handle, RequestError};
use crate::queue::Events;
use crate::router;
use crate::tape::Direction;
use crate::transport::Transport;
use crate::writer;

/// A future that was made, and compiled, in this crate.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One of the two ends of a connection. Implemented by [`Host`] and [`Agent`] only.
///
/// The last three methods only lead into generic code. They stand here because a method of a concrete type is compiled
/// once, in this crate: generic code is compiled again by every crate, test and example that reaches it.
pub trait End: sealed::Sealed + Sized + Send + Sync + 'static {
    /// What this end reads.
    type In: Wire + Debug + Send + 'static;
    /// What this end writes.
    type Out: Serialize + Debug + Send;
    /// What this end is asked.
    type Asked: Debug + Send + 'static;
    /// What this end asks.
    type Asks: Serialize + Debug + Send;

    /// Where on a tape stands what this end reads. Tapes are told from the CLI's side, whoever records them.
    const READS: Direction;

    /// Whether this end still speaks when the other one has said all: an agent finishes its work after the end of its
    /// input, a host has nobody left to speak to.
    const OUTLIVES_INPUT: bool;

    /// Tells the control plane from messages.
    #[doc(hidden)]
    fn sort(frame: Self::In) -> Sorted<Self>;

    /// A request, ready to be written.
    #[doc(hidden)]
    fn request(request: ControlRequest<Self::Asks>) -> Self::Out;

    /// A reply, ready to be written.
    #[doc(hidden)]
    fn response(response: ControlResponse) -> Self::Out;

    /// A withdrawal, ready to be written.
    #[doc(hidden)]
    fn cancel(request_id: RequestId) -> Self::Out;

    /// What a result says: fine, or the text of its error, which explains best why a connection ended soon after.
    /// `None` for anything but a result.
    #[doc(hidden)]
    fn verdict(frame: &Self::In) -> Option<Result<(), String>>;

    /// A request of a known kind whose arguments cannot be read, as one of an unknown kind: an agent answers those in its
    /// own words, a host only those about hooks.
    #[doc(hidden)]
    fn salvage(raw: &[u8]) -> Option<ControlRequest<Self::Asked>>;

    /// Whether a `control_request` that asks nothing is answered. An agent ends instead, as its host must hear.
    #[doc(hidden)]
    const ANSWERS_EMPTY_REQUESTS: bool;

    /// Whether a request is answered whatever its id is, and under that.
    #[doc(hidden)]
    const ECHOES_ANY_ID: bool;

    /// Requests to this end that a reply says are still open.
    #[doc(hidden)]
    fn reopened(response: &ControlResponse) -> Vec<ControlRequest<Self::Asked>>;

    /// Starts the tasks of a connection.
    #[doc(hidden)]
    fn start(connect: Connect<Self>, transport: Transport) -> (Handle<Self>, Events<Self::In>);

    /// Asks, and waits for the reply.
    #[doc(hidden)]
    fn ask<'a>(
        handle: &'a Handle<Self>,
        subtype: &'a str,
        request: Self::Asks,
        timeout: Option<Duration>,
    ) -> Boxed<'a, Result<SuccessReply, RequestError>>;

    /// A frame as a line, newline included.
    #[doc(hidden)]
    fn line(frame: &Self::Out) -> Result<Vec<u8>, serde_json::Error>;
}

/// The methods that are the same for both ends, compiled for each.
macro_rules! compiled_here {
    () => {
        fn start(connect: Connect<Self>, transport: Transport) -> (Handle<Self>, Events<Self::In>) {
            router::start(connect, transport)
        }

        fn ask<'a>(
            handle: &'a Handle<Self>,
            subtype: &'a str,
            request: Self::Asks,
            timeout: Option<Duration>,
        ) -> Boxed<'a, Result<SuccessReply, RequestError>> {
            Box::pin(handle.ask_unboxed(subtype, request, timeout))
        }

        fn line(frame: &Self::Out) -> Result<Vec<u8>, serde_json::Error> {
            writer::encode(frame)
        }
    };
}

/// The end that drives a CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {}

/// The end that is driven: the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {}

/// A frame as the router sees it.
#[doc(hidden)]
#[derive(Debug)]
pub enum Sorted<E: End> {
    /// The other end asks.
    Request(ControlRequest<E::Asked>),
    /// The other end answers.
    Response(Box<ControlResponse>),
    /// The other end withdraws a request.
    Cancel(RequestId),
    /// Anything else.
    Message(E::In),
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Host {}
    impl Sealed for super::Agent {}
}

impl End for Host {
    type In = AgentFrame;
    type Out = HostFrame;
    type Asked = AgentRequest;
    type Asks = HostRequest;

    const READS: Direction = Direction::Out;
    const OUTLIVES_INPUT: bool = false;

    fn sort(frame: AgentFrame) -> Sorted<Self> {
        match frame {
            AgentFrame::ControlRequest(request) => Sorted::Request(*request),
            AgentFrame::ControlResponse(response) => Sorted::Response(response),
            AgentFrame::ControlCancelRequest(cancel) => Sorted::Cancel(cancel.request_id),
            message => Sorted::Message(message),
        }
    }

    fn request(request: ControlRequest<HostRequest>) -> HostFrame {
        HostFrame::ControlRequest(Box::new(request))
    }

    fn response(response: ControlResponse) -> HostFrame {
        HostFrame::ControlResponse(Box::new(response))
    }

    fn cancel(request_id: RequestId) -> HostFrame {
        HostFrame::ControlCancelRequest(ControlCancelRequest { request_id, ..Default::default() }.into())
    }

    fn verdict(frame: &AgentFrame) -> Option<Result<(), String>> {
        match frame {
            AgentFrame::Result(result) => Some(result.failure().map_or(Ok(()), Err)),
            _ => None,
        }
    }

    fn salvage(raw: &[u8]) -> Option<ControlRequest<AgentRequest>> {
        let (id, request) = parts(raw)?;
        // An error in answer to a hook counts as no opinion, so whoever has the hooks must answer. The others are refused.
        (request.tag == "hook_callback").then(|| ControlRequest::new(id, AgentRequest::Unknown(request)))
    }

    const ANSWERS_EMPTY_REQUESTS: bool = true;
    const ECHOES_ANY_ID: bool = false;

    fn reopened(response: &ControlResponse) -> Vec<ControlRequest<AgentRequest>> {
        let lists = match &response.response {
            Reply::Success(reply) => [
                &reply.pending_permission_requests,
                &reply.pending_user_dialog_requests,
                &reply.pending_elicitation_requests,
            ],
            Reply::Error(reply) => [
                &reply.pending_permission_requests,
                &reply.pending_user_dialog_requests,
                &reply.pending_elicitation_requests,
            ],
            _ => return Vec::new(),
        };
        lists.into_iter().filter_map(Opt::as_ref).flatten().cloned().collect()
    }

    compiled_here!();
}

impl End for Agent {
    type In = HostFrame;
    type Out = AgentFrame;
    type Asked = HostRequest;
    type Asks = AgentRequest;

    const READS: Direction = Direction::In;
    const OUTLIVES_INPUT: bool = true;

    fn sort(frame: HostFrame) -> Sorted<Self> {
        match frame {
            HostFrame::ControlRequest(request) => Sorted::Request(*request),
            HostFrame::ControlResponse(response) => Sorted::Response(response),
            HostFrame::ControlCancelRequest(cancel) => Sorted::Cancel(cancel.request_id),
            message => Sorted::Message(message),
        }
    }

    fn request(request: ControlRequest<AgentRequest>) -> AgentFrame {
        AgentFrame::ControlRequest(Box::new(request))
    }

    fn response(response: ControlResponse) -> AgentFrame {
        AgentFrame::ControlResponse(Box::new(response))
    }

    fn cancel(request_id: RequestId) -> AgentFrame {
        AgentFrame::ControlCancelRequest(ControlCancelRequest { request_id, ..Default::default() }.into())
    }

    fn verdict(_: &HostFrame) -> Option<Result<(), String>> {
        None
    }

    fn salvage(raw: &[u8]) -> Option<ControlRequest<HostRequest>> {
        let (id, request) = parts(raw)?;
        Some(ControlRequest::new(id, HostRequest::Unknown(request)))
    }

    const ANSWERS_EMPTY_REQUESTS: bool = false;
    const ECHOES_ANY_ID: bool = true;

    fn reopened(_: &ControlResponse) -> Vec<ControlRequest<HostRequest>> {
        Vec::new()
    }

    compiled_here!();
}

/// The id of a request whose arguments cannot be read, and the rest of it.
fn parts(raw: &[u8]) -> Option<(String, Unknown)> {
    let Ok(Value::Object(mut line)) = serde_json::from_slice(raw) else { return None };
    // Old CLIs have another name for it, and put the id inside.
    if !matches!(line.get("type")?.as_str()?, "control_request" | "sdk_control_request") {
        return None;
    }
    let Some(Value::Object(request)) = line.shift_remove("request") else { return None };
    let id = line.get("request_id").or_else(|| request.get("request_id"))?.as_str()?.to_owned();
    let tag = request.get("subtype")?.as_str()?.to_owned();
    let fields = request.into_iter().filter(|(key, _)| key != "subtype").collect();
    Some((id, Unknown { tag, fields }))
}
